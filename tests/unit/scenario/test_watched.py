"""The shell that tells how each command ended: the same to whoever works in it, and never believed against our eyes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from evalward.records.events import Event, ToolAnswered, ToolCalled
from evalward.sandbox.base import FileTooLargeError
from evalward.suites.scenario.interaction import tool_commands
from evalward.suites.scenario.patterns import command_pattern
from evalward.suites.scenario.shell_codes import uses_of
from evalward.suites.scenario.watchable import programs_to_watch
from evalward.suites.scenario.watched import WatchedPlace
from support.places import Finished, FolderPlace

TODO = command_pattern("./todo", None)
TOOL = """\
#!/bin/sh
case "$1" in
  bad) echo "todo: bad" >&2; exit 3 ;;
  cat) cat ;;
  crash) kill -TERM $$ ;;
  who) echo "$0 $PWD ${EVALWARD_HOOK-none} $#" ;;
esac
"""


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    made = FolderPlace.made(tmp_path)
    (made.folder / "todo").write_text(TOOL, "utf-8")
    (made.folder / "todo").chmod(0o755)
    return made


async def watched(place: FolderPlace, script: str) -> tuple[Finished, list[tuple[str, int | None]]]:
    """A call in the watched place: how it ended, and the target's commands with their exit codes."""
    watch = WatchedPlace(place, TODO)
    done = await watch.run(["bash", "-c", script])
    events: list[Event] = [ToolCalled(command=script), ToolAnswered(output=done.stderr, exit_code=done.exit_code)]
    assert isinstance(done, Finished)
    return done, [(one.text, one.exit_code) for one in tool_commands(watch.heard(events), TODO)]


@pytest.mark.parametrize(
    ("script", "codes"),
    [
        ("./todo bad; ./todo hello", [("todo bad", 3), ("todo hello", 0)]),
        ("./todo bad | cat", [("todo bad", 3)]),
        ("./todo bad || true", [("todo bad", 3)]),
        ("./todo hello && ./todo x && ./todo bad", [("todo hello", 0), ("todo x", 0), ("todo bad", 3)]),
        ("./todo bad && ./todo hello", [("todo bad", 3)]),  # the second never ran
        ("for i in 1 2; do ./todo add $i; done", [("todo add 1", 0), ("todo add 2", 0)]),
        ("x=$(./todo bad); echo $?", [("todo bad", 3)]),
        ("set -e\n./todo hello\n./todo bad\n./todo x", [("todo hello", 0), ("todo bad", 3)]),
        ("! ./todo bad; (./todo crash); true", [("todo bad", 3), ("todo crash", 143)]),
        ("env A=1 ./todo bad; true", [("todo bad", 3)]),
        ("T=./todo; $T bad; $T hello", [("todo bad", 3), ("todo hello", 0)]),
        ("timeout 9 ./todo bad || true", [("todo bad", 3)]),
        ("./todo bad; : > $TMPDIR/.evalward-*; ./todo hello", [("todo bad", None), ("todo hello", 0)]),
        ("./todo bad; rm -f $TMPDIR/.evalward-*; ./todo hello", [("todo bad", None), ("todo hello", 0)]),
        ("nice -n 5 ./todo bad; true", [("todo bad", 3)]),
        ("git commit -m 'todo bad' || true; ./todo hello", [("todo hello", 0)]),
        ("./todo add 'todo x'; ./todo hello # todo y", [("todo add 'todo x'", 0), ("todo hello", 0)]),
        ("cat > notes <<'END'\ntodo bad\nEND\n./todo hello", [("todo hello", 0)]),
        ("cd /; ./todo list | cat", [("todo list", 127)]),
        ("true; ./todo add 'a b' \"c;d\"", [("todo add 'a b' 'c;d'", 0)]),
    ],
)
async def test_each_commands_own_exit_code(
    place: FolderPlace, script: str, codes: list[tuple[str, int | None]]
) -> None:
    assert (await watched(place, script))[1] == codes


@pytest.mark.parametrize(
    "script",
    [
        "./todo bad; echo $? ${PIPESTATUS[0]}; ./todo hello | ./todo bad; echo ${PIPESTATUS[@]}",
        "echo in | ./todo cat; ./todo cat <<< here; ./todo cat; ./todo bad 2>&1 | tr a-z A-Z",
        "A=1 ./todo who; cd ..; work/todo who a 'b c'; env | grep -c EVALWARD; ls",
        "if ./todo bad; then echo yes; else echo no; fi; ./todo nothing || exit 4; exit 5",
        "set -euo pipefail; ./todo hello; ./todo bad | cat; echo never",
        "cd /; ./todo x; echo $?;\n\n./todo y | cat",
        "echo $LINENO; ./nothere\n./todo x\nnotthere; exec ./todo bad",
        "set -e; rm -rf ../home; ./todo hello; ./todo x; echo end",  # where our notes go
        "chmod a-x todo; ./todo x; echo $?\n./todo y",
        "rm -rf todo; mkdir todo; ./todo x; echo $?; ./todo y",
        "set -eu -- a b; ./todo who $2; ./todo bad",
        "[ -t 0 ] && echo tty; declare -F; type ./todo; ./todo x &\nwait; ./todo bad",
    ],
)
async def test_whoever_works_in_it_sees_no_difference(place: FolderPlace, script: str) -> None:
    plain = await place.run(["bash", "-c", script])
    done, _ = await watched(place, script)
    assert (done.stdout, done.stderr, done.exit_code) == (plain.stdout, plain.stderr, plain.exit_code)


@pytest.mark.parametrize(
    "script",
    [
        "./todo bad",  # its exit code is the call's
        "ls; pwd",
        "./todo serve & ./todo a",
        "trap 'x' EXIT; ./todo a",
        "set -x; ./todo a",
        "set -e -x; ./todo a; ls",
        "set -k; ./todo a; ls",
        "set -a; ./todo a; ls",
        "set $OPTIONS; ./todo a; ls",
        "set -o posix; ./todo a; ls",
        "ulimit -f 0; ./todo a; ls",
        "type ./todo; ./todo a",
        "f() { ./todo a; }; f",
        "diff <(./todo a) <(./todo b)",
        "eval './todo a'; ls",
        "bash -c './todo a'; ls",
        "command ./todo a; ls",
        "find . -exec ./todo a; ls",
        "./todo a 'unfinished; ls",
    ],
)
def test_scripts_that_are_left_alone(script: str) -> None:
    assert programs_to_watch(script, TODO) == []


@pytest.mark.parametrize("setting", ["set -eu", "set -euo pipefail", "set +e -o nounset", "set -- -x $a", "set a b"])
def test_settings_that_change_no_trace(setting: str) -> None:
    assert programs_to_watch(f"{setting}; ./todo a; ls", TODO) == ["./todo"]


def test_a_script_that_is_nested_deeply__is_read_once_a_level() -> None:
    script = "echo " + '"$(./todo a ' * 30 + ')"' * 30 + "; ls"
    assert programs_to_watch(script, TODO) == ["./todo"]
    assert [use.exit_code for use in uses_of(script, TODO, 0)] == [None] * 30


@dataclass(frozen=True)
class Forged(FolderPlace):
    """A place in which the notes behind the first line are what somebody else wrote."""

    notes: bytes | None = None

    def read_file(self, path: str) -> bytes | None:
        begin, _, _ = (super().read_file(path) or b"").partition(b"\n")
        return None if self.notes is None else begin + b"\n" + self.notes


@pytest.mark.parametrize(
    ("notes", "codes"),
    [
        (b"0 ./todo bad\n0 ./todo hello\n", [None, 3]),  # the call ended with 3: so did its last command
        (b"", [None, 3]),
        (None, [None, 3]),
        (b"rubbish\n3 ./todo bad\n", [None, 3]),
        (b"9999 ./todo hello\n3 ./todo bad\n", [None, 3]),
        (b"0 rm -rf x\n3 ./todo bad\n", [None, 3]),
        (b"3 ./todo bad\n" * 100_000, [None, 3]),
        (b"1 ./todo hello \\\n3 ./todo bad\n", [1, 3]),  # cut within a word
        (b"1 ./todo \xff\x1b[31m\n3 ./todo bad\n0 ./to", [1, 3]),  # what isn't ended isn't read
    ],
)
async def test_hostile_notes__never_outweigh_what_we_saw(
    place: FolderPlace, notes: bytes | None, codes: list[int | None]
) -> None:
    forged = Forged(place.folder, place.home, notes)
    _, commands = await watched(forged, "./todo hello; ./todo bad")
    assert [code for _, code in commands] == codes


async def test_another_shell_by_its_variables__is_left_alone(place: FolderPlace) -> None:
    watch = WatchedPlace(place, TODO)
    done = await watch.run(["bash", "-c", "./todo bad; ./todo hello"], env={"POSIXLY_CORRECT": "1"})
    assert (done.stderr, done.exit_code, watch.calls) == ("todo: bad\n", 0, [])


async def test_a_file_that_is_absurdly_large__is_nothing_to_read(place: FolderPlace) -> None:
    class Full(Forged):
        def read_file(self, path: str) -> bytes | None:
            raise FileTooLargeError("the file is larger than 64 MiB")

    _, commands = await watched(Full(place.folder, place.home), "./todo hello; ./todo bad")
    assert [code for _, code in commands] == [None, 3]
