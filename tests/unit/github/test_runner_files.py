from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from evalward.github.runner_files import (
    MAX_ANNOTATION_CHARS,
    Annotation,
    Outputs,
    annotation_commands,
    append_summary,
    commands_stopped,
    give_to_owner,
    mask_commands,
    tell_in_groups,
    write_outputs,
)
from evalward.writing import Folder


def read_outputs(text: str) -> dict[str, str]:
    """As the runner reads them."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    while lines and lines[0]:
        name, mark = lines.pop(0).split("<<")
        end = lines.index(mark)
        found[name] = "\n".join(lines[:end])
        lines = lines[end + 1 :]
    return found


def test_outputs__are_named_as_in_the_workflow() -> None:
    values = Outputs(verdict="pass", exit_code=0, csr=0.9456521739130435, regressions=0).values()

    assert values["exit-code"] == "0"
    assert values["csr"] == "0.9456521739130435"
    assert values["regressions"] == "0"
    assert values["safety-accuracy"] == ""


def test_write_outputs__appends_what_the_runner_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_text("earlier<<E\n1\nE\n")
    values = {"verdict": "pass", "empty": "", "text": "a=b\nverdict=fail\nx<<EOF\n", "surrogate": "\ud800"}

    write_outputs(path, values)

    assert read_outputs(path.read_text("utf-8")) == {"earlier": "1", **values, "surrogate": "\ufffd"}


def test_write_outputs__delimiter_is_no_line_of_the_value(tmp_path: Path) -> None:
    path = tmp_path / "output"
    marks = iter(["taken", "free"])

    write_outputs(path, {"name": "a\ntaken\nverdict=pass"}, lambda: next(marks))

    assert path.read_text() == "name<<free\na\ntaken\nverdict=pass\nfree\n"


def test_write_outputs__delimiters_differ(tmp_path: Path) -> None:
    path = tmp_path / "output"
    write_outputs(path, {"a": "1", "b": "2"})

    marks = re.findall(r"<<(.+)", path.read_text())
    assert len(set(marks)) == 2
    assert all(len(mark) > 30 for mark in marks)


def test_append_summary__appends(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_text("earlier\n")

    append_summary(path, "später\n")

    assert path.read_text("utf-8") == "earlier\nspäter\n"


@pytest.mark.parametrize("earlier", [0, 700_000, 999_990, 1_000_000, 1_200_000])
@pytest.mark.parametrize("letter", ["x", "é", "💥", "💥" * 40 + "\n"])
def test_append_summary__stays_within_the_limit(tmp_path: Path, earlier: int, letter: str) -> None:
    path = tmp_path / "summary"
    path.write_bytes(b"e" * earlier)

    append_summary(path, letter * (2_000_000 // len(letter.encode())))

    data = path.read_bytes()
    data.decode("utf-8")
    assert len(data) <= max(1_000_000, earlier)
    if earlier <= 700_000:
        assert len(data) > 999_500
        assert "job summary is full" in data[-200:].decode("utf-8", "ignore")


def test_annotation__escapes_what_ends_a_command() -> None:
    command = Annotation("error", "50% worse\n::warning::x", file="a,b:c.yml", line=3, title="t\r\nu").command()

    assert command == "::error file=a%2Cb%3Ac.yml,line=3,title=t%0Au::50%25 worse%0A::warning::x"


def test_annotation__without_a_place() -> None:
    assert Annotation("notice", "hello").command() == "::notice::hello"


def test_annotation__long_message() -> None:
    assert len(Annotation("error", "x" * 10_000).command()) == MAX_ANNOTATION_CHARS + len("::error::")


def test_annotation_commands__ten_of_each_level() -> None:
    errors = [Annotation("error", f"e{number}") for number in range(12)]
    warnings = [Annotation("warning", f"w{number}") for number in range(10)]

    commands = annotation_commands([*errors, *warnings])

    assert len([command for command in commands if command.startswith("::error")]) == 10
    assert commands[9] == "::error::3 more are in the job summary."
    assert commands[-1] == "::warning::w9"


def test_mask_commands__line_by_line() -> None:
    assert mask_commands("first 5%\n\nsecond\r\n") == ["::add-mask::first 5%25", "::add-mask::second"]
    assert mask_commands("") == []


def test_commands_stopped__resumes_after_an_error() -> None:
    lines: list[str] = []

    with pytest.raises(ValueError, match="not in list"), commands_stopped(lines.append):
        lines.remove("::error::from a model")

    stop, resume = lines
    token = stop.removeprefix("::stop-commands::")
    assert len(token) > 30
    assert resume == f"::{token}::"


def test_groups_fold_and_whatever_else_stands_in_the_log_is_no_command() -> None:
    lines: list[str] = []
    tell_in_groups("verdict\n\n::group::one\ntable\n ::error::x\n::endgroup::\n\nverdict\n", lines.append)
    stops = [line for line in lines if line.startswith("::stop-commands::")]
    shown = [line for line in lines if not re.fullmatch(r"::(stop-commands::)?evalward-.*", line)]
    assert (len(stops), shown) == (3, ["verdict", "::group::one", "table\n ::error::x", "::endgroup::", "verdict"])
    opened = False
    for line in lines:
        opened = line in stops or (opened and not line.startswith("::evalward-"))
        assert opened or line.startswith("::")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files to somebody else")
def test_give_to_owner__gives_all_but_what_links_lead_to(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (workspace / "out" / "trials").mkdir(parents=True)
    (workspace / "out" / "trials" / "1.json").write_text("{}")
    outside.mkdir()
    (outside / "secret").write_text("")
    (workspace / "out" / "link").symlink_to(outside)
    os.chown(workspace, 1001, 1002)

    assert give_to_owner([Folder(workspace / "out")], workspace) == []

    given = [workspace / "out", *(workspace / "out").rglob("*")]
    assert len(given) == 4
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in given} == {(1001, 1002)}
    assert {path.stat().st_uid for path in (outside, outside / "secret")} == {0}


def test_give_to_owner__needs_root(tmp_path: Path) -> None:
    assert give_to_owner([Folder(tmp_path / "missing")], tmp_path, is_root=False) == []


def test_give_to_owner__tells_what_refused(tmp_path: Path) -> None:
    assert give_to_owner([Folder(tmp_path / "missing")], tmp_path, is_root=True) == [tmp_path / "missing"]


def test_the_runners_files_are_no_links(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic links"):
        write_outputs(tmp_path / "link", {"name": "value"})
    with pytest.raises(OSError, match="symbolic links"):
        append_summary(tmp_path / "link", "text")
    assert (tmp_path / "victim").read_text() == "precious"
