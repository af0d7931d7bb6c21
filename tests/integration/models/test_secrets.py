"""The key goes into one header of requests to one host, and nowhere else; nothing of the environment goes along."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from evalward.suites.base import TrialBrokenError
from evalward.targets.failures import Cause
from evalward.targets.models.settings import Secret
from support.live import MODELS, VARIABLE, live_target, talk
from support.model_server import DONE, KEY, Fault, ModelServer, Script, bash

EVERYWHERE = pytest.mark.parametrize("provider", list(MODELS))
# One of each way in which a failure comes out of an SDK.
TELLING = ["key", "key_echoed", "quota", "rate_limit_bare", "bad_gateway", "html", "broken_json", "wrong_shape"]
TELLING += ["closed", "stream_cut", "stream_error", "stream_broken_event", "context_length", "length_in_call"]
CANARY = "canary-0123456789-not-a-usual-form"
SCRIPT = Script(default=(bash("ls"), DONE))


@dataclass
class Raw:
    """A server that gives one canned answer, and what it was sent."""

    answer: bytes
    received: list[bytes] = field(default_factory=list)
    url: str = ""


@asynccontextmanager
async def raw_server(answer: bytes) -> AsyncIterator[Raw]:
    import asyncio

    raw = Raw(answer)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        raw.received.append(head)
        writer.write(raw.answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    raw.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield raw


def response(status: str, body: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers, "", body]
    return "\r\n".join(lines).encode()


@EVERYWHERE
@pytest.mark.parametrize("name", TELLING)
async def test_the_key_is_in_no_error_trace_repr_or_log(
    provider: str, name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    shown = []
    for stream in (False, True):
        with ModelServer(SCRIPT, faults=[Fault(name)], key=CANARY) as server:
            target = live_target(server, provider, stream=stream, env={VARIABLE: CANARY})
            try:
                trace = await talk(target, max_turns=3)
                shown.append(trace.model_dump_json())
            except TrialBrokenError as error:
                shown += [repr(error), error.trace.model_dump_json(), *traceback.format_exception(error)]
                shown += [repr(vars(link)) for link in chain(error)]
            shown += [repr(target), repr(vars(target)), repr(target.settings), repr(target.subject), str(target.key)]
    shown += [record.getMessage() + repr(record.__dict__) for record in caplog.records]
    shown += capfd.readouterr()
    assert all(CANARY not in text for text in shown)


def chain(error: BaseException) -> list[BaseException]:
    """The exception and all that it came from: none of them may be the SDK's, which holds the request."""
    links: list[BaseException] = []
    current: BaseException | None = error
    while current is not None:
        links.append(current)
        current = current.__cause__ or current.__context__
    assert all(type(link).__module__.startswith("evalward") for link in links)
    return links


@EVERYWHERE
async def test_a_missing_key_names_its_variable_and_asks_nobody(provider: str) -> None:
    with ModelServer(SCRIPT) as server:
        for env in ({}, {VARIABLE: ""}, {VARIABLE: " \n"}, {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}):
            target = live_target(server, provider, env=env)
            assert target.missing_key == VARIABLE
            with pytest.raises(TrialBrokenError, match=f"{VARIABLE} is not set") as caught:
                await talk(target)
            assert (caught.value.reason, caught.value.stops_run) == (Cause.KEY, True)
        assert server.requests == []


@EVERYWHERE
async def test_a_key_with_a_line_end_works_and_one_with_blanks_inside_is_told(provider: str) -> None:
    with ModelServer(SCRIPT) as server:
        trace = await talk(live_target(server, provider, env={VARIABLE: f" {KEY}\r\n"}))
        assert trace.natural_stop
        for broken in ("two words", "line\nend", "schlüssel"):
            with pytest.raises(TrialBrokenError, match="characters that are not allowed in a key") as caught:
                await talk(live_target(server, provider, env={VARIABLE: broken}))
            assert broken not in str(caught.value)


@EVERYWHERE
async def test_a_server_without_keys_gets_none(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", CANARY)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    env = {"ANTHROPIC_API_KEY": CANARY, "OPENAI_API_KEY": CANARY}
    async with raw_server(response("401 Unauthorized", "{}")) as raw:
        target = live_target(raw.url, provider, key_env=None, env=env)
        assert target.missing_key is None
        with pytest.raises(TrialBrokenError):
            await talk(target)
    (head,) = raw.received
    assert b"authorization" not in head.lower()
    assert b"x-api-key" not in head.lower()
    assert CANARY.encode() not in head


@EVERYWHERE
async def test_nothing_of_the_environment_goes_along(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Smuggled: yes\nAuthorization: Bearer other")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-smuggled")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-smuggled")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    async with raw_server(response("401 Unauthorized", "{}")) as raw:
        with pytest.raises(TrialBrokenError):
            await talk(live_target(raw.url, provider, env={VARIABLE: CANARY}, headers={"X-Team": "evals"}))
    (head,) = raw.received
    assert b"smuggled" not in head.lower()
    assert head.lower().count(b"authorization:") == 1
    assert f"Bearer {CANARY}".encode() in head
    assert b"x-team: evals" in head.lower()


@EVERYWHERE
async def test_a_redirect_is_not_followed(provider: str) -> None:
    async with raw_server(response("200 OK", "{}")) as elsewhere:
        moved = response("307 Temporary Redirect", "", f"location: {elsewhere.url}/v1")
        async with raw_server(moved) as raw:
            with pytest.raises(TrialBrokenError, match="sends us to another address") as caught:
                await talk(live_target(raw.url, provider, env={VARIABLE: CANARY}))
    assert caught.value.reason == Cause.REJECTED
    assert elsewhere.received == []


def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(CANARY)
    assert CANARY not in f"{secret} {secret!r} {[secret]}"
    assert secret.hide(f"bad key {CANARY}, or sk-proj-abcdef1234, or Bearer abc") == (
        "bad key [key], or [key], or [key]"
    )


SDKS = "import sys; print(sorted(m for m in ('anthropic', 'openai', 'httpx2') if m in sys.modules))"
MAKE = """
from pathlib import Path
from evalward.config.load import parse_config
from evalward.targets import make_target
text = '''version: 1
suites: [{name: s, kind: bash, cases: c, targets: [anthropic/m, openai/m, openai-responses/m]}]'''
loaded = parse_config(text, "evalward.yml", Path())
for name in loaded.config.suites[0].targets:
    make_target(name, loaded, {})
"""


def test_planning_imports_no_sdk() -> None:
    done = subprocess.run([sys.executable, "-c", MAKE + SDKS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
