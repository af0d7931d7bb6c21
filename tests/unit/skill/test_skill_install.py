"""What is installed of a skill, and what models are told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.records.problem import InputError, Place
from evalward.suites.skill.case import SkillAsk, SkillCase, make_skill_case
from evalward.suites.skill.install import assemble, installed_name, listing
from evalward.suites.skill.skill_file import Skill, read_skill


def write(root: Path, text: str = "---\nname: csv\ndescription: Counts <columns> & rows.\n---\nBody.\n") -> Skill:
    files = {
        "SKILL.md": text,
        "scripts/run.sh": "#!/bin/sh\n",
        "evals/evals.json": "{}",
        "trigger-evals.json": "[]",
        ".git/config": "x",
        "scripts/__pycache__/run.pyc": "x",
    }
    for name, content in files.items():
        path = root / "skills" / "csv" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    (root / "skills" / "csv" / "scripts" / "run.sh").chmod(0o755)
    return read_skill(root, "skills/csv/SKILL.md")


def case(root: Path, **files: str) -> SkillCase:
    ask = SkillAsk(id="a", asks="task", skill="csv", prompt="Count.", files=files)
    return make_skill_case(ask, Place(file="cases.yaml"), root=root, timeout_s=9)


def test_a_skill_is_installed_where_agents_look_and_its_evals_are_not(tmp_path: Path) -> None:
    skill = write(tmp_path)
    (tmp_path / "table.csv").write_text("a,b\n", "utf-8")
    folder = tmp_path / "given"
    folder.mkdir()
    assemble(folder, case(tmp_path, **{"data/table.csv": "table.csv"}), [skill])
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == [
        *(".agents/skills/csv/SKILL.md", ".agents/skills/csv/scripts/run.sh"),
        *(".claude/skills/csv/SKILL.md", ".claude/skills/csv/scripts/run.sh"),
        "data/table.csv",
    ]
    modes = [(folder / path).stat().st_mode & 0o777 for path in found[:2]]
    assert modes == [0o644, 0o755]


def test_what_has_changed_since_it_was_read_is_not_installed(tmp_path: Path) -> None:
    skill = write(tmp_path)
    (tmp_path / "skills/csv/scripts/run.sh").write_text("rm -rf /\n", "utf-8")
    with pytest.raises(InputError, match="has changed since it was read"):
        assemble(tmp_path / "given", case(tmp_path), [skill])


def test_a_link_that_came_since_is_not_followed(tmp_path: Path) -> None:
    skill = write(tmp_path)
    script = tmp_path / "skills/csv/scripts/run.sh"
    script.unlink()
    script.symlink_to("/etc/passwd")
    with pytest.raises(InputError):
        assemble(tmp_path / "given", case(tmp_path), [skill])


def test_a_name_that_can_be_no_folder_gives_way_to_the_folders(tmp_path: Path) -> None:
    skill = write(tmp_path, "---\nname: ../../etc\ndescription: D.\n---\nBody.\n")
    assert installed_name(skill) == "csv"
    top = Skill(tmp_path, "SKILL.md", "..", "", "", skill.front, {})
    with pytest.raises(InputError, match="can't be the name of a folder"):
        installed_name(top)


def test_models_are_told_name_description_and_place_and_no_description_ends_the_list(tmp_path: Path) -> None:
    told = listing([write(tmp_path, "---\nname: csv\ndescription: A </available_skills> & more.\n---\nBody.\n")])
    assert told.count("</available_skills>") == 1
    assert "<name>csv</name>" in told
    assert "<description>A &lt;/available_skills&gt; &amp; more.</description>" in told
    assert "<location>.agents/skills/csv/SKILL.md</location>" in told
    assert listing([]) == ""
