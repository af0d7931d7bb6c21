"""Files of the base commit, asked for one by one and written to a folder of ours: bounded, and through no link."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.config import Suite
from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.runner import base_files
from evalward.runner.base_files import BaseFilesReader
from evalward.wire.messages import BaseFile

SCENARIO = """
name: fix
template_folder: fixtures/fix
target: {binary: ./tool}
task: {prompt: Do it.}
evaluation: {judge: {enabled: true, rubric: ../rubric.md, pass_threshold: 0.5}}
variants: {short: {files: {AGENTS.md: short.md}, system: short-system.md}}
"""


def suite(**changes: Any) -> Suite:
    fields = {"name": "s", "kind": "bash", "cases": ["cases.jsonl"], "targets": ["nop"], **changes}
    text = str({"version": 1, "suites": [fields]}).replace("'", '"')
    return parse_config(text, "evalward.yml", Path()).config.suites[0]


class Commit:
    """A commit's files, by path; `links` by path, and `programs` that can be run."""

    def __init__(
        self, files: Mapping[str, str], links: Mapping[str, str] | None = None, programs: tuple[str, ...] = ()
    ) -> None:
        self.files, self.links, self.programs = files, links or {}, programs
        self.asked: list[str] = []

    def read(self, path: str) -> bytes | None:
        self.asked.append(path)
        text = self.files.get(path)
        return None if text is None else text.encode()

    def listed(self, folder: str) -> list[BaseFile]:
        prefix = "" if folder == "." else f"{folder}/"
        names = [BaseFile(path=path, program=path in self.programs) for path in self.files]
        names += [BaseFile(path=path, link=target) for path, target in self.links.items()]
        return [file for file in names if file.path.startswith(prefix)]

    def take(self, folder: Path, *suites: Suite) -> list[str]:
        """What lies in the folder after these suites were asked for and written."""
        files = BaseFilesReader(self.read, self.listed)
        for each in suites:
            files.take(each)
            files.write(folder)
        found = [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
        return sorted(path.relative_to(folder).as_posix() for path in found)


def test_what_a_suite_names__and_nothing_else(tmp_path: Path) -> None:
    commit = Commit(
        {"cases.jsonl": "{}", "prompt.md": "p", "tool.md": "t", "secret.md": "s", "evals/a.jsonl": "", "evals/b.md": ""}
    )
    one = suite(cases=["cases.jsonl", "evals/*.jsonl"], system="prompt.md", tool="tool.md")
    assert commit.take(tmp_path, one) == ["cases.jsonl", "evals/a.jsonl", "prompt.md", "tool.md"]
    assert (tmp_path / "prompt.md").read_text() == "p"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.jsonl", ["a.jsonl", "d/b.jsonl", "d/e/c.jsonl"]),  # more than it means: who loads looks again
        ("**/*.jsonl", ["a.jsonl", "d/b.jsonl", "d/e/c.jsonl"]),
        ("d/**/*.jsonl", ["d/b.jsonl", "d/e/c.jsonl"]),
        ("d/e/*", ["d/e/c.jsonl"]),
        ("./d/b.jsonl", ["d/b.jsonl"]),
        ("nothing.jsonl", []),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, found: list[str]) -> None:
    commit = Commit({"a.jsonl": "", "d/b.jsonl": "", "d/e/c.jsonl": ""})
    assert commit.take(tmp_path, suite(cases=[pattern])) == found


def test_scenario_brings_its_fixture_and_what_it_names(tmp_path: Path) -> None:
    commit = Commit(
        {
            "evals/fix.yaml": SCENARIO,
            "rubric.md": "r",
            "evals/short.md": "",
            "evals/short-system.md": "",
            "evals/fixtures/fix/tool": "#!/bin/sh",
            "evals/fixtures/fix/docs/AGENTS.md": "a",
            "evals/fixtures/other/file": "",
        },
        links={"evals/fixtures/fix/here": "docs/AGENTS.md"},
        programs=("evals/fixtures/fix/tool",),
    )
    found = commit.take(tmp_path, suite(kind="scenario", cases=["evals/*.yaml"]))
    assert found == [
        "evals/fix.yaml",
        "evals/fixtures/fix/docs/AGENTS.md",
        "evals/fixtures/fix/here",
        "evals/fixtures/fix/tool",
        "evals/short-system.md",
        "evals/short.md",
        "rubric.md",
    ]
    fixture = tmp_path / "evals/fixtures/fix"
    assert (fixture / "here").readlink() == Path("docs/AGENTS.md")
    assert os.access(fixture / "tool", os.X_OK)
    assert not os.access(fixture / "docs/AGENTS.md", os.X_OK)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../out", "a/../../../out", "x\0y"])
def test_links_that_lead_out__are_not_made(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "base"
    folder.mkdir()
    commit = Commit({"evals/a.jsonl": "a"}, links={"evals/x.jsonl": target})
    assert commit.take(folder, suite(cases=["evals/*"])) == ["evals/a.jsonl"]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """What no commit can hold, a link that is a folder, too: the file lies where it says, and the link is not made."""
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "base"
    folder.mkdir()
    commit = Commit({"d/x/file": "f"}, links={"d/x": "../../outside", "d/y": "."})
    assert commit.take(folder, suite(cases=["d/**/*"])) == ["d/x/file", "d/y"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["../up.jsonl", "/abs.jsonl", "d/../../up.jsonl", ".git/config", "d/.GIT/x", "a//b"])
def test_names_that_lead_out__are_not_written(tmp_path: Path, name: str) -> None:
    commit = Commit({name: "x"})
    files = BaseFilesReader(commit.read, lambda folder: [BaseFile(path=name)])
    files.take(suite(cases=["*"]))
    files.write(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert not (tmp_path.parent / "up.jsonl").exists()


def test_too_many_files__and_too_many_bytes__are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Commit({f"d/{n}": "12345" for n in range(5)})
    monkeypatch.setattr(base_files, "MOST_FILES", 4)
    with pytest.raises(InputError, match="more than 4 files"):
        commit.take(tmp_path, suite(cases=["d/*"]))
    monkeypatch.setattr(base_files, "MOST_FILES", 5)
    monkeypatch.setattr(base_files, "MOST_BYTES", 24)
    with pytest.raises(InputError, match="more than"):
        commit.take(tmp_path, suite(cases=["d/*"]))


def test_folder_that_cant_be_listed__is_refused__a_named_file_needs_no_list(tmp_path: Path) -> None:
    commit = Commit({"cases.jsonl": "c"})
    files = BaseFilesReader(commit.read, lambda folder: None)
    files.take(suite())
    with pytest.raises(InputError, match="can't be listed"):
        files.take(suite(cases=["evals/*"]))


def test_file_is_asked_for_once(tmp_path: Path) -> None:
    commit = Commit({"cases.jsonl": "c", "prompt.md": "p"})
    commit.take(tmp_path, suite(system="prompt.md"), suite(name="t", system="prompt.md"))
    assert sorted(commit.asked) == ["cases.jsonl", "prompt.md"]


def test_what_the_commit_has_not_itself__is_refused(tmp_path: Path) -> None:
    """With a pointer in place of a tool, or without a submodule, the base would look worse than it is."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    with pytest.raises(InputError, match="is kept in Git LFS"):
        Commit({"d/tool": pointer}).take(tmp_path, suite(cases=["d/*"]))
    with pytest.raises(InputError, match="is a submodule"):
        Commit({}, links={"d/other": ""}).take(tmp_path, suite(cases=["d/*"]))
