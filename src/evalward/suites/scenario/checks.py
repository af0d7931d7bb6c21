"""What has to fit between a scenario and its fixture: scripts that can be run, paths that stay inside."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

from evalward.config.words import KeyPath
from evalward.config.yaml_positions import Mistake
from evalward.records.words import shown
from evalward.suites.put_back import matches
from evalward.suites.scenario.fixture import Fixture
from evalward.suites.scenario.gate_models import ScriptGate
from evalward.suites.scenario.model import Scenario

_INTERPRETERS = frozenset({"sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl"})
_CODE_INSTEAD = ("-c", "-e", "-m")


def check_scripts(scenario: Scenario, fixture: Fixture) -> Iterator[Mistake]:
    """Scripts that leave the fixture, that are missing, or that can't be run."""
    may_be_made = bool(scenario.setup.commands)
    for path, command in _commands(scenario):
        yield from _script(path, command, fixture, may_be_made)


def check_binary(place: KeyPath, scenario: Scenario, binary: str, fixture: Fixture) -> Iterator[Mistake]:
    """A tool of the fixture that isn't there or can't be run: odd, but no mistake, because an agent may build it."""
    if "/" not in binary or not _is_plain(binary) or scenario.setup.commands:
        return
    inside = posixpath.normpath(binary)
    if inside in fixture.executable:
        return
    what = "isn't executable" if inside in fixture.files else f"isn't in the fixture {fixture.folder.name}/"
    yield Mistake(
        place, f"the tool {shown(binary)} {what}", "Put it there with chmod +x, or name a program on the PATH."
    )


def check_patterns(scenario: Scenario, fixture: Fixture) -> Iterator[Mistake]:
    """Patterns that match no file of the fixture: somebody believes in what isn't there."""
    if scenario.setup.commands:
        return  # it may make them
    for key in ("under_test", "protect", "visible"):
        for index, pattern in enumerate(getattr(scenario, key) or ()):
            if not any(_fits(path, pattern, key) for path in fixture.files):
                message = f"{shown(pattern)} matches no file of the fixture {fixture.folder.name}/"
                yield Mistake((key, index), message, "Patterns are of whole paths, counted from the fixture's folder.")


def _fits(path: str, pattern: str, key: str) -> bool:
    return path == pattern or fnmatchcase(path, pattern) or (key != "under_test" and matches(path, (pattern,)))


def _commands(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    for index, gate in enumerate(scenario.evaluation.gates):
        if isinstance(gate, ScriptGate):
            yield ("evaluation", "gates", index, "command"), gate.command
    for index, script in enumerate(scenario.scripts.post):
        yield ("scripts", "post", index, "command"), script.command
    for index, evaluator in enumerate(scenario.scripts.evaluators):
        yield ("scripts", "evaluators", index, "command"), evaluator.command


def _script(path: KeyPath, command: str, fixture: Fixture, may_be_made: bool) -> Iterator[Mistake]:
    named = script_of(command)
    if named is None:
        return
    script, needs_bit = named
    inside = posixpath.normpath(script)
    if inside.startswith(".."):
        yield Mistake(path, f"the script {shown(script)} leaves the fixture", "Put it into the fixture's folder.")
    elif inside not in fixture.files:
        if not may_be_made:
            remedy = f"Scripts count from the fixture's folder, {fixture.folder.name}/."
            yield Mistake(path, f"there is no script {shown(script)} in the fixture", remedy)
    elif needs_bit and inside not in fixture.executable:
        remedy = f"chmod +x {inside}, and commit that (git update-index --chmod=+x)."
        yield Mistake(path, f"the script {shown(script)} isn't executable", remedy)


def script_of(command: str) -> tuple[str, bool] | None:
    """The script that a command line starts, where it is a relative path, and whether it has to be executable."""
    try:
        words = shlex.split(command)
    except ValueError:  # shell syntax that only the shell can read
        return None
    if not words:
        return None
    if words[0].rpartition("/")[2] in _INTERPRETERS:
        rest = words[1:]
        if not rest or any(word in _CODE_INSTEAD for word in rest):
            return None
        script = next((word for word in rest if not word.startswith("-")), None)
        return (script, False) if script and _is_plain(script) else None
    return (words[0], True) if "/" in words[0] and _is_plain(words[0]) else None


def _is_plain(word: str) -> bool:
    """A relative path that the shell takes as it stands."""
    return not word.startswith(("/", "~")) and not any(character in word for character in "$`*?[{;&|<>()=")
