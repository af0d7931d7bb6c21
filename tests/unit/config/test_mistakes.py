"""Every way to break a configuration that we know: the place that is told, and the words."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from evalward.config.load import parse_config
from evalward.records.problem import InputError

GOOD = """\
version: 1
suites:
  - name: tools
    kind: bash
    cases: a.jsonl
    targets: [oracle]
"""


ORACLE = "targets: [oracle]"


class Broken(NamedTuple):
    """A way to break the file: what is put for what (or at the end), and line, field and words that are told."""

    new: str
    line: int
    field: str
    words: str
    old: str = ""

    @property
    def text(self) -> str:
        return GOOD.replace(self.old, self.new) if self.old else GOOD + self.new


def rule(text: str) -> str:
    return f"policy:\n  - {{{text}}}\n"


COMMANDS = GOOD.replace("kind: bash", "kind: command")
WITH_BASE = GOOD + "    compare_with: base\n"
REPLAYED = "recordings: {r: rec}\n"
COMPARED = [
    Broken(
        WITH_BASE.replace("[oracle]", "[oracle, replay:r]") + REPLAYED,
        6,
        "suites[0].targets[1]",
        "it isn't made of that commit's files. Put it into a separate suite",
        old=GOOD,
    ),
    Broken(
        WITH_BASE + "    sandbox: process\n", 7, "suites[0].compare_with", "both sides would use the same", old=GOOD
    ),
    Broken(GOOD + "    compare_with: head\n", 7, "suites[0].compare_with", "Known: baseline, base.", old=GOOD),
]
ALLOWED = [
    Broken(COMMANDS + "    allow: [machine.dwn]\n", 7, "suites[0].allow[0]", "Did you mean machine.down?", old=GOOD),
    Broken(COMMANDS + "    allow: [opaque.script]\n", 7, "suites[0].allow[0]", "was not examined", old=GOOD),
    Broken(COMMANDS + "    allow: machine.down\n", 7, "suites[0].allow", "Write a list: one item", old=GOOD),
]
SHAPES = [
    Broken("", 1, "version", "the key is missing. Write version: 1 at the top", old="version: 1\n"),
    Broken("version: 1\n", 1, "suites", "the key is missing. Add it: what is evaluated.", old=GOOD),
    Broken("version: 1\nsuites: []\n", 2, "suites", "is empty. Name at least one.", old=GOOD),
    Broken("suites: tools\n", 2, "suites", 'a list, not the text "tools". Write a list', old=GOOD[11:]),
    Broken(
        "- tools", 3, "suites[0]", 'a mapping of keys to values, not the text "tools". Write its keys', old=GOOD[21:]
    ),
    Broken("- name: tools", 3, "suites[0].kind", "the key is missing", old="- name: tools\n    kind: bash"),
    Broken("polcy: []\n", 7, "polcy", 'unknown key "polcy". Did you mean policy?'),
    Broken("vendors: {}\n", 7, "vendors", 'unknown key "vendors". Known keys: version, baseline, suites,'),
    Broken("providers: {openia: {}}\n", 7, "providers.openia", "Did you mean openai?"),
    Broken("providers: {openai: {url: x}}\n", 7, "providers.openai.url", 'unknown key "url"'),
    Broken("providers: {openai: {stream: 1}}\n", 7, "providers.openai.stream", "true or false, not the number 1"),
    Broken("providers: {openai: {temperature: 3}}\n", 7, "providers.openai.temperature", "must be at most 2"),
    Broken("providers: {openai: {concurrency: 0}}\n", 7, "providers.openai.concurrency", "must be at least 1"),
    Broken(
        "providers: {openai: {reasoning_effort: hihg}}\n", 7, "providers.openai.reasoning_effort", "Did you mean high?"
    ),
    Broken("providers: {openai: {prices: {m: {input: 1}}}}\n", 7, "providers.openai.prices.m.output", "is missing"),
    Broken("budget_usd: 0\n", 7, "budget_usd", "must be more than 0"),
    Broken("budget_usd: .inf\n", 7, "budget_usd", ".inf"),
    Broken("budget_tokens: 1.5\n", 7, "budget_tokens", "must be a whole number"),
    Broken("fail_on: never\n", 7, "fail_on", "Did you mean fail-on?"),
    Broken("    turns: 3\n", 7, "suites[0].turns", "Did you mean max_turns?"),
    Broken(
        "name: no", 3, "suites[0].name", '"no", which YAML reads as false. Put it in quotes: "no".', old="name: tools"
    ),
    Broken("name: 1:30", 3, "suites[0].name", 'not the number 1:30. Put it in quotes: "1:30".', old="name: tools"),
    Broken("name: 1e3", 3, "suites[0].name", 'not the number 1e3. Put it in quotes: "1e3".', old="name: tools"),
    Broken("name:", 3, "suites[0].name", "must be text and has no value", old="name: tools"),
    Broken("name: a/b", 3, "suites[0].name", 'the name "a/b" can\'t be used. Use letters, digits', old="name: tools"),
    Broken(
        "kind: speech",
        4,
        "suites[0].kind",
        'unknown value "speech". Known: bash, command, external, mcp, prompt, scenario, skill, speedup.',
        old="kind: bash",
    ),
    Broken("cases: 5", 5, "suites[0].cases", "must be a list, not the number 5", old="cases: a.jsonl"),
    Broken("cases: [a, 5]", 5, "suites[0].cases[1]", "must be text, not the number 5", old="cases: a.jsonl"),
    Broken("cases: {a: b}", 5, "suites[0].cases", "must be a list, not a mapping", old="cases: a.jsonl"),
    Broken('cases: ""', 5, "suites[0].cases", "is empty", old="cases: a.jsonl"),
    Broken("targets: []", 6, "suites[0].targets", "is empty. Name at least one.", old="targets: [oracle]"),
    Broken("    trials: 0\n", 7, "suites[0].trials", "must be at least 1, not 0"),
    Broken("    trials: 101\n", 7, "suites[0].trials", "must be at most 100, not 101"),
    Broken("    trials: yes\n", 7, "suites[0].trials", '"yes", which YAML reads as true. Write a whole number.'),
    Broken("    trials: '5'\n", 7, "suites[0].trials", 'not the text "5". Remove the quotes: 5.'),
    Broken("    trials: 1.5\n", 7, "suites[0].trials", "must be a whole number, not the number 1.5"),
    Broken("    timeout_s: .inf\n", 7, "suites[0].timeout_s", ".inf"),
    Broken("    timeout_s: .nan\n", 7, "suites[0].timeout_s", ".nan"),
    Broken("    system: [a]\n", 7, "suites[0].system", "must be text, not a list. Write one value"),
    Broken(
        "    system: {{ path }}\n", 7, "suites[0].system", "can't be a key. Put quotes around text that begins with {"
    ),
    Broken("fail-on: no\n", 7, "fail-on", "unknown value no. Known: regression, inconclusive, never."),
    Broken("fail-on: nevr\n", 7, "fail-on", 'unknown value "nevr". Did you mean never?'),
    Broken(
        "limits: {max_error_rate: 5}\n",
        7,
        "limits.max_error_rate",
        "at most 1, not 5. Write it as a share: 0.05, not 5.",
    ),
    Broken("limits: {max_error_rate: 5%}\n", 7, "limits.max_error_rate", "Write it as a share: 0.05, not 5%."),
    Broken("limits: {min_valid: .nan}\n", 7, "limits.min_valid", "not .nan"),
    Broken("waive: [old]\n", 7, "waive[0]", "Write its keys, each on a line: id, reason."),
    Broken("waive: [{id: a}]\n", 7, "waive[0].reason", "the key is missing. Add it: why it may be missing."),
    Broken("waive:\n- {id: a, reason: ''}\n", 8, "waive[0].reason", "is empty"),
    Broken("profiles:\n  on: {branches: ['']}\n", 8, "profiles.on.branches[0]", "is empty"),
    Broken("profiles: {a b: {}}\n", 7, "profiles.a b", 'the name "a b" can\'t be used'),
    Broken("profiles: {a: {version: 1}}\n", 7, "profiles.a.version", "Known keys: branches, fail-on, policy"),
    Broken("profiles: [release]\n", 7, "profiles", "must be a mapping of keys to values, not a list"),
    Broken("recordings: {a: 1}\n", 7, "recordings.a", "must be text, not the number 1"),
]

MEANINGS = [
    Broken(
        "targets: [orcle]",
        6,
        "suites[0].targets[0]",
        'unknown target "orcle". Did you mean oracle?',
        "targets: [oracle]",
    ),
    Broken(
        "targets: gemini/x",
        6,
        "suites[0].targets",
        "nop, replay:NAME, anthropic/NAME,",
        ORACLE,
    ),
    Broken("targets: openai/", 6, "suites[0].targets", "doesn't name its model. Write openai/NAME.", ORACLE),
    Broken(
        "targets: openai", 6, "suites[0].targets", 'the target "openai" doesn\'t name its model. Write openai/', ORACLE
    ),
    Broken('targets: "openai/a b"', 6, "suites[0].targets", "has a model name that can't be one", ORACLE),
    Broken(
        "targets: replay",
        6,
        "suites[0].targets",
        "Write replay:NAME with the name of a recording.",
        "targets: [oracle]",
    ),
    Broken('targets: "replay:x"', 6, "suites[0].targets", "Add it: recordings: {x: FOLDER}.", "targets: [oracle]"),
    Broken("targets: replay:NAME", 6, "suites[0].targets", 'there is no recording "NAME"', "targets: [oracle]"),
    Broken(
        "targets: [replay:hiku]\nrecordings: {haiku: a}\n",
        6,
        "suites[0].targets[0]",
        "Did you mean haiku?",
        "targets: [oracle]\n",
    ),
    Broken("targets: [nop, nop]", 6, "suites[0].targets[1]", 'the target "nop" is listed twice', "targets: [oracle]"),
    Broken("  - {name: tools, kind: bash, cases: b, targets: nop}\n", 7, "suites[1].name", 'already called "tools"'),
    Broken("baseline: /etc/passwd\n", 7, "baseline", 'the path "/etc/passwd" is absolute'),
    Broken("baseline: C:/x\n", 7, "baseline", "is absolute"),
    Broken(
        "cases: evals/../../x", 5, "suites[0].cases", "has .. in it. Write a path relative to", old="cases: a.jsonl"
    ),
    Broken("    system: ~/x\n", 7, "suites[0].system", "begins with ~"),
    Broken("    tool: a\\b\n", 7, "suites[0].tool", "has a backslash. Write / instead."),
    Broken('protect: ["a", "a\\nb"]\n', 7, "protect[1]", r'"a\nb" has a character that can'),
    Broken("recordings: {a: ../a}\n", 7, "recordings.a", "has .. in it"),
    Broken("profiles: {a: {baseline: /a}}\n", 7, "profiles.a.baseline", "is absolute"),
    Broken(rule("metric: csr, floor: 90"), 8, "policy[0].floor", "Write it as a share: 0.90, not 90."),
    Broken(rule("metric: pass_rate, goal: 94.8"), 8, "policy[0].goal", "Write it as a share: 0.948, not 94.8."),
    Broken(
        rule("metric: safety_accuracy, floor: 1000"),
        8,
        "policy[0].floor",
        "1000 is above 1. Write a number from 0 to 1.",
    ),
    Broken(rule("metric: error_rate, max_rise: 5"), 8, "policy[0].max_rise", "0.05, not 5."),
    Broken(rule("metric: csr, floor: 90%"), 8, "policy[0].floor", "Write it as a share: 0.90, not 90%."),
    Broken(rule("metric: total_turns, ceiling: .inf"), 8, "policy[0].ceiling", "must be a finite number"),
    Broken(rule("metric: total_turns, floor: .nan"), 8, "policy[0].floor", "must be a finite number"),
    Broken(rule(f"metric: total_turns, floor: 1{'0' * 299}0"), 8, "policy[0].floor", "must be a number"),
    Broken(rule("metric: csr, max_drop: -0.1"), 8, "policy[0].max_drop", "must be at least 0, not -0.1"),
    Broken(
        rule("metric: pass_rate, must_beat: without"),
        8,
        "policy[0].must_beat",
        "no suite of this rule runs pass_rate in another arm, so there is nothing to beat. Remove the key.",
    ),
    Broken(rule("metric: csr"), 8, "policy[0]", "a rule needs at least one of floor, ceiling"),
    Broken(rule("metric: csr, floor: 0.9, ceiling: 0.8"), 8, "policy[0]", "floor 0.9 is above ceiling 0.8"),
    Broken(rule("metric: csr, floor: yes"), 8, "policy[0].floor", "which YAML reads as true. Write a number."),
    Broken(
        rule("metric: csr, floor: 0.9, suite: 'cmd*'"),
        8,
        "policy[0].suite",
        'no suite matches "cmd*", so the rule would protect nothing. Suites: tools.',
    ),
    Broken(rule("metric: csr, floor: 0.9, target: nop"), 8, "policy[0].target", "protect nothing. Targets: oracle."),
    Broken(
        "profiles:\n  r:\n    policy: [{metric: csr, floor: 90}]\n", 9, "profiles.r.policy[0].floor", "0.90, not 90."
    ),
    Broken(
        "profiles:\n  r:\n    policy: [{metric: csr, floor: 1, suite: x}]\n",
        9,
        "profiles.r.policy[0].suite",
        "protect nothing",
    ),
]

PROVIDERS = [
    Broken(
        "providers: {anthropic: {temperature: 0}}\n",
        7,
        "providers.anthropic.temperature",
        "no longer has a temperature",
    ),
    Broken(
        "targets: anthropic/m\nproviders: {anthropic: {models: {m: {temperature: 1}}}}\n",
        7,
        "providers.anthropic.models.m.temperature",
        "no longer has a temperature",
        ORACLE + "\n",
    ),
    Broken(
        "providers: {anthropic: {reasoning_effort: minimal}}\n",
        7,
        "providers.anthropic.reasoning_effort",
        'no effort "minimal". Write low, medium',
    ),
    Broken(
        "providers: {openai: {base_url: llm/v1}}\n", 7, "providers.openai.base_url", '"llm/v1" is not a web address'
    ),
    Broken("providers: {openai: {base_url: 'file:///x'}}\n", 7, "providers.openai.base_url", "is not a web address"),
    Broken("providers: {openai: {base_url: 'http://h:x'}}\n", 7, "providers.openai.base_url", "is not a web address"),
    Broken("providers: {openai: {base_url: 'http://[::1'}}\n", 7, "providers.openai.base_url", "is not a web address"),
    Broken(
        "providers: {openai: {base_url: 'https://u:hunter2@h/'}}\n",
        7,
        "providers.openai.base_url",
        "a user, a password",
    ),
    Broken("providers: {openai: {base_url: 'https://h/?key=a'}}\n", 7, "providers.openai.base_url", "or a query in it"),
    Broken(
        "providers: {openai: {key_env: sk-hunter2}}\n", 7, "providers.openai.key_env", "not the name of an environment"
    ),
    Broken("providers: {openai: {key_env: $KEY}}\n", 7, "providers.openai.key_env", "like LITELLM_KEY, without $"),
    Broken(
        "providers: {openai: {headers: {Authorization: hunter2}}}\n",
        7,
        "providers.openai.headers.Authorization",
        "the header Authorization would hold a key. Put the key into an environment variable",
    ),
    Broken(
        "providers: {openai: {headers: {X-API-Key: hunter2}}}\n",
        7,
        "providers.openai.headers.X-API-Key",
        "would hold a key",
    ),
    Broken(
        "providers: {openai: {headers: {X-Auth: sk-hunter2hunter2}}}\n",
        7,
        "providers.openai.headers.X-Auth",
        "would hold a key",
    ),
    Broken(
        "providers: {openai: {headers: {X-Team: sk-hunter2hunter2}}}\n",
        7,
        "providers.openai.headers.X-Team",
        "would hold a key",
    ),
    Broken(
        "providers: {openai: {headers: {a b: c}}}\n",
        7,
        "providers.openai.headers.a b",
        "not the name of an HTTP header",
    ),
    Broken("providers: {openai: {headers: {a: é}}}\n", 7, "providers.openai.headers.a", "Use ASCII only."),
    Broken(
        "providers: {openai: {models: {m: {}}}}\n", 7, "providers.openai.models.m", 'no suite has the target "openai/m"'
    ),
    Broken(
        "targets: openai/gpt-5-mini\nproviders: {openai: {models: {gpt-5-mni: {}}}}\n",
        7,
        "providers.openai.models.gpt-5-mni",
        "Did you mean gpt-5-mini?",
        ORACLE + "\n",
    ),
]

YAML = [
    Broken("", 1, "", "the file is empty. Begin with version: 1", old=GOOD),
    Broken("# nothing\n", 1, "", "the file is empty", old=GOOD),
    Broken("- a\n", 1, "", "not a mapping of keys to values", old=GOOD),
    Broken("version: 1\n", 7, "version", "this key is already in line 1. Remove one of the two."),
    Broken("    kind: bash\n", 7, "suites[0].kind", "this key is already in line 4"),
    Broken("\tlimits: {}\n", 7, "", "a tab where YAML allows only spaces. Indent with spaces."),
    Broken(
        "cases: *.jsonl",
        5,
        "",
        'an unquoted * or & begins an alias or anchor. Quote patterns: "*".',
        old="cases: a.jsonl",
    ),
    Broken("cases: *evals", 5, "", "there is no such anchor. Quote patterns", old="cases: a.jsonl"),
    Broken("cases: @evals", 5, "", "can't begin with this character. Put quotes", old="cases: a.jsonl"),
    Broken("cases: a: b", 5, "", "put quotes around text with a colon", old="cases: a.jsonl"),
    Broken("  cases: a", 5, "", "Check the indentation", old="cases: a.jsonl"),
    Broken("protect: [a, b\nbaseline: b\n", 8, "", "is not closed, or lacks a comma"),
    Broken("baseline: 'b\n", 8, "", "a quote is opened and never closed"),
    Broken("---\nversion: 1\n", 7, "", "more than one YAML document"),
    Broken("baseline: !secret b\n", 7, "baseline", 'the tag "!secret" is not supported'),
    Broken("protect: !!python/tuple [a]\n", 7, "protect", 'the tag "!!python/tuple" is not supported'),
    Broken("baseline: \x07\n", 7, "", "the character U+0007 is not allowed in YAML"),
    Broken('baseline: "\\UFFFFFFFF"\n', 7, "", "an escape or a number is out of range"),
    Broken("limits: {<<: 5}\n", 7, "limits", "<< needs a mapping"),
    Broken("? [a]\n: b\n", 7, "", "a list or mapping can't be a key"),
]


def test_the_file_that_is_broken_here_is_right() -> None:
    assert parse_config(GOOD, "evalward.yml", Path("/repo")).config.suites[0].name == "tools"


@pytest.mark.parametrize(
    "broken", SHAPES + ALLOWED + COMPARED + MEANINGS + PROVIDERS + YAML, ids=lambda broken: broken.words[:50]
)
def test_a_broken_config_is_told_with_place_and_remedy(broken: Broken) -> None:
    assert broken.text != GOOD
    with pytest.raises(InputError) as caught:
        parse_config(broken.text, "evalward.yml", Path("/repo"))
    found = caught.value.problems
    told = [str(p) for p in found if (p.place.line, p.field) == (broken.line, broken.field) and broken.words in str(p)]
    assert told, f"expected {broken.line} {broken.field!r} {broken.words!r} in:\n{caught.value}"
    assert all("\n" not in str(problem) and len(str(problem)) < 300 for problem in found)
    assert all(problem.remedy for problem in found)
    assert "hunter2" not in str(caught.value)


def test_hostile_values_are_shortened_and_escaped() -> None:
    text = GOOD.replace("tools", '"\\e[31m\\u202e\\r\\n' + "x" * 500 + '"')
    with pytest.raises(InputError) as caught:
        parse_config(text, "evalward.yml", Path("/repo"))
    (problem,) = caught.value.problems
    assert str(problem).isprintable()
    assert r"\x1b[31m\u202e\r\n" in str(problem)
    assert len(str(problem)) < 250


def test_a_broken_suite_does_not_accuse_the_rules_that_mean_it() -> None:
    text = GOOD.replace("name: tools", "nam: tools") + rule("metric: csr, floor: 0.9, suite: tools")
    with pytest.raises(InputError) as caught:
        parse_config(text, "evalward.yml", Path("/repo"))
    assert [problem.field for problem in caught.value.problems] == ["suites[0].nam", "suites[0].name"]


@pytest.mark.parametrize("metric", ["total_turns", "iteration_ratio", "mean_speedup", "judge_score", "cost_usd"])
def test_metrics_that_are_no_share_may_be_above_1(metric: str) -> None:
    loaded = parse_config(GOOD + rule(f"metric: {metric}, ceiling: 90"), "evalward.yml", Path("/repo"))
    assert loaded.config.policy[0].ceiling == 90
