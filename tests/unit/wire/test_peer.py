"""Calls over a socket pair: answers, failures, files that go along, and an other side that misbehaves."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalward.wire.frames import FRAME_LIMIT, WireError
from evalward.wire.peer import CallFailedError, CallingPeer, Incoming, Peer
from support.patience import PATIENCE_S

HEADER = struct.Struct("!BBBQQ")


@contextmanager
def connected(work: Callable[[Peer, Incoming], None]) -> Iterator[Peer]:
    """Our peer; at the other end every call is given to `work`."""
    ours, theirs = socket.socketpair()
    there = Peer(theirs, lambda asked: threading.Thread(target=work, args=(there, asked)).start())
    here = Peer(ours, lambda asked: asked.close())
    for one in (here, there):
        one.start()
    try:
        yield here
    finally:
        here.close()
        there.close()


def echo(there: Peer, asked: Incoming) -> None:
    there.answer(asked, asked.name.encode() + b":" + asked.data)


def test_an_answer_comes_to_who_asked() -> None:
    with connected(echo) as here:
        assert here.call("name", b"data") == b"name:data"
        asked = [here.begin("n", str(number).encode()) for number in range(200)]
        assert [one.result() for one in asked] == [f"n:{number}".encode() for number in range(200)]


def test_coroutines_ask_while_others_work() -> None:
    async def together() -> list[bytes]:
        return list(await asyncio.gather(*(here.ask("n", bytes([number])) for number in range(50))))

    with connected(echo) as here:
        assert asyncio.run(together()) == [b"n:" + bytes([number]) for number in range(50)]


def test_large_messages_in_both_directions_at_once() -> None:
    size = 5_000_000
    with connected(echo) as here:
        asked = [here.begin("n", b"x" * size) for _ in range(4)]
        assert [len(one.result()) for one in asked] == [size + 2] * 4


def test_a_failure_is_raised_where_it_was_asked() -> None:
    with connected(lambda there, asked: there.fail(asked, b"why")) as here:
        with pytest.raises(CallFailedError) as caught:
            here.call("x")
        assert caught.value.data == b"why"


def test_files_go_along(tmp_path: Path) -> None:
    def read(there: Peer, asked: Incoming) -> None:
        data = b"".join(os.read(descriptor, 100) for descriptor in asked.descriptors)
        assert not any(os.get_inheritable(descriptor) for descriptor in asked.descriptors)
        asked.close()
        there.answer(asked, data)

    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "two").write_bytes(b"2")
    with connected(read) as here, (tmp_path / "one").open() as one, (tmp_path / "two").open() as two:
        assert here.call("x", b"null", [one.fileno(), two.fileno()]) == b"12"
        assert here.call("x", b"y" * 1_000_000, [one.fileno()]) == b""  # read to its end before


def test_a_note_waits_for_nothing() -> None:
    heard = threading.Event()
    with connected(lambda there, asked: heard.set() if asked.number is None else None) as here:
        here.note("n", b"data")
        assert heard.wait(PATIENCE_S)


def test_whoever_waits_is_told_that_the_other_has_gone() -> None:
    with connected(lambda there, asked: there.close()) as here:
        with pytest.raises(WireError):
            here.call("x")
        with pytest.raises(WireError):
            here.call("again")
        with pytest.raises(WireError):
            here.note("again")


def open_files() -> set[Path]:
    folder = Path("/proc/self/fd")
    return set(folder.iterdir()) if folder.exists() else set()


def raw(*frames: bytes, descriptors: int = 0) -> str:
    """What our peer says after these bytes; it must have ended, with no file of theirs left open."""
    ours, theirs = socket.socketpair()
    ended = threading.Event()
    heard: list[Incoming] = []
    here = Peer(ours, heard.append)
    here.start(ended.set)
    before = open_files()
    with theirs:
        files = [os.open(os.devnull, os.O_RDONLY) for _ in range(descriptors)]
        try:
            if descriptors:
                socket.send_fds(theirs, [frames[0]], files)
            else:
                theirs.sendall(b"".join(frames))
        finally:
            for each in files:
                os.close(each)
        theirs.shutdown(socket.SHUT_WR)
        assert ended.wait(PATIENCE_S)
        after = open_files()
    assert len(after - before) == 0
    assert heard == []
    with pytest.raises(WireError) as caught:
        here.call("x")
    here.close()
    return str(caught.value)


@pytest.mark.parametrize(
    "frame",
    [
        HEADER.pack(0, 1, 0, 1, FRAME_LIMIT + 1) + b"n",
        HEADER.pack(0, 1, 0, 1, (1 << 64) - 1) + b"n",
        HEADER.pack(9, 1, 0, 1, 0) + b"n",
        HEADER.pack(0, 255, 0, 1, 0) + b"n",
        HEADER.pack(0, 1, 3, 1, 0) + b"n",
    ],
)
def test_a_header_that_is_none_ends_the_connection(frame: bytes) -> None:
    assert "an invalid message" in raw(frame)


@pytest.mark.parametrize("frame", [b"\0", HEADER.pack(0, 1, 0, 1, 100) + b"n" + b"x" * 50, HEADER.pack(0, 4, 0, 1, 0)])
def test_what_breaks_off_ends_the_connection(frame: bytes) -> None:
    assert "ended in the middle" in raw(frame)


def test_files_that_were_not_announced_are_closed() -> None:
    assert "an invalid message" in raw(HEADER.pack(0, 1, 0, 1, 0) + b"n", descriptors=2)


def test_answers_that_nobody_waits_for_are_dropped() -> None:
    assert "gone" in raw(HEADER.pack(1, 0, 0, 77, 3) + b"abc")


# --- the end without a thread ---------------------------------------------------------------------------------------


@contextmanager
def line(work: Callable[[Peer, Incoming], None]) -> Iterator[CallingPeer]:
    ours, theirs = socket.socketpair()
    there = Peer(theirs, lambda asked: threading.Thread(target=work, args=(there, asked)).start())
    there.start()
    here = CallingPeer(ours)
    try:
        yield here
    finally:
        here.close()
        there.close()


def asks_back(there: Peer, asked: Incoming) -> None:
    """A job that asks the other side twice, then answers with what it got."""
    found = []
    for word in (b"one", b"two" * 1_000_000):
        try:
            found.append(there.call("back", word))
        except CallFailedError as error:
            found.append(error.data)
    there.note("said", b"text")
    there.answer(asked, b",".join(each[:6] for each in found))


def test_a_line_serves_while_it_waits() -> None:
    async def serve(here: CallingPeer) -> bytes:
        def heard(asked: Incoming) -> None:
            seen.append((asked.name, len(asked.data)))
            here.answer(asked, asked.data * 2)

        return await here.serve("job", b"data", heard)

    seen: list[tuple[str, int]] = []
    with line(asks_back) as here:
        assert asyncio.run(serve(here)) == b"oneone,twotwo"
        assert seen == [("back", 3), ("back", 3_000_000), ("said", 4)]
        assert asyncio.run(serve(here)) == b"oneone,twotwo"


def test_a_line_that_only_waits_refuses() -> None:
    with line(asks_back) as here:
        assert here.call("job", b"data", b"no") == b"no,no"


@pytest.mark.parametrize("serving", [False, True])
def test_a_line_is_told_of_failures_and_ends(serving: bool) -> None:
    def work(there: Peer, asked: Incoming) -> None:
        if asked.name == "fail":
            there.fail(asked, b"why")
        else:
            there.close()

    def ask(here: CallingPeer, name: str) -> bytes:
        return asyncio.run(here.serve(name, b"", lambda asked: None)) if serving else here.call(name)

    with line(work) as here:
        with pytest.raises(CallFailedError):
            ask(here, "fail")
        with pytest.raises(WireError):
            ask(here, "end")
