"""The files that a choice gives: valid, complete, and with nothing in them that a name could smuggle in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward import __version__
from evalward.config.load import parse_config
from evalward.starter.found import SHELL, Origin
from evalward.starter.mcp_server import FoundServer
from evalward.starter.plan import (
    CONFIG,
    INSTALLED,
    WORKFLOW,
    FirstSuite,
    action_ref,
    ignoring,
    key_of,
    planned,
    suggested,
    usable,
    written,
)
from evalward.starter.skills import FoundSkills
from evalward.suites.mcp.catalogue import make_catalogue

ROOT = Path(__file__).parents[3]
ANTHROPIC, OPENAI = "anthropic/claude-haiku-4-5", "openai/gpt-5-mini"
CATALOGUE = make_catalogue("shop", [{"name": "list_orders", "inputSchema": {"type": "object"}}])
ORIGINS = [
    SHELL,
    Origin("tasks", ("evals/a.jsonl", "b.jsonl"), frozenset({"solved"})),
    Origin("prompts", ("a.prompt.yml",), frozenset({"expected", "judged"})),
    Origin("inspect", ("evals/a.py", "evals/b.py")),
    Origin("promptfoo", ("promptfooconfig.yaml",)),
    Origin("deepeval", ("test_a.py",)),
    Origin("pydantic-evals", ("evals/mail.py",)),
    Origin("vitest-evals"),
    Origin("pytest", ("evals/test_a.py",)),
    Origin("pytest", ("evals/test_a.py",), frozenset({"repeat"})),
    Origin("skills", ("skills/*/SKILL.md",), frozenset({"solved"}), skills=FoundSkills("skills", 2, queries=True)),
    Origin("skills", ("SKILL.md",), skills=FoundSkills("", queries=True, tasks=True, cases="evals/evals.json")),
    Origin("mcp", server=FoundServer(("python3", "server.py"), "server.py", variables=("DB",))),
    Origin("mcp", server=FoundServer(snapshot="tools.json", catalogue=CATALOGUE)),
    Origin("mcp", server=FoundServer(("shop-mcp",), "pyproject.toml", "tools.json", CATALOGUE)),
    Origin("mcp", server=FoundServer(("node", "build/index.js"), "package.json", built=True)),
]
each = pytest.mark.parametrize("origin", ORIGINS, ids=lambda origin: "-".join([origin.template, *sorted(origin.flags)]))


def files_of(first: FirstSuite) -> dict[str, str]:
    return {file.path: file.text for file in planned(first)}


def suite_of(first: FirstSuite) -> dict[str, Any]:
    (suite,) = yaml.safe_load(files_of(first)[CONFIG])["suites"]
    assert isinstance(suite, dict)
    return suite


@each
@pytest.mark.parametrize("model", [None, ANTHROPIC, OPENAI])
def test_every_configuration_is_valid(origin: Origin, model: str | None) -> None:
    text = files_of(FirstSuite(origin, model))[CONFIG]
    config = parse_config(text, CONFIG, Path()).config
    assert len(config.suites) == 1
    assert config.policy
    assert "\n\n" not in text
    assert all(len(line) <= 200 and line == line.rstrip() for line in text.splitlines())


@each
def test_a_model_and_its_key_are_where_they_belong(origin: Origin) -> None:
    suite = suite_of(FirstSuite(origin, ANTHROPIC))
    if origin.template in INSTALLED:
        assert suite["env"] == ["ANTHROPIC_API_KEY"]
        assert "targets" not in suite
        assert "env" not in suite_of(FirstSuite(origin))
    else:
        assert suite["targets"] == ["oracle", ANTHROPIC]
        assert suite_of(FirstSuite(origin))["targets"] == ["oracle"]


def test_what_the_oracle_has_no_answer_for_is_asked_of_the_model_alone() -> None:
    assert suite_of(FirstSuite(Origin("tasks", ("a.jsonl",)), OPENAI))["targets"] == [OPENAI]
    assert suite_of(FirstSuite(Origin("prompts", ("a.prompt.yml",)), OPENAI))["targets"] == [OPENAI]
    judged = yaml.safe_load(files_of(FirstSuite(Origin("prompts", ("a",), frozenset({"judged"})), OPENAI))[CONFIG])
    assert judged["judge"] == {"model": OPENAI}


def test_skills__are_judged_by_another_model_of_the_same_provider() -> None:
    found = FoundSkills("skills", 2, queries=True, tasks=True)
    origin = Origin("skills", (found.pattern,), skills=found)
    for model, judge in {OPENAI: "openai/gpt-5-mini", "openai/gpt-5-mini": "openai/gpt-5.5"}.items():
        written = yaml.safe_load(files_of(FirstSuite(origin, model))[CONFIG])
        assert written["judge"] == {"model": judge}
        assert written["suites"][0]["paths"] == ["skills/**"]


@pytest.mark.parametrize("template", ["tasks", "prompts"])
def test_without_a_model_and_without_answers_no_suite_can_be_made(template: str) -> None:
    bare, whole = Origin(template, ("a",)), Origin(template, ("a",), frozenset({"solved", "expected"}))
    assert not usable(bare, None)
    assert usable(bare, OPENAI)
    assert usable(whole, None)
    assert usable(SHELL, None)


def test_the_commands_name_their_files() -> None:
    inspect = suite_of(FirstSuite(Origin("inspect", ("a.py", "b.py")), ANTHROPIC))
    assert inspect["run"].startswith(f"inspect eval a.py b.py --model {ANTHROPIC} --log-dir {{dir}} ")
    assert inspect["rerun"] == f"{inspect['run']} --sample-id {{ids}}"
    assert "--model" not in suite_of(FirstSuite(Origin("inspect", ("a.py",))))["run"]
    repeated = suite_of(FirstSuite(Origin("pytest", ("a.py",), frozenset({"repeat"}))))
    assert repeated["run"] == "pytest a.py --count {trials} --junitxml {dir}/results.xml"
    assert suite_of(FirstSuite(Origin("pytest", ("a.py",))))["run"] == "pytest a.py --junitxml {dir}/results.xml"


# --- the workflow ---------------------------------------------------------------------------------------------------


def test_the_workflow_is_the_example_of_the_action() -> None:
    example = (ROOT / "examples" / "workflows" / "pull-request.yml").read_text("utf-8")
    values = {"key": "ANTHROPIC_API_KEY", "ref": f"{'0' * 40} # put the full SHA of a release here"}
    made = written("workflow.yml", {**values, "ref": "REF"}).replace("REF", values["ref"])
    assert made == example[example.index("name: evalward") :]


@pytest.mark.parametrize("key", [None, "OPENAI_API_KEY"])
def test_the_workflow_names_the_key_alone(key: str | None) -> None:
    text = files_of(FirstSuite(SHELL, OPENAI if key else None))[WORKFLOW]
    (job,) = yaml.safe_load(text)["jobs"].values()
    gate, link = (step for step in job["steps"] if step.get("uses", "").startswith("evalward/"))
    assert gate.get("env") == ({key: f"${{{{ secrets.{key} }}}}"} if key else None)
    assert text.count("secrets.") == (1 if key else 0)
    assert gate["uses"] == link["uses"] == f"evalward/evalward@{action_ref(__version__)}"


@pytest.mark.parametrize(("version", "ref"), [("0.1.0", "main"), ("1.0.0", "v1"), ("12.3.4", "v12")])
def test_the_workflow_names_the_release_that_there_is(version: str, ref: str) -> None:
    assert action_ref(version) == ref


@pytest.mark.parametrize("template", INSTALLED)
def test_the_workflow_of_another_harness_is_that_of_the_docs(template: str) -> None:
    page = (ROOT / "docs" / "external.md").read_text("utf-8").split("### The command line", 1)[1]
    shown = yaml.safe_load(page.split("```yaml\n", 1)[1].split("```", 1)[0])
    made = yaml.safe_load(files_of(FirstSuite(Origin(template, ("a.py",)), ANTHROPIC))[WORKFLOW])
    steps, shown_steps = made["jobs"]["gate"]["steps"], shown["jobs"]["gate"]["steps"]
    assert made["permissions"] == shown["permissions"] == {"contents": "read"}
    assert steps[0] == shown_steps[0]
    assert steps[-2:] == shown_steps[-2:]
    assert steps[1] == {"run": INSTALLED[template]}


def test_no_workflow_where_none_is_wanted() -> None:
    assert list(files_of(FirstSuite(workflow=False))) == [CONFIG, "evals/bash/first.yaml", "prompts/bash.md"]


@pytest.mark.parametrize(
    ("server", "steps"),
    [
        (FoundServer(("shop-mcp",), "pyproject.toml"), ["pip install ."]),
        (FoundServer(("python3", "server.py"), "server.py"), ["pip install mcp"]),
        (FoundServer(("node", "index.js"), "package.json"), ["npm ci"]),
        (FoundServer(("node", "build/index.js"), "package.json", built=True), ["npm ci", "npm run build"]),
    ],
)
def test_the_workflow_of_a_server_that_is_started_installs_it(server: FoundServer, steps: list[str]) -> None:
    made = yaml.safe_load(files_of(FirstSuite(Origin("mcp", server=server), ANTHROPIC))[WORKFLOW])
    *first, check, _ = made["jobs"]["gate"]["steps"][1:]
    assert [step["run"] for step in first] == [*steps, 'pip install "evalward[mcp]"']
    assert check["run"] == 'sudo --preserve-env env "PATH=$PATH" evalward check'
    assert list(check["env"]) == ["ANTHROPIC_API_KEY"]


def test_the_workflow_of_a_list_of_tools_is_the_usual_one() -> None:
    origin = Origin("mcp", server=FoundServer(snapshot="tools.json", catalogue=CATALOGUE))
    assert files_of(FirstSuite(origin))[WORKFLOW] == files_of(FirstSuite())[WORKFLOW]


# --- names and texts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a\nb", 'a"', "a'", "a#b", "a&b", "a;b", "a$b", "a|b", "a\u2028b", "ä"])
def test_a_name_that_could_be_taken_for_something_else_gets_into_no_file(name: str) -> None:
    with pytest.raises(ValueError, match="a template can't hold"):
        planned(FirstSuite(Origin("promptfoo", (name,))))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "evalward-out/\n"),
        ("*.log", "*.log\nevalward-out/\n"),
        ("*.log\n", "*.log\nevalward-out/\n"),
        ("*.log\r\n", "*.log\r\nevalward-out/\n"),
        ("evalward-output\n", "evalward-output\nevalward-out/\n"),
        ("evalward-out\n", None),
        ("/evalward-out/\r\nx\n", None),
    ],
)
def test_what_git_ignores(text: str, after: str | None) -> None:
    assert ignoring(text) == after


def test_models_and_their_keys() -> None:
    assert suggested(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "X"]) == [ANTHROPIC, OPENAI]
    assert suggested([]) == []
    assert key_of("openai-responses/gpt-5.2") == "OPENAI_API_KEY"
    assert key_of("openai/org/llama-3.1:8b") == "OPENAI_API_KEY"
    assert [key_of(text) for text in ("gpt-5", "mistral/x", "openai/", "openai/a b", "openai/a]")] == [None] * 5


def test_every_template_is_used() -> None:
    names = {path.name for path in (ROOT / "templates" / "init").iterdir()}
    ours = {f"{origin.template}.yml.j2" for origin in ORIGINS}
    included = {"head.yml.j2", "tail.yml.j2", "cases.yml.j2", "mcp-cases.yml.j2", "prompt.md.j2"}
    assert names == ours | included | {"workflow.yml.j2", "workflow-harness.yml.j2"}
