"""What a case's definition is over, and what a case file may say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.config import LoadedConfig
from evalward.records.problem import InputError, Place
from evalward.records.trace import ToolUse
from evalward.suites.bash.case import BashCase, BashTask, make_case
from evalward.suites.bash.load import load_cases
from evalward.suites.bash.spec import BashSuite
from evalward.suites.lines import read_lines
from support.cases import case, task, write_suite

BASE = case().definition


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "Print Hello."},
        {"prompt": "Print hello. "},
        {"system": "You are a shell."},
        {"files": {"/a": ""}},
        {"expectations": [{"check": "stdout_contains:hell"}]},
        {"expectations": [{"check": "stdout_contains:hello", "weight": 2}]},
        {"expectations": [{"check": "stdout_contains:hello"}, {"check": "exit_code:0"}]},
        {"max_turns": 9},
        {"timeout_s": 6},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_is_asked_or_how_it_is_judged_is_the_definition(change: dict[str, Any]) -> None:
    assert case(**change).definition != BASE


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"category": "other"},
        {"description": "Says hello."},
        {"solution": "printf 'hello\\n'"},
        {"solution": None},
        {"tags": ["fast"]},
        {"system": None},
        {"files": {}},
        {"expectations": [{"check": "stdout_contains:hello", "weight": 1.0}]},
        {"max_turns": 10},
        {"timeout_s": 60},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_rest_is_not(change: dict[str, Any]) -> None:
    assert case(**change).definition == BASE


def test_the_suites_limits_belong_to_it_too_and_the_tasks_own_come_first() -> None:
    assert case(max_turns=5).definition != BASE
    assert case(timeout_s=7).definition != BASE
    place = Place(file="f")
    own = BashTask.model_validate(task(max_turns=3, timeout_s=2))
    assert make_case(own, place, 10, 30).definition == make_case(own, place, 20, 60).definition
    made = make_case(own, place, 10, 30)
    assert (made.max_turns, made.timeout_s) == (3, 2)


def test_the_order_of_files_is_no_difference_and_that_of_checks_is() -> None:
    one, other = {"/a": "1", "/b": "2"}, {"/b": "2", "/a": "1"}
    assert case(files=one).definition == case(files=other).definition
    checks = [{"check": "exit_code:0"}, {"check": "stderr_empty"}]
    assert case(expectations=checks).definition != case(expectations=checks[::-1]).definition


def test_the_place_of_a_case_is_no_part_of_it() -> None:
    own = BashTask.model_validate(task())
    assert (
        make_case(own, Place(file="a", line=1), 10, 5).definition == make_case(own, Place(file="b"), 10, 5).definition
    )


def scripts(of: BashCase) -> list[Any]:
    return [block.input for message in of.reference() for block in message.content if isinstance(block, ToolUse)]


def test_the_reference_solution_is_a_call_per_script() -> None:
    assert scripts(case(solution="a")) == [{"commands": "a"}]
    assert scripts(case(solution=["a", "b"])) == [{"commands": "a"}, {"commands": "b"}]
    assert case(solution=None).reference() == case(solution=[]).reference() == []


def test_what_is_written_down_of_a_case_is_a_case_again() -> None:
    whole = case(files={"/a": "x"}, tags=["t"], max_turns=3)
    assert BashTask.model_validate(whole.written()) == whole.task
    assert "description" not in whole.written()


# --- case files -----------------------------------------------------------------------------------------------------


def problems_of(path: Path, content: str | bytes) -> list[str]:
    file = path / "cases.jsonl"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return [str(problem) for problem in read_lines(file.parent, file.name, BashTask, "cases.jsonl").problems]


MINIMAL = '{"id": "a", "category": "c", "prompt": "p", "expectations": [{"check": "stderr_empty"}]%s}'


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (', "promt": "x"', "promt: unknown key. Did you mean prompt?"),
        (', "zzz": 1', "zzz: unknown key. Known keys: id, category, "),
        (', "expectations": []', "not a JSON object: the key 'expectations' occurs in it twice"),
        (', "files": {"../a.txt": ""}', "files: the path '../a.txt' isn't a plain path of a file, such as"),
        (', "files": {"/": ""}', "files: the path '/' isn't a plain path"),
        (', "files": {"/a/": ""}', "files: the path '/a/' isn't a plain path"),
        (', "files": {"/a/../b": ""}', "files: the path '/a/../b' isn't a plain path"),
        (', "files": {"//a": ""}', "files: the path '//a' isn't a plain path"),
        (', "files": {"/a\\u0000b": ""}', "isn't a plain path"),
        (', "files": {"/a": "", "/a/b/c": ""}', "files: '/a' can't be both a file and the folder of '/a/b/c'"),
        (', "files": {"/a": 5}', "files./a: must be text, not the number 5"),
        (', "max_turns": 0', "max_turns: must be at least 1, not 0. Change the number."),
        (', "timeout_s": NaN', "not a JSON object: NaN is not JSON"),
        (', "timeout_s": 1e9', "timeout_s: must be at most 600"),
        (', "description": "\\ud800"', "not a JSON object: an escape such as \\ud83d is half a character"),
        (', "x": ' + "[" * 20_000 + "]" * 20_000, "not a JSON object: "),
    ],
)
def test_a_wrong_line_is_told_with_its_field(tmp_path: Path, more: str, message: str) -> None:
    (problem,) = problems_of(tmp_path, MINIMAL % more)
    assert problem.startswith("cases.jsonl:1: ")
    assert message in problem


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a JSON object: it ends too early (column 2)"),
        ("[1]", "not a JSON object: it is a list"),
        ("null", "not a JSON object: it is null"),
        ('"text"', 'not a JSON object: it is the text "text"'),
        ('{"id": "a"} {"id": "b"}', "not a JSON object: more follows after its end (column 13)"),
    ],
)
def test_a_line_that_is_no_object(tmp_path: Path, line: str, message: str) -> None:
    (problem,) = problems_of(tmp_path, "\n" + line)
    assert problem == f"cases.jsonl:2: {message}. Write one JSON object per line."


def test_an_expectation_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    checks = '[{"check": "exit_cod:0"}, {"chek": "stderr_empty"}, {"check": "stderr_empty", "weight": -1}]'
    found = problems_of(tmp_path, '{"id": "a", "category": "c", "prompt": "p", "expectations": %s}' % checks)  # noqa: UP031
    assert found == [
        "cases.jsonl:1: expectations[0].check: unknown check 'exit_cod'. Did you mean exit_code?",
        "cases.jsonl:1: expectations[1].check: the key is missing. Add it.",
        "cases.jsonl:1: expectations[1].chek: unknown key. Did you mean check?",
        "cases.jsonl:1: expectations[2].weight: must be at least 0, not -1. Change the number.",
    ]


def test_all_problems_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    content = "\n".join(["# a comment", '{"id": ""}', "", "  // another", "{", MINIMAL % "", MINIMAL % ', "x": 1'])
    found = problems_of(tmp_path, content)
    assert [problem.split(": ")[:2] for problem in found] == [
        ["cases.jsonl:2", "id"],
        ["cases.jsonl:2", "category"],
        ["cases.jsonl:2", "prompt"],
        ["cases.jsonl:2", "expectations"],
        ["cases.jsonl:5", "not a JSON object"],
        ["cases.jsonl:7", "x"],
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_dont_matter(tmp_path: Path, newline: str, mark: str) -> None:
    file = tmp_path / "c.jsonl"
    file.write_bytes((mark + newline.join(["# x", MINIMAL % "", "", "// y", MINIMAL % ""]) + newline).encode())
    read = read_lines(file.parent, file.name, BashTask, "c.jsonl")
    assert read.problems == []
    assert [line.place.line for line in read.lines] == [2, 5]


def test_separators_of_unicode_end_no_line(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text(MINIMAL % ', "description": "a\u2028b\u0085c"', "utf-8")
    (line,) = read_lines(file.parent, file.name, BashTask, "c.jsonl").lines
    assert line.value.description == "a\u2028b\u0085c"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'{"id": "\xff"}'])
def test_a_file_that_is_no_utf8(tmp_path: Path, content: bytes) -> None:
    (problem,) = problems_of(tmp_path, content)
    assert "cases.jsonl:1: the file is not UTF-8 text. Save it as UTF-8." in problem


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (problem,) = read_lines(tmp_path, ".", BashTask, "x").problems
    assert "can't be read" in str(problem)


@given(st.binary(max_size=120))
def test_any_bytes_are_cases_or_problems(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    file.write_bytes(content)
    read = read_lines(file.parent, file.name, BashTask, "any.jsonl")
    assert read.lines == []
    assert all(str(problem).startswith("any.jsonl") for problem in read.problems)


# --- suites ---------------------------------------------------------------------------------------------------------


def load(loaded: LoadedConfig) -> list[BashCase]:
    (spec,) = loaded.config.suites
    assert isinstance(spec, BashSuite)
    return load_cases(spec, loaded)


def refused(loaded: LoadedConfig) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(loaded)
    return [str(problem).removeprefix(str(loaded.root)) for problem in caught.value.problems]


def written(folder: Path, files: Mapping[str, str], cases: Any) -> LoadedConfig:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return write_suite(folder, [task()], cases=cases)


def test_cases_come_in_order_of_files_and_lines(tmp_path: Path) -> None:
    lines = {name: MINIMAL.replace('"a"', f'"{name}{{}}"') % "" for name in ("y", "x")}
    files = {
        f"e/{name}.jsonl": line.replace("{}", "1") + "\n" + line.replace("{}", "2") for name, line in lines.items()
    }
    loaded = written(tmp_path, files, ["e/*.jsonl", "e/x.jsonl"])
    assert [case.id for case in load(loaded)] == ["x1", "x2", "y1", "y2"]
    assert [str(case.place) for case in load(loaded)][:2] == ["e/x.jsonl:1", "e/x.jsonl:2"]


def test_ids_are_unique_in_a_suite(tmp_path: Path) -> None:
    loaded = written(tmp_path, {"e/1.jsonl": MINIMAL % "", "e/2.jsonl": "\n" + MINIMAL % ""}, "e/*.jsonl")
    assert refused(loaded) == ["e/2.jsonl:2: id: the id 'a' is already used at e/1.jsonl:1. Give it another one."]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n// and another\n"])
def test_a_file_without_a_task_is_a_mistake(tmp_path: Path, text: str) -> None:
    assert refused(written(tmp_path, {"e.jsonl": text}, "e.jsonl")) == [
        "e.jsonl: the file has no task. Add one, or remove it."
    ]


@pytest.mark.parametrize("pattern", ["nope/*.jsonl", "**x", ".", "a["])
def test_a_pattern_that_matches_nothing_is_a_mistake(tmp_path: Path, pattern: str) -> None:
    (problem,) = refused(write_suite(tmp_path, [task()], cases=["cases.jsonl", pattern]))
    assert f"suites[0].cases: no file matches {pattern!r}" in problem


def test_problems_of_all_files_come_together(tmp_path: Path) -> None:
    loaded = written(
        tmp_path, {"e/1.jsonl": "{", "e/2.jsonl": "", "e/3.jsonl": MINIMAL % ""}, ["e/*.jsonl", "no.jsonl"]
    )
    assert [problem.split(":")[0] for problem in refused(loaded)] == ["/evalward.yml", "e/1.jsonl", "e/2.jsonl"]
