"""Reading scenarios: the documented file, tolerated forms with a hint, mistakes with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import Config, LoadedConfig
from evalward.records.problem import InputError
from evalward.suites.scenario.case import ScenarioCase, subject_of
from evalward.suites.scenario.load import Defaults, LoadedScenarios, load_cases, load_scenarios
from evalward.suites.scenario.model import ScenarioTool
from evalward.suites.scenario.spec import ScenarioSuite, SuiteTool
from support.scenarios import FILES, TEXT, write_fixture, write_scenario

DEFAULTS = Defaults(timeout_s=300, max_turns=50)


def loaded(root: Path, text: str = TEXT, defaults: Defaults = DEFAULTS) -> LoadedScenarios:
    return load_scenarios([write_scenario(root, text)], root, defaults)


def one(root: Path, text: str = TEXT) -> ScenarioCase:
    return loaded(root, text).cases[0]


def problems(root: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        loaded(root, text)
    return [str(problem) for problem in caught.value.problems]


def test_the_documented_file(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    case = found.cases[0]
    assert found.warnings == []
    assert (case.id, case.category, case.timeout_s, case.max_turns) == ("add_task", "basic", 60.0, 20)
    assert str(case.place) == "add_task.yaml:1"
    assert [gate.type for gate in case.scenario.evaluation.gates] == ["file_contains", "script"]
    assert [pair for entry in case.scenario.tool_matrix for pair in entry.pairs] == [
        ("claude-code", "a"),
        ("claude-code", "b"),
        ("codex", "default"),
    ]
    assert case.scenario.evaluation.composite is not None
    assert case.scenario.scripts.evaluators[0].timeout_secs == 5
    assert case.scenario.scripts.post[0].timeout_secs == 30
    assert case.reference()[0].tool_uses[0].input == {"commands": "./todo add milk"}
    assert case.written()["prompt"] == "Add a task called milk."
    assert set(case.guidance) == {"AGENTS.md", ".claude/skills/todo/SKILL.md"}
    assert set(case.tool_files) == {"todo"}


def test_tolerated_forms_are_read_with_a_hint(tmp_path: Path) -> None:
    head = "name: x\ntarget: {binary: todo}\ntask: Do it.\n"
    text = head + "gates:\n  - no_transcript_errors\n  - {type: FileExists, path: a}\n"
    found = loaded(tmp_path, text)
    case = found.cases[0]
    assert case.prompt == "Do it."
    assert case.fixture == tmp_path / "add_task"
    assert [gate.type for gate in case.scenario.evaluation.gates] == ["no_transcript_errors", "file_exists"]
    assert [warning.partition(". ")[0] for warning in found.warnings] == [
        "add_task.yaml:3: task: the task is a plain text",
        "add_task.yaml:4: gates: gates are at the top level",
        'add_task.yaml:1: template_folder: the key is missing; the folder "add_task" next to the file is used, '
        "after the file's own name",
        "add_task.yaml:5: evaluation.gates[0]: the gate is a plain text",
        'add_task.yaml:6: evaluation.gates[1].type: the gate is called "file_exists"',
    ]


def test_mistakes_in_gates_at_the_top_level_have_their_lines(tmp_path: Path) -> None:
    text = (
        'name: x\ntarget: {binary: todo}\ntask: Do it.\ngates:\n  - type: file_matches\n    path: a\n    pattern: "("\n'
    )
    assert problems(tmp_path, text)[0].startswith(
        "add_task.yaml:7: evaluation.gates[0].pattern: '(' is not an RE2 pattern"
    )


def test_unknown_keys_are_passed_over_and_told(tmp_path: Path) -> None:
    text = (
        TEXT.replace("run: {timeout_secs: 60, max_turns: 20}", "run: {timeout_sec: 60}") + "tagz: [x]\nsomething: 1\n"
    )
    assert loaded(tmp_path, text).warnings == [
        f"add_task.yaml:{place} unknown key {key}, which is passed over.{hint}"
        for place, key, hint in (
            ("26: run.timeout_sec:", '"timeout_sec"', " Did you mean timeout_secs?"),
            ("32: tagz:", '"tagz"', " Did you mean tags?"),
            ("33: something:", '"something"', ""),
        )
    ]


def test_nothing_asserted_is_told(tmp_path: Path) -> None:
    text = "name: x\ntemplate_folder: add_task\ntarget: {binary: todo}\ntask: {prompt: Do it.}\n"
    assert "nothing is asserted: neither gates nor a judge" in loaded(tmp_path, text).warnings[0]


@pytest.mark.parametrize(
    ("gate", "instead"),
    [
        (
            "{type: min_notes, count: 3}",
            '{type: command_json_path, command: "./todo list --format json", path: "$", assertion: "len >= 3"}',
        ),
        (
            "{type: MinLinks, count: 1}",
            '{type: command_json_path, command: "./todo export --format json", path: "$.links", assertion: "len >= 1"}',
        ),
        (
            "{type: search_hit, query: cats}",
            '{type: command_output_contains, command: "./todo search \'cats\'", substring: "…"}',
        ),
        ("{type: note_exists, id: n1}", '{type: command_succeeds, command: "./todo show n1"}'),
        (
            "{type: tag_exists}",
            '{type: command_output_contains, command: "./todo list --format json", substring: "TAG"}',
        ),
        (
            "{type: content_contains, id: n1, substring: y}",
            '{type: command_output_contains, command: "./todo show n1", substring: "y"}',
        ),
        ("doctor_passes", '{type: command_succeeds, command: "./todo doctor"}'),
        (
            "{type: link_exists, from: a, to: b}",
            '{type: command_output_contains, command: "./todo show a", substring: "b"}',
        ),
    ],
)
def test_the_old_gates_are_answered_with_generic_ones(tmp_path: Path, gate: str, instead: str) -> None:
    text = TEXT.replace("{type: file_contains, path: tasks.txt, substring: milk}", gate)
    found = problems(tmp_path, text)
    assert len(found) == 1
    assert found[0].startswith("add_task.yaml:15: evaluation.gates[0]")
    assert found[0].endswith(f"was one tool's own. Write {instead}.")


GATE = "{type: file_contains, path: tasks.txt, substring: milk}"
MISTAKES = [
    (GATE, '{type: file_matches, path: x, pattern: "("}', "15: evaluation.gates[0].pattern: '(' is not an RE2 pattern"),
    ("'todo\\s+(\\S+)'", "'('", "6: target.command_pattern: '(' is not an RE2 pattern"),
    (GATE, "{type: file_exists, path: ../x}", "15: evaluation.gates[0].path: the path '../x' leaves the fixture"),
    (GATE, "{type: file_exists, path: /x}", "15: evaluation.gates[0].path: the path '/x' is absolute"),
    (GATE, "{type: file_exits, path: x}", 'gates[0].type: there is no gate "file_exits". Did you mean file_exists?'),
    (GATE, "{type: file_contains, path: x}", "15: evaluation.gates[0].substring: the key is missing"),
    (GATE, '{type: file_contains, path: x, substring: ""}', "15: evaluation.gates[0].substring: is empty"),
    (GATE, '{type: command_succeeds, command: " "}', "15: evaluation.gates[0].command: it is empty"),
    (
        GATE,
        '{type: command_json_path, command: x, path: "items", assertion: exists}',
        "gates[0].path: the path 'items' doesn't begin with $",
    ),
    (
        GATE,
        '{type: command_json_path, command: x, path: "$", assertion: "$.count > 5"}',
        "gates[0].assertion: '$.count > 5' is not an assertion. Known: exists, equals VALUE",
    ),
    ("./check.sh", "../check.sh", 'gates[1].command: the script "../check.sh" leaves the fixture'),
    ("sh tidy.sh", "./tidy.sh", 'evaluators[0].command: the script "./tidy.sh" isn\'t executable. chmod +x tidy.sh'),
    ("timeout_secs: 5}", "timeout_secs: 99999}", "evaluators[0].timeout_secs: must be at most 3600"),
    ("timeout_secs: 60", "timeout_secs: 0", "26: run.timeout_secs: must be more than 0"),
    ("binary: ./todo", "binary: ''", "5: target.binary: is empty"),
    ("binary: ./todo", "binry: ./todo", "target.binary: the key is missing"),
    ("{TODO_FILE: tasks.txt}", "{1FILE: x}", "8: target.env: '1FILE' can't be the name of an environment variable"),
    ("prompt: Add a task called milk.", "prompt: 3", "10: task.prompt: must be text"),
    ("template_folder: add_task", "template_folder: other", '3: template_folder: there is no fixture folder "other"'),
    ("template_folder: add_task", "template_folder: ../../x", "leads out of the configuration's folder"),
    ("tier: 1", "tier: -1", "29: tier: must be at least 0"),
    (
        "  composite:",
        "  judge: {enabled: true}\n  composite:",
        "a judge that is enabled needs `rubric` and `pass_threshold`",
    ),
    (
        "  composite:",
        "  judge: {enabled: true, rubric: r.yaml, pass_threshold: 0.7}\n  composite:",
        'evaluation.judge.rubric: the rubric "r.yaml" can\'t be read',
    ),
    ("name: add_task", "name: add_task\nname: twice", "2: name: this key is already in line 1"),
    ("name: add_task", "name: [", "3: a [list] or {mapping} is not closed"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_are_told_with_their_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TEXT
    found = problems(tmp_path, TEXT.replace(old, new, 1))
    assert any(message in problem for problem in found), found
    assert len(found) == 1


def test_a_script_that_setup_may_make_is_no_mistake(tmp_path: Path) -> None:
    missing = TEXT.replace("./check.sh", "./missing.sh")
    assert loaded(tmp_path, missing).cases
    found = problems(tmp_path, missing.replace("setup:\n  commands: [touch tasks.txt]\n", ""))
    assert 'evaluation.gates[1].command: there is no script "./missing.sh" in the fixture' in found[0]


def test_all_problems_of_all_files_at_once(tmp_path: Path) -> None:
    files = [
        write_scenario(tmp_path, TEXT.replace("tier: 1", "tier: x").replace("prompt:", "promt:"), "a.yaml"),
        write_scenario(tmp_path, "- 1\n", "b.yaml"),
        tmp_path / "absent.yaml",
        write_scenario(tmp_path, TEXT, "c.yaml"),
        write_scenario(tmp_path, TEXT, "d.yaml"),
    ]
    with pytest.raises(InputError) as caught:
        load_scenarios(files, tmp_path, DEFAULTS)
    assert [str(problem).partition(". ")[0] for problem in caught.value.problems] == [
        "a.yaml:9: task.prompt: the key is missing",
        'a.yaml:29: tier: must be a whole number, not the text "x"',
        "b.yaml:1: the file holds no scenario",
        "absent.yaml: the file can't be read: No such file or directory",
        'd.yaml:1: name: the name "add_task" is already used at c.yaml:1',
    ]


def test_from_config_takes_the_suites_target(tmp_path: Path) -> None:
    text = "name: x\ntemplate_folder: add_task\ntarget: from_config\ntask: {prompt: Do it.}\n"
    found = loaded(tmp_path, text, Defaults(9, None, ScenarioTool(binary="todo")))
    assert (found.cases[0].tool.binary, found.cases[0].timeout_s) == ("todo", 9)
    assert "the tool is from_config, and the suite has none" in problems(tmp_path, text)[0]
    assert "3: target: unknown value" in problems(tmp_path, text.replace("from_config", "from_confg"))[0]


@pytest.mark.parametrize("written", ["{binary: todo, env: {A: b}}", "from_config"])
def test_the_tool_has_an_old_key_of_the_same_meaning(tmp_path: Path, written: str) -> None:
    text = f"name: x\ntemplate_folder: add_task\ntool: {written}\ntask: {{prompt: Do it.}}\n"
    defaults = Defaults(9, None, ScenarioTool(binary="todo"))
    new, old = loaded(tmp_path, text, defaults), loaded(tmp_path, text.replace("tool:", "target:"), defaults)
    assert new.warnings == old.warnings
    assert not any("key" in warning for warning in old.warnings)
    assert new.cases[0].model_dump() == old.cases[0].model_dump()
    assert new.cases[0].written()["target"] == old.cases[0].written()["target"]


def test_a_tool_under_both_keys_is_a_mistake(tmp_path: Path) -> None:
    text = "name: x\ntemplate_folder: add_task\ntool: {binary: todo}\ntarget: {binary: other}\ntask: {prompt: Do it.}\n"
    assert problems(tmp_path, text) == [
        "add_task.yaml:4: target: tool is also there under its old name. Keep tool: only."
    ]


@pytest.mark.parametrize("key", ["tool", "target"])
def test_mistakes_in_the_tool_name_the_key_as_it_was_written(tmp_path: Path, key: str) -> None:
    text = f"name: x\ntemplate_folder: add_task\n{key}:\n  bin: todo\n  env: 1\ntask: {{prompt: Do it.}}\n"
    found = problems(tmp_path, text)
    assert f"add_task.yaml:3: {key}.binary: the key is missing" in found[0]
    assert f"add_task.yaml:5: {key}.env: must be a mapping" in found[1]
    binary = text.replace("bin:", "binary:").replace("todo", "./todo-2").replace("  env: 1\n", "  enw: {}\n")
    hints = loaded(tmp_path, binary).warnings
    assert f'add_task.yaml:5: {key}.enw: unknown key "enw", which is passed over' in hints[0]
    assert f"add_task.yaml:4: {key}.binary: the tool" in hints[1]


def edited(root: Path, name: str, text: str) -> ScenarioCase:
    write_scenario(root)
    write_fixture(root / "add_task", {**FILES, name: text})
    return load_scenarios([root / "add_task.yaml"], root, DEFAULTS).cases[0]


@pytest.mark.parametrize("name", ["AGENTS.md", ".claude/skills/todo/SKILL.md", "todo", "CLAUDE.md"])
def test_guidance_and_tool_are_the_subject(tmp_path: Path, name: str) -> None:
    before, after = one(tmp_path / "a"), edited(tmp_path / "b", name, "other\n")
    assert before.definition == after.definition
    assert subject_of([before]) != subject_of([after])


@pytest.mark.parametrize("name", ["notes/old.txt", "check.sh", "new.txt"])
def test_the_rest_of_the_fixture_is_the_definition(tmp_path: Path, name: str) -> None:
    before, after = one(tmp_path / "a"), edited(tmp_path / "b", name, "other\n")
    assert before.definition != after.definition
    assert subject_of([before]) == subject_of([after])


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("called milk", "called tea", False),
        ("substring: milk", "substring: tea", False),
        ("timeout_secs: 60", "timeout_secs: 61", False),
        ("sh tidy.sh", "sh ./tidy.sh", False),
        ("[touch tasks.txt]", "[touch tasks.txt, 'true']", False),
        ("name: add_task", "name: other", True),
        ("an agent adds", "an agent puts", True),
        ("tier: 1", "tier: 2", True),
        ("{tool: codex}", "{tool: opencode}", True),
        ("./todo add milk", "./todo  add milk", True),
    ],
)
def test_what_the_definition_is_made_of(tmp_path: Path, old: str, new: str, same: bool) -> None:
    before, after = one(tmp_path), one(tmp_path, TEXT.replace(old, new))
    assert (before.definition == after.definition) is same


def test_files_under_test_by_name(tmp_path: Path) -> None:
    text = TEXT + "under_test: ['notes/*']\n"
    assert set(one(tmp_path, text).tool_files) == {"todo", "notes/old.txt"}


def test_the_rubric_belongs_to_the_definition(tmp_path: Path) -> None:
    text = TEXT.replace("  composite:", "  judge: {enabled: true, rubric: r.yaml, pass_threshold: 0.7}\n  composite:")
    (tmp_path / "r.yaml").write_text("criteria: [{id: a, weight: 1, description: It is done.}]\n")
    before = one(tmp_path, text)
    (tmp_path / "r.yaml").write_text("criteria: [{id: a, weight: 1, description: It is well done.}]\n")
    assert one(tmp_path, text).definition != before.definition
    other = text.replace("rubric:", "model: anthropic/claude-haiku-4-5, rubric:")
    assert one(tmp_path, other).definition == one(tmp_path, text).definition  # who judges belongs to the subject
    (tmp_path / "r.yaml").write_text("criteria: []\n")
    assert problems(tmp_path, text) == ["r.yaml:1: criteria: is empty. Name at least one."]


def test_a_link_out_of_the_fixture_is_a_mistake(tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    (tmp_path / "add_task" / "link").symlink_to("/etc")
    with pytest.raises(InputError, match="the link link leads out of the fixture"):
        load_scenarios([file], tmp_path, DEFAULTS)


def suite(**keys: object) -> ScenarioSuite:
    return ScenarioSuite.model_validate(
        {"name": "s", "kind": "scenario", "cases": "*.yaml", "targets": "oracle", **keys}
    )


def of_suite(root: Path, spec: ScenarioSuite) -> LoadedScenarios:
    config = Config.model_construct(version=1, suites=[spec])
    return load_cases(spec, LoadedConfig(config=config, file="evalward.yml", root=root, sha256=""))


def test_selection_by_any_tag_and_by_tier(tmp_path: Path) -> None:
    for name, more in {"a": "tags: [x, y]", "b": "tags: [y]\ntier: 2", "c": "tier: 1"}.items():
        head = f"name: {name}\ntemplate_folder: add_task\ntarget: from_config\ntask: Do it.\n"
        write_scenario(tmp_path, head + more + "\n", f"{name}.yaml")

    def names(**keys: object) -> str:
        spec = suite(tool=SuiteTool(binary="todo"), **keys)
        return "".join(case.id for case in of_suite(tmp_path, spec).cases)

    assert names() == "abc"
    assert names(tags=["x", "y"]) == "ab"
    assert names(tier=1) == "ac"
    assert names(tags="y", tier=1) == "a"
    with pytest.raises(InputError, match="no scenario has tags z, tier any"):
        names(tags="z")


def test_a_tool_that_is_not_in_its_fixture_is_told(tmp_path: Path) -> None:
    text = "name: x\ntemplate_folder: add_task\ntarget: {binary: ./toodo}\ntask: {prompt: Do it.}\n"
    assert 'target.binary: the tool "./toodo" isn\'t in the fixture add_task/' in loaded(tmp_path, text).warnings[0]
    assert "./todo" not in " ".join(loaded(tmp_path, text.replace("toodo", "todo")).warnings)
