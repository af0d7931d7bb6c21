"""Variants: typed, checked, and realised in a copy of the fixture without changing what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.records.problem import InputError
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.judged import guidance_of
from evalward.suites.scenario.load import Defaults, load_scenarios
from evalward.suites.scenario.variants import Guidance, load_variant, with_guidance
from support.scenarios import TEXT, write_scenario

DEFAULTS = Defaults(timeout_s=300)
SKILL = ".claude/skills/todo/SKILL.md"


def loaded(root: Path, variants: str) -> ScenarioCase:
    (root / "v2.md").write_text("Write ./todo add NAME.\n", "utf-8")
    (root / "system.md").write_text("  You are careful.\n", "utf-8")
    return load_scenarios([write_scenario(root, TEXT + "variants:\n" + variants)], root, DEFAULTS).cases[0]


def problems(root: Path, variants: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        loaded(root, variants)
    return [str(problem) for problem in caught.value.problems]


def test_a_variant_is_part_of_the_subject_and_not_of_the_definition(tmp_path: Path) -> None:
    plain = load_scenarios([write_scenario(tmp_path)], tmp_path, DEFAULTS).cases[0]
    case = loaded(tmp_path, f"  v2: {{files: {{AGENTS.md: v2.md, {SKILL}: null}}, system: system.md}}\n")
    assert case.definition == plain.definition
    guidance = load_variant(case, "v2")
    assert guidance == Guidance("v2", {"AGENTS.md": b"Write ./todo add NAME.\n", SKILL: None}, "You are careful.")
    assert load_variant(case, "v3") is None


def test_it_is_realised_in_a_copy(tmp_path: Path) -> None:
    case = loaded(tmp_path, f"  v2: {{files: {{AGENTS.md: v2.md, {SKILL}: null, CLAUDE.md: v2.md}}}}\n")
    guidance = load_variant(case, "v2")
    assert guidance is not None
    made = with_guidance(case, guidance, tmp_path / "copy")
    assert made.definition == case.definition
    assert set(made.guidance) == {"AGENTS.md", "CLAUDE.md"}
    assert made.guidance["AGENTS.md"] != case.guidance["AGENTS.md"]
    assert (made.variant, made.system) == ("v2", None)
    assert guidance_of(made) == "AGENTS.md:\nWrite ./todo add NAME.\n\n\nCLAUDE.md:\nWrite ./todo add NAME.\n"
    assert (made.fixture / "todo").stat().st_mode & 0o100
    assert (case.fixture / "AGENTS.md").read_text("utf-8") == "Use ./todo.\n"
    assert (case.fixture / SKILL).exists()


def test_no_link_of_the_fixture_leads_the_writing_out_of_the_copy(tmp_path: Path) -> None:
    case = loaded(tmp_path, "  v2: {files: {AGENTS.md: v2.md}}\n")
    (case.fixture / "AGENTS.md").unlink()
    (case.fixture / "AGENTS.md").symlink_to(case.fixture / "notes" / "old.txt")
    with_guidance(case, Guidance("v", {"AGENTS.md": b"new"}), tmp_path / "one")
    assert (tmp_path / "one" / "AGENTS.md").read_bytes() == b"new"
    (case.fixture / ".agents").symlink_to(case.fixture / "notes")  # absolute: in the copy, too
    with pytest.raises(InputError, match="leads out of the fixture"):
        with_guidance(case, Guidance("v", {"AGENTS.md": b"new"}), tmp_path / "three")
    with pytest.raises(InputError, match="leads out of it"):
        with_guidance(case, Guidance("v", {".agents/x.md": b"new"}), tmp_path / "two")
    assert (case.fixture / "notes" / "old.txt").read_text("utf-8") == "old\n"
    assert not (case.fixture / "notes" / "x.md").exists()


@pytest.mark.parametrize(
    ("variants", "told"),
    [
        ("  v: {files: {AGENTS.md: gone.md}}\n", 'variants.v.files.AGENTS.md: there is no file "gone.md"'),
        ("  v: {files: {notes/old.txt: v2.md}}\n", "is not guidance, so other content would make it another task"),
        ("  v: {files: {CLAUDE.md: null}}\n", 'the fixture has no "CLAUDE.md" to leave out'),
        ("  v: {files: {../AGENTS.md: v2.md}}\n", "leaves the fixture"),
        ("  v: {files: {AGENTS.md: ../../secret}}\n", "leads out of the configuration's folder"),
        ("  v: {system: gone.md}\n", 'variants.v.system: there is no file "gone.md"'),
        ("  v: {}\n", "a variant names `files` or `system`"),
        ("  v w: {system: system.md}\n", 'the name "v w" can\'t be used'),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, variants: str, told: str) -> None:
    (found,) = problems(tmp_path, variants)
    assert told in found
    assert found.startswith("add_task.yaml:")


def test_a_misspelt_key_is_told(tmp_path: Path) -> None:
    write_scenario(tmp_path, TEXT + "variants:\n  v: {system: s.md, flies: {}}\n")
    (tmp_path / "s.md").write_text("x", "utf-8")
    (warning,) = load_scenarios([tmp_path / "add_task.yaml"], tmp_path, DEFAULTS).warnings
    assert 'unknown key "flies"' in warning
