"""Prompt files as they lie in repositories: what is read, what is said of the rest, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.suites.prompt.case import PromptCase
from support.prompt_files import CAPITALS, TONE, prepared

HEAD = "messages:\n  - role: user\n    content: Say {{input}}\n"
ROWS = "testData:\n  - input: a\n    expected: b\n"
SAYS = "evaluators:\n  - name: e\n    string: {contains: '{{expected}}'}\n"


def cases(root: Path, *, name: str = "capitals", **changes: Any) -> list[PromptCase]:
    return list(prepared(root, {name: {**CAPITALS, **changes}}).cases)


def told(root: Path, text: Any, **more: Any) -> list[str]:
    files = text if isinstance(text, dict) else {"one": text}
    with pytest.raises(InputError) as caught:
        prepared(root, files, **more)
    return [str(problem) for problem in caught.value.problems]


def test_each_row_is_a_case__called_by_file_and_row_or_its_own_id(tmp_path: Path) -> None:
    found = cases(tmp_path)
    assert [(case.id, case.category) for case in found] == [
        ("capitals/1", "capitals"),
        ("capitals/italy", "capitals"),
    ]
    lines = (tmp_path / "prompts/capitals.prompt.yml").read_text("utf-8").splitlines()
    rows = [number for number, line in enumerate(lines, 1) if '"input"' in line or '"id"' in line]
    assert [case.place.line for case in found] == [rows[0] - 1, rows[1] - 1]


def test_a_row_keeps_its_definition_wherever_it_stands_and_whatever_is_asked(tmp_path: Path) -> None:
    first, second = cases(tmp_path / "a")
    later = cases(
        tmp_path / "b",
        testData=[{"input": "Italy", "expected": "Rome"}, CAPITALS["testData"][0]],
        messages=[{"role": "user", "content": "Other words: {{input}}"}],
        modelParameters={"temperature": 1},
        description="new",
    )
    assert [case.definition for case in later] == [second.definition, first.definition]


@pytest.mark.parametrize(
    "changes",
    [
        {"testData": [{"input": "France", "expected": "Lyon"}]},
        {"evaluators": [{"name": "right", "string": {"contains": "{{expected}}"}}]},
        {"evaluators": [{"name": "good", "string": {"equals": "{{expected}}"}}]},
        {"evaluators": [*CAPITALS["evaluators"], TONE]},
    ],
)
def test_what_a_row_says_and_how_it_is_judged_define_the_case(tmp_path: Path, changes: Any) -> None:
    assert cases(tmp_path / "a")[0].definition != cases(tmp_path / "b", **changes)[0].definition


def test_the_model_of_a_judge_is_a_note(tmp_path: Path) -> None:
    other = {**TONE, "llm": {**TONE["llm"], "modelId": "openai/gpt-9"}}  # type: ignore[dict-item]
    before, now = (cases(tmp_path / name, evaluators=[each]) for name, each in (("a", TONE), ("b", other)))
    assert before[0].definition == now[0].definition


def test_the_prompts_are_the_subject__with_their_texts(tmp_path: Path) -> None:
    before = prepared(tmp_path / "a", {"capitals": CAPITALS})
    now = prepared(tmp_path / "b", {"capitals": {**CAPITALS, "modelParameters": {"temperature": 1.5}}})
    assert list(before.subject) == ["prompt:capitals"]
    assert before.subject != now.subject
    text = before.texts[before.subject["prompt:capitals"]]
    assert "content: What is the capital of {{input}}?" in text.replace('"', "")
    assert "temperature: 0.5" in text
    assert "temperature: 1.5" in now.texts[now.subject["prompt:capitals"]]


def test_values_are_the_texts_that_are_written(tmp_path: Path) -> None:
    row = "testData:\n  - {input: 1.50, expected: yes, n: 007, none: , list: [1, a], date: 2026-01-02}\n"
    text = HEAD + row + "evaluators:\n  - name: 5\n    string: {contains: 4.0}\n"
    (case,) = prepared(tmp_path, {"one": text}).cases
    assert case.values == {
        "input": "1.50", "expected": "yes", "n": "007", "none": "", "list": '["1", "a"]', "date": "2026-01-02",
    }  # fmt: skip
    assert case.evaluators[0].name == "5"
    assert list(case.evaluators[0].string.wanted) == [("contains", "4.0")]  # type: ignore[union-attr]


def test_the_oracle_answers_what_is_expected__where_texts_alone_are_compared(tmp_path: Path) -> None:
    assert cases(tmp_path / "a")[0].reference()[0].text == "Paris"
    assert cases(tmp_path / "b", evaluators=[TONE])[0].reference() == []
    says = [{"name": "e", "string": {"contains": "a"}}]
    assert cases(tmp_path / "c", testData=[{"input": "x"}], evaluators=says)[0].reference() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "prompts/one.prompt.yml:1: this is not valid YAML"),
        ("", "prompts/one.prompt.yml:1: this is not a prompt file"),
        ("- a", "prompts/one.prompt.yml:1: this is not a prompt file"),
        ("name: x\n" + ROWS + SAYS, "messages: the key is missing"),
        ("messages:\n  - {role: critic, content: x}\n", "one.prompt.yml:2: messages[0].role: "),
        ("messages:\n  - {role: system, content: x}\n", "no message has the role user"),
        (HEAD + ROWS + "evaluators:\n  - name: e\n", ":8: evaluators[0]: it needs one of string, llm and uses, "),
        (
            HEAD + ROWS + "evaluators:\n  - name: e\n    string: {contain: x}\n",
            ":9: evaluators[0].string.contain: unknown key. Did you mean contains?",
        ),
        (
            HEAD + ROWS + "evaluators:\n  - name: e\n    string: {}\n",
            ":9: evaluators[0].string: there is none of equals, contains, startsWith, endsWith",
        ),
        (
            HEAD + ROWS + "evaluators:\n  - name: e\n    uses: github/similarty\n",
            ":9: evaluators[0].uses: there is no evaluator 'github/similarty' here. Did you mean github/similarity?",
        ),
        (
            HEAD + "testData:\n  - word: a\n" + "evaluators:\n  - name: e\n    string: {contains: x}\n",
            ":3: messages[0].content: no row of testData has a value for the placeholder {{input}}. Its values: word.",
        ),
        (
            HEAD + ROWS + "  - input: c\n" + SAYS,
            ":7: testData[1]: the row has no `expected`, which evaluators[0].string.contains wants. Add expected: to",
        ),
        (
            HEAD + "testData:\n  - input: a\nevaluators:\n  - name: e\n    uses: github/groundedness\n",
            ":8: evaluators[0].uses: no row of testData has a value for the placeholder {{expected}}",
        ),
        (
            HEAD + ROWS + SAYS + "  - name: e\n    string: {equals: x}\n",
            ":10: evaluators[1].name: an evaluator of this",
        ),
        (
            HEAD + "testData:\n  - {id: a, input: x, expected: y}\n  - {id: a, input: z, expected: y}\n" + SAYS,
            ":6: testData[1].id: row 1 has this name already. Give each row its own `id`.",
        ),
        (
            HEAD + 'testData:\n  - {id: "a\\tb", input: x, expected: y}\n' + SAYS,
            ":5: testData[0].id: this can't name a case",
        ),
        (HEAD + "modelParameters: {maxTokens: 0}\n", ":4: modelParameters.maxTokens: "),
        (HEAD + "responseFormat: xml\n", ":4: responseFormat: "),
        (HEAD + "responseFormat: json_schema\n", ":4: responseFormat: json_schema needs the key jsonSchema"),
        (HEAD + "responseFormat: json_schema\njsonSchema: '{'\n", ":5: jsonSchema: it is not JSON: "),
        (HEAD + "responseFormat: json_schema\njsonSchema: '{}'\n", ":5: jsonSchema: it has no name or no schema"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    assert any(words in each for each in told(tmp_path, text)), told(tmp_path, text)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prompt": "No answer in it."}, "the judge wouldn't see the answer: {{completion}} stands for it"),
        ({"choices": [{"choice": "a", "score": 0}]}, "no choice has a score above 0"),
        ({"choices": [{"choice": "a", "score": 7}]}, "must be at most 1, not 7"),
        ({"choices": [{"choice": "a", "score": 0}, {"choice": "A ", "score": 1}]}, "a choice occurs twice"),
    ],
)
def test_a_judge_that_could_not_judge_is_a_mistake(tmp_path: Path, changes: Any, words: str) -> None:
    evaluator = {**TONE, "llm": {**TONE["llm"], **changes}}  # type: ignore[dict-item]
    (problem,) = told(tmp_path, {"one": {**CAPITALS, "evaluators": [evaluator]}})
    assert words in problem


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    found = told(tmp_path, {"a": "a: [", "b": {**CAPITALS, "messages": []}, "c": CAPITALS})
    assert [each.partition(":")[0] for each in found] == ["prompts/a.prompt.yml", "prompts/b.prompt.yml"]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, {"a/one": CAPITALS, "b/one": CAPITALS})
    assert problem.startswith(
        "prompts/b/one.prompt.yml: its cases would be called as those of prompts/a/one.prompt.yml"
    )


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "secret").write_text("name: secret")
    (tmp_path / "prompts/x.prompt.yml").symlink_to(tmp_path / "secret")
    assert "link" in told(tmp_path, {})[0]


def test_a_suite_without_any_row_is_refused(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, HEAD + ROWS)
    assert "evalward.yml: no prompt file of suite 'p' has rows and evaluators" in problem


def test_what_is_passed_over_is_said(tmp_path: Path) -> None:
    changes = {
        "tags": ["x"],
        "modelParameters": {"seed": 1, "stop": ["a"], "temperature": 0.5},
        "responseFormat": "json_object",
        "messages": [*CAPITALS["messages"], {"role": "System", "content": "Late."}],
    }
    files = {"a": {**CAPITALS, **changes}, "b": HEAD, "c": HEAD + ROWS}
    suite = prepared(tmp_path, files, targets=["openai/gpt-4.1", "anthropic/claude-haiku-4-5", "openai/gpt-5.5"])
    assert suite.warnings == [
        "prompts/a.prompt.yml: keys that are passed over: tags.",
        "prompts/a.prompt.yml: modelParameters that can't be sent: seed, stop.",
        "prompts/a.prompt.yml: temperature not sent to anthropic/claude-haiku-4-5, openai/gpt-5.5: the provider takes "
        "none for such models.",
        "prompts/a.prompt.yml: responseFormat: json_object can't be sent; ask for JSON in the messages.",
        "prompts/a.prompt.yml: a system message after others is sent before them.",
        "prompts/b.prompt.yml: it has no testData, so nothing of it is run.",
        "prompts/c.prompt.yml: it has no evaluators, so nothing of it is run.",
    ]
    assert {case.category for case in suite.cases} == {"a"}


def test_the_suite_has_no_system_prompt_of_its_own(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, {"one": CAPITALS}, system="s.md")
    assert "suites[0].system: a prompt file has its own system message" in problem


@pytest.mark.parametrize("target", ["program:x", "codex/m", "patch:x"])
def test_who_gives_no_answer_to_a_prompt_is_no_target(tmp_path: Path, target: str) -> None:
    assert any("suites[0].targets" in each for each in told(tmp_path, {"one": CAPITALS}, targets=[target]))


def test_a_short_text_that_names_a_long_value_often_is_refused(tmp_path: Path) -> None:
    row = {"input": "x" * 10_000, "expected": "b"}
    changed = {**CAPITALS, "messages": [{"role": "user", "content": "{{input}}" * 101}], "testData": [row]}
    message = told(tmp_path, {"one": changed})[0]
    assert "with its values, messages[0].content is longer than 1,000,000 characters. Make them shorter." in message
