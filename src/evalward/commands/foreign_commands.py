"""Which commands get keys on the command line: not those that a checked-out branch has made up.

In the action the base says which command is run. Here somebody may have checked out a stranger's branch. So a command
gets keys that the default branch has for the suite, or whose suite is named in the environment. Where the default
branch has no configuration, there is nothing that a branch could change: a user runs a working tree of their own. In
the workflow of a pull request the base has to have the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.commands.default_branch import default_config, of_pull_request
from evalward.config import Config, HarnessSuite, LoadedConfig
from evalward.config.harness import OF_COMMANDS
from evalward.records.patterns import chosen
from evalward.records.problem import InputError, Place, Problem

VARIABLE = "EVALWARD_COMMANDS"


def refuse_foreign_commands(loaded: LoadedConfig, env: Mapping[str, str], suites: Sequence[str] = ()) -> None:
    """Raises `InputError` where a key that is set would go to a command that only the checkout names.

    `suites` are patterns of those that are run; none means all.
    """
    named = {name.strip() for name in env.get(VARIABLE, "").split(",")}
    asking = [
        suite
        for suite in loaded.config.suites
        if isinstance(suite, HarnessSuite)
        and suite.name not in named
        and chosen(suite.name, suites)
        and any(env.get(name, "").strip() for name in suite.key_names)
    ]
    if not asking:
        return
    known, proposed = default_config(loaded, env), of_pull_request(env)
    if known is None and not proposed:
        return
    problems = [_problem(loaded, suite, proposed=proposed) for suite in asking if not _has(known, suite)]
    if problems:
        raise InputError(problems)


def _has(known: Config | None, suite: HarnessSuite) -> bool:
    return known is not None and any(
        isinstance(one, HarnessSuite) and all(getattr(one, key) == getattr(suite, key) for key in OF_COMMANDS)
        for one in known.suites
        if one.name in (suite.name, suite.replaces)
    )


def _problem(loaded: LoadedConfig, suite: HarnessSuite, *, proposed: bool) -> Problem:
    index = loaded.config.suites.index(suite)
    keys = ", ".join(sorted(suite.key_names))
    where, remedy = "and not the default branch", f"If that is meant, set {VARIABLE}={suite.name}."
    if proposed:
        where = "and not the base of the pull request, as far as it is here"
        remedy = f"Check out with fetch-depth: 2, so that the base can be read. {remedy}"
    return Problem(
        place=Place(file=loaded.file, line=loaded.line("suites", index, "env")),
        field=f"suites[{index}].env",
        message=f"{keys} would go to a command that this checkout alone has, {where}",
        remedy=remedy,
    )
