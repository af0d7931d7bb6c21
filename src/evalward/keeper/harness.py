"""Runs another harness with the keys that the configuration which judges names for it, and with no others.

Of what the runner asks, only case ids, a number and folders get into the command; which command it is, and what it may
know, stands in our configuration.
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import time

from evalward.config.harness import HarnessSuite, needed_keys
from evalward.config.harness_words import Filling, UnfitWordsError, filled
from evalward.config.model import Config
from evalward.edge import harmless
from evalward.keeper.overseen import OverseenProgram, ProgramEnd
from evalward.records.base import clean_text
from evalward.records.words import one_line
from evalward.redaction import NOTHING, Redaction
from evalward.sandbox.launcher.overseer import ProgramOrder
from evalward.wire.messages import HarnessDone, HarnessOrder

MOST_TRIALS = 100  # of each case, by one command: whatever the runner asks for
LINES, CHARACTERS = 20, 4000  # of what it said last
_SHOWN = 200  # characters of a command
_OF_THE_WORKFLOW = re.compile(r"(GITHUB_(?!ACTIONS$)|RUNNER_|EVALWARD_|LLM_TOOL_TEST_).*", re.IGNORECASE)
_OF_OUR_USER = re.compile(r"(XDG_.*|HOME|USER|LOGNAME|SHELL|PWD)")


class RefusedHarnessError(Exception):
    """A command that is not started; the message says why."""


def harness_environment(env: Mapping[str, str], suite: HarnessSuite, home: str | None = None) -> dict[str, str]:
    """What a suite's commands know: what is harmless, and the variables that the suite names.

    `home` is that of a user of their own, where they have one.
    """
    known = {name: value for name, value in harmless(env).items() if not _OF_THE_WORKFLOW.fullmatch(name)}
    known = {name: value for name, value in known.items() if name != "PWD" and not _with_password(name, value)}
    if home is not None:
        known = {name: value for name, value in known.items() if not _OF_OUR_USER.fullmatch(name)}
        known["HOME"] = home
    return {**known, **{name: env[name] for name in suite.env if name in env}}


def _with_password(name: str, value: str) -> bool:
    """Whether it is the address of a proxy with a password in it: a key, which a suite has to name."""
    return name.upper().endswith("_PROXY") and "@" in value


@dataclass
class Harnesses:
    """Starts the commands of a configuration's suites in its folder, one at a time.

    `withheld` are suites whose commands are not run, by name, and why. `say` shows a line to people.
    """

    config: Config
    folder: str
    env: Mapping[str, str] = field(repr=False)
    say: Callable[[str], None]
    redaction: Redaction = NOTHING
    withheld: Mapping[str, str] = field(default_factory=dict)
    _one: threading.Lock = field(default_factory=threading.Lock)
    _running: OverseenProgram | None = None
    _ended: bool = False

    def run(self, order: HarnessOrder, user: int | None) -> HarnessDone:
        """Run what is ordered until it has ended; `user` is the runner's user id, `None` where that is ours."""
        with self._one:
            began = time()
            try:
                suite = self._suite(order.suite)
                program = self._program(suite, order, user)
            except (RefusedHarnessError, UnfitWordsError) as error:
                return HarnessDone(began=began, refused=str(error))
            shown = one_line(shlex.join(program.words), _SHOWN)
            self.say(f"{order.suite}: running `{shown}`\n")
            done = self._done(self._end_of(program, suite.run_timeout_s), began)
            self._tell(order.suite, done)
            return done

    def end(self) -> None:
        """End what runs; nothing more is started."""
        self._ended = True
        running = self._running
        if running is not None:
            running.end()
        with self._one:
            pass  # whoever waited for it is done

    def _suite(self, name: str) -> HarnessSuite:
        why = "the run has ended" if self._ended else self.withheld.get(name)
        if why is not None:
            raise RefusedHarnessError(why)
        for suite in self.config.suites:
            if suite.name == name and isinstance(suite, HarnessSuite):
                return suite
        raise RefusedHarnessError("no suite of this name has commands")

    def _program(self, suite: HarnessSuite, order: HarnessOrder, user: int | None) -> ProgramOrder:
        command = suite.rerun if order.again else suite.run
        if command is None:
            raise RefusedHarnessError(f"the suite has no {'rerun' if order.again else 'run'}")
        if user is None and os.geteuid() == 0 and self.env.get("GITHUB_ACTIONS") == "true":
            raise RefusedHarnessError("in a workflow no command is run as root, and there is no other user to run it")
        missing = [name for name in needed_keys(suite) if not self.env.get(name, "").strip()]
        if missing:
            raise RefusedHarnessError(f"it needs a key, and {missing[0]} is not set")
        filling = Filling(order.ids, min(max(1, order.trials), MOST_TRIALS), order.folder)
        words, variables = filled(command, filling, shell=suite.shell)
        env = harness_environment(self.env, suite, None if user is None else order.home or "/")
        return ProgramOrder(words, {**env, **variables}, self.folder, user)

    def _end_of(self, order: ProgramOrder, timeout_s: float) -> ProgramEnd:
        try:
            running = OverseenProgram(order)
        except OSError as error:
            return ProgramEnd(None, False, 0.0, b"", False, str(error.strerror or error))
        self._running = running
        if self._ended:
            running.end()
        try:
            return running.waited(timeout_s)
        finally:
            self._running = None

    def _done(self, end: ProgramEnd, began: float) -> HarnessDone:
        last = last_lines(end.said, self.redaction, cut=end.cut)
        refused = f"it could not be started: {end.error}" if end.exit_code is None and end.error else None
        return HarnessDone(
            exit_code=end.exit_code,
            timed_out=end.timed_out,
            seconds=end.seconds,
            began=began,
            last=last,
            refused=refused,
        )

    def _tell(self, name: str, done: HarnessDone) -> None:
        if done.refused is not None:
            self.say(f"{name}: {done.refused}\n")
            return
        how = f"exit code {done.exit_code}" if done.exit_code is not None else "it was ended"
        how = "ended at its time limit" if done.timed_out else how
        self.say(f"{name}: {how} after {done.seconds:.1f} s\n")  # what it said is told where its results can't be read


def last_lines(said: bytes, redaction: Redaction, *, cut: bool = False) -> str:
    """The last lines of what a program printed, as text without secrets and control characters.

    Secrets are looked for in all that was kept, so that no end cuts one in two; `cut`: its first line isn't whole.
    """
    text = redaction.text(clean_text(said.decode("utf-8", "replace")))
    lines = [line for line in text.splitlines() if line.strip()]
    kept = "\n".join(_printable(line) for line in (lines[1:] if cut and len(lines) > 1 else lines)[-LINES:])
    return kept[-CHARACTERS:]


def _printable(line: str) -> str:
    return "".join(character if character.isprintable() else " " for character in line.expandtabs(4)).rstrip()
