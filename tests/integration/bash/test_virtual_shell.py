"""The virtual shell for real: who it is, what it keeps, and what it doesn't let through."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import select
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from evalward.sandbox import virtual
from evalward.sandbox.base import Execution, SandboxError
from evalward.sandbox.process.probe import layers
from evalward.sandbox.virtual import MAX_COMMANDS, VirtualShell
from support.patience import patiently, until
from support.processes import is_running

pytestmark = pytest.mark.cold


def shell(files: Mapping[str, str] | None = None, timeout_s: float = 60.0) -> VirtualShell:
    return VirtualShell(files or {}, timeout_s)


async def said(script: str, timeout_s: float = 60.0) -> Execution:
    return await shell(timeout_s=timeout_s).run(script)


async def test_who_and_where_it_is() -> None:
    done = await said("whoami; hostname; echo $USER; echo $HOME; pwd; echo ~")
    assert done.stdout.split() == ["eval", "bashkit-eval", "eval", "/home/eval", "/home/eval", "/home/eval"]
    assert (done.stderr, done.exit_code) == ("", 0)


async def test_state_lives_from_one_script_to_the_next() -> None:
    one = shell()
    await one.run("x=5; f() { echo from f; }; mkdir -p /w/d; cd /w/d; echo text > file; export E=6; alias q='echo q'")
    done = await one.run("echo $x $E; f; pwd; cat file")
    assert done.stdout == "5 6\nfrom f\n/w/d\ntext\n"


async def test_nothing_lives_from_one_shell_to_the_next() -> None:
    await shell().run("x=5; echo text > /tmp/file")
    assert (await said("echo [$x]; ls /tmp/file")).stdout == "[]\n"


async def test_exit_ends_the_script_and_not_the_shell() -> None:
    one = shell()
    assert (await one.run("echo a; exit 3; echo b")).exit_code == 3
    assert (await one.run("echo c")).stdout == "c\n"


async def test_output_and_errors_are_told_apart() -> None:
    done = await said("echo out; echo err >&2; false")
    assert (done.stdout, done.stderr, done.exit_code) == ("out\n", "err\n", 1)


async def test_a_script_that_is_no_script_is_its_own_failure() -> None:
    assert (await said("if")).exit_code != 0
    assert (await said("nosuchcommand")).exit_code == 127


async def test_surrogates_are_replaced() -> None:
    assert (await said("echo 'a\ud800b'")).stdout == "a\ufffdb\n"
    one = shell({"/w/a": "x\ud800y"})
    assert one.read_file("/w/a") == "x\ufffdy".encode()


# --- files ----------------------------------------------------------------------------------------------------------


async def test_files_are_mounted_with_their_folders() -> None:
    one = shell({"/data/deep/a.txt": "grün\n", "/home/eval/b": "", "/etc/passwd": "mine"})
    assert (await one.run("cat /data/deep/a.txt; cat b; cat /etc/passwd")).stdout == "grün\nmine"


@pytest.mark.parametrize("files", [{}, {"/w/a": "x"}, {"/home/eval/a": "x"}])
async def test_folders_can_be_made_at_home_whatever_is_mounted(files: dict[str, str]) -> None:
    done = await shell(files).run("mkdir d && cd d && pwd && mkdir ~/e /tmp/f && echo made")
    assert (done.stdout, done.stderr) == ("/home/eval/d\nmade\n", "")


async def test_what_is_in_the_file_system_afterwards() -> None:
    one = shell({"/w/a": "old"})
    await one.run(
        "echo new > /w/a; mkdir d; printf '\\xff\\xfe' > bin; ln -s /w/a link; ln -s /no dangling; cd d; echo x > in-d"
    )
    assert one.read_file("/w/a") == b"new\n"
    assert one.read_file("bin") == b"\xff\xfe"
    assert (one.file_type("d"), one.file_type("/w"), one.file_type("link")) == ("directory", "directory", "file")
    assert one.file_type("in-d") is None  # relative paths count from the home folder, wherever the shell is
    assert one.read_file("d/in-d") == b"x\n"
    assert one.read_file("./d/../d/in-d") == b"x\n"
    for nothing in ("/nowhere", "dangling", "x\0y", "n" * 5000, "\ud800"):
        assert (one.file_type(nothing), one.read_file(nothing)) == (None, None)
    for no_file in ("d", "/", ""):
        assert (one.file_type(no_file), one.read_file(no_file)) == ("directory", None)


@pytest.mark.parametrize(
    "files",
    [{"/w/big": "x" * (11 << 20)}, {"/w/" + "n" * 300: "x"}, {"/w/a\0b": "x"}],
    ids=["too large", "too long a name", "no name at all"],
)
async def test_a_file_that_it_doesnt_take_is_an_error(files: dict[str, str]) -> None:
    with pytest.raises(SandboxError, match="didn't take the file"):
        await shell(files).ready()
    with pytest.raises(SandboxError, match="didn't take the file"):
        await shell(files).run("true")
    with pytest.raises(SandboxError, match="didn't take the file"):
        shell(files).file_type("/tmp")


async def test_more_files_than_it_takes_are_an_error() -> None:
    """Asked once: it takes its time over so many, and each way of asking hears of any file as above."""
    with pytest.raises(SandboxError, match="didn't take the file"):
        await shell({f"/w/{n}": "" for n in range(10_100)}, timeout_s=600).ready()


async def test_a_shell_that_nobody_asked_anything_leaves_no_answer_to_the_next() -> None:
    for n in range(3):
        shell({f"/w/{n}": "x"}).close()
        assert shell({"/w/a": "x"}).file_type("/w/a") == "file"
        await shell({"/w/b": "x"}).ready()
        assert (await shell().run("echo mine")).stdout == "mine\n"


# --- limits ---------------------------------------------------------------------------------------------------------


async def _and_after(script: str, timeout_s: float) -> tuple[Execution, Execution]:
    """What became of a script, and of the next one in the same shell, which needs no time but has as little."""
    one = shell(timeout_s=timeout_s)
    return await one.run(script), await one.run("echo alive")


def _survived(found: tuple[Execution, Execution]) -> bool:
    return found[1].stdout == "alive\n"


@pytest.mark.parametrize("script", ["sleep 3000", "while true; do sleep 0.01; done", "sleep 3000 | cat"])
async def test_time_is_limited_and_the_shell_survives(script: str) -> None:
    done, after = await patiently(lambda factor: _and_after(script, 0.3 * factor), _survived)
    assert done.exit_code != 0
    assert "timeout" in done.stderr
    assert after.stdout == "alive\n"


@pytest.mark.parametrize(
    "script",
    [
        "while true; do :; done",
        "while true; do echo line; done",
        "until false; do x=1; done",
        "f() { f; }; f",
        "a=x; while true; do a=$a$a; done",
        "awk 'BEGIN { while (1) {} }'",
        f"for i in $(seq 1 {MAX_COMMANDS * 2}); do echo $i; done",
    ],
)
async def test_loops_memory_and_depth_are_limited(script: str) -> None:
    done = await said(script, timeout_s=60)
    assert done.exit_code != 0
    assert "exceeded" in done.stderr


async def test_a_fork_bomb_stays_in_the_box() -> None:
    bomb = ":(){ :|:& };:"
    done, after = await patiently(  # left alone it never ends
        lambda factor: asyncio.wait_for(_and_after(bomb, 0.5 * factor), 300), _survived
    )
    assert len(done.stdout) + len(done.stderr) < 1 << 22
    assert after.stdout == "alive\n"


@pytest.mark.parametrize("script", ["yes", "head -c 50000000 /dev/zero | tr '\\0' a", "seq 1 100000000"])
async def test_output_is_limited(script: str) -> None:
    assert len((await said(script, timeout_s=2)).stdout) <= 1 << 20


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server of this machine that nobody may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.mark.parametrize(
    "script",
    [
        "curl -s http://127.0.0.1:PORT/",
        "wget -q http://127.0.0.1:PORT/",
        "echo x > /dev/tcp/127.0.0.1/PORT",
        "cat < /dev/tcp/127.0.0.1/PORT",
        "nc 127.0.0.1 PORT",
        "ssh -p PORT 127.0.0.1",
    ],
)
async def test_there_is_no_network(script: str, listener: socket.socket) -> None:
    done = await said(script.replace("PORT", str(listener.getsockname()[1])))
    assert done.stdout == ""
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("script", ["cat /proc/self/environ", "cat /etc/hostname /etc/shadow", "ls /root", "env"])
async def test_nothing_of_the_machine_is_seen(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary")
    done = await said(script)
    assert "canary" not in done.stdout + done.stderr
    assert "root:" not in done.stdout


async def test_a_shell_at_work_lets_others_work() -> None:
    at_work = asyncio.create_task(said("sleep 60", timeout_s=30))
    for _ in range(10):
        await asyncio.sleep(0.01)
    assert not at_work.done()  # who kept the loop for itself would be by now
    at_work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await at_work


# --- a process of its own -------------------------------------------------------------------------------------------

CRASHES = {
    "eval that calls itself": 'x=\'eval "$x"\'; eval "$x"',
    "jq nested too deep": f"jq -n '{'(' * 4000}1{')' * 4000}'",
}


@pytest.mark.parametrize("name", CRASHES)
async def test_a_script_that_crashes_the_interpreter_is_an_error_of_the_sandbox(name: str) -> None:
    one, other = VirtualShell({}, 60), VirtualShell({}, 10)
    await other.run("x=kept")
    with pytest.raises(SandboxError, match="crashed"):
        await one.run(CRASHES[name])
    with pytest.raises(SandboxError):
        one.file_type("/tmp")
    assert (await other.run("echo $x")).stdout == "kept\n"
    assert (await VirtualShell({}, 60).run("echo new")).stdout == "new\n"


def behind_the_walls() -> list[int]:
    """The ids of all processes that belong to the interpreter's sandbox."""
    started = virtual._WORKERS._started
    assert started is not None
    process = started.client._launcher.process
    assert isinstance(process, subprocess.Popen)
    parents = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            found = re.search(r"^PPid:\s+(\d+)", status.read_text(), re.MULTILINE)
            parents[int(status.parent.name)] = int(found[1]) if found else 0
    members = [process.pid]
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members


def environment_of(pid: int) -> bytes:
    """What it began with; nothing where it shows that to root alone."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        assert os.geteuid() != 0
        return b""


async def test_the_interpreters_processes_have_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "sk-canary-0123456789")
    virtual._WORKERS.stop()
    await VirtualShell({}, 60).ready()
    members = behind_the_walls()
    assert len(members) >= 3  # the launcher, whoever forks, and the child
    for member in members:
        assert b"CANARY" not in environment_of(member)


async def test_a_shell_that_hangs_is_ended_when_it_is_given_up() -> None:
    virtual._WORKERS.stop()
    shell = VirtualShell({}, 60)
    await shell.ready()
    (child,) = [member for member in behind_the_walls() if shell_of(member)]
    os.kill(child, signal.SIGSTOP)  # as deaf as an interpreter that loops in its own code
    shell._kill()
    await until(lambda: not Path(f"/proc/{child}").exists())


def shell_of(member: int) -> bool:
    """Is it the youngest of its line?"""
    return not Path(f"/proc/{member}/task/{member}/children").read_text().split()


async def test_nothing_of_a_shell_is_left_for_the_next_one_in_its_process() -> None:
    virtual._WORKERS.stop()
    first = VirtualShell({"/w/a": "x"}, 60)
    await first.run("y=1; cd /tmp; echo z > /tmp/f; alias ll=ls; f() { echo f; }")
    child = first._child
    first.close()
    second = VirtualShell({}, 60)
    assert second._child is child
    done = await second.run('echo "[$y]"; pwd; ls /w /tmp; f; ll')
    assert done.stdout.split() == ["[]", "/home/eval"]
    assert (second.file_type("/w/a"), second.file_type("/tmp/f")) == (None, None)
    with pytest.raises(SandboxError, match="closed"):
        await first.run("echo")


async def test_a_process_that_ended_while_it_was_free_gets_no_shell() -> None:
    """It was killed, for want of memory: no trial may hear of it."""
    ours, theirs = socket.socketpair()
    theirs.close()
    virtual._WORKERS.start()
    virtual._WORKERS._free.append(virtual._Connection(ours, uses=1))

    shell = VirtualShell({}, 5)
    assert (await shell.run("echo well")).stdout == "well\n"
    shell.close()
    assert ours.fileno() == -1


async def test_no_process_is_left_at_the_end() -> None:
    virtual._WORKERS.stop()  # another test may have killed what started them, and they went on
    shells = [VirtualShell({}, 60) for _ in range(3)]
    for shell in shells:
        await shell.ready()
    pids = behind_the_walls()
    assert len(pids) >= 3
    for shell in shells:
        shell.close()
    virtual._WORKERS.stop()
    await until(lambda: not any(is_running(pid) for pid in pids))


async def test_a_killed_fork_server_is_started_again() -> None:
    VirtualShell({}, 60)
    started = virtual._WORKERS._started
    assert started is not None
    started.client._launcher.process.kill()
    if layers().namespaces:  # without one they outlive the launcher, and go on
        ended = select.poll()
        ended.register(started.control, 0)
        assert ended.poll(20_000)
    assert (await VirtualShell({}, 60).run("echo again")).stdout == "again\n"
