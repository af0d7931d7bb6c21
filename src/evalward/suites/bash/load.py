"""Loading the cases of a bash suite: all files that its patterns match, every problem at once."""

from __future__ import annotations

from evalward.config import LoadedConfig
from evalward.records.problem import Place
from evalward.suites.bash.case import BashCase, BashTask, make_case
from evalward.suites.bash.spec import BashSuite
from evalward.suites.lines import read_cases


def load_cases(spec: BashSuite, config: LoadedConfig) -> list[BashCase]:
    """The cases, in order of files (by name) and lines. Raises `InputError` with every problem of every file."""

    def made(task: BashTask, place: Place) -> BashCase:
        return make_case(task, place, spec.max_turns, spec.timeout_s)

    return read_cases(spec, config, BashTask, made, "task")
