"""A GitHub that sends a byte now and then, each of which begins a socket's time limit anew: the deadline ends it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from support.github_api import REPOSITORY, TOKEN
from support.patience import FACTORS

DROP_S = 0.02
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n["
HEADERS = b"HTTP/1.1 200 OK\r\nX-Slow: "


@contextmanager
def dripping(begin: bytes) -> Iterator[str]:
    """The address of a server whose answers begin like that and never end."""
    over = threading.Event()

    def drip(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65_536)
            client.sendall(begin)
            while not over.wait(DROP_S):
                client.sendall(b" ")

    def serve(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
            server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("begin", [BODY, HEADERS], ids=["body", "headers"])
def test_the_deadline_ends_an_answer_that_drips(begin: bytes) -> None:
    def said(ask: Callable[[], object], seconds: float) -> str:
        with client.http.within(seconds), pytest.raises(GitHubError) as error:
            ask()
        return str(error.value)

    def is_told(ask: Callable[[], object]) -> bool:
        """In one of the times: the server stands still, too, when the machine does, and that isn't dripping."""
        return any("in the time that there is for it" in said(ask, 0.5 * factor) for factor in FACTORS)

    with dripping(begin) as url, GitHub(TOKEN, url) as client:
        assert is_told(lambda: client.comments(REPOSITORY, 7))
        assert is_told(lambda: client.pull_head(REPOSITORY, 7))  # the next request is not the one that hangs


def test_what_a_request_raises__comes_out_of_its_thread() -> None:
    client = GitHub(TOKEN, "http://127.0.0.1:1", sleep=lambda _: None)
    with client, pytest.raises(GitHubError, match="could not be reached"):
        client.pull_head(REPOSITORY, 7)
