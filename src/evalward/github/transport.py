"""Requests to one API with one token: patient where patience helps, clear where it doesn't."""

from __future__ import annotations

import math
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import requests
from pydantic import TypeAdapter, ValidationError

from evalward import __version__
from evalward.github.errors import GitHubError
from evalward.records.base import Record
from evalward.render.escape import one_line

MAX_RETRIES = 5
MAX_WAIT_S = 120.0  # a limit that is lifted later than this is told instead of waited for
SECONDARY_WAIT_S = 60.0  # GitHub's advice where a secondary limit names no time
CONNECT_S, READ_S = 10.0, 30.0
PAGE_SIZE = 100
MAX_PAGES = 100
MAX_ANSWER_BYTES = 20_000_000
LEAST_S = 0.1  # of a request's patience, however little time is left
MOST_S = 120.0  # of one request in all: `READ_S` begins anew with each byte

Method = Literal["GET", "POST", "PATCH", "DELETE"]
_UNAVAILABLE = {502, 503, 504}
_CHUNK = 65_536
_T = TypeVar("_T")


class TooLargeError(GitHubError):
    """The answer is larger than was asked for."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response of status 2xx, read to its end. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    next_url: str | None = None

    def read(self, model: type[_T]) -> _T:
        """The body as a record; raises `GitHubError` when it is none."""
        try:
            return TypeAdapter(model).validate_json(self.body)
        except ValidationError:
            raise GitHubError(
                None, "GitHub's answer is not of the expected form.", "Is GITHUB_API_URL right?"
            ) from None


@dataclass(frozen=True, slots=True)
class _ApiRequest:
    method: Method
    url: str
    json: Mapping[str, Any] | None
    accept: str | None
    limit: int


class Transport:
    """Sends requests, waits for rate limits and retries what is safe to repeat. Every failure is a `GitHubError`.

    At most `MAX_RETRIES` retries a request. `sleep` takes seconds, `jitter` gives numbers in 0..1, `now` seconds since
    the epoch (for x-ratelimit-reset), `clock` seconds that only grow. The token is in no exception and no repr.
    """

    def __init__(
        self,
        token: str,
        api_url: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        timeouts: tuple[float, float] = (CONNECT_S, READ_S),
    ) -> None:
        self._clock = clock
        self._until = math.inf
        self.api_url = api_url.rstrip("/")
        self._token = token
        self._sleep = sleep
        self._jitter = jitter
        self._now = now
        self._timeouts = timeouts
        self._session = _session(token)

    def __repr__(self) -> str:
        return f"Transport({self.api_url!r})"

    def close(self) -> None:
        """Ends the connections."""
        self._session.close()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """All requests in here together, with their retries and waits, take no longer than that: then they fail."""
        outer, self._until = self._until, min(self._until, self._clock() + seconds)
        try:
            yield
        finally:
            self._until = outer

    @property
    def left_s(self) -> float:
        """Seconds that requests may still take."""
        return self._until - self._clock()

    def hide(self, text: str) -> str:
        """The text without the token, should it hold it: GitHub masks logs, not what is posted."""
        return text.replace(self._token, "***") if self._token else text

    def pause(self, attempt: int) -> None:
        """Waits as before a retry; `attempt` counts from 0."""
        self._sleep(max(0.0, min(self._backoff(attempt), self.left_s)))

    def pages(self, path: str) -> Iterator[HttpResponse]:
        """The pages of a list, as the Link headers chain them."""
        url: str | None = f"{path}{'&' if '?' in path else '?'}per_page={PAGE_SIZE}"
        for _ in range(MAX_PAGES):
            if url is None:
                return
            answer = self.request("GET", url)
            yield answer
            url = answer.next_url
        if url is not None:
            raise GitHubError(None, f"The list {path} has more than {MAX_PAGES} pages.")

    def request(
        self,
        method: Method,
        url: str,
        json: Mapping[str, Any] | None = None,
        *,
        accept: str | None = None,
        limit: int = MAX_ANSWER_BYTES,
        safe: bool | None = None,
    ) -> HttpResponse:
        """One request with its retries; `url` is absolute or a path of the API.

        `safe`: it may be carried out twice; left out, that is so for everything but POST. An answer of more than
        `limit` bytes is a `TooLargeError`.
        """
        safe = method != "POST" if safe is None else safe
        full = url if "://" in url else self.api_url + url
        if urlsplit(full)[:2] != urlsplit(self.api_url)[:2]:
            raise GitHubError(None, f"The API at {self.api_url} points to another host; the token is not sent there.")
        asked = _ApiRequest(method, full, json, accept, limit)
        for attempt in range(MAX_RETRIES + 1):
            if self.left_s <= 0:
                raise _out_of_time()
            try:
                answer = self._in_time(asked)
            except requests.RequestException as error:
                last = attempt == MAX_RETRIES or self.left_s <= 0
                if last or not _may_repeat(error, safe=safe):
                    raise self._unreachable(error) from None
                self.pause(attempt)
                continue
            if 200 <= answer.status < 300:
                return answer
            wait = self._wait(answer, attempt, safe=safe)
            if wait is None or wait > min(MAX_WAIT_S, self.left_s) or attempt == MAX_RETRIES:
                raise self._failure(answer, limited=answer.status in {403, 429} and wait is not None)
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _in_time(self, asked: _ApiRequest) -> HttpResponse:
        """The answer, if it comes in time.

        The request runs in a thread, which is left behind with its session when the time is over: a server that sends
        a byte now and then keeps a read going, of the headers too, and no time limit of a socket ends that.
        """
        ended: queue.SimpleQueue[HttpResponse | BaseException] = queue.SimpleQueue()
        session = self._session

        def send() -> None:
            try:
                ended.put(self._send(session, asked))
            except BaseException as error:  # raised where it is waited for
                ended.put(error)

        threading.Thread(target=send, daemon=True).start()
        try:
            answer = ended.get(timeout=max(LEAST_S, min(self.left_s, MOST_S)))
        except queue.Empty:
            self._session = _session(self._token)
            raise _out_of_time() from None
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _send(self, session: requests.Session, asked: _ApiRequest) -> HttpResponse:
        with session.request(
            asked.method,
            asked.url,
            json=asked.json,
            headers={"Accept": asked.accept} if asked.accept else None,
            timeout=(self._patience(self._timeouts[0]), self._patience(self._timeouts[1])),
            stream=True,
            # A redirected POST would arrive as a GET; only reading follows a renamed repository.
            allow_redirects=asked.method == "GET",
        ) as response:
            most = asked.limit if response.ok else MAX_ANSWER_BYTES
            body = bytearray()
            for chunk in response.iter_content(_CHUNK):
                body += chunk
                if self.left_s <= 0:  # drop by drop
                    raise _out_of_time()
                if len(body) > most:
                    raise TooLargeError(response.status_code, f"The answer has more than {most:,} bytes.")
            link = response.links.get("next", {}).get("url")
            headers = {name.lower(): value for name, value in response.headers.items()}
            return HttpResponse(response.status_code, headers, bytes(body), link)

    def _patience(self, given: float) -> float:
        return max(LEAST_S, min(given, self.left_s))

    def _wait(self, answer: HttpResponse, attempt: int, *, safe: bool) -> float | None:
        """Seconds until this may be tried again, `None` when trying again is no help."""
        after = _number(answer.headers.get("retry-after"))
        if answer.status in _UNAVAILABLE and safe:
            return max(self._backoff(attempt), after or 0.0)
        if answer.status not in {403, 429}:
            return None
        if after is not None:
            return after + self._jitter()
        reset = _number(answer.headers.get("x-ratelimit-reset"))
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
            return max(0.0, reset - self._now()) + 1.0 + self._jitter()
        if answer.status == 429 or "rate limit" in _error_message(answer).lower():
            return SECONDARY_WAIT_S + self._backoff(attempt)
        return None  # a 403 about permissions

    def _backoff(self, attempt: int) -> float:
        return float(2**attempt) + self._jitter()

    def _failure(self, answer: HttpResponse, *, limited: bool) -> GitHubError:
        detail = self.hide(_error_message(answer))
        message = f"GitHub answered {answer.status}{': ' if detail else ''}{detail}"
        if limited:
            return GitHubError(answer.status, message, "The token's rate limit is used up: run the job again later.")
        return GitHubError(answer.status, message, _ADVICE.get(min(answer.status, 500), ""))

    def _unreachable(self, error: requests.RequestException) -> GitHubError:
        what = "did not answer in time" if isinstance(error, requests.Timeout) else "could not be reached"
        message = f"GitHub's API at {self.api_url} {what} ({type(error).__name__})"
        return GitHubError(None, self.hide(message), "Run the job again; on a self-hosted runner check its network.")


def _session(token: str) -> requests.Session:
    session = requests.Session()
    session.auth = _TokenAuth(token)
    session.headers.update(
        {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": f"evalward/{__version__}",
        }
    )
    return session


def _out_of_time() -> GitHubError:
    return GitHubError(None, "GitHub did not answer in the time that there is for it.", _ADVICE[500])


_ADVICE = {
    401: "The token is not valid: pass the workflow's own, `github-token: ${{ github.token }}`.",
    403: "The token may not do this: give the job `permissions: {contents: read, pull-requests: write}`.",
    404: "It does not exist, or the token may not see it: check the job's `permissions`.",
    410: "It is gone or turned off in this repository.",
    500: "GitHub has trouble at the moment: run the job again later.",
}


class _TokenAuth(requests.auth.AuthBase):
    """The token, as an object of requests' own kind: else a .netrc in the shared HOME would replace it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class _RetryAfter(Record):
    message: str = ""


def _error_message(answer: HttpResponse) -> str:
    """GitHub's own words about a failure: one short line, whatever came."""
    try:
        return one_line(answer.read(_RetryAfter).message, 200)
    except GitHubError:
        return ""


def _may_repeat(error: requests.RequestException, *, safe: bool) -> bool:
    """What is not safe is repeated only when it never left: else it may have been carried out."""
    if not isinstance(error, requests.ConnectionError | requests.Timeout | requests.exceptions.ChunkedEncodingError):
        return False
    return safe or isinstance(error, requests.ConnectTimeout)


def _number(text: str | None) -> float | None:
    """A header's seconds. Dates in Retry-After, which GitHub does not send, count as not told."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
