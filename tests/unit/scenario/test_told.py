"""The guidance of a suite as one text: each file once, read within bounds, through no link."""

from __future__ import annotations

import re
from pathlib import Path

from evalward.records.case import ELSEWHERE, case_text
from evalward.records.texts import LONGEST_TEXT, cut_text
from evalward.suites.scenario.case import ScenarioCase, subject_of
from evalward.suites.scenario.load import Defaults, load_scenarios
from evalward.suites.scenario.told import guidance_texts
from support.scenarios import TEXT, write_scenario


def case(folder: Path, name: str = "add_task", **files: str) -> ScenarioCase:
    root = folder / name
    file = write_scenario(root, TEXT.replace("name: add_task", f"name: {name}", 1))
    for path, text in files.items():
        (root / "add_task" / path).write_text(text, "utf-8")
    return load_scenarios([file], root, Defaults(timeout_s=300)).cases[0]


def only(*cases: ScenarioCase) -> str:
    (found,) = guidance_texts(cases).items()
    assert found[0] == subject_of(cases)["guidance"]
    return found[1]


def test_each_file_stands_there_once_with_who_has_it(tmp_path: Path) -> None:
    text = only(case(tmp_path, "one"), case(tmp_path, "two", **{"AGENTS.md": "Use it twice.\n"}))

    assert text == (
        "=== .claude/skills/todo/SKILL.md (one, two)\nAdd tasks with ./todo add.\n\n"
        "=== AGENTS.md (one)\nUse ./todo.\n\n=== AGENTS.md (two)\nUse it twice.\n"
    )


def test_very_many_cases_are_counted(tmp_path: Path) -> None:
    assert "=== AGENTS.md (c0, c1, c2 and 2 more)\n" in only(*(case(tmp_path, f"c{n}") for n in range(5)))


def test_without_guidance_there_is_no_text(tmp_path: Path) -> None:
    found = case(tmp_path)

    assert guidance_texts([found.model_copy(update={"guidance": {}})]) == {}
    assert guidance_texts([]) == {}


def test_a_link_is_named_and_not_followed(tmp_path: Path) -> None:
    found = case(tmp_path)
    (found.fixture / "CLAUDE.md").symlink_to("AGENTS.md")
    linked = found.model_copy(update={"guidance": {"CLAUDE.md": "l:AGENTS.md"}})

    assert only(linked) == "=== CLAUDE.md (add_task)\n(a link to AGENTS.md)\n"


def test_a_file_that_became_a_link_since_it_was_hashed_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("CANARY", "utf-8")
    found = case(tmp_path)
    (found.fixture / "AGENTS.md").unlink()
    (found.fixture / "AGENTS.md").symlink_to(tmp_path / "secret")

    assert "CANARY" not in only(found)
    assert "=== AGENTS.md (add_task)\n(it can't be read: " in only(found)


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    found = case(tmp_path)
    (found.fixture / "AGENTS.md").unlink()

    assert "=== AGENTS.md (add_task)\n(it can't be read: No such file or directory)\n" in only(found)


def test_no_more_is_read_than_is_kept(tmp_path: Path) -> None:
    cases = [case(tmp_path, f"c{n}", **{"AGENTS.md": f"{n}" * 90_000}) for n in range(4)]

    text = only(*cases)

    assert text.count("=== AGENTS.md") == 1
    assert LONGEST_TEXT < len(text) < 10 * LONGEST_TEXT
    assert len(cut_text(text)) <= LONGEST_TEXT


def test_what_is_no_text_is_no_reason_to_stop(tmp_path: Path) -> None:
    found = case(tmp_path)
    (found.fixture / "AGENTS.md").write_bytes(b"\xff\xfe\x00")

    assert "=== AGENTS.md (add_task)\n��\x00" in only(found)


def test_the_text_of_a_case_names_its_fixture_by_fingerprints_but_no_guidance(tmp_path: Path) -> None:
    before, now = case(tmp_path, "a"), case(tmp_path, "b", **{"notes/old.txt": "new\n"})

    was, is_now = (case_text(each).partition(ELSEWHERE)[2].splitlines() for each in (before, now))

    assert [line.split(":")[0].strip() for line, other in zip(was, is_now, strict=True) if line != other] == [
        "notes/old.txt"
    ]
    assert not any("AGENTS.md" in line for line in was)


def test_of_a_fixture_s_file_it_says_whether_it_can_be_run_and_of_a_link_where_it_leads(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    (tmp_path / "add_task" / "latest").symlink_to("notes/old.txt")
    (found,) = load_scenarios([file], tmp_path, Defaults(timeout_s=300)).cases

    text = case_text(found)

    assert "  latest: a link to notes/old.txt\n" in text
    assert re.search(r"^  check\.sh: sha256:[0-9a-f]{12}, executable$", text, re.MULTILINE)
    assert re.search(r"^  tidy\.sh: sha256:[0-9a-f]{12}$", text, re.MULTILINE)
    assert "add_task" not in text.replace("template_folder: add_task", "")
