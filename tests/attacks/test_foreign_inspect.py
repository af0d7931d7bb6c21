"""Logs of inspect that somebody made to harm whoever reads them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.external.choice import ScoreChoice
from evalward.suites.external.formats import archive as bounds
from evalward.suites.external.formats.base import ForeignResults, format_named, recognised
from evalward.suites.external.results import ExternalRun, Reading, read_results
from support.foreign.files import in_memory
from support.foreign.inspect import DEFLATED, STORED, ZSTANDARD, Logged, LoggedSample, archive, assistant, scored, tool

NAME = "logs/hostile.eval"
CENTRAL = b"PK\1\2"
FLAG, METHOD, CHECKSUM, PACKED, SIZE = (8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I")
"""Fields of a zip archive's directory: where they stand in an entry, and in what form."""


def read(content: str | bytes) -> ForeignResults:
    (results,) = format_named("inspect").read([in_memory(content, NAME)])
    return results


def run_of(content: str | bytes) -> ExternalRun:
    reading = Reading("inspect", ScoreChoice("match"), keep=lambda trial: str(len(trial.model_dump_json())))
    (run,) = read_results([read(content)], reading, NAME).runs
    return run


def refused(content: str | bytes) -> str:
    """What is said of a log. One sentence and what to do, in one line."""
    with pytest.raises(InputError) as caught:
        run_of(content)
    said = str(caught.value)
    assert said.startswith(f"{NAME}: ")
    assert "\n" not in said
    return said


def entry(content: bytes, member: str) -> int:
    """Where the directory's entry of a member begins."""
    return content.rindex(CENTRAL, 0, content.rindex(member.encode()))


def lying(content: bytes, member: str, field: tuple[int, str], value: int) -> bytes:
    """The archive with another value in the directory."""
    made = bytearray(content)
    struct.pack_into(field[1], made, entry(content, member) + field[0], value)
    return bytes(made)


LOG = Logged((LoggedSample(messages=[assistant("42")], noise="x" * 500),))


# archives


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_bombs_are_refused_by_what_they_would_unpack_to(method: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SMALL", 1 << 20)
    bomb = archive([*LOG.members(), ("samples/bomb_epoch_1.json", bytes(16 << 20))], method)
    assert len(bomb) < 1 << 16
    assert "it would unpack to 16 MiB, more than 200 times its size" in refused(bomb)


def test_no_more_is_unpacked_than_anybody_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_READ", 100)
    assert "had to be unpacked" in refused(LOG.eval_log())


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
@pytest.mark.parametrize("member", ["header.json", "summaries.json"])
def test_a_member_that_gives_more_or_less_than_is_said(method: int, member: str) -> None:
    whole = LOG.eval_log(method)
    for size in (10, 5_000):
        assert "another size than the archive says" in refused(lying(whole, member, SIZE, size))
    assert "another checksum" in refused(lying(whole, member, CHECKSUM, 1))


def test_a_bomb_whose_size_is_a_lie_ends_at_the_first_byte_too_many() -> None:
    bomb = archive([("_journal/start.json", LOG.start()), ("summaries.json", b"[" + b" " * (4 << 20))])
    assert "another size than the archive says" in refused(lying(bomb, "summaries.json", SIZE, 1000))


def test_members_that_share_their_bytes() -> None:
    whole = archive([("header.json", LOG.header()), ("samples/a_epoch_1.json", b"x" * 4000)], STORED)
    begin = entry(whole, "samples/a_epoch_1.json")
    end = whole.rindex(b"PK\5\6")
    more = whole[begin:end] * 3
    count, size, offset = struct.unpack_from("<8xHHII", whole, end)[1:]
    tail = struct.pack("<4s4xHHIIH", b"PK\5\6", count + 3, count + 3, size + len(more), offset, 0)
    assert "its members overlap" in refused(whole[:end] + more + tail)


def test_an_encrypted_member_and_one_of_an_unknown_method() -> None:
    whole = LOG.eval_log()
    assert "a member is encrypted" in refused(lying(whole, "header.json", FLAG, 1))
    assert "a member is packed by the method 99" in refused(lying(whole, "summaries.json", METHOD, 99))


def test_a_directory_that_is_too_large_is_not_read() -> None:
    size = 17 << 20
    content = b"PK\3\4" + bytes(size) + struct.pack("<4s4xHHIIH", b"PK\5\6", 1, 1, size, 4, 0)
    assert "its list of members is larger than 16 MiB" in refused(content)


def test_more_members_than_any_log_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_MEMBERS", 4)
    assert "it has more than 4 members" in refused(LOG.eval_log())


@pytest.mark.parametrize("member", ["header.json", "summaries.json", "_journal/start.json"])
def test_a_member_that_stands_in_it_twice(member: str) -> None:
    twice = archive([*LOG.members(), (member, {})])
    assert f"it has {member} twice" in refused(twice)


def test_archives_that_are_cut_off_or_no_logs() -> None:
    whole = LOG.eval_log()
    for content in (whole[: len(whole) // 2], whole[:60], b"PK\3\4"):
        assert "it is not a complete zip archive" in refused(content)
    assert "it has neither header.json nor _journal/start.json" in refused(archive([("a.txt", b"")]))


def test_damaged_bytes_are_refused_in_one_sentence_or_change_nothing_that_is_read() -> None:
    whole = LOG.eval_log()
    expected = [result.model_copy(update={"trace": None}) for result in run_of(whole).results]
    said = []
    for place in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        try:
            results = run_of(bytes(damaged)).results
        except InputError as error:
            said.append(str(error))
        else:
            assert [one.status for one in results] == [one.status for one in expected]
    assert len(said) > 50
    assert not [each for each in said if "\n" in each]


def test_members_whose_names_are_paths_are_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["../../etc/passwd", "/etc/passwd", "a/b/c d", "..\\up", "con", "~root", "C:evil"]
    run = run_of(Logged([LoggedSample(name, target=name) for name in names]).eval_log())
    assert [result.id for result in run.results] == names
    assert len(set(run.definitions.values())) == len(names)
    assert not list(tmp_path.iterdir())


# documents


def in_member(member: str, content: bytes) -> bytes:
    return archive([(name, content if name == member else value) for name, value in LOG.members()])


@pytest.mark.parametrize("member", ["header.json", "summaries.json", "samples/one_epoch_1.json"])
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 1_000_000,
        b'{"id":' * 1_000_000,
        b'{"input": ' + b"[" * 1_000_000,
        b"",
        b"nothing",
        b'"a text"',
        b'{"id": "one", "epoch": 1, "inp',
        b'{"id": "one", "epoch": 1, "input": "\xff\xfe"}',
        b'[{"id": ' + b"9" * 10_000 + b"}]",
        b'[{"id": "one", "id": "two"}]',
    ],
)
def test_broken_documents_in_an_archive(member: str, content: bytes) -> None:
    if (member, content) == ("header.json", b'[{"id": "one", "id": "two"}]'):
        assert "its header.json is not an object" in refused(in_member(member, content))
    else:
        refused(in_member(member, content))


@pytest.mark.parametrize(
    "cut",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-2],
        lambda whole: whole + "]",
        lambda whole: whole.replace('"samples": [', '"samples": ' + "[" * 1_000_000),
        lambda whole: whole.replace('"samples": [', '"samples": {"a": '),
        lambda whole: whole.replace('"epoch": 1', '"epoch": 1e'),
    ],
)
def test_broken_logs_of_one_document(cut: Callable[[str], str]) -> None:
    refused(cut(LOG.json_log()))


@pytest.mark.parametrize(
    "identity", [{"id": None}, {"id": True}, {"id": 1.5}, {"id": []}, {"epoch": 0}, {"epoch": "1"}]
)
def test_samples_without_an_identity(identity: Mapping[str, Any]) -> None:
    rows = [{**LoggedSample().summary(), **identity}]
    assert "a sample of the log has no id or no epoch" in refused(
        in_member("summaries.json", json.dumps(rows).encode())
    )


def test_names_that_hide_or_end_something() -> None:
    names = ["nul\0one", "nul\0two", "\x1b[31mred", "\u202egnp.exe", "::error::x", "| a |", "<script>"]
    samples = [LoggedSample(name, target=name, messages=[assistant(name)]) for name in names]
    run = run_of(Logged(samples).eval_log())
    assert len(run.results) == len(names)
    for result in run.results:
        assert result.id.isprintable()
    assert [result.id for result in run.results][2:4] == ["[31mred", "gnp.exe"]
    # of the two whose members have one name, only the one that the member is of has a conversation
    assert [result.trace is None for result in run.results] == [True, False, *[False] * 5]


@pytest.mark.parametrize(
    "sample",
    [
        {"scores": [1, 2]},
        {"scores": {"match": 1}},
        {"scores": {"match": {"value": [[1], {"a": {"b": 1}}]}}},
        {"scores": {"match": {"value": 1e999}}},
        {"scores": {"match": {"value": 10**30}}},
        {"scores": {"": scored("C"), "match": scored("C")}},
        {"model_usage": {"a": 5, "b": {"input_tokens": -1, "output_tokens": True}}},
        {"model_usage": {"a": {"input_tokens": 10**15}, "b": {"input_tokens": 10**15}}},
        {"model_usage": {"a": {"total_cost": -1}, "b": {"total_cost": 10**15}}},
        {"total_time": float("nan")},
        {"total_time": -1},
        {"total_time": 1e300},
        {"total_time": 10**15},
        {"error": {"message": 5}},
        {"limit": 5},
        {"metadata": {"category": {"a": 1}}},
        {"metadata": 5},
        {"retries": -5},
        {"messages": {"role": "user"}},
        {"messages": [5, None, {"role": "owner"}, {"role": "tool"}, {"role": "assistant", "tool_calls": [5, {}]}]},
        {"messages": [{**assistant("", ("bash", {"cmd": 5})), "content": [5, {"type": 7}, {"type": "image"}]}]},
        {"messages": [{**tool("", "boom"), "tool_call_id": [1], "error": 5}]},
        {"input": {"a": 1}},
        {"input": None, "target": None},
    ],
)
def test_values_of_another_type_than_they_should_be(sample: Mapping[str, Any]) -> None:
    document = {**LoggedSample(messages=[assistant("42")]).document(), **sample}
    row = {**LoggedSample().summary(), **{key: value for key, value in sample.items() if key != "messages"}}
    fine = LoggedSample("fine")
    members = {"samples/one_epoch_1.json": document, "summaries.json": [row, fine.summary()]}
    log = Logged((LOG.samples[0], fine))
    run = run_of(archive([(name, members.get(name, value)) for name, value in log.members()]))
    assert [result.id for result in run.results] == ["one", "fine"]
    assert all(result.model_dump_json() for result in run.results)


def test_half_a_character_in_a_name() -> None:
    (result,) = run_of(Logged((LoggedSample("a\ud800b"),)).json_log()).results
    assert result.id == "a\ufffdb"


def test_what_only_looks_like_a_log() -> None:
    quoting = json.dumps({"output": json.dumps(LOG.header()), "results": []})
    with pytest.raises(InputError):
        recognised(in_memory(quoting, "results.json"))
