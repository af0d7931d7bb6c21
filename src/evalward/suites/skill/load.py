"""Loading a skill suite: its skills, those beside them, and the cases of both; every problem of every file."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalward.config import LoadedConfig
from evalward.graders.source import Source, read_source
from evalward.opening import kind_inside, path_from
from evalward.records.problem import InputError, Place, Problem
from evalward.records.words import shown
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.scenario.gate_models import GraderGate
from evalward.suites.skill.case import SkillCase, make_skill_case
from evalward.suites.skill.case_files import CaseFileError, CaseFiles, found_in_skill, place_of_file
from evalward.suites.skill.eval_checks import check_evals
from evalward.suites.skill.foreign_evals import Naming, read_foreign
from evalward.suites.skill.own_cases import read_own
from evalward.suites.skill.placed import EvalsRead, PlacedAsk
from evalward.suites.skill.skill_checks import check_skills
from evalward.suites.skill.skill_file import EVALS, Skill, read_skill
from evalward.suites.skill.spec import SkillSuite


@dataclass(frozen=True)
class LoadedSkills:
    """The suite's skills and those of others, its cases, and what is odd about them and no mistake."""

    skills: Sequence[Skill]
    distractors: Sequence[Skill]
    cases: Sequence[SkillCase]
    warnings: Sequence[str]


def load_skills(spec: SkillSuite, config: LoadedConfig) -> LoadedSkills:
    """All that a suite names. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    skills = _skills(spec, config, "skills", problems)
    distractors = _skills(spec, config, "distractors", problems)
    problems += _same_names([*skills, *distractors])
    cases = case_files(spec.name, spec.cases, config, problems)
    if problems:  # of what a skill's evals say nothing is right while it is unknown what the skills are
        raise InputError(problems)
    loading = _Loading(spec, config, skills, distractors)
    for skill in skills:
        loading.take_own_evals(skill)
    for file in cases:
        loading.take_file(file)
    return loading.done()


def _skills(spec: SkillSuite, config: LoadedConfig, key: str, problems: list[Problem]) -> list[Skill]:
    found: list[Skill] = []
    for file in case_files(spec.name, getattr(spec, key), config, problems, key):
        try:
            found.append(read_skill(config.root, file))
        except InputError as error:
            problems += error.problems
    return found


def _same_names(skills: Sequence[Skill]) -> list[Problem]:
    """Skills that an earlier one is called as: they would be installed in one folder."""
    seen: dict[str, Skill] = {}
    problems = []
    for skill in skills:
        other = seen.setdefault(skill.name.casefold(), skill)
        if other is not skill:
            message = f"the skill of {other.file} is called {shown(skill.name)}, too"
            place = Place(file=skill.file, line=skill.front.line("name"))
            problems.append(Problem(place=place, message=message, remedy="Give one of them another name."))
    return problems


@dataclass
class _Loading:
    """A suite on its way to cases."""

    spec: SkillSuite
    config: LoadedConfig
    skills: Sequence[Skill]
    distractors: Sequence[Skill]
    asks: list[PlacedAsk] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def naming(self) -> Naming:
        """The skills that evals may name."""
        own = [skill.name for skill in self.skills]
        return Naming(own, [*own, *(skill.name for skill in self.distractors)])

    def take_own_evals(self, skill: Skill) -> None:
        """The evals in the folder of a skill."""
        for file in skill.own_evals:
            try:
                there = kind_inside(self.config.root, file)
            except InputError as error:
                self.problems += error.problems
                continue
            except OSError as error:
                message = f"can't be read: {error.strerror}"
                self.problems.append(Problem(place=Place(file=file), message=message, remedy="Check its permissions."))
                continue
            if there == "file":
                self._take(read_foreign(self.config.root, file, skill.name, self.naming, skill.folder))

    def take_file(self, file: str) -> None:
        """A file that the suite names: one of ours, or JSON in one of the forms of others."""
        if any(file in skill.own_evals for skill in self.skills):
            return
        if not file.lower().endswith(".json"):
            self._take(read_own(self.config.root, file, self.naming))
            return
        folder = posixpath.dirname(file)
        above = posixpath.dirname(folder) if posixpath.basename(folder) == EVALS else folder
        self._take(read_foreign(self.config.root, file, None, self.naming, above or "."))

    def _take(self, read: EvalsRead) -> None:
        self.asks += read.asks
        self.problems += read.problems
        self.warnings += read.warnings

    def done(self) -> LoadedSkills:
        """What was taken, as cases. Raises `InputError`."""
        checked = check_evals(self.asks, self.skills)
        self._take(checked)
        cases = [case for placed in checked.asks for case in self._cases(placed)]
        self.problems += repeated_ids(cases)
        if self.problems:
            raise InputError(self.problems)
        odd = [*check_skills(self.skills, self.distractors, cases), *self.warnings]
        return LoadedSkills(self.skills, self.distractors, cases, list(dict.fromkeys(map(str, odd))))

    def _cases(self, placed: PlacedAsk) -> list[SkillCase]:
        """The case with its files and graders; none, and a problem, where one of them can't be used."""
        ask, before = placed.ask, len(self.problems)
        files = self._files(placed)
        graders = self._graders(placed)
        if len(self.problems) > before:
            return []
        case = make_skill_case(
            ask.model_copy(update={"files": files.files}),
            placed.place,
            root=self.config.root,
            timeout_s=self.spec.timeout_s,
            max_turns=self.spec.max_turns,
            fingerprints=files.fingerprints,
            graders=graders,
        )
        return [case]

    def _files(self, placed: PlacedAsk) -> CaseFiles:
        files = CaseFiles(self.config.root)
        for there, name in placed.ask.files.items():
            try:
                if placed.of_skill:
                    found = found_in_skill(name, placed.folder, self.config.root)
                    inner = posixpath.relpath(found, placed.folder)
                    files.add(place_of_file(name, inner, placed.ask.prompt), found)
                else:
                    files.add(posixpath.normpath(there), _in_repository(name))
            except CaseFileError as error:
                remedy = f"Paths count from the {'skill' if placed.of_skill else 'configuration'}'s folder."
                self._wrong(placed, "files", str(error), remedy)
        return files

    def _graders(self, placed: PlacedAsk) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for index, gate in enumerate(placed.ask.checks):
            if isinstance(gate, GraderGate):
                try:
                    found[gate.check] = read_source(self.config.root, gate.check)
                except ValueError as error:
                    self._wrong(placed, f"checks[{index}].check", str(error), "See docs/graders.md.")
        return found

    def _wrong(self, placed: PlacedAsk, key: str, message: str, remedy: str) -> None:
        field_name = f"{placed.ask.id}: {key}"
        self.problems.append(Problem(place=placed.place, message=message, remedy=remedy, field=field_name))


def _in_repository(name: str) -> str:
    found = path_from("", name)
    if not found:
        raise CaseFileError(f"the path {shown(name)} leads out of the configuration's folder")
    return found
