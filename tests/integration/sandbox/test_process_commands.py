"""Commands in a workspace: what they print, how they end, what they leave. Behind every kind of walls."""

from __future__ import annotations

import asyncio
import os
import resource
from pathlib import Path
from uuid import uuid4

import pytest

from evalward.sandbox.base import Execution, SandboxError
from evalward.sandbox.process import ProcessShell, SandboxLimits, Workspace, WorkspaceSettings, available
from evalward.sandbox.process.probe import Layers
from support.patience import patiently
from support.processes import processes
from support.sandboxes import NAMES, bash, opened, use, walls_named


@pytest.fixture(params=NAMES.values())
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Layers:
    layers = walls_named(request.param)
    use(monkeypatch, layers)
    return layers


# --- output ---------------------------------------------------------------------------------------------------------


async def test_streams_and_exit_code(walls: Layers) -> None:
    async with opened() as place:
        done = await bash(place, "echo out; echo err >&2; printf '\\377x'; exit 3")
        assert (done.stdout, done.stderr, done.exit_code, done.signal) == ("out\n\ufffdx", "err\n", 3, None)
        killed = await bash(place, "kill -9 $$")
        assert (killed.exit_code, killed.signal) == (137, 9)


async def test_what_cannot_be_started_is_told_as_by_a_shell(walls: Layers) -> None:
    async with opened(files={"notes.txt": b"x"}) as place:
        missing = await place.run(["no-such-program"])
        assert (missing.exit_code, missing.stderr) == (127, "no-such-program: not found\n")
        assert (await place.run(["./notes.txt"])).exit_code == 126
        assert (await place.run(["true\0"])).exit_code == 126
        assert "no such folder" in (await place.run(["true"], cwd="nowhere")).stderr


async def test_nothing_of_our_environment_is_passed_on(walls: Layers) -> None:
    async with opened() as place:
        done = await place.run(["env"], env={"MINE": "1"})
        names = {line.partition("=")[0] for line in done.stdout.splitlines()}
        assert names == {"PATH", "HOME", "TMPDIR", "LANG", "MINE"}


async def test_a_command_inherits_no_descriptor_but_the_three(walls: Layers) -> None:
    async with opened() as place:
        done = await place.run(["python3", "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"])
        assert done.stdout == "['0', '1', '2', '3']\n"  # 3 is the listing itself


async def test_much_output_is_read_to_its_end_and_kept_in_part() -> None:
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(output_bytes=100_000))) as place:
        done = await bash(place, "head -c 30000000 /dev/zero | tr '\\0' x; head -c 70000 /dev/zero >&2; echo end >&2")
        assert (len(done.stdout), len(done.stderr), done.dropped_bytes) == (100_000, 70_004, 29_900_000)
        assert done.exit_code == 0


async def test_input_is_given_and_one_that_nobody_reads_is_no_error() -> None:
    async with opened() as place:
        data = b"x" * 1_000_000
        assert (await place.run(["wc", "-c"], stdin=data)).stdout == "1000000\n"
        assert (await place.run(["true"], stdin=data)).exit_code == 0
        assert (await place.run(["cat"])).stdout == ""
        assert (await bash(place, "exec <&- >&- 2>&-; sleep 0.1")).exit_code == 0


async def test_lines_are_told_as_they_come() -> None:
    lines: list[str] = []
    async with opened() as place:
        await place.run(["printf", "a\\n\\nb\\377\\nc"], on_line=lines.append)
    assert lines == ["a", "", "b\ufffd", "c"]


# --- ends -----------------------------------------------------------------------------------------------------------


async def test_a_background_child_that_holds_the_output_keeps_nobody_waiting(walls: Layers) -> None:
    async with opened() as place:
        done = await bash(place, "sleep 4321 & echo started", timeout_s=600)
        assert (done.stdout, done.timed_out) == ("started\n", False)
        assert (await bash(place, "true")).exit_code == 0


DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        open("up", "w").close()
        time.sleep(4000)
    os._exit(0)
while not os.path.exists("up"):
    time.sleep(0.01)
"""


async def test_nothing_outlives_the_workspace_however_it_hides(walls: Layers) -> None:
    mark = uuid4().hex
    async with opened() as place:
        await place.run(["python3", "-c", DAEMON, mark])
        assert processes(mark)
        folder = place.folder
    assert not processes(mark)
    assert not folder.parent.exists()


async def test_processes_can_be_ended_while_the_workspace_stays(walls: Layers) -> None:
    mark = uuid4().hex
    async with opened() as place:
        await place.run(["python3", "-c", DAEMON, mark])
        await place.end_processes()
        assert not processes(mark)
        assert (await bash(place, "ls")).stdout == "up\n"


async def test_a_command_that_ignores_sigterm_is_ended_with_all_it_started(walls: Layers) -> None:
    mark = uuid4().hex
    async with opened() as place:
        script = f"trap 'echo asked' TERM; setsid sleep 4000.{len(mark)} & echo up; while :; do sleep 0.05; done"
        done = await patiently(
            lambda factor: place.run(["bash", "-c", script, mark], timeout_s=0.3 * factor, grace_s=0.3 * factor),
            lambda done: done.stdout == "up\nasked\n",
        )
        assert (done.timed_out, done.exit_code, done.stdout) == (True, 124, "up\nasked\n")
        assert not processes(mark)
        assert (await bash(place, "echo usable")).stdout == "usable\n"


async def test_a_command_that_is_asked_may_write_its_last_words() -> None:
    async with opened() as place:
        script = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.02; done"
        done = await patiently(
            lambda factor: bash(place, script, timeout_s=0.3 * factor, grace_s=5.0 * factor),
            lambda done: done.stdout != "",  # it was asked before it could listen
        )
        assert (done.stdout, done.timed_out) == ("bye\n", True)


async def test_cancelling_ends_the_command(walls: Layers) -> None:
    mark = uuid4().hex
    async with opened() as place:
        running = asyncio.ensure_future(place.run(["sleep", "4000"], env={"X": mark}))
        other = asyncio.ensure_future(place.run(["bash", "-c", "while :; do sleep 0.02; done", mark]))
        while not processes(mark):
            await asyncio.sleep(0.01)
        for task in (running, other):
            task.cancel()
        await asyncio.gather(running, other, return_exceptions=True)
        await bash(place, "true")
        assert not processes(mark)


BOMB = """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
"""


async def test_a_fork_bomb_is_bounded_and_ended() -> None:
    if not available().processes:
        pytest.skip("the number of processes can't be bounded here")
    mark = uuid4().hex
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(processes=60))) as place:
        done = await place.run(["python3", "-c", BOMB, mark], timeout_s=0.7)
        assert done.timed_out
        assert not processes(mark)
        assert (await bash(place, "echo usable")).stdout == "usable\n"


# --- limits ---------------------------------------------------------------------------------------------------------


async def test_too_much_on_disk_ends_everything(walls: Layers) -> None:
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(disk_mb=20))) as place:
        writer = "n=0; while :; do head -c 2000000 /dev/zero > $TMPDIR/$n || exit 9; n=$((n+1)); sleep 0.01; done"
        done = await bash(place, writer)
        assert (done.exceeded, done.signal) == ("disk", 9)


async def test_too_many_files_end_everything() -> None:
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(entries=500))) as place:
        assert (await bash(place, "while :; do mktemp >/dev/null; done")).exceeded == "disk"


async def test_one_large_file_and_core_files_are_refused_by_the_kernel() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(disk_mb=5))) as place:
        assert (await bash(place, "head -c 9000000 /dev/zero > big")).exit_code != 0
        assert (await bash(place, "ulimit -c; ulimit -n")).stdout == f"0\n{min(1024, most)}\n"


SHARED = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        break
x = bytearray(b"1" * 90_000_000)
time.sleep(10)
"""


async def test_memory_is_bounded_for_one_and_for_all(walls: Layers) -> None:
    async with opened(settings=WorkspaceSettings(limits=SandboxLimits(memory_mb=200))) as place:
        one = await place.run(["python3", "-c", "x = bytearray(300_000_000)"])
        assert "MemoryError" in one.stderr
        done = await place.run(["python3", "-c", SHARED])
        assert (done.exceeded, done.signal) == ("memory", 9)


# --- files ----------------------------------------------------------------------------------------------------------


async def test_a_fixture_is_copied_and_never_changed(walls: Layers, tmp_path: Path) -> None:
    fixture = tmp_path / "fixture"
    (fixture / "sub").mkdir(parents=True)
    (fixture / "sub" / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (fixture / "sub" / "run.sh").chmod(0o755)
    (fixture / "link").symlink_to("sub/run.sh")
    os.mkfifo(fixture / "pipe")
    async with opened(fixture, files={"more/x.txt": b"x"}) as place:
        done = await bash(place, "./link; cat more/x.txt; echo changed > sub/run.sh; rm link; ls")
        assert done.stdout == "ran\nxmore\nsub\n"
        assert place.read_file("sub/run.sh") == b"changed\n"
        copied = place.copy_to(tmp_path / "kept", 10)
        assert (copied.files, copied.skipped) == (2, 0)
    assert (fixture / "sub" / "run.sh").read_text() == "#!/bin/sh\necho ran\n"
    assert (tmp_path / "kept" / "sub" / "run.sh").read_text() == "changed\n"


async def test_no_link_leads_us_out(walls: Layers, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    async with opened(files={"real": b"here"}) as place:
        await bash(place, f"ln -s {secret} out; ln -s {tmp_path} dir; ln -s loop loop; mkfifo pipe")
        await bash(place, "ln -s real in; ln -s $PWD/real abs")
        ways = ["out", "dir/secret", f"../../{secret.name}", str(secret), "loop", "pipe", "nothing", "a\0b"]
        for path in [*ways, "/etc/passwd"]:
            assert place.read_file(path) is None, path
        assert (place.read_file("in"), place.read_file("abs")) == (b"here", b"here")
        assert [place.file_type(path) for path in ("in", ".", "pipe", "out")] == ["file", "directory", "other", None]
        copied = place.copy_to(tmp_path / "kept", 1)
        assert copied.skipped == 1
    assert (tmp_path / "kept" / "out").is_symlink()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["abs", "dir", "in", "loop", "out", "real"]


async def test_a_copy_has_bounds(tmp_path: Path) -> None:
    async with opened() as place:
        await bash(place, "head -c 1500000 /dev/zero > a; echo b > b; truncate -s 1G sparse")
        copied = place.copy_to(tmp_path / "kept", 1)
        assert (copied.files, copied.skipped, copied.full) == (1, 2, True)


async def test_folders_of_any_depth_are_removed(walls: Layers) -> None:
    deep = "import os\nfor _ in range(3000):\n    os.mkdir('d' * 20)\n    os.chdir('d' * 20)\nopen('f', 'w').close()"
    async with opened() as place:
        await place.run(["python3", "-c", deep])
        await bash(place, "mkdir locked && touch locked/x && chmod 0 locked")
        base = place.folder.parent
        assert place.file_type("d" * 20) == "directory"
    assert not base.exists()


async def test_absolute_files_exist_where_commands_have_a_file_system(walls: Layers) -> None:
    files = {"/data/in.txt": b"in", "/tmp/t.txt": b"t"}
    if not walls.namespaces:
        with pytest.raises(SandboxError, match="no file system of their own"):
            await Workspace.create(None, WorkspaceSettings(), extra_files=files)
        return
    async with opened(files=files) as place:
        done = await bash(place, "cat /data/in.txt /tmp/t.txt; echo out > /data/out.txt; ln -s /data/in.txt /data/l")
        assert done.stdout == "int"
        assert (place.read_file("/data/out.txt"), place.read_file("/data/l")) == (b"out\n", b"in")
    with pytest.raises(SandboxError, match="belongs to the system"):
        await Workspace.create(None, WorkspaceSettings(), extra_files={"/etc/x": b""})


@pytest.mark.parametrize("path", ["../x", "a/../../x", "link/x"])
async def test_no_file_is_written_outside(tmp_path: Path, path: str) -> None:
    fixture, outside = tmp_path / "fixture", tmp_path / "outside"
    for folder in (fixture, outside):
        folder.mkdir()
    (fixture / "link").symlink_to(outside)
    with pytest.raises(SandboxError, match="outside of the workspace"):
        await Workspace.create(fixture, WorkspaceSettings(), extra_files={path: b"x"})
    assert not list(outside.iterdir())


async def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"could not be made in .*nowhere"):
        await Workspace.create(None, WorkspaceSettings(place=tmp_path / "nowhere"))
    with pytest.raises(SandboxError, match="could not be made"):
        await Workspace.create(tmp_path / "no-fixture", WorkspaceSettings())


async def test_a_fixture_that_is_too_large_is_told(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 1_100_000)
    with pytest.raises(SandboxError, match="larger than the workspace's 1 MB"):
        await Workspace.create(tmp_path, WorkspaceSettings(limits=SandboxLimits(disk_mb=1)))


async def test_a_closed_workspace_says_so() -> None:
    async with opened() as place:
        pass
    await place.close()
    with pytest.raises(SandboxError, match="closed"):
        await place.run(["true"])


async def test_a_launcher_that_was_killed_is_an_error_of_the_sandbox() -> None:
    async with opened() as place:
        place._built.client._launcher.process.kill()
        with pytest.raises(SandboxError, match="killed"):
            await bash(place, "sleep 1")


# --- the shell ------------------------------------------------------------------------------------------------------


async def test_a_shell_keeps_files_and_no_variables(walls: Layers) -> None:
    shell = await ProcessShell.open({"in.txt": "3\n"}, 600, WorkspaceSettings())
    try:
        assert (await shell.run("x=1; cp in.txt out.txt; cd /")).exit_code == 0
        assert (await shell.run("echo [$x]; cat out.txt")).stdout == "[]\n3\n"
        assert (shell.read_file("out.txt"), shell.file_type("gone")) == (b"3\n", None)
    finally:
        await shell.close()


async def test_a_shell_ends_what_takes_too_long(walls: Layers) -> None:
    async def said(timeout_s: float) -> tuple[float, Execution]:
        shell = await ProcessShell.open({}, timeout_s, WorkspaceSettings())
        try:
            return timeout_s, await shell.run("printf before >&2; sleep 4000")
        finally:
            await shell.close()

    limit, slow = await patiently(lambda factor: said(0.5 * factor), lambda found: "before" in found[1].stderr)
    assert (slow.exit_code, slow.stderr) == (124, f"before\nbash: ended after {limit:g} s\n")
