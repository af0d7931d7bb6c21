"""Who judges: precedence, names, warnings, and what a pull request may not choose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalward.config import JudgeConfig, LoadedConfig
from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.suites.judge.who import (
    Choice,
    JudgeNeeds,
    choose,
    make_cache,
    make_judges,
    same_model,
    unchanged_in_base,
)

CLAUDE = "anthropic/claude-haiku-4-5"
KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}


def config(root: Path = Path("/nowhere"), base: dict[str, bytes] | None = None, **judge: Any) -> LoadedConfig:
    suite = {"name": "s", "kind": "bash", "cases": "c.jsonl", "targets": ["oracle"]}
    text = json.dumps({"version": 1, "suites": [suite], **({"judge": judge} if judge else {})})
    loaded = parse_config(text, "evalward.yml", root)
    return LoadedConfig(loaded.config, loaded.file, root, "", base_file=None if base is None else base.get)


ENV = {"EVALWARD_JUDGE": "openai/a", "LLM_TOOL_TEST_JUDGE": "openai/b"}
GIVEN = JudgeConfig(model="openai/c")


@pytest.mark.parametrize(
    ("own", "given", "env", "default", "chosen"),
    [
        ("openai/own", GIVEN, ENV, True, Choice("openai/own", "scenario")),
        (None, GIVEN, ENV, True, Choice("openai/a", "EVALWARD_JUDGE")),
        (None, GIVEN, {"LLM_TOOL_TEST_JUDGE": "openai/b"}, True, Choice("openai/b", "LLM_TOOL_TEST_JUDGE")),
        (None, GIVEN, {"EVALWARD_JUDGE": " "}, True, Choice("openai/c", "config")),
        (None, None, KEYS, True, Choice(CLAUDE, "default")),
        (None, None, {"OPENAI_API_KEY": "k"}, True, Choice("openai/gpt-5-mini", "default")),
        (None, None, KEYS, False, None),
        (None, JudgeConfig(), KEYS, False, Choice(CLAUDE, "default")),
        (None, None, {}, True, None),
        (
            None,
            None,
            {"LLM_TOOL_TEST_JUDGE": "gpt-4o-mini"},
            False,
            Choice("openai/gpt-4o-mini", "LLM_TOOL_TEST_JUDGE"),
        ),
        ("claude-haiku-4-5", None, {}, False, Choice(CLAUDE, "scenario")),
    ],
)
def test_the_precedence(
    own: str | None, given: JudgeConfig | None, env: dict[str, str], default: bool, chosen: Choice | None
) -> None:
    assert choose(own, given, env, default=default) == chosen


@pytest.mark.parametrize(
    ("judge", "tested", "same"),
    [
        (CLAUDE, CLAUDE, True),
        (CLAUDE, "anthropic/claude-haiku-4-5-20251001", True),
        ("openai/gpt-5", "openai-responses/gpt-5", True),
        (CLAUDE, "claude-code/claude-haiku-4-5", True),
        (CLAUDE, "opencode/anthropic/claude-haiku-4-5", True),
        ("openai/gpt-5-mini", "openai/gpt-5", False),
        (CLAUDE, "oracle", False),
        ("recorded:a.jsonl", "replay:a", False),
    ],
)
def test_the_same_model_under_another_name(judge: str, tested: str, same: bool) -> None:
    assert same_model(judge, tested) is same


def test_a_model_that_judges_itself_is_warned_about() -> None:
    judges = make_judges(JudgeNeeds(), config(model=CLAUDE), KEYS, ["oracle", CLAUDE])
    assert judges.warnings == [
        f"The judge {CLAUDE} is also tested ({CLAUDE}): a model that judges itself is biased. Choose another judge."
    ]
    assert not make_judges(JudgeNeeds(), config(model=CLAUDE), KEYS, ["openai/gpt-5"]).warnings


def test_a_missing_key_is_named() -> None:
    assert make_judges(JudgeNeeds(), config(model=CLAUDE), {}).missing_keys == {CLAUDE: "ANTHROPIC_API_KEY"}


def test_nobody_judges_where_nobody_is_named() -> None:
    judges = make_judges(JudgeNeeds(), config(), KEYS)
    assert (judges.of(), judges.all, dict(judges.subject)) == (None, [], {})


def test_cases_may_name_their_own() -> None:
    judges = make_judges(JudgeNeeds((None, "openai/gpt-5")), config(model=CLAUDE, votes=3, pass_threshold=0.5), KEYS)
    one, own = judges.of(), judges.of("openai/gpt-5")
    assert one
    assert own
    assert (one.model, own.model, one.votes, judges.threshold) == (CLAUDE, "openai/gpt-5", 3, 0.5)
    assert sorted(judges.subject) == [f"judge {CLAUDE}", "judge openai/gpt-5"]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("gemini/x", "is unknown"),
        ("openai/", "doesn't name its model"),
        ("recorded:", "names no file"),
        ("recorded:missing.jsonl", "can't be read"),
        ("recorded:../x.jsonl", "outside"),
        ("oracle", "is unknown"),
    ],
)
def test_what_is_no_judge(tmp_path: Path, model: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        make_judges(JudgeNeeds(), config(tmp_path), {"EVALWARD_JUDGE": model})


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ({"model": "gemini/x"}, 'judge.model: the judge "gemini/x" is unknown'),
        ({"model": "recorded:/etc/x"}, "is absolute"),
        ({"model": "recorded:a/../../x"}, "has .. in it"),
        ({"cache": "../x"}, "has .. in it"),
        ({"votes": 0}, "judge.votes"),
        ({"votes": 10}, "judge.votes"),
        ({"pass_threshold": 1.5}, "judge.pass_threshold"),
        ({"modell": "x"}, "Did you mean model?"),
    ],
)
def test_mistakes_in_the_config_are_told(judge: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        config(**judge)
    assert told in str(caught.value)


def test_a_bare_off_means_no_cache() -> None:
    suites = "suites: [{name: s, kind: bash, cases: c, targets: [oracle]}]"
    loaded = parse_config(f"version: 1\n{suites}\njudge: {{cache: off}}\n", "evalward.yml", Path("/nowhere"))
    assert make_cache(loaded, {}) is None


def test_settings_of_the_judges_model_are_no_mistake() -> None:
    text = {
        "version": 1,
        "suites": [{"name": "s", "kind": "bash", "cases": "c", "targets": ["oracle"]}],
        "judge": {"model": "openai/gpt-5-mini"},
        "providers": {"openai": {"models": {"gpt-5-mini": {"max_tokens": 2000}}}},
    }
    parse_config(json.dumps(text), "evalward.yml", Path("/nowhere"))


# --- a pull request chooses nothing ---------------------------------------------------------------------------------


def recording(passes: bool) -> bytes:
    score = 1.0 if passes else 0.0
    return json.dumps({"id": "one", "answers": [{"scores": {"answer": score}}]}).encode()


def test_a_recorded_judge_is_the_bases(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_bytes(recording(True))
    ours = make_judges(JudgeNeeds(), config(tmp_path, {"j.jsonl": recording(False)}, model="recorded:j.jsonl"), {})
    there = tmp_path / "there"
    there.mkdir()
    (there / "j.jsonl").write_bytes(recording(False))
    bases = make_judges(JudgeNeeds(), config(there, model="recorded:j.jsonl"), {})
    assert ours.subject == bases.subject
    assert ours.warnings == ["The judge recorded:j.jsonl is a recording: it doesn't read what it judges."]


def test_a_committed_cache_judges_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "repo"
    base = config(inside, {})
    assert make_cache(base, {}) is None
    assert make_cache(base, {"EVALWARD_JUDGE_CACHE": str(inside / "cache")}) is None
    assert make_cache(base, {"EVALWARD_JUDGE_CACHE": "cache"}) is None
    found = make_cache(base, {"EVALWARD_JUDGE_CACHE": str(outside)})
    assert found is not None
    assert found.folder == outside


def test_without_a_base_the_configs_cache_is_used(tmp_path: Path) -> None:
    found = make_cache(config(tmp_path), {})
    assert found is not None
    assert found.folder == tmp_path / ".evalward" / "judge-cache"
    assert make_cache(config(tmp_path, cache="off"), {}) is None


def test_what_the_base_has_as_it_is_here(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("a")
    assert unchanged_in_base(config(tmp_path), "s.yaml")
    assert unchanged_in_base(config(tmp_path, {"s.yaml": b"a"}), "s.yaml")
    assert not unchanged_in_base(config(tmp_path, {"s.yaml": b"b"}), "s.yaml")
    assert not unchanged_in_base(config(tmp_path, {}), "s.yaml")
    assert not unchanged_in_base(config(tmp_path, {}), "missing.yaml")
