"""What a configuration may say of skills, and which files of a commit a suite of them needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.runner.base_files import BaseFilesReader
from evalward.suites.skill.spec import SkillSuite
from evalward.wire.messages import BaseFile
from support.skills import PDF, suite


def read(**keys: Any) -> SkillSuite:
    text = json.dumps({"version": 1, "suites": [suite(**keys)]}, indent=1)
    spec = parse_config(text, "evalward.yml", Path("/repo")).config.suites[0]
    assert isinstance(spec, SkillSuite)
    return spec


def test_what_is_taken_where_nothing_is_said() -> None:
    spec = read()
    assert (spec.cases, spec.distractors, spec.without, spec.trials) == ([], [], True, 1)
    assert (spec.network, spec.timeout_s, spec.compare_with) == ("open", 300, "baseline")
    targets = ["claude-code/x", "codex/x", "opencode/openai/x", "openai/x", "oracle", "nop"]
    assert read(targets=targets).targets == targets


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"skills": []}, "suites[0].skills"),
        ({"skills": "/x/SKILL.md"}, 'suites[0].skills: the path "/x/SKILL.md" is absolute'),
        ({"distractors": "../x"}, 'suites[0].distractors: the path "../x" has .. in it'),
        ({"targets": ["program:x"]}, "gives one answer, and skills are for agents that work"),
        ({"targets": ["patch:x"]}, "gives no answers"),
        ({"skill": "x"}, 'unknown key "skill". Did you mean skills?'),
    ],
)
def test_mistakes_are_said_in_words(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        read(**keys)
    assert words in str(error.value)


def test_a_commits_suite_has_the_folders_of_its_skills_and_the_files_of_its_evals(tmp_path: Path) -> None:
    cases = "- {id: a, skill: pdf, prompt: x, files: {b: data/b}, checks: [{type: grader, check: ./judge.sh}]}\n"
    elsewhere = {"evals": [{"prompt": "x", "files": ["files/c.txt", "../../../etc/passwd"]}]}
    tree = {
        "skills/pdf/SKILL.md": PDF,
        "skills/pdf/scripts/run.py": "1",
        "skills/pdf/evals/evals.json": "{}",
        "others/x/SKILL.md": PDF,
        "others/x/more.md": "",
        "cases/own.yaml": cases,
        "evals/evals.json": json.dumps(elsewhere),
        "evals/files/c.txt": "",
        "data/b/deep": "",
        "judge.sh": "",
        "unrelated/SKILL.md": "",
    }

    def below(folder: str) -> list[BaseFile]:
        inner = folder if folder == "." else f"{folder}/"
        return [BaseFile(path=name) for name in tree if inner == "." or name == folder or name.startswith(inner)]

    reader = BaseFilesReader(lambda name: tree[name].encode() if name in tree else None, below)
    keys = {"cases": ["cases/*.yaml", "evals/*.json"], "distractors": "others/*/SKILL.md"}
    reader.take(read(**keys))
    reader.write(tmp_path)
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == tree.keys() - {"unrelated/SKILL.md"}


@pytest.mark.parametrize("name", ["a/SKILL.md", "a.yaml", "a.json", "a.jsonl"])
@pytest.mark.parametrize("content", [b"", b"\xff", b"{", b"- 1\n- {files: 3, checks: x}", b'[{"files": [1, null]}]'])
def test_files_that_cannot_be_read_name_none(name: str, content: bytes) -> None:
    named = SkillSuite.files_named_in(name, content)
    assert (named.files, named.graders) == ([], [])
    assert named.folders == (["a"] if name.endswith(".md") else [])
