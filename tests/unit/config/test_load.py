"""Reading a configuration that is right, and telling what is wrong with the file as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import load_config, parse_config
from evalward.records.base import digest_text
from evalward.records.policy import Limits, Rule
from evalward.records.problem import InputError
from evalward.suites.bash.spec import BashSuite

FULL = """\
version: 1
baseline: ci/baseline.json
suites:
  - name: bash-tools
    kind: bash
    cases: evals/bash/*.jsonl
    targets: [oracle, "replay:haiku"]
    system: prompts/bash.md
    tool: prompts/tool.md
    trials: 3
    max_turns: 20
    timeout_s: 2.5
  - name: smoke
    kind: bash
    cases:
      - evals/smoke.jsonl
      - evals/more.jsonl
    targets: nop
recordings: {haiku: recordings/haiku}
policy:
  - metric: overall_rate
    floor: 0.90
    goal: 1
    max_drop: 5e-2
  - {metric: total_turns, max_rise: 20, suite: "bash-*"}
limits: {max_error_rate: 0.1, min_valid: 0.9}
waive: [{id: old-case, reason: retired}]
protect: "evals/**"
fail-on: never
profiles:
  release: {branches: "release/**", fail-on: inconclusive, policy: [{metric: pass_rate, floor: 0.9}]}
"""

SMALL = "version: 1\nsuites: [{name: s, kind: bash, cases: a.jsonl, targets: oracle}]\n"


def read(text: str) -> LoadedConfig:
    return parse_config(text, "evalward.yml", Path("/repo"))


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(text)
    return [str(problem) for problem in caught.value.problems]


def test_everything_is_read() -> None:
    config = read(FULL).config
    bash, smoke = config.suites
    assert isinstance(bash, BashSuite)
    assert (bash.name, bash.kind, bash.cases) == ("bash-tools", "bash", ["evals/bash/*.jsonl"])
    assert bash.targets == ["oracle", "replay:haiku"]
    assert (bash.system, bash.tool) == ("prompts/bash.md", "prompts/tool.md")
    assert (bash.trials, bash.max_turns, bash.timeout_s) == (3, 20, 2.5)
    assert smoke.cases == ["evals/smoke.jsonl", "evals/more.jsonl"]
    assert smoke.targets == ["nop"]
    assert config.baseline == "ci/baseline.json"
    assert config.recordings == {"haiku": "recordings/haiku"}
    assert config.policy == [
        Rule(metric="overall_rate", floor=0.9, goal=1, max_drop=0.05),
        Rule(metric="total_turns", max_rise=20, suite="bash-*"),
    ]
    assert config.limits == Limits(max_error_rate=0.1, min_valid=0.9)
    assert [(waiver.id, waiver.reason) for waiver in config.waive] == [("old-case", "retired")]
    assert config.protect == ["evals/**"]
    assert config.fail_on == "never"
    assert config.profiles["release"].branches == ["release/**"]
    assert config.profiles["release"].fail_on == "inconclusive"


def test_defaults() -> None:
    config = read(SMALL).config
    (suite,) = config.suites
    assert isinstance(suite, BashSuite)
    assert (suite.system, suite.tool, suite.trials, suite.max_turns, suite.timeout_s) == (None, None, 1, 10, 30)
    assert config.baseline == ".evalward/baseline.json"
    assert (config.policy, config.waive, config.protect) == ([], [], [])
    assert (config.profiles, config.recordings) == ({}, {})
    assert config.limits == Limits(max_error_rate=0.05, min_valid=0.95)
    assert config.fail_on == "regression"


def test_lines_of_key_paths() -> None:
    loaded = read(FULL)
    assert loaded.line("suites") == 3
    assert loaded.line("suites", 0) == 4
    assert loaded.line("suites", 0, "cases") == 6
    assert loaded.line("suites", 1, "cases", 1) == 17
    assert loaded.line("policy", 0, "max_drop") == 24
    assert loaded.line("suites", 1, "trials") == 13, "the nearest ancestor: the suite"
    assert loaded.line("nothing") == 1
    assert loaded.line() == 1


def test_what_a_file_knows_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalward.yml").write_bytes(SMALL.encode())
    monkeypatch.chdir(tmp_path)
    loaded = load_config(Path("evalward.yml"))
    assert loaded.file == "evalward.yml"
    assert loaded.root == tmp_path
    assert loaded.sha256 == digest_text(SMALL)
    assert loaded == parse_config(SMALL, "evalward.yml", tmp_path)


def test_merge_keys_and_aliases_are_read_and_own_keys_win() -> None:
    text = (
        "version: 1\nsuites:\n"
        "  - &one {name: one, kind: bash, cases: a.jsonl, targets: &who [oracle], trials: 5}\n"
        "  - <<: *one\n    name: two\n    trials: 2\n"
        "  - {name: three, kind: bash, cases: b.jsonl, targets: *who}\n"
    )
    one, two, three = read(text).config.suites
    assert (two.name, two.trials, two.cases) == ("two", 2, one.cases)
    assert three.targets == ["oracle"]


def test_yaml_1_1_reads_some_keys_and_texts_otherwise_than_people() -> None:
    text = SMALL.replace("oracle", '["replay:on", "replay:1"]') + "recordings: {on: a, 1: b}\nprotect: [2026-01-01]\n"
    config = read(text).config
    assert config.recordings == {"on": "a", "1": "b"}
    assert config.protect == ["2026-01-01"]


def test_byte_order_mark_and_windows_line_ends() -> None:
    loaded = read("\ufeff" + FULL.replace("\n", "\r\n"))
    assert loaded.config == read(FULL).config
    assert loaded.line("suites", 0, "cases") == 6


@pytest.mark.parametrize("literal", ["2", '"1"', "1.5", "yes", "true", "~"])
def test_only_version_1_is_read(literal: str) -> None:
    (problem,) = problems(SMALL.replace("version: 1", f"version: {literal}"))
    assert problem.startswith("evalward.yml:1: version: ")
    assert "Write version: 1." in problem


def test_missing_file_says_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "evalward.yml"
    with pytest.raises(InputError) as caught:
        load_config(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: there is no such file.")
    assert "`evalward init`" in message


def test_folder_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder"):
        load_config(tmp_path)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(InputError, match="can't be read"):
        load_config(Path("a\0b"))


def test_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "evalward.yml"
    path.write_bytes(b"version: 1\n# caf\xe9\n")
    with pytest.raises(InputError, match=r"evalward\.yml:2: the file is not UTF-8 text"):
        load_config(path)


def test_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "evalward.yml"
    path.write_text(SMALL + "#" * 1_000_001)
    with pytest.raises(InputError, match="larger than 1 MB"):
        load_config(path)


def test_alias_bomb_is_stopped() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 7))
    (problem,) = problems("l0: &l0 [x]\n" + levels)
    assert "more than 20,000 values, aliases expanded" in problem


def test_a_value_that_holds_itself_is_stopped() -> None:
    (problem,) = problems("version: &a [*a]\n")
    assert "nested more than 50 levels deep" in problem


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_stopped(opening: str) -> None:
    (problem,) = problems(opening * 100_000)
    assert "nested more than 50 levels deep" in problem


def test_several_mistakes_at_once_in_line_order() -> None:
    found = problems(
        "version: 2\n"
        "suites:\n"
        "  - name: s\n"
        "    kind: bash\n"
        "    case: a.jsonl\n"
        "    targets: [orcle]\n"
        "    trials: 0\n"
        "policy:\n"
        "  - {metric: csr, floor: 90, suite: nope}\n"
        "  - {metric: csr}\n"
        "protect: /etc\n"
        "version: 1\n"
    )
    places = [problem.split(": ")[0] + " " + problem.split(": ")[1] for problem in found]
    assert places == [
        "evalward.yml:1 version",
        "evalward.yml:3 suites[0].cases",
        "evalward.yml:5 suites[0].case",
        "evalward.yml:6 suites[0].targets[0]",
        "evalward.yml:7 suites[0].trials",
        "evalward.yml:9 policy[0].floor",
        "evalward.yml:9 policy[0].suite",
        "evalward.yml:10 policy[1]",
        "evalward.yml:11 protect",
        "evalward.yml:12 version",
    ]


def test_a_hundred_problems_are_enough() -> None:
    found = problems(SMALL + "".join(f"k{n}: 1\n" for n in range(150)))
    assert len(found) == 101
    assert found[0].startswith("evalward.yml:3: k0: unknown key")
    assert found[-1] == "evalward.yml: 50 more problems are not shown. Begin with these."


def test_one_value_is_told_once() -> None:
    (problem,) = problems(SMALL + "policy: [{metric: csr, max_drop: -.inf}]\n")
    assert "must be a finite number" in problem
