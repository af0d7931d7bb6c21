"""Suites whose trials another harness runs, by a command of its own; and what that command may know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from evalward.config.fields import SomeTexts, Text, TextList
from evalward.config.harness_words import (
    FOLDER,
    LISTS,
    MARKS,
    ONE_ID,
    TRIALS,
    in_single_quotes,
    marks_in,
    split_words,
    within_a_shell,
)
from evalward.config.reading import get, texts
from evalward.config.suite import Suite
from evalward.config.words import KeyPath, Value
from evalward.edge import harmless
from evalward.records.words import did_you_mean, shown

if TYPE_CHECKING:
    from evalward.config.yaml_positions import Mistake

Command = Text | Annotated[list[Text], Field(min_length=1)]
"""A program and its arguments: one text that is split at its spaces, quotes kept together, or a list of words."""

OF_COMMANDS = ("run", "rerun", "env", "shell", "run_timeout_s")
"""The keys that say what is started and what it may know: on a pull request the base's."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_NEVER = re.compile(r"(ACTIONS|INPUT|EVALWARD|RUNNER)_.*", re.IGNORECASE)
_OF_RUN = frozenset({FOLDER, TRIALS})


class HarnessSuite(Suite):
    """A suite whose cases another harness runs: by a command of its own, or in an earlier step.

    Without `run` the files of `results` are there already. `rerun` runs some cases again. `of_base` are the keys that a
    pull request can't change: what is started, and what a kind adds, as what passes.
    """

    file_keys: ClassVar[Sequence[str]] = (*Suite.file_keys, "results")
    of_base: ClassVar[Sequence[str]] = OF_COMMANDS

    run: Command | None = Field(
        default=None, description="The command that runs all cases; leave it out if an earlier step left the results"
    )
    results: SomeTexts = Field(description="The files that it leaves; patterns such as logs/*.eval")
    rerun: Command | None = Field(
        default=None,
        description="The command that runs some cases again: {ids} stands for them ({ids_or} and "
        "{ids_regex} as pytest's -k and a regular expression list them), {id} for one of them, {trials} for "
        "how often, {dir} for the folder of its results",
    )
    env: TextList = Field(
        default=[],
        description="Names of the environment variables with keys that the commands get; no others are passed",
    )
    shell: bool = Field(default=False, description="The commands are a shell's text, for sh -c")
    run_timeout_s: float = Field(
        default=3600, gt=0, le=86_400, allow_inf_nan=False, description="Seconds for one run of a command"
    )

    @property
    def key_names(self) -> frozenset[str]:
        """The variables that are named for its commands: what they hold is secret whatever they are called."""
        return frozenset(name for name in self.env if not harmless({name: "set"}))

    def with_commands_of(self, other: HarnessSuite | None) -> HarnessSuite:
        """The suite with the commands of another one, and with what those may know; `None`: without any."""
        if other is None:
            return self.model_copy(update={"run": None, "rerun": None, "env": [], "shell": False})
        return self.model_copy(update={key: getattr(other, key) for key in self.of_base if hasattr(other, key)})

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """Commands that can't be split, placeholders that nothing fills, and variables that no command may get."""
        yield from super().mistakes(suite, path)
        shell = get(suite, "shell") is True
        yield from _of_command(get(suite, "run"), (*path, "run"), _OF_RUN, shell=shell)
        yield from _of_command(get(suite, "rerun"), (*path, "rerun"), frozenset(MARKS), shell=shell)
        yield from _of_rerun(get(suite, "rerun"), (*path, "rerun"))
        yield from _of_folder(suite, path)
        yield from _of_env(suite, path)
        yield from _without_command(suite, path)


def needed_keys(suite: HarnessSuite) -> list[str]:
    """The variables that have to be set before its commands can run; none where it has no command."""
    if suite.run is None and suite.rerun is None:
        return []
    return [name for name in suite.env if name in suite.key_names]


def _command(value: Value) -> str | list[str] | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return [word for word in value if isinstance(word, str)]
    return None


def _of_command(value: Value, place: KeyPath, known: frozenset[str], *, shell: bool) -> Iterator[Mistake]:
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

    command = _command(value)
    if command is None:
        return
    if shell and not isinstance(command, str):
        yield Mistake(place, "a shell takes one text, and this is a list of words", "Write a text, or leave out shell.")
        return
    try:
        words = split_words(command, shell=shell)
    except ValueError as error:
        message = f"can't be split into words: {str(error).lower()}"
        yield Mistake(place, message, "Close the quotes, or write a list of words.")
        return
    if not words or not words[0].strip():
        yield Mistake(place, "names no program", "Write the program and its arguments.")
        return
    yield from _of_marks(command, words, place, known, shell=shell)


def _of_marks(
    command: str | list[str], words: list[str], place: KeyPath, known: frozenset[str], *, shell: bool
) -> Iterator[Mistake]:
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415

    for mark in marks_in(command):
        if mark in known:
            continue
        if mark in MARKS:
            yield Mistake(place, f"{{{mark}}} is only for rerun: run runs all cases", "Write a value, or nothing.")
            continue
        all_known = ", ".join(f"{{{name}}}" for name in sorted(known))
        remedy = f"{did_you_mean(mark, known)} Placeholders here: {all_known}.".strip()
        yield Mistake(place, f"{{{mark}}} is not a placeholder", remedy)
    first = command.split(maxsplit=1)[0] if shell and isinstance(command, str) else words[0]
    if marks_in(first):
        yield Mistake(place, "a placeholder can't be the program", "Name the program itself.")
    for mark in within_a_shell(words) if not shell else ():
        message = f"a shell would read an id in place of {{{mark}}} as part of its text"
        yield Mistake(place, message, "Add shell: true and write only the text; ids are then passed separately.")
    for mark in in_single_quotes(command) if shell and isinstance(command, str) else ():
        message = f"a shell replaces nothing in single quotes, so {{{mark}}} would stay as it is"
        yield Mistake(place, message, "Use double quotes.")


def _of_rerun(value: Value, place: KeyPath) -> Iterator[Mistake]:
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415

    command = _command(value)
    if command is None:
        return
    marks = marks_in(command)
    if FOLDER not in marks:
        message = f"has no {{{FOLDER}}}, so its results would be mixed with those of run"
        yield Mistake(place, message, f"Write {{{FOLDER}}} where the harness takes the folder for its results.")
    listed = [mark for mark in marks if mark in LISTS]
    if listed and ONE_ID in marks:
        message = f"has {{{listed[0]}}} and {{{ONE_ID}}}: all cases in one command, and one case each"
        yield Mistake(place, message, "Keep one of them.")


def _of_folder(suite: Value, path: KeyPath) -> Iterator[Mistake]:
    """Results in the folder of a run, and a run that isn't told the folder."""
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415

    command = _command(get(suite, "run"))
    told = command is not None and FOLDER in marks_in(command)
    for place, pattern in texts(get(suite, "results"), *path, "results"):
        if f"{{{FOLDER}}}" not in pattern:
            continue
        if not pattern.startswith(f"{{{FOLDER}}}/"):
            yield Mistake(place, f"{shown(pattern)} has {{{FOLDER}}} in its middle", f"Begin with {{{FOLDER}}}/.")
        elif not told:
            message = f"{{{FOLDER}}} is the folder of a run, but run doesn't use it"
            yield Mistake(place, message, f"Write {{{FOLDER}}} in run, too, or name the files' own folder.")


def _of_env(suite: Value, path: KeyPath) -> Iterator[Mistake]:
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415
    from evalward.redaction import SECRET_FORMS  # noqa: PLC0415

    for place, name in texts(get(suite, "env"), *path, "env"):
        if not _NAME.fullmatch(name) or SECRET_FORMS.search(name):  # it may be a key: not shown
            message = "must be the name of a variable; this looks like a value"
            yield Mistake(place, message, "Write the name alone; if this is a key, it is public now: revoke it.")
        elif _NEVER.fullmatch(name) or _of_workflow(name):
            message = f"{name} belongs to the workflow or to Evalward, and no command of a suite gets it"
            yield Mistake(place, message, "Give the key to the step in a variable of another name.")


def _of_workflow(name: str) -> bool:
    """Files and facts of the workflow; a token such as GITHUB_TOKEN is a key, which may be named."""
    return name.upper().startswith("GITHUB_") and bool(harmless({name.upper(): "set"}))


def _without_command(suite: Value, path: KeyPath) -> Iterator[Mistake]:
    from evalward.config.yaml_positions import Mistake  # noqa: PLC0415

    if get(suite, "run") is not None or get(suite, "rerun") is not None:
        return
    for key in ("env", "shell", "run_timeout_s"):
        if get(suite, key) is not None:
            message = "is for commands, but the suite has no run and no rerun"
            yield Mistake((*path, key), message, "Add run or rerun, or remove the key.")
