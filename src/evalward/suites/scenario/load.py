"""Loading scenarios: YAML files with the lines of their keys, their fixtures, every problem of every file at once."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from evalward.config import LoadedConfig
from evalward.config.explain import explain
from evalward.config.words import field_name
from evalward.config.yaml_positions import MAX_CHARACTERS, Mistake, YamlError, YamlTree, read_yaml
from evalward.graders.source import Source, parse_reference, read_source
from evalward.opening import beginning_inside, kind_inside, name_below, path_from, why
from evalward.records.model_words import problems_of
from evalward.records.problem import InputError, Place, Problem
from evalward.records.words import shown
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.judge.rubric import MOST_BYTES, Rubric, load_rubric, read_rubric
from evalward.suites.scenario.case import ScenarioCase, make_case
from evalward.suites.scenario.checks import check_binary, check_patterns, check_scripts
from evalward.suites.scenario.fixture import Fixture, FixtureError, read_fixture
from evalward.suites.scenario.gate_models import GraderGate
from evalward.suites.scenario.model import FROM_CONFIG, Scenario, ScenarioTool
from evalward.suites.scenario.spec import ScenarioSuite
from evalward.suites.scenario.tolerance import adapt, misspelt_assertions, tool_key
from evalward.suites.scenario.variants import check_variants

REMEDY = "A scenario is a mapping: name, description, template_folder, tool, task, evaluation."


@dataclass(frozen=True)
class Defaults:
    """What holds where a scenario says nothing: the suite's limits and the tool of its scenarios."""

    timeout_s: float
    max_turns: int | None = None
    tool: ScenarioTool | None = None
    config: LoadedConfig | None = None  # with it a rubric is the base's, where one judges


@dataclass(frozen=True)
class LoadedScenarios:
    """The scenarios, in order of files, and what is odd about them and no mistake."""

    cases: Sequence[ScenarioCase]
    warnings: Sequence[str]


def load_cases(spec: ScenarioSuite, config: LoadedConfig) -> LoadedScenarios:
    """The scenarios of a suite that its tags and tier choose. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    files = case_files(spec.name, spec.cases, config, problems)
    tool = _tool_of(spec, config)
    loaded = _load(files, config.root, Defaults(spec.timeout_s, spec.max_turns, tool, config), problems)
    cases = [case for case in loaded.cases if selected(case.scenario, spec.tags, spec.tier)]
    if not cases and not problems:
        place = Place(file=config.file, line=config.line(*config.suite_path(spec.name)))
        chosen = f"tags {', '.join(spec.tags) or 'any'}, tier {'any' if spec.tier is None else f'≤ {spec.tier}'}"
        problems.append(Problem(place=place, message=f"no scenario has {chosen}", remedy="Choose others."))
    if problems:
        raise InputError(problems)
    return LoadedScenarios(cases, loaded.warnings)


def _tool_of(spec: ScenarioSuite, config: LoadedConfig) -> ScenarioTool | None:
    """The tool that the suite names, held to what a scenario's has to be. Raises `InputError`."""
    if spec.tool is None:
        return None
    try:
        return ScenarioTool.model_validate(spec.tool.model_dump())
    except ValidationError as error:
        path = config.suite_path(spec.name, "tool")
        found = problems_of(error, Place(file=config.file, line=config.line(*path)), "")
        raise InputError(one.but(field=f"{field_name(path)}.{one.field}") for one in found) from None


def selected(scenario: Scenario, tags: Sequence[str], tier: int | None) -> bool:
    """Any of the tags, as the specification has it (its program wants all), and a tier of at most `tier`."""
    return (not tags or bool(set(tags) & set(scenario.tags))) and (tier is None or scenario.tier <= tier)


def load_scenarios(files: Sequence[Path], root: Path, defaults: Defaults) -> LoadedScenarios:
    """The scenarios in these files. `root` is the folder that nothing of them leaves. Raises `InputError`."""
    problems: list[Problem] = []
    loaded = _load([name_below(root, file) for file in files], root, defaults, problems)
    if problems:
        raise InputError(problems)
    return loaded


def _load(files: Iterable[str], root: Path, defaults: Defaults, problems: list[Problem]) -> LoadedScenarios:
    cases: list[ScenarioCase] = []
    warnings: list[str] = []
    for file in files:
        reading = _Reading(file, root, defaults)
        case = reading.case()
        problems += reading.problems
        warnings += reading.warnings
        if case is not None:
            cases.append(case)
    problems += repeated_ids(cases, "name", shown)
    return LoadedScenarios(cases, warnings)


class _Reading:
    """One file on its way to a case: what is wrong and what is odd about it is collected."""

    def __init__(self, file: str, root: Path, defaults: Defaults) -> None:
        self._file, self._root, self._defaults = file, root, defaults
        self._folder = posixpath.dirname(file)
        self._tree = YamlTree()
        self.problems: list[Problem] = []
        self.warnings: list[str] = []

    @property
    def _tool_key(self) -> str:
        return tool_key(self._tree.value)

    def case(self) -> ScenarioCase | None:
        """The case, or `None` with problems."""
        scenario = self._scenario()
        if scenario is None:
            return None
        tool = self._tool(scenario)
        fixture = self._fixture(scenario, tool)
        rubric = self._rubric(scenario)
        graders = self._graders(scenario)
        if fixture is not None:
            mistakes = check_variants(scenario, fixture, tool.binary if tool else "", self._root, self._folder)
            for mistake in (*check_scripts(scenario, fixture), *mistakes):
                self._wrong(mistake)
            place = (self._tool_key,) if scenario.tool == FROM_CONFIG else (self._tool_key, "binary")
            for hint in check_binary(place, scenario, tool.binary, fixture) if tool else ():
                self._odd(hint)
            for hint in check_patterns(scenario, fixture):
                self._odd(hint)
        if scenario.asserts_nothing:
            for mistake in misspelt_assertions(self._tree.value):
                self._wrong(mistake)
        if self.problems or tool is None or fixture is None:
            return None
        if scenario.asserts_nothing:
            self._odd(Mistake(("evaluation",), "nothing is asserted: neither gates nor a judge", "Add a gate."))
        return make_case(
            scenario,
            Place(file=self._file, line=self._tree.line(("name",))),
            tool=tool,
            root=self._root,
            folder=self._folder,
            fixture=fixture,
            rubric=rubric,
            timeout_s=self._defaults.timeout_s,
            max_turns=self._defaults.max_turns,
            graders=graders,
        )

    def _scenario(self) -> Scenario | None:
        text = self._text()
        if text is None:
            return None
        try:
            self._tree = read_yaml(text)
        except YamlError as error:
            self._wrong(error.mistake)
            return None
        for mistake in self._tree.mistakes:
            self._wrong(mistake)
        if not isinstance(self._tree.value, dict):
            what = "the file is empty" if self._tree.value is None else "the file holds no scenario"
            self._wrong(Mistake((), what, REMEDY, 1))
            return None
        adapted = adapt(self._tree, PurePosixPath(self._file).stem)
        for hint in adapted.hints:
            self._odd(hint)
        return self._validated(adapted.mistakes)

    def _text(self) -> str | None:
        try:
            data = beginning_inside(self._root, self._file, 4 * MAX_CHARACTERS + 1)
            if len(data) > 4 * MAX_CHARACTERS:
                self._wrong(Mistake((), "the file is too large for a scenario", "Is this the right file?"))
                return None
            return data.decode("utf-8-sig")
        except InputError as error:
            self.problems += error.problems
            return None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
            self._wrong(Mistake((), f"the file can't be read: {reason}", "Check its name and content."))
            return None

    def _validated(self, known: Sequence[Mistake]) -> Scenario | None:
        """By way of JSON, where strict reading takes a mapping for a record but neither "5" nor yes for a number."""
        mistakes = list(known)
        scenario = None
        try:
            scenario = Scenario.model_validate_json(json.dumps(self._tree.value), strict=True)
        except ValidationError as error:
            explained = {mistake.path for mistake in known}
            found = [explain(item, self._tree) for item in error.errors(include_url=False)]
            mistakes += [mistake for mistake in found if mistake.path not in explained]
        for mistake in sorted(mistakes, key=lambda one: one.line or self._tree.line(one.path) or 0):
            self._wrong(mistake)
        return scenario

    def _tool(self, scenario: Scenario) -> ScenarioTool | None:
        if scenario.tool != FROM_CONFIG:
            return scenario.tool
        if self._defaults.tool is None:
            remedy = "Write tool: {binary: …} here, or in the suite of the configuration."
            self._wrong(Mistake((self._tool_key,), "the tool is from_config, and the suite has none", remedy))
        return self._defaults.tool

    def _fixture(self, scenario: Scenario, tool: ScenarioTool | None) -> Fixture | None:
        path = ("template_folder",)
        name = self._inside(scenario.template_folder, path)
        if name is None:
            return None
        try:
            if kind_inside(self._root, name) == "folder":
                return read_fixture(self._root / name, tool.binary if tool else "", scenario.under_test)
            remedy = "Fixtures count from the scenario's folder; make one with the guidance in it."
            self._wrong(Mistake(path, f"there is no fixture folder {shown(scenario.template_folder)}", remedy))
        except (FixtureError, InputError, OSError) as error:
            self._wrong(Mistake(path, why(error), "Fix the fixture."))
        return None

    def _rubric(self, scenario: Scenario) -> Rubric | None:
        judge = scenario.evaluation.judge
        if judge is None or not judge.enabled or judge.rubric is None:
            return None
        path = ("evaluation", "judge", "rubric")
        name = self._inside(judge.rubric, path)
        if name is None:
            return None
        try:
            return self._read_rubric(name)
        except OSError as error:
            remedy = "Rubrics count from the scenario's folder."
            message = f"the rubric {shown(judge.rubric)} can't be read: {error.strerror}"
            self._wrong(Mistake(path, message, remedy))
        except InputError as error:
            self.problems += error.problems
        return None

    def _graders(self, scenario: Scenario) -> list[Source]:
        found: list[Source] = []
        fixture = path_from(self._folder, scenario.template_folder)
        for index, gate in enumerate(scenario.evaluation.gates):
            if not isinstance(gate, GraderGate):
                continue
            path = ("evaluation", "gates", index, "check")
            if fixture and any(name.startswith(f"{fixture}/") for name in parse_reference(gate.check).files):
                remedy = "Agents read the fixture: put graders elsewhere."
                self._wrong(Mistake(path, f"the grader {shown(gate.check)} is in the fixture", remedy))
                continue
            try:
                found.append(read_source(self._root, gate.check))
            except ValueError as error:
                self._wrong(Mistake(path, str(error), "See docs/graders.md."))
        return found

    def _read_rubric(self, name: str) -> Rubric:
        config = self._defaults.config
        if config is None or config.base_file is None:
            return read_rubric(beginning_inside(self._root, name, MOST_BYTES + 1), name)
        found = load_rubric(name, config)
        self.warnings += [found.note] if found.note else []
        return found.rubric

    def _inside(self, name: str, path: tuple[str, ...]) -> str | None:
        """A path beside the scenario's file, from the configuration's folder; one that leaves this is a problem."""
        found = path_from(self._folder, name)
        if found is None:
            remedy = "Paths count from the scenario's folder and stay in the configuration's."
            self._wrong(Mistake(path, f"the path {shown(name)} leads out of the configuration's folder", remedy))
            return None
        return found

    def _wrong(self, mistake: Mistake) -> None:
        self.problems.append(self._problem(mistake))

    def _odd(self, mistake: Mistake) -> None:
        self.warnings.append(str(self._problem(mistake)))

    def _problem(self, mistake: Mistake) -> Problem:
        line = mistake.line or self._tree.line(mistake.path)
        place = Place(file=self._file, line=line)
        return Problem(place=place, message=mistake.message, remedy=mistake.remedy, field=field_name(mistake.path))
