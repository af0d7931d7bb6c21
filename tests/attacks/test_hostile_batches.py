"""What a batch brings back is a stranger's: bounded, read line by line, and only what was asked for counts, once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evalward.keeper.batch_ledger import BatchLedger
from evalward.keeper.outputs import OutputFolder
from evalward.records.batch import SentBatch
from evalward.targets.base import Reply
from evalward.targets.failures import TargetError
from evalward.targets.models import batching, limits
from support.batched import answering, batch_server, batched, live_requests
from support.model_server import KEY

PROVIDERS = ("anthropic", "openai", "openai-responses")
TEXTS = ("one", "two")


def forged(answers: bytes, words: str) -> list[bytes]:
    """The lines with other words in the answers."""
    return [line.replace(b"re: ", words.encode()) for line in answers.splitlines()]


def others(answers: bytes) -> bytes:
    lines = [json.loads(line) for line in forged(answers, "FORGED ")]
    for number, line in enumerate(lines):
        line["custom_id"] = f"{'0' * 40}-{number}"
    return answers + b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def twice(answers: bytes) -> bytes:
    return answers + b"\n".join(forged(answers, "FORGED ")) + b"\n"


def garbage(answers: bytes) -> bytes:
    junk = [b"", b"null", b"[]", b"{", b'"x"', b"\xff\xfe", b"[" * 5000, b"1" * 5000, b'{"custom_id": 1}', b"{}"]
    return b"\n".join([*junk, answers.rstrip(b"\n"), *junk])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("spoiled", [others, twice, garbage])
async def test_only_what_was_asked_for_counts_and_once(
    provider: str, spoiled: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    with batch_server(answering(*TEXTS)) as server:
        server.batches.spoiled = spoiled
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert [reply.message.text for reply in replies] == ["re: one", "re: two"]
    assert live_requests(server) == 0


ODD = (
    lambda line: line | {"result": None, "response": None},
    lambda line: line | {"result": {"type": "succeeded"}, "response": {"status_code": 200}},
    lambda line: line | {"result": {"type": "succeeded", "message": []}, "response": {"status_code": 200, "body": []}},
    lambda line: line | {"result": {"type": "succeeded", "message": {"type": "message"}}, "response": {"body": {}}},
    lambda line: line | {"result": {"type": 7}, "response": {"status_code": "200", "body": {}}},
    lambda line: line | {"result": {"type": "errored", "error": "x"}, "response": None, "error": {"code": 5}},
)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("odd", ODD)
async def test_a_line_that_is_no_answer_is_asked_live(
    provider: str, odd: Callable[[dict[str, object]], dict[str, object]], tmp_path: Path
) -> None:
    def spoiled(answers: bytes) -> bytes:
        return b"".join(json.dumps(odd(json.loads(line))).encode() + b"\n" for line in answers.splitlines())

    with batch_server(answering(*TEXTS)) as server:
        server.batches.spoiled = spoiled
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert [reply.message.text for reply in replies] == ["re: one", "re: two"]
    assert live_requests(server) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_line_without_end_is_not_read(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ANSWER_LIMIT", 100_000)
    with batch_server(answering(*TEXTS)) as server:
        server.batches.spoiled = lambda answers: b"x" * 5_000_000 + b"\n" + answers
        async with batched(server, tmp_path, provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert [reply.message.text for reply in replies] == ["re: one", "re: two"]
    assert live_requests(server) == 2
    assert any("longer than 100,000 bytes" in said for said in asked.said)


async def test_nor_are_answers_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.ANSWER_LIMIT < batching.RESULTS_LIMIT <= 2 << 30
    monkeypatch.setattr(batching, "RESULTS_LIMIT", 100_000)
    with batch_server(answering(*TEXTS)) as server:
        server.batches.spoiled = lambda answers: b"{}\n" * 100_000 + answers
        async with batched(server, tmp_path) as asked:
            replies = await asked.ask_all(TEXTS)
    assert live_requests(server) == 2
    assert all(isinstance(reply, Reply) for reply in replies)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ["../../../etc/x", "a/b", "", "x" * 200, "a\nb", ".", "a?b=c", "\x1b[31m"])
async def test_an_id_is_no_path_and_no_address(provider: str, name: str, tmp_path: Path) -> None:
    with batch_server(answering(*TEXTS)) as server:
        server.batches.named = lambda _: name
        async with batched(server, tmp_path / "out", provider) as asked:
            replies = await asked.ask_all(TEXTS)
    assert [reply.message.text for reply in replies] == ["re: one", "re: two"]
    assert live_requests(server) == 2
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_the_key_goes_to_no_other_address_that_a_batch_names(tmp_path: Path) -> None:
    """The server says that its results are at port 9 of this machine, where nothing answers."""
    with batch_server(answering(*TEXTS)) as server:
        async with batched(server, tmp_path) as asked:
            replies = await asked.ask_all(TEXTS)
    assert live_requests(server) == 0
    assert len(replies) == 2


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_that_a_batch_s_error_echoes_is_not_shown(provider: str, tmp_path: Path) -> None:
    def spoiled(answers: bytes) -> bytes:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": f"bad key {KEY}"}}
        lines = [json.loads(line) for line in answers.splitlines()]
        for line in lines:
            line |= {"result": {"type": "errored", "error": error}, "response": {"status_code": 400, "body": error}}
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    with batch_server(answering(*TEXTS)) as server:
        server.batches.spoiled = spoiled
        async with batched(server, tmp_path, provider) as asked:
            met = await asked.ask_all(TEXTS)
    assert all(isinstance(each, TargetError) for each in met)
    assert KEY not in f"{met} {[each.message for each in met]} {asked.said}"


LEFT = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"schema": "evalward.batch/1"}',
    json.dumps(
        {
            "schema": "evalward.batch/1",
            "id": "../../messages",
            "provider": "anthropic",
            "model": "claude-haiku-4-5",
            "host": "HOST",
            "sent_at": "",
            "requests": {"x": "y"},
        }
    ).encode(),
)


@pytest.mark.parametrize("left", LEFT)
async def test_what_lies_there_as_an_earlier_batch_may_be_anything(left: bytes, tmp_path: Path) -> None:
    (tmp_path / "batches").mkdir()
    with batch_server(answering(*TEXTS)) as server:
        host = server.url.removeprefix("http://").encode()
        (tmp_path / "batches" / "x.json").write_bytes(left.replace(b"HOST", host))
        async with batched(server, tmp_path, resume=True) as asked:
            replies = await asked.ask_all(TEXTS)
    assert [reply.message.text for reply in replies] == ["re: one", "re: two"]
    assert live_requests(server) == 0


def test_and_a_link_is_not_followed(tmp_path: Path) -> None:
    output = OutputFolder.open(tmp_path / "out")
    ledger = BatchLedger(lambda: output, resume=True)
    batch = SentBatch(id="msgbatch_1", provider="anthropic", model="m", host="h", sent_at="", requests={"x": "y"})
    ledger.keep(batch)
    assert ledger.earlier("anthropic", "m", "h") == [batch]
    assert ledger.earlier("anthropic", "m", "another host") == []
    kept, elsewhere = tmp_path / "out" / "batches" / "msgbatch_1.json", tmp_path / "elsewhere.json"
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    assert ledger.earlier("anthropic", "m", "h") == []
