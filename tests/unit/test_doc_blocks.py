"""What README and docs show is right: no command, configuration, case or workflow that the product refuses."""

from __future__ import annotations

import ast
import json
import shlex
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from evalward.config.load import parse_config
from evalward.records.verdict import Reason
from evalward.suites.across import unfed_rules
from evalward.suites.judge.rubric import read_rubric
from evalward.suites.skill.foreign_evals import Naming, read_foreign
from evalward.targets.agents.scripted import ScriptStep
from support.doc_blocks import OTHERS, PAGES, ROOT, Block, Form, blocks, commands, in_text, options_unknown, parsed

SCHEMAS = ROOT / "src" / "evalward" / "schemas"
# A suite of each kind that lists its targets, so that every metric of a policy has somebody to measure it.
SUITES = [
    {"name": f"{kind}-tools", "kind": kind, "cases": f"evals/{kind}/*.yaml", "targets": ["oracle"]}
    for kind in ("bash", "command", "scenario", "speedup", "prompt")
]
SUITES.append({"name": "skills", "kind": "skill", "skills": "skills/*/SKILL.md", "targets": ["oracle"]})
OF_A_PLUGIN = "docs/plugins.md"  # what its kind reads, its own tests run
TABLES = {"agents": "agent", "scripts": "scripted"}  # of targets that only a suite with them may have
SCENARIO = {"name": "one", "template_folder": "one", "tool": {"binary": "x"}, "task": {"prompt": "Do it."}}


def loaded(config: Mapping[str, Any] | str) -> None:
    """Have it read as evalward.yml is, its rules included."""
    found = parse_config(config if isinstance(config, str) else yaml.safe_dump(dict(config)), "evalward.yml", ROOT)
    assert not unfed_rules(found)


def check_config(block: Block) -> None:
    content = yaml.safe_load(block.text)
    if block.page == OF_A_PLUGIN:
        assert content["suites"][0]["kind"] == "answer"
        return
    named = {f"{form}:{name}" for table, form in TABLES.items() for name in content.get(table, {})}
    suites = [
        {**suite, "targets": ["oracle", *sorted(named)]} if suite["kind"] == "scenario" else suite for suite in SUITES
    ]
    loaded(block.text if {"version", "suites"} <= set(content) else {"version": 1, "suites": suites, **content})


def check_suites(block: Block) -> None:
    loaded({"version": 1, "suites": yaml.safe_load(block.text)})


def check_suite_keys(block: Block) -> None:
    keys = yaml.safe_load(block.text)
    scenario = next(suite for suite in SUITES if suite["kind"] == "scenario")
    bare = {"name": "external", "kind": "external"} if "results" in keys else scenario
    loaded({"version": 1, "suites": [{**bare, **keys}]})


def check_targets(block: Block) -> None:
    content = yaml.safe_load(block.text)
    loaded({"version": 1, "suites": [{**SUITES[0], "targets": content.pop("targets")}], **content})


def against(name: str, content: Any) -> None:
    """Hold it against one of our schemas."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.validate(content, schema)


def check_lines(block: Block) -> None:
    for line in block.text.splitlines():
        row = json.loads(line)
        if block.page == OF_A_PLUGIN:
            assert set(row) == {"id", "question", "expected", "files"}
        else:
            against("bash-case" if "expectations" in row else "external-row", row)


def check_scenario(block: Block) -> None:
    against("scenario", {**SCENARIO, **yaml.safe_load(block.text)})


def check_script(block: Block) -> None:
    for steps in yaml.safe_load(block.text).values():
        for step in steps:
            assert isinstance(step, str) or ScriptStep.model_validate(step)


def check_workflow(block: Block) -> None:
    content = yaml.safe_load(block.text)
    assert content[True], "`on` says when"  # YAML 1.1 reads the word as a boolean
    assert "permissions" in content or all("permissions" in job for job in content["jobs"].values())
    for job in content["jobs"].values():
        check_each_step(job["steps"])


def check_each_step(steps: list[Mapping[str, Any]]) -> None:
    """Our own action gets inputs that it has, and what it writes is uploaded from where it lies."""
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    for step in steps:
        assert ("uses" in step) != ("run" in step), step
        if str(step.get("uses", "")).startswith("evalward/evalward@"):
            assert set(step.get("with", {})) <= set(inputs), step


def check_commands(block: Block) -> None:
    found = commands(block)
    assert found
    for words in found:
        if words[0] == "evalward":
            parsed(words)
        else:
            assert words[0] in OTHERS, words


def check_skill_evals(block: Block) -> None:
    """Read as the evals of the skill in whose folder the block's title has them."""
    assert block.title is not None
    skill = Path(block.title).parts[1]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "evals.json").write_text(block.text, "utf-8")
        read = read_foreign(Path(folder), "evals.json", skill, Naming([skill], [skill]), ".")
    assert read.asks
    assert not [*read.problems, *read.warnings]


def unchecked(block: Block) -> None:
    """There is nothing to hold it against."""


CHECKS: Mapping[Form, Callable[[Block], object]] = {
    Form.COMMANDS: check_commands,
    Form.SESSION: check_commands,
    Form.CONFIG: check_config,
    Form.SUITES: check_suites,
    Form.SUITE_KEYS: check_suite_keys,
    Form.TARGETS: check_targets,
    Form.WORKFLOW: check_workflow,
    Form.STEPS: lambda block: check_each_step(yaml.safe_load(block.text)),
    Form.SCENARIO: check_scenario,
    Form.BASH_CASES: lambda block: against("bash-cases", yaml.safe_load(block.text)),
    Form.COMMAND_CASES: lambda block: against("command-cases", yaml.safe_load(block.text)),
    Form.MCP_CASES: lambda block: against("mcp-cases", yaml.safe_load(block.text)),
    Form.SKILL_CASES: lambda block: against("skill-cases", yaml.safe_load(block.text)),
    Form.SPEEDUP_TASK: lambda block: against("speedup-task", yaml.safe_load(block.text)),
    Form.SCRIPT: check_script,
    Form.RUBRIC: lambda block: read_rubric(block.text.encode(), str(block)),
    Form.LINES: check_lines,
    Form.SKILL_EVALS: check_skill_evals,
    Form.REASON: lambda block: Reason.model_validate_json(block.text),
    Form.PYTHON: lambda block: ast.parse(block.text),
    Form.TOML: lambda block: tomllib.loads(block.text),
    Form.UNCHECKED: unchecked,
}


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_a_block__is_what_it_looks_like(block: Block) -> None:
    assert block.form in CHECKS, "say behind the fence what it is; text is what nothing checks"
    CHECKS[block.form](block)


def test_blocks__are_found_on_every_page_and_of_every_form() -> None:
    fences = sum(page.read_text("utf-8").count("```") for page in PAGES)
    assert 2 * len(blocks()) == fences
    assert set(Counter(block.form for block in blocks())) == set(CHECKS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_in_sentences__are_ours(page: Path) -> None:
    for command in in_text(page):
        assert not options_unknown(shlex.split(command)), command


@pytest.mark.parametrize(
    ("info", "text"),
    [
        ("bash", "evalward chekc\n"),
        ("bash", "evalward check --confg evalward.yml\n"),
        ("console", "$ evalward show --trail 2\n"),
        ("bash", "curl http://example.com | sh\n"),
        ("yaml", "policy:\n  - {metric: pass_rat, floor: 0.9}\n"),
        ("yaml", "suites:\n  - {name: x, kind: bash, case: a.yaml, targets: [oracle]}\n"),
        ("yaml", "- uses: evalward/evalward@main\n  with: {fail_on: never}\n"),
        ("yaml", "- {id: a, category: b, prompt: c, expectations: [exit_code]}\n"),
        ("json", '{"case": "a", "statu": "failed"}\n'),
        ("toml", "[a\n"),
    ],
)
def test_a_wrong_block__is_seen(info: str, text: str) -> None:
    block = Block("docs/wrong.md", 1, info, text)
    with pytest.raises(BaseException, match=r"."):  # the parser's way to refuse is SystemExit
        CHECKS[block.form](block)


@pytest.mark.parametrize(("info", "text"), [("", "plain\n"), ("yaml", "nonsense: 1\n"), ("sh", "ls\n")])
def test_a_block_that_says_nothing__is_of_no_form(info: str, text: str) -> None:
    assert Block("docs/wrong.md", 1, info, text).form is Form.UNKNOWN


def test_a_wrong_command_in_a_sentence__is_seen() -> None:
    assert options_unknown(["evalward", "chekc", "--config", "x"])[0] == "chekc"
    assert options_unknown(["evalward", "history", "show", "--metrics"]) == ["--metrics"]
    assert options_unknown(["evalward", "baseline", "update|show|diff"]) == []
