"""Skills and evals that somebody wrote to do harm: read within bounds, and either cases or one clear message."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalward.records.problem import InputError, Problem
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.front_matter import split_front_matter
from evalward.suites.skill.skill_checks import check_skills
from evalward.suites.skill.skill_file import read_skill
from support.fuzzing.folders import write_files
from support.patience import little_work
from support.skills import EVALS, PDF, TRIGGERS, loaded, refused

SECRET = "the secret of this machine"
SECONDS = 20  # far more than any of it takes, on a machine that does ten other things
KEYS = st.sampled_from(
    (
        *("evals", "prompt", "query", "should_trigger", "should_not_trigger", "expectations", "assertions", "files"),
        *("id", "name", "eval_name", "skill_name", "expected_output", "text"),
    )
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)
ELSEWHERE = ("../../../secret", "/etc/passwd", "evals/../../../secret", "link", "evals/link", "..", ".")
BOMB = (
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]"
)


@pytest.mark.parametrize(
    "path", ["../../../secret", "/etc/passwd", "evals/../../../secret", "link", "evals/link", "..", "."]
)
def test_an_eval_takes_no_file_from_elsewhere(tmp_path: Path, path: str) -> None:
    root = tmp_path / "repository"
    write_files(tmp_path, {"secret": SECRET.encode()})
    write_files(root, {"skills/pdf/evals/x": b""})
    (root / "skills/pdf/evals/link").symlink_to(tmp_path / "secret")
    evals = [{"prompt": "a", "expectations": ["b"], "files": [path]}]
    said = refused(root, {EVALS: evals})
    assert "skills/pdf/evals/evals.json:1" in said
    assert SECRET not in said


@pytest.mark.parametrize("name", ["skills/pdf/x", "skills/pdf/evals/evals.json", "skills/pdf/evals/triggers.json"])
def test_links_pipes_and_endless_files_are_not_opened(tmp_path: Path, name: str) -> None:
    for number, make in enumerate((_link, os.mkfifo)):
        root = tmp_path / str(number)
        (root / name).parent.mkdir(parents=True)
        make(root / name)
        assert name in refused(root, {})
    root = tmp_path / "large"
    write_files(root, {name: b""})
    os.truncate(root / name, 50_000_000_000)
    assert "more than 2,000 files or 64 MiB" in (said := refused(root, {})) or "is larger than" in said


def _link(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "front",
    [
        BOMB,
        "description: " + "[" * 20_000,
        "name: !!python/object/apply:os.system [id]",
        "? [a]\n: b",
        "name: \x1b[2J\x00pdf",
        "<<: *gone",
    ],
)
def test_front_matter_that_bites(tmp_path: Path, front: str) -> None:
    write_files(tmp_path, {"pdf/SKILL.md": f"---\n{front}\n---\nx".encode()})
    with little_work(SECONDS):
        skill = read_skill(tmp_path, "pdf/SKILL.md")
        said = [str(each) for each in check_skills([skill], [], [])]
    assert skill.name == "pdf"
    assert said
    assert all(char.isprintable() for line in said for char in line)


def test_a_body_of_brackets_takes_no_time(tmp_path: Path) -> None:
    for body in ("](" * 400_000, "[" * 800_000, "`scripts/" * 80_000, "](a" * 200_000):
        write_files(tmp_path, {"pdf/SKILL.md": f"{PDF}{body}".encode()})
        with little_work(SECONDS):
            assert len(list(check_skills([read_skill(tmp_path, "pdf/SKILL.md")], [], []))) < 20


def test_what_strangers_wrote_ends_no_line_of_a_message(tmp_path: Path) -> None:
    query = "/pdf\x1b[31m\r\n::error::\u202e"
    evals = [{"query": query, "should_trigger": True}, {"query": "a", "should_trigger": "x\n\x1b"}]
    for line in refused(tmp_path, {TRIGGERS: evals}).splitlines():
        assert line.startswith("skills/pdf/evals/trigger-evals.json:1")
        assert line.isprintable()


def test_a_million_evals_are_refused(tmp_path: Path) -> None:
    assert "the file is not JSON: it has more than 200,000 values" in refused(
        tmp_path, {EVALS: "[" + "1," * 300_000 + "1]"}
    )


@given(value=JSON)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_cases_or_a_problem(tmp_path: Path, value: Any) -> None:
    found, problems = loading(tmp_path, {EVALS: json.dumps(value), TRIGGERS: json.dumps([value])})
    assert all(each.message and each.place.file.startswith("skills/pdf") for each in problems)
    assert len({case.id for case in found}) == len(found)
    assert all(case.decides and case.prompt.strip() for case in found)


def loading(root: Path, files: dict[str, str]) -> tuple[Sequence[SkillCase], Sequence[Problem]]:
    try:
        return loaded(root, files).cases, ()
    except InputError as error:
        return (), error.problems


@given(text=st.text(st.sampled_from("-:a #\n\r\t\"'[]{}&*!|>%@`\ufeff\x00é"), max_size=60))
@settings(max_examples=300)
def test_any_text_has_a_front_matter_or_none(text: str) -> None:
    for front, _ in (split_front_matter(text), split_front_matter(f"---\n{text}\n---\n")):
        assert isinstance(front.text("a"), str)
        assert not front.values or front.there
