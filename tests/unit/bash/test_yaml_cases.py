"""Bash cases in YAML: the same cases as in JSONL, every message with the line of what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalward.config import LoadedConfig
from evalward.records.problem import InputError
from evalward.suites.bash.case import BashCase, BashTask
from evalward.suites.bash.load import load_cases
from evalward.suites.bash.named_files import files_named
from evalward.suites.bash.spec import BashSuite
from evalward.suites.lines import parse_list
from support.cases import task, write_suite

WRITTEN = """\
# what a person writes
- id: count_errors
  category: text
  prompt: >-
    How many lines of /var/log/app.log
    contain ERROR? Print only the number.
  files:
    /var/log/app.log: |
      INFO a
      ERROR b
      ERROR c
  expectations:
    - check: "stdout_regex:(?m)^2$"
      weight: 2
    - {check: "exit_code:0"}
  solution: |
    # two lines, readable
    grep -c ERROR /var/log/app.log
- {id: hello, category: text, prompt: Print hello., expectations: [{check: "stdout_contains:hello"}],
   solution: [echo hello]}
"""
SAME: list[dict[str, Any]] = [
    {
        "id": "count_errors",
        "category": "text",
        "prompt": "How many lines of /var/log/app.log contain ERROR? Print only the number.",
        "files": {"/var/log/app.log": "INFO a\nERROR b\nERROR c\n"},
        "expectations": [{"check": "stdout_regex:(?m)^2$", "weight": 2.0}, {"check": "exit_code:0"}],
        "solution": "# two lines, readable\ngrep -c ERROR /var/log/app.log\n",
    },
    {
        "id": "hello",
        "category": "text",
        "prompt": "Print hello.",
        "expectations": [{"check": "stdout_contains:hello"}],
        "solution": ["echo hello"],
    },
]


def suite(folder: Path, text: str, name: str = "cases.yaml") -> LoadedConfig:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return write_suite(folder, [task()], cases=name)


def load(loaded: LoadedConfig) -> list[BashCase]:
    (spec,) = loaded.config.suites
    assert isinstance(spec, BashSuite)
    return load_cases(spec, loaded)


def refused(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(suite(folder, text))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("name", ["cases.yaml", "cases.yml", "CASES.YML"])
def test_a_case_is_the_same_in_yaml_and_in_jsonl(tmp_path: Path, name: str) -> None:
    in_yaml = load(suite(tmp_path / "y", WRITTEN, name))
    in_jsonl = load(suite(tmp_path / "j", "".join(json.dumps(each) + "\n" for each in SAME), "c.jsonl"))
    assert [each.definition for each in in_yaml] == [each.definition for each in in_jsonl]
    assert [each.task for each in in_yaml] == [each.task for each in in_jsonl]
    assert [str(each.place) for each in in_yaml] == [f"{name}:2", f"{name}:19"]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30)


@given(prompt=TEXTS, content=TEXTS, weight=st.floats(0, 1e6))
def test_whatever_is_written_has_one_definition(
    tmp_path_factory: pytest.TempPathFactory, prompt: str, content: str, weight: float
) -> None:
    whole = task(prompt=prompt, files={"/a": content}, expectations=[{"check": "exit_code:0", "weight": weight}])
    folder = tmp_path_factory.getbasetemp() / "both"
    (one,) = load(suite(folder, yaml.safe_dump([whole], allow_unicode=False)))
    (other,) = load(suite(folder, json.dumps(whole), "c.jsonl"))
    assert one.definition == other.definition


def test_both_stand_side_by_side_in_one_suite(tmp_path: Path) -> None:
    (tmp_path / "more.yml").write_text(WRITTEN, "utf-8")
    loaded = write_suite(tmp_path, [task(id="first")], cases=["cases.jsonl", "*.yml"])
    (spec,) = loaded.config.suites
    assert isinstance(spec, BashSuite)
    # the config itself is evalward.yml: a pattern that takes it in says so in the words for a file of cases
    with pytest.raises(InputError, match="the file is not a list of cases"):
        load_cases(spec, loaded)
    loaded = write_suite(tmp_path, [task(id="first")], cases=["cases.jsonl", "m*.yml"])
    assert [each.id for each in load(loaded)] == ["first", "count_errors", "hello"]


MINIMAL = """\
- id: a
  category: c
  prompt: p
  expectations:
    - check: stderr_empty
"""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("  promt: x", "cases.yaml:6: promt: unknown key. Did you mean prompt?"),
        ("  prompt: x", "cases.yaml:6: this key is already in line 3. Remove one of the two."),
        ("    - check: exit_cod:0", "cases.yaml:6: expectations[1].check: unknown check 'exit_cod'."),
        ("    - {check: 'exit_code:0',\n       wieght: 2}", "cases.yaml:7: expectations[1].wieght: unknown key."),
        ("    - weight: 2", "cases.yaml:6: expectations[1].check: the key is missing. Add it."),
        ("  system: yes", 'cases.yaml:6: system: must be text, and YAML reads "yes" as true. Put quotes around it.'),
        ("  files: {/a: 007}", 'cases.yaml:6: files./a: must be text, and YAML reads "007" as a number. Put quotes'),
        ("  description: ~", 'cases.yaml:6: description: must be text, and YAML reads "~" as null. Put quotes'),
        ("  files:\n    /a: x\n    ../b: y", "cases.yaml:6: files: the path '../b' isn't a plain path"),
        ("  timeout_s: .nan", "cases.yaml:6: timeout_s: "),
        ("  tags: !!python/name:os.system x", "cases.yaml:6: the tag "),
        ("  tags: *nothing", "cases.yaml:6: an unquoted * begins an alias, and there is no such anchor"),
        ("\ttags: [x]", "a tab where YAML allows only spaces"),
        ("- just text", "cases.yaml:6: the case is not a mapping. Write its keys below the dash: - id: …"),
        ("---\n- id: b", "the file holds more than one YAML document"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, more: str, message: str) -> None:
    assert message in refused(tmp_path, MINIMAL + more + "\n")[0]


def test_all_problems_of_a_file_come_at_once(tmp_path: Path) -> None:
    found = refused(tmp_path, MINIMAL + "  x: 1\n- id: b\n  category: c\n  expectations: []\n" + MINIMAL)
    assert [problem.split(". ")[0] for problem in found][:3] == [
        "cases.yaml:6: x: unknown key",
        "cases.yaml:7: prompt: the key is missing",
        "cases.yaml:9: expectations: is empty",
    ]


def test_an_id_that_two_cases_have_is_told_at_its_line(tmp_path: Path) -> None:
    assert refused(tmp_path, MINIMAL + MINIMAL) == [
        "cases.yaml:6: id: the id 'a' is already used at cases.yaml:1. Give it another one."
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cases.yaml:1: the file is empty. Begin each case with a dash: - id: …"),
        ("cases:\n  - id: a\n", "cases.yaml:1: the file is not a list of cases. Begin each case with a dash: - id: …"),
        ("[]", "cases.yaml: the file has no task. Add one, or remove it."),
        (json.dumps(task()) + "\n" + json.dumps(task(id="b")), "cases.yaml:2: "),
    ],
)
def test_a_file_that_is_no_list_of_cases(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, text)[0].startswith(message)


def test_anchors_are_read_and_a_bomb_of_them_is_refused(tmp_path: Path) -> None:
    shared = MINIMAL.replace("expectations:", "expectations: &checks")
    second = "- id: b\n  category: c\n  prompt: p\n  expectations: *checks\n"
    one, other = load(suite(tmp_path, shared + second))
    assert one.definition == other.definition
    bomb = "- &a [x, x, x, x, x, x, x, x, x, x]\n"
    for old, new in zip("abcdefg", "bcdefgh", strict=True):
        bomb += f"- &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    assert "more than 100,000 values, aliases expanded" in refused(tmp_path, bomb)[0]


def test_a_file_is_read_within_bounds(tmp_path: Path) -> None:
    deep = refused(tmp_path, "- " * 60 + "x")
    assert "nested more than 50 levels deep" in deep[0]
    large = refused(tmp_path, MINIMAL + "  description: " + "x" * 5_000_000 + "\n")
    assert large == ["cases.yaml:1: the file is larger than 5 MB. Split it into several."]
    assert len(refused(tmp_path, "- {}\n" * 2_000)) < 2_000


@given(st.text(max_size=120))
def test_any_text_is_cases_or_problems(text: str) -> None:
    read = parse_list(text, "any.yaml", BashTask)
    assert read.lines == []
    assert read.problems
    assert all(str(problem).startswith("any.yaml") for problem in read.problems)


@pytest.mark.parametrize("name", ["c.yaml", "c.jsonl"])
def test_the_graders_that_a_file_names_are_found_in_both(name: str) -> None:
    whole = [task(expectations=[{"check": "./graders/a.py"}, {"check": "exit_code:0"}]), {"expectations": 3}, 7]
    text = yaml.safe_dump(whole) if name.endswith("yaml") else "".join(json.dumps(each) + "\n" for each in whole)
    assert files_named(name, text.encode()).graders == ["./graders/a.py"]
    assert files_named(name, b"\xff: [").graders == []


def test_the_page_shows_one_case_in_both(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "bash-suite.md").read_text("utf-8")
    in_yaml, in_jsonl = (page.split(f"```{word}\n", 1)[1].split("```", 1)[0] for word in ("yaml", "json"))
    (one,), (other,) = load(suite(tmp_path, in_yaml)), load(suite(tmp_path, in_jsonl, "c.jsonl"))
    assert one.definition == other.definition
    assert one.task == other.task
