"""Our own commands as people type them: what does the same again, and what makes a report the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from shlex import quote

from msgspec import Struct, structs

from evalward.commands.options import CheckOptions, CompareOptions
from evalward.engine.selection import spelled_out
from evalward.records.report import REPORT_FILE
from evalward.records.verdict import Outcome, Verdict
from evalward.render.context import CasesCommand, ShowCommand
from evalward.render.escape import plain

DEFAULT_OUTPUT = Path("evalward-out")  # as the command line's
REASON = "intended"


def spelled(words: Sequence[str]) -> str:
    """Words as a shell takes them."""
    return " ".join(map(quote, words))


def _given(options: Mapping[str, object]) -> list[str]:
    """The options that have a value."""
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


def check_again(options: CheckOptions) -> str:
    """The command that does the same check again.

    Where no patterns say which cases were run because they had failed, it runs again what of them failed this time.
    """
    selection = spelled_out(options.selection)
    if selection is None:
        return check_failed(options)
    return _check(structs.replace(options, selection=selection), [])


def check_failed(options: CheckOptions) -> str:
    """The command that runs again what failed in this check."""
    return _check(options, ["--failed"])


def _check(options: CheckOptions, more: list[str]) -> str:
    selection = options.selection
    parts = {"--suite": selection.suites, "--target": selection.targets, "--case": selection.cases}
    chosen = [word for name, values in parts.items() for value in values for word in (name, value)]
    found_above = options.output == options.config.parent / DEFAULT_OUTPUT  # the config is named now: see output_folder
    output = options.output if (more or found_above) and options.output != DEFAULT_OUTPUT else None
    named = {
        "--output": output,
        "--trials": selection.trials,
        "--changed-since": None if more else options.changed_since,  # what failed is run again, whatever changed
        "--baseline": options.baseline,
        "--base": options.base,
        "--profile": options.profile,
        "--fail-on": options.fail_on,
    }
    return spelled(["evalward", "check", "--config", str(options.config), *more, *chosen, *_given(named)])


def check_here(config: str) -> str:
    """The command that does at home what a workflow's run did."""
    return f"evalward check --config {config}"


def cases_here(config: str) -> CasesCommand:
    """The commands that check some cases at home."""
    return lambda cases: spelled(
        ["evalward", "check", "--config", config, *(word for case in cases for word in _option("--case", _typed(case)))]
    )


def compare_again(options: CompareOptions) -> str:
    """The command that compares the same again."""
    named = {
        "--report": options.report,
        "--baseline": options.baseline,
        "--config": options.config,
        "--profile": options.profile,
        "--fail-on": options.fail_on,
    }
    scores = [word for score in options.scores for word in ("--score", score)]
    return spelled(["evalward", "compare", *_given(named), *scores])


def release_again(config: object, report: Path | None = None) -> str:
    """The command that does the same release check again."""
    return f"evalward release {f'--report {report} ' if report else ''}--config {config}"


def show_case(
    case: str,
    suite: str | None = None,
    target: str | None = None,
    *,
    report: str | None = None,
    trial: int | None = None,
    baseline: Path | str | None = None,
    full: bool = False,
) -> str:
    """The command that shows a trial of a case. `report` is left out where it is the usual one.

    `baseline`: the file, or "" for the one that the config names.
    """
    words = [*_show_options(suite, target, trial, report, str(baseline) if baseline else None)]
    words += ["--full"] if full else []
    word = _typed(case)
    flag = ["--baseline"] if baseline == "" else []  # what follows it would be its file: it comes last, or before --
    last = [*flag, "--", word] if word.startswith("-") else [word, *flag]
    return spelled(["evalward", "show", *words, *last])


@lru_cache(maxsize=256)
def _show_options(
    suite: str | None, target: str | None, trial: int | None, report: str | None, baseline: str | None
) -> Sequence[str]:
    """A page names very many cases of few runs."""
    usual = report is None or Path(report) == DEFAULT_OUTPUT / REPORT_FILE
    named: dict[str, object] = {
        "--suite": suite,
        "--target": target,
        "--trial": trial,
        "--report": None if usual else report,
        "--baseline": baseline,
    }
    options = [_option(name, _typed(str(value), between=",")) for name, value in named.items() if value is not None]
    return tuple(word for option in options for word in option)


def shown_by(report: object) -> ShowCommand:
    """The commands that show the cases of a report."""
    return lambda case, suite, target: show_case(case, suite, target, report=str(report))


def _option(name: str, value: str) -> list[str]:
    """What begins with a hyphen is no option of its own."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def _typed(name: str, between: str = "") -> str:
    """A name as people can type it: as a pattern, where it has characters that can't be seen, or very many, or one
    that comes `between` several patterns.
    """
    short, apart = name[:_LONGEST], {"\n", "\t", *between}
    if short == name == plain(name) and not apart & set(name):
        return name
    seen = (char if char not in apart and plain(char) == char else "?" for char in short)
    literal = (f"[{char}]" if char in "*[" else char for char in seen)
    return "".join(literal) + ("*" if short != name else "")


_LONGEST = 200  # characters of a name


class UpdateCommand(Struct, frozen=True):
    """The command that makes a report the baseline."""

    report: str
    config: str | None
    baseline: str | None = None
    profile: str | None = None

    def text(self, verdict: Verdict) -> str:
        """In a shell's words. What fails is taken on purpose."""
        named = {
            "--config": self.config,
            "--report": self.report,
            "--baseline": self.baseline,
            "--profile": self.profile,
        }
        accept = ["--accept", REASON] if verdict.outcome is Outcome.FAIL else []
        return spelled(["evalward", "baseline", "update", *_given(named), "--keep", *accept])
