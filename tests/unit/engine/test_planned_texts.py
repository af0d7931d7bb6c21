"""What the hashes in a plan's report stand for, kind by kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.engine.plan import make_plan
from evalward.engine.selection import Selection
from evalward.engine.texts import planned_texts
from evalward.records.case import ELSEWHERE, Case
from evalward.records.problem import Place
from evalward.records.texts import MOST_IN_REPORT, SYSTEM, TOOL_PROMPT, is_cut, stands_for
from support.cases import task

SPEEDUP = {
    "id": "fast",
    "prompt": "Make it faster.",
    "folder": "code",
    "tests": {"command": "true", "junit": "t.xml"},
    "benchmarks": {"command": "true", "format": "json", "output": "b.json"},
    "auto": {"functions": {"mod:f": [[1]]}},
    "oracle": "fast.patch",
}


def load(root: Path, suite: dict[str, Any], **files: str) -> LoadedConfig:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    config = {"version": 1, "suites": [{"name": "s", "targets": ["oracle"], **suite}]}
    return parse_config(json.dumps(config), "evalward.yml", root)


def texts(loaded: LoadedConfig, **selection: Any) -> tuple[dict[str, str], dict[str, str], Any]:
    """The texts, the subject's parts and the cases of the first run."""
    plan = make_plan(loaded, Selection(**selection))
    run = plan.runs[0]
    return planned_texts(plan.runs), dict(run.suite.subject), run.cases


def lines(*tasks: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in tasks)


def test_a_bash_suite_has_its_prompt_its_tool_and_each_case(tmp_path: Path) -> None:
    tool = {"description": "Run it.", "input_schema": {"type": "object", "properties": {"script": {"type": "string"}}}}
    loaded = load(
        tmp_path,
        {
            "kind": "bash",
            "cases": "c.jsonl",
            "system": "p.md",
            "tool": "t.json",
            "max_turns": 7,
            "targets": ["oracle", "nop"],
        },
        **{
            "c.jsonl": lines(task(id="one", solution="true"), task(id="two", prompt="Else.")),
            "p.md": "Be brief.\n",
            "t.json": json.dumps(tool),
        },
    )

    found, subject, cases = texts(loaded)

    assert list(found) == [subject[SYSTEM], subject[TOOL_PROMPT], *(case.definition for case in cases)]
    assert found[subject[SYSTEM]] == "Be brief."
    assert found[subject[TOOL_PROMPT]].startswith("Run it.\n\nInput schema:\n{")
    assert all(stands_for(subject[part], found[subject[part]]) for part in (SYSTEM, TOOL_PROMPT))
    case = found[cases[0].definition]
    assert case.startswith("prompt: ")
    assert case.endswith(f"{ELSEWHERE}\nmax_turns: 7\ntimeout_s: 30.0\n")


def test_a_setting_of_the_suite_is_in_the_text_of_the_cases_that_it_redefines(tmp_path: Path) -> None:
    suite = {"kind": "bash", "cases": "c.jsonl"}
    files = {"c.jsonl": lines(task(id="one", solution="true"))}
    before, _, old = texts(load(tmp_path, {**suite, "max_turns": 7}, **files))
    now, _, new = texts(load(tmp_path, {**suite, "max_turns": 8}, **files))

    assert old[0].definition != new[0].definition
    assert now[new[0].definition] == before[old[0].definition].replace("max_turns: 7", "max_turns: 8")


def test_a_command_suite_has_its_prompt_and_how_each_case_is_judged(tmp_path: Path) -> None:
    case = {"id": "one", "category": "c", "prompt": "List files.", "expected_command": "ls"}
    suite = {"kind": "command", "cases": "c.jsonl", "system": "p.md", "safety_level": "strict"}
    found, subject, cases = texts(load(tmp_path, suite, **{"c.jsonl": lines(case), "p.md": "One command."}))

    assert next(iter(found.values())) == "One command."
    assert stands_for(subject[SYSTEM], "One command.")
    assert "expected_command: ls\n" in found[cases[0].definition]
    assert "safety_level: strict\n" in found[cases[0].definition].partition(ELSEWHERE)[2]


def test_a_speedup_suite_has_fingerprints_of_what_its_tasks_name(tmp_path: Path) -> None:
    files = {
        "t.json": json.dumps(SPEEDUP),
        "code/mod.py": "def f(n):\n    return n\n",
        "fast.patch": "--- a\n",
        "p.md": "Be fast.",
    }
    found, subject, cases = texts(load(tmp_path, {"kind": "speedup", "cases": "t.json", "system": "p.md"}, **files))
    (tmp_path / "code/mod.py").write_text("def f(n):\n    return n + 0\n", "utf-8")
    again, _, changed = texts(load(tmp_path, {"kind": "speedup", "cases": "t.json", "system": "p.md"}))

    assert found[subject[SYSTEM]] == "Be fast."
    before, now = found[cases[0].definition].splitlines(), again[changed[0].definition].splitlines()
    assert [line.split(":")[0] for line, other in zip(before, now, strict=True) if line != other] == ["code"]


def test_cases_that_ask_the_same_have_one_text_without_a_name(tmp_path: Path) -> None:
    tasks = lines(task(id="one"), task(id="two", category="other"))
    found, _, cases = texts(load(tmp_path, {"kind": "bash", "cases": "c.jsonl"}, **{"c.jsonl": tasks}))

    assert len({case.definition for case in cases}) == 1
    assert not any(name in found[cases[0].definition] for name in ("one", "two", "other"))


def test_only_chosen_cases_are_written(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        {"kind": "bash", "cases": "c.jsonl"},
        **{"c.jsonl": lines(task(id="one"), task(id="two", prompt="Else."))},
    )

    found, _, cases = texts(loaded, cases=["two"])

    assert [case.id for case in cases] == ["two"]
    assert len(found) == 3


def test_a_huge_case_is_cut_and_very_many_are_left_out_from_the_first_that_has_no_room(tmp_path: Path) -> None:
    tasks = [task(id=f"n{number:03}", prompt=f"{number:04} " * 5_000) for number in range(250)]
    found, _, cases = texts(load(tmp_path, {"kind": "bash", "cases": "c.jsonl"}, **{"c.jsonl": lines(*tasks)}))

    kept = list(found)[2:]
    assert kept == [case.definition for case in cases[: len(kept)]]
    assert 150 < len(kept) < 250
    assert all(is_cut(found[key]) for key in kept)
    assert sum(len(text.encode()) for text in found.values()) <= MOST_IN_REPORT


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "\n" * 50_000])
def test_whatever_a_case_holds_its_text_can_be_written(hostile: str, tmp_path: Path) -> None:
    tasks = lines(task(id="one", prompt=f"Do {hostile} it."))
    found, _, cases = texts(load(tmp_path, {"kind": "bash", "cases": "c.jsonl"}, **{"c.jsonl": tasks}))

    assert found[cases[0].definition].encode()
    assert "\x1b" not in found[cases[0].definition]


def test_a_case_of_another_distribution_needs_to_say_nothing() -> None:
    from evalward.records.case import case_text

    place = Place(file="c.yaml")
    assert case_text(Case(id="a", category="c", definition="d", place=place)) == "{}\n"
