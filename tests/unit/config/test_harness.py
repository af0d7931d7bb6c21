"""What a suite may say of another harness's commands, and every mistake in it with its place and remedy."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.config.harness import HarnessSuite, needed_keys
from evalward.config.words import field_name

RUN = {"run": "inspect eval bot.py", "results": "logs/*.eval"}
RERUN = "inspect eval bot.py --log-dir {dir} --sample-id {ids} --epochs {trials}"


def told(**keys: Any) -> list[str]:
    """The mistakes as `field: message remedy`."""
    suite = {"name": "s", "kind": "k", **RUN, **keys}
    found = HarnessSuite.mistakes({key: value for key, value in suite.items() if value is not None}, ("suites", 0))
    return [f"{field_name(each.path)}: {each.message}. {each.remedy}" for each in found]


def suite(**keys: Any) -> HarnessSuite:
    return HarnessSuite.model_validate(
        {"name": "s", "kind": "k", "cases": "c", "targets": ["t"], "results": "r.json", **keys}
    )


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"rerun": RERUN, "env": ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_REGION"]},
        {"run": ["pytest", "--junitxml=r.xml"], "rerun": ["pytest", "--junitxml={dir}/r.xml", "{id}"]},
        {"run": "eval --out {dir}", "results": ["{dir}/*.json"]},
        {"run": "a | b", "shell": True, "rerun": 'a --into "{dir}" --only {ids}'},
        {"run": None, "rerun": RERUN, "env": ["KEY"], "run_timeout_s": 5},
        {"run": None},
        {"run": 5, "rerun": [1], "env": {"a": 1}, "results": 7},  # of other shapes, which others tell
    ],
)
def test_what_fits(keys: dict[str, Any]) -> None:
    assert told(**keys) == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"run": "eval 'a"}, "suites[0].run: can't be split into words: no closing quotation. Close the quotes"),
        ({"run": " "}, "suites[0].run: names no program"),
        ({"run": "eval {ids}"}, "suites[0].run: {ids} is only for rerun"),
        (
            {"run": "eval {dirs}"},
            "suites[0].run: {dirs} is not a placeholder. Did you mean dir? Placeholders here: {dir}, {trials}.",
        ),
        ({"rerun": "eval {dir} {trial}"}, "suites[0].rerun: {trial} is not a placeholder. Did you mean trials?"),
        ({"run": ["{dir}/eval"]}, "suites[0].run: a placeholder can't be the program"),
        ({"rerun": "eval {ids}"}, "suites[0].rerun: has no {dir}, so its results would be mixed"),
        ({"rerun": "eval {ids} {id} {dir}"}, "suites[0].rerun: has {ids} and {id}"),
        ({"rerun": "eval {ids} '{dir}'", "shell": True}, "a shell replaces nothing in single quotes, so {dir}"),
        (
            {"rerun": "bash -c 'cd x && eval {ids}' {dir}"},
            "suites[0].rerun: a shell would read an id in place of {ids}",
        ),
        ({"run": ["a", "b"], "shell": True}, "suites[0].run: a shell takes one text"),
        ({"results": "{dir}/*.json"}, "suites[0].results: {dir} is the folder of a run, but run doesn't use it"),
        ({"run": "a {dir}", "results": ["x/{dir}/y"]}, 'suites[0].results[0]: "x/{dir}/y" has {dir} in its middle'),
        ({"env": ["ANTHROPIC_API_KEY=x"]}, "suites[0].env[0]: must be the name of a variable; this looks like a value"),
        ({"env": ["ghp_" + "a" * 36]}, "suites[0].env[0]: must be the name of a variable"),
        ({"env": "sk-ant-secret"}, "suites[0].env: must be the name of a variable"),
        ({"env": ["ACTIONS_RUNTIME_TOKEN"]}, "suites[0].env[0]: ACTIONS_RUNTIME_TOKEN belongs to the workflow"),
        ({"env": ["INPUT_TOKEN"]}, "INPUT_TOKEN belongs to the workflow"),
        ({"env": ["EVALWARD_HOSTS"]}, "EVALWARD_HOSTS belongs to the workflow or to Evalward"),
        ({"env": ["RUNNER_TEMP"]}, "RUNNER_TEMP belongs to the workflow"),
        ({"env": ["GITHUB_ENV"]}, "GITHUB_ENV belongs to the workflow"),
        ({"env": ["github_output"]}, "github_output belongs to the workflow"),
        ({"run": None, "env": ["A"]}, "suites[0].env: is for commands, but the suite has no run and no rerun"),
        ({"run": None, "shell": True}, "suites[0].shell: is for commands"),
    ],
)
def test_a_mistake_is_told_with_place_and_remedy(keys: dict[str, Any], expected: str) -> None:
    (found,) = told(**keys)
    assert expected in found
    assert not found.endswith(". ")


def test_what_may_be_a_key_is_not_repeated() -> None:
    (found,) = told(env=["sk-ant-" + "x" * 30])
    assert "sk-ant" not in found


def test_keys_are_needed_where_there_is_a_command__and_harmless_variables_are_none() -> None:
    assert needed_keys(suite(run="x", env=["A_KEY", "HTTP_PROXY"])) == ["A_KEY"]
    assert needed_keys(suite()) == []
    assert suite(run="x", env=["A_KEY", "HTTP_PROXY"]).key_names == {"A_KEY"}


def test_commands_of_another_suite_replace_all_that_says_what_is_started() -> None:
    base = suite(run="good", rerun="again {dir}", env=["K"], shell=True, run_timeout_s=5, results="base.json")
    head = suite(run="evil", env=["OTHER"], results="head.json")
    got = head.with_commands_of(base)
    assert (got.run, got.rerun, got.env, got.shell, got.run_timeout_s) == ("good", "again {dir}", ["K"], True, 5)
    assert got.results == ["head.json"]
    none = head.with_commands_of(None)
    assert (none.run, none.rerun, none.env, none.shell) == (None, None, [], False)
