"""What judges a scenario's agents: which files of the fixture they don't see, and which they can't change.

A script that a gate, an evaluator or a post script runs belongs to those who judge. An agent that reads it knows the
answers, and one that rewrites it is its own judge. What the agent needs is left to it: whatever prompt, guidance, setup
or health check name is visible, and so is the tool. What it sees and a gate runs is protected all the same.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.opening import beginning_inside
from evalward.records.problem import InputError
from evalward.suites.put_back import matches
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.commands import SimpleCommand, pieces
from evalward.suites.scenario.gate_models import CommandGate
from evalward.suites.scenario.model import Scenario

JUDGES = frozenset(
    {"checks", "graders", "gates", "evaluators", "verifiers", "oracle", "oracles", "rubrics", "solutions"}
)
"""Folders that belong as a whole to those who judge, where one of their scripts lies in them."""
ANSWERS = re.compile(r"(expected|golden|answers?|solutions?|oracles?|references?|rubrics?)([^a-z].*)?", re.IGNORECASE)
PYTEST = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")
HOOKS = ("sitecustomize.py", "usercustomize.py", "sitecustomize", "usercustomize")
TESTS = (
    *("tests", "test", "__tests__", "test_*.py", "*_test.py", "*_test.go", "*.bats"),
    *("*.test.js", "*.test.ts", "*.spec.js", "*.spec.ts", "*.test.mjs", "*.spec.mjs"),
)
_NODE = ("package.json", ".npmrc", "jest.config.*", "vitest.config.*", ".mocharc.*")
_NODE_MODULES = ("node_modules",)
_MAKE = ("Makefile", "makefile", "GNUmakefile")
CONFIGURES = {
    **dict.fromkeys(("pytest", "py.test", "tox", "nox", "unittest", "nose2", "coverage"), (*PYTEST, "noxfile.py")),
    **dict.fromkeys(("npm", "npx", "yarn", "pnpm", "jest", "vitest", "mocha"), _NODE),
    **dict.fromkeys(("make", "gmake"), _MAKE),
    **{"just": ("justfile", "Justfile", ".justfile"), "bats": (), "go": (), "cargo": (), "ctest": ()},
}
"""What tells a runner what to run. Where the fixture has it, it is put back."""
PLANTED = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini")
"""What pytest takes up by itself: where the fixture has none, there is none."""

RUNNERS_OWN = {
    "pytest": frozenset(
        {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "pygments"}
    ),
    **{name: frozenset({name}) for name in ("tox", "nox", "nose2", "coverage")},
}
"""What a test runner is made of, by the module that is run."""
_STARTS_PYTHON = b"python"


@dataclass(frozen=True)
class Instruments:
    """`hidden`: paths that agents don't see. `kept`: paths that are put back. `refused`: patterns of what is put back,
    and of what isn't used where the fixture hasn't got it. `beside`: folder → names of modules that nobody may
    lay there. `known`: all that the fixture has, with what its setup made.
    """

    hidden: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    refused: tuple[str, ...] = ()
    beside: tuple[tuple[str, frozenset[str]], ...] = ()
    known: frozenset[str] = frozenset()

    def protects(self, path: str) -> bool:
        """Whether the path is as the case has it when it is judged."""
        if path in self.kept or matches(path, self.refused):
            return True
        return path not in self.known and any(_module(path, folder) in names for folder, names in self.beside)


def instruments_of(case: ScenarioCase, files: Iterable[str], fixture: Path) -> Instruments:
    """What judges a case whose fixture, with what its setup made, has these files. `fixture`: where they are read."""
    scenario, known = case.scenario, set(files)
    run = list(_run_by_judges(scenario))
    binary = posixpath.normpath(case.tool.binary)
    scripts = {path for piece in run for path in _scripts(piece, known)}
    own = (scripts - {binary}) | _answers(run, known)
    own |= {path for script in own for path in _beside(script, known)}
    needed = _Needed(case, fixture)
    hidden = {path for path in own | _secrets(case, known) if not needed.names(path)}
    hidden -= {path for path in hidden if matches(path, scenario.visible)}
    if scenario.protect is not None:
        kept = {path for path in known if matches(path, scenario.protect)}
        kept |= hidden
        return Instruments(
            frozenset(hidden), frozenset(kept), tuple(scenario.protect), _shadows(kept), frozenset(known)
        )
    environments = _environments(known)
    installed = {path for path in known if matches(path, [*environments, *_NODE_MODULES])}
    kept = (
        hidden
        | own
        | scripts
        | installed
        | _interpreters(run, known)
        | _tests(run, known)
        | {path for path in known if matches(path, HOOKS)}
    )
    runs_pytest = any(_runner(piece) in {"pytest", "py.test", "tox", "nox"} for piece in run)
    refused = (*HOOKS, *(PLANTED if runs_pytest else ()), *(f"{folder}/" for folder in _folders(own)))
    refused = (*refused, *(f"{folder}/*.pth" for folder in environments))  # what Python runs before all else
    beside = (*_shadows(kept), *_here_first(run, needed, fixture))
    return Instruments(frozenset(hidden), frozenset(kept), refused, beside, frozenset(known))


def _run_by_judges(scenario: Scenario) -> Iterator[SimpleCommand]:
    """The simple commands of gates, evaluators and post scripts."""
    gates: Sequence[object] = scenario.evaluation.gates
    commands = [gate.command for gate in gates if isinstance(gate, CommandGate)]
    commands += [script.command for script in scenario.scripts.post]
    commands += [evaluator.command for evaluator in scenario.scripts.evaluators]
    for command in commands:
        yield from pieces(command)


def _scripts(piece: SimpleCommand, known: set[str]) -> Iterator[str]:
    """The files that a command executes."""
    places = [piece.script] if piece.script else []
    if piece.module:
        path = piece.module.replace(".", "/")
        places += [f"{path}.py", f"{path}/__main__.py", f"{path}/__init__.py"]
    yield from (place for place in places if place in known)


def _interpreters(run: Sequence[SimpleCommand], known: set[str]) -> set[str]:
    return {piece.interpreter for piece in run if piece.interpreter in known}


def _environments(known: Iterable[str]) -> list[str]:
    """Python's virtual environments. What they had is put back; an agent may install more."""
    return sorted({posixpath.dirname(path) for path in known if posixpath.basename(path) == "pyvenv.cfg"} - {""})


def _answers(run: Sequence[SimpleCommand], known: set[str]) -> set[str]:
    """Files that a command of those who judge compares with, as their names tell."""
    named = {path for piece in run for path in piece.named}
    return {
        path
        for path in known
        if any(path == each or path.startswith(each + "/") for each in named)
        and any(ANSWERS.fullmatch(part) for part in path.split("/"))
    }


def _judges_folder(path: str) -> str | None:
    parts = path.split("/")[:-1]
    found = next((number for number, part in enumerate(parts, 1) if part in JUDGES), None)
    return None if found is None else "/".join(parts[:found])


def _folders(paths: Iterable[str]) -> list[str]:
    return sorted({folder for path in paths if (folder := _judges_folder(path)) is not None})


def _beside(script: str, known: set[str]) -> Iterator[str]:
    folder = _judges_folder(script)
    if folder is not None:
        yield from (path for path in known if path.startswith(folder + "/"))


def _secrets(case: ScenarioCase, known: set[str]) -> set[str]:
    """The rubric, where it lies in the fixture, and the scripts that the reference solution runs."""
    found = {path for command in case.scenario.solution for piece in pieces(command) for path in _scripts(piece, known)}
    found.discard(posixpath.normpath(case.tool.binary))
    judge = case.scenario.evaluation.judge
    if judge is not None and judge.rubric is not None:
        rubric = posixpath.normpath(posixpath.join(".", judge.rubric))
        template = posixpath.normpath(case.scenario.template_folder)
        found |= {path for path in known if posixpath.join(template, path) == rubric}
    return found


def _runner(piece: SimpleCommand) -> str:
    return piece.module.partition(".")[0] if piece.module else piece.program


def _tests(run: Sequence[SimpleCommand], known: set[str]) -> set[str]:
    """Tests and their configuration, where a test runner judges."""
    found: set[str] = set()
    for piece in run:
        configuration = CONFIGURES.get(_runner(piece))
        if configuration is None:
            continue
        named = [path for path in piece.named if path != "."]
        found |= {path for path in known if matches(path, (*configuration, *TESTS))}
        found |= {path for path in known if any(path == each.partition("::")[0] for each in named)}
    return found


def _shadows(kept: Iterable[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Beside a script of Python's, a module of the name of another one comes before it."""
    folders: dict[str, set[str]] = {}
    for path in kept:
        if path.endswith(".py"):
            folders.setdefault(posixpath.dirname(path), set()).add(posixpath.basename(path)[:-3])
    library = sys.stdlib_module_names
    return tuple((folder, frozenset(names | library)) for folder, names in sorted(folders.items()))


def _here_first(run: Iterable[SimpleCommand], needed: _Needed, fixture: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """Python looks first in the folder where it was started when it runs no script: code that stands in a command or
    in a script of the shell, or a module. None of Python's own, and nothing of the runner's, is found there unless the
    agent was asked for it.
    """
    library = frozenset(name for name in sys.stdlib_module_names if not needed.names(f"{name}.py"))
    for piece in run:
        folder = "" if piece.folder == "." else piece.folder
        if piece.here:
            runs = (piece.module or "").partition(".")[0]
            yield folder, library | RUNNERS_OWN.get(runs, frozenset())
        elif piece.script is not None and not piece.is_python and _STARTS_PYTHON in _start_of(fixture, piece.script):
            yield folder, library | RUNNERS_OWN["pytest"]


def _start_of(fixture: Path, name: str) -> bytes:
    try:
        return beginning_inside(fixture, name, 200_000)
    except (OSError, InputError):
        return b""


def _module(path: str, folder: str) -> str | None:
    """The module that a path would be, looked for in the folder; `None` where it is none, or lies elsewhere."""
    inside = path.removeprefix(folder + "/") if folder else path
    if folder and inside == path:
        return None
    first, _, rest = inside.partition("/")
    stem, _, ending = (rest or first).partition(".")
    is_code = ending in {"py", "pyc"} or ending.endswith(("so", "pyd"))
    if not is_code or (rest and stem != "__init__"):
        return None
    return first if rest else stem


class _Needed:
    """What the agent is told of: files whose names stand in something that it or the setup is given."""

    def __init__(self, case: ScenarioCase, fixture: Path) -> None:
        scenario = case.scenario
        given = [scenario.task.prompt, *scenario.setup.commands, case.tool.health_check or "", case.tool.binary]
        self._text = "\n".join([*given, *(_guidance(fixture, name) for name in case.guidance)])

    def names(self, path: str) -> bool:
        """Whether the path, or its name, is told."""
        name = re.escape(posixpath.basename(path))
        return re.search(rf"(?<![\w.-]){name}(?![\w-])", self._text) is not None


def _guidance(fixture: Path, name: str) -> str:
    try:
        return beginning_inside(fixture, name, 200_000).decode("utf-8", "replace")
    except (OSError, InputError):
        return ""
