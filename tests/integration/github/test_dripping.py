"""A GitHub that sends a byte now and then, each of which begins a socket's time limit anew: the deadline ends it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from support.github_api import REPOSITORY, TOKEN

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
    with dripping(begin) as url, GitHub(TOKEN, url) as client:
        with client.http.within(0.5), pytest.raises(GitHubError, match="in the time that there is for it"):
            client.comments(REPOSITORY, 7)
        with client.http.within(0.5), pytest.raises(GitHubError, match="in the time that there is for it"):
            client.pull_head(REPOSITORY, 7)  # the next request is not the one that hangs


def test_what_a_request_raises__comes_out_of_its_thread() -> None:
    client = GitHub(TOKEN, "http://127.0.0.1:1", sleep=lambda _: None)
    with client, pytest.raises(GitHubError, match="could not be reached"):
        client.pull_head(REPOSITORY, 7)
