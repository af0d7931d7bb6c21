"""One deadline for telling GitHub: however slow, limited or silent it is, the exit code comes in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import pytest
import requests
from requests.adapters import BaseAdapter

from evalward.commands.surfaces import TELLING_S
from evalward.github.client import GitHub
from evalward.github.comment import Marker, Posted, PullRequest, post
from evalward.github.errors import GitHubError
from evalward.github.report_link import link_report
from support.github_api import HEAD, REPOSITORY


class Time:
    """A clock that moves when somebody sleeps or waits for GitHub."""

    def __init__(self) -> None:
        self.now = 1000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Told(BaseAdapter):
    """What GitHub does with a request, whose patience (connect, read) it is given."""

    def __init__(self, does: Callable[[tuple[float, float]], requests.Response]) -> None:
        super().__init__()
        self.does, self.patience = does, list[tuple[float, float]]()

    def send(self, request: requests.PreparedRequest, *_: Any, **given: Any) -> requests.Response:
        self.patience.append(given["timeout"])
        response = self.does(given["timeout"])
        response.request, response.url = request, str(request.url)
        return response

    def close(self) -> None:
        pass


def answered(status: int, headers: Mapping[str, str] | None = None, body: bytes = b"{}") -> requests.Response:
    response = requests.Response()
    response.status_code, response.raw = status, BytesIO(body)
    response.headers.update(headers or {})
    return response


def client_of(time: Time, does: Callable[[tuple[float, float]], requests.Response]) -> tuple[GitHub, Told]:
    client = GitHub("ghs_secret", "https://api.example", sleep=time.sleep, jitter=lambda: 0.5, clock=lambda: time.now)
    adapter = Told(does)
    client.http._session.mount("https://", adapter)
    return client, adapter


def told(client: GitHub, kept: list[str]) -> Posted:
    marker = Marker("evalward", HEAD, 20, 1)

    def keep(text: str) -> Any:
        kept.append(text)
        return "out/comment.md"

    with client.http.within(TELLING_S):
        pull = PullRequest(REPOSITORY, 7)
        return post(client, pull, marker, "text", mode="always", changed=True, failed=True, keep=keep)


def hangs(time: Time) -> Callable[[tuple[float, float]], requests.Response]:
    def does(patience: tuple[float, float]) -> requests.Response:
        time.now += patience[1]
        raise requests.ReadTimeout("no answer")

    return does


@pytest.mark.parametrize("headers", [{}, {"retry-after": "20"}, {"retry-after": "59"}, {"retry-after": "600"}])
@pytest.mark.parametrize("status", [429, 503])
def test_a_limit_that_stays_ends_at_the_deadline(status: int, headers: dict[str, str]) -> None:
    time, kept = Time(), list[str]()
    client, adapter = client_of(time, lambda _: answered(status, headers))
    posted = told(client, kept)
    assert posted.action == "unable"
    assert time.now - 1000 <= TELLING_S
    assert len(kept) == 1
    assert "could not be posted: GitHub" in posted.notice
    assert adapter.patience


def test_a_github_that_hangs_is_left_at_the_deadline() -> None:
    time, kept = Time(), list[str]()
    client, adapter = client_of(time, hangs(time))
    posted = told(client, kept)
    assert posted.action == "unable"
    assert "did not answer in time" in posted.notice
    assert time.now - 1000 == pytest.approx(TELLING_S, abs=0.2)
    assert adapter.patience[0] == (10.0, 30.0)
    assert adapter.patience[-1][1] < 30.0


def test_the_link_to_the_report__ends_at_the_deadline_too() -> None:
    time = Time()
    client, _ = client_of(time, hangs(time))
    with client.http.within(TELLING_S):
        posted = link_report(client, PullRequest(REPOSITORY, 7), Marker("evalward", HEAD, 20, 1), "https://x.example")
    assert (posted.action, "did not answer in time" in posted.notice) == ("unable", True)
    assert time.now - 1000 == pytest.approx(TELLING_S, abs=0.2)


def test_an_answer_drop_by_drop_is_left_at_the_deadline() -> None:
    time = Time()

    class Drops(BytesIO):
        def stream(self, *_: Any, **__: Any) -> Any:
            while True:
                time.now += 7
                yield b" "

    def does(_: object) -> requests.Response:
        response = answered(200)
        response.raw = Drops()
        return response

    client, _ = client_of(time, does)
    with client.http.within(TELLING_S), pytest.raises(GitHubError, match="in the time that there is"):
        client.pull_head(REPOSITORY, 7)
    assert time.now - 1000 <= TELLING_S + 7


def test_a_deadline_ends_with_what_it_is_for() -> None:
    time = Time()
    client, _ = client_of(time, lambda _: answered(200, {}, b'{"login": "x"}'))
    with client.http.within(5), client.http.within(60):
        time.now += 6
        with pytest.raises(GitHubError):
            client.login()
    assert client.login() == "x"
