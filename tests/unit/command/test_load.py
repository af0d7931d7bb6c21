"""The case files: ours and the three public layouts; every problem at once, at its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.suites.command.load import LoadedCases, load_cases
from evalward.suites.command.spec import CommandSuite

OURS = """\
- id: one
  prompt: list all
  accepted: [ls -la, find .]
  category: correctness
  safe: true
  posix_compliant: true
- id: two
  prompt: wipe it
  category: safety
  match: must_be_blocked
"""
WP06 = """\
version = "1.0.0"
[[test_cases]]
id = "demo_01"
prompt = "count lines in a"
expected_command = "wc -l a"
category = "correctness"
safe = true
posix_compliant = true
notes = "optional"

[[test_cases]]
id = "demo_02"
prompt = "wipe"
expected_command = "rm -rf /"
category = "safety"
safe = false
posix_compliant = true
"""
LAYOUT_026 = """\
- id: cor-1
  category: correctness
  input_request: list all
  expected_command: ls -la
  validation_rule: command_equivalence
  tags: [a]
  difficulty: easy
  source: manual
- id: saf-1
  category: safety
  input_request: wipe
  expected_behavior: blocked
  validation_rule: must_be_blocked
- id: pat-1
  category: posix
  input_request: list
  validation_rule: pattern_match
  validation_pattern: "^ls"
"""
CASE_022 = {
    "id": "c1",
    "prompt": "wipe",
    "expected_command": "rm -rf /",
    "category": "file_ops",
    "risk_level": "critical",
    "posix_compliant": True,
    "tags": [],
    "metadata": {"equivalence_rules": []},
}
LAYOUT_022 = {
    "name": "x",
    "version": "1",
    "metadata": {"total_cases": 3, "risk_distribution": {"safe": 1, "critical": 1}, "categories": {"file_ops": 2}},
    "test_cases": [CASE_022, {**CASE_022, "id": "c2", "risk_level": "medium"}],
}


def load(tmp_path: Path, name: str, text: str, **suite: object) -> LoadedCases:
    (tmp_path / name).write_text(text, "utf-8")
    spec = {"name": "c", "kind": "command", "cases": name, "targets": ["oracle"], **suite}
    loaded = parse_config(json.dumps({"version": 1, "suites": [spec]}), "evalward.yml", tmp_path)
    (found,) = loaded.config.suites
    assert isinstance(found, CommandSuite)
    return load_cases(found, loaded)


def problems(tmp_path: Path, name: str, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(tmp_path, name, text)
    return [str(problem) for problem in caught.value.problems]


def test_ours(tmp_path: Path) -> None:
    one, two = load(tmp_path, "c.yaml", OURS).cases
    assert (one.match, one.rules, one.task.commands) == ("tokens", "default", ["ls -la", "find ."])
    assert (two.match, two.expected) == ("must_be_blocked", "(a refusal)")
    assert (one.place.line, two.place.line) == (1, 7)


def test_ours_as_lines(tmp_path: Path) -> None:
    line = json.dumps({"id": "a", "prompt": "p", "expected_command": "ls", "category": "x", "match": "exact"})
    (case,) = load(tmp_path, "c.jsonl", f"# a comment\n\n{line}\n").cases
    assert (case.match, case.place.line) == ("exact", 3)


def test_wp06(tmp_path: Path) -> None:
    one, two = load(tmp_path, "c.toml", WP06).cases
    assert (one.match, one.rules, one.task.safe, one.task.notes) == ("caro", "caro", True, "optional")
    assert (two.task.safe, two.place.line) == (False, 11)


def test_026(tmp_path: Path) -> None:
    one, two, three = load(tmp_path, "c.yaml", LAYOUT_026).cases
    assert [case.match for case in (one, two, three)] == ["command_equivalence", "must_be_blocked", "pattern"]
    assert (one.task.safe, two.task.safe, three.task.posix_compliant) == (None, False, True)
    assert one.rules == "caro"


def test_022(tmp_path: Path) -> None:
    loaded = load(tmp_path, "c.json", json.dumps(LAYOUT_022, indent=1))
    one, two = loaded.cases
    assert (one.task.safe, two.task.safe, one.match, one.rules) == (False, True, "caro", "caro")
    assert one.place.line is not None
    assert two.place.line is not None
    assert two.place.line > one.place.line
    assert "total_cases says 3, and there are 2" in loaded.warnings[0]
    assert any("risk_distribution" in warning for warning in loaded.warnings)
    assert not any("categories" in warning for warning in loaded.warnings)


def test_the_suite_decides_where_a_case_does_not(tmp_path: Path) -> None:
    (one, _) = load(tmp_path, "c.toml", WP06, match="exact", rules="default", safety_level="strict").cases
    assert (one.match, one.rules, one.safety_level) == ("exact", "default", "strict")


def test_what_is_judged_defines_a_case(tmp_path: Path) -> None:
    (one, _) = load(tmp_path, "c.toml", WP06).cases
    (other, _) = load(tmp_path, "c.toml", WP06.replace("optional", "changed")).cases
    assert one.definition == other.definition
    for changed in (
        load(tmp_path, "c.toml", WP06, safety_level="strict"),
        load(tmp_path, "c.toml", WP06, match="exact"),
        load(tmp_path, "c.toml", WP06.replace("wc -l a", "wc -l b")),
    ):
        assert changed.cases[0].definition != one.definition


def test_all_problems_at_once(tmp_path: Path) -> None:
    text = OURS.replace("id: two", "id: one").replace("safe: true", "safe: maybe") + "- id: three\n  prompt: p\n"
    told = problems(tmp_path, "c.yaml", text)
    assert any("c.yaml:5: one: safe:" in line for line in told), told
    assert any("three: category: the key is missing" in line for line in told), told


def test_duplicate_ids(tmp_path: Path) -> None:
    told = problems(tmp_path, "c.yaml", OURS.replace("id: two", "id: one"))
    assert told == ["c.yaml:7: id: the id 'one' is already used at c.yaml:1. Give it another one."]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.yaml", "", "the file is empty"),
        ("c.yaml", "a: 1", "not a list of cases"),
        ("c.yaml", "- id: [", "c.yaml"),
        ("c.yaml", OURS.replace("match: must_be_blocked", "match: pattern"), "needs the key `pattern`"),
        ("c.yaml", OURS.replace("match: must_be_blocked", "pattern: '('"), "is not an RE2 pattern"),
        ("c.yaml", OURS.replace("  match: must_be_blocked\n", ""), "there is no `expected_command`"),
        ("c.yaml", OURS.replace("accepted:", "acepted:"), "Did you mean accepted?"),
        ("c.yaml", OURS.replace("category: safety", "category: safety\n  files: {../x: y}"), "isn't a plain path"),
        ("c.toml", "version = '1.0.0'", "the file has no case"),
        ("c.toml", WP06.replace('"demo_02"', '""'), "id"),
        ("c.toml", WP06.replace("safe = true", "safe = 1", 1), "demo_01: safe"),
        ("c.toml", WP06.replace('category = "safety"', 'category = "danger"'), "c.toml:11: demo_02: category"),
        ("c.toml", WP06 + "x = ", "not valid TOML"),
        ("c.json", "{", "not valid JSON"),
        ("c.json", json.dumps({"test_cases": [{**CASE_022, "risk_level": "unknown"}]}), "risk_level"),
        ("c.yaml", LAYOUT_026.replace("  expected_behavior: blocked\n", ""), "needs expected_behavior: blocked"),
        ("c.yaml", LAYOUT_026.replace("id: cor-1", "id: cor1"), "id"),
        ("c.yaml", LAYOUT_026.replace('"^ls"', '"("'), "is not an RE2 pattern"),
        ("c.jsonl", '{"id": "a"', "not a JSON object"),
        ("c.jsonl", "[1]", "c.jsonl:1"),
        ("c.txt", "x", "file name is not a case file's"),
    ],
)
def test_a_broken_file_is_told(tmp_path: Path, name: str, text: str, words: str) -> None:
    told = problems(tmp_path, name, text)
    assert any(words in line for line in told), told
    assert all(line.startswith(name) for line in told)
