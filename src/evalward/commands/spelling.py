"""Our own commands as people type them: what does the same again, and what makes a report the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from evalward.commands.failed import spelled_out
from evalward.commands.options import CheckOptions, CompareOptions
from evalward.records.verdict import Outcome, Verdict

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
    return _check(replace(options, selection=selection), [])


def check_failed(options: CheckOptions) -> str:
    """The command that runs again what failed in this check."""
    return _check(options, ["--failed"])


def _check(options: CheckOptions, more: list[str]) -> str:
    selection = options.selection
    parts = {"--suite": selection.suites, "--target": selection.targets, "--case": selection.cases}
    chosen = [word for name, values in parts.items() for value in values for word in (name, value)]
    output = options.output if more and options.output != DEFAULT_OUTPUT else None
    named = {
        "--output": output,
        "--trials": selection.trials,
        "--baseline": options.baseline,
        "--base": options.base,
        "--profile": options.profile,
        "--fail-on": options.fail_on,
    }
    return spelled(["evalward", "check", "--config", str(options.config), *more, *chosen, *_given(named)])


def check_here(config: str) -> str:
    """The command that does at home what a workflow's run did."""
    return f"evalward check --config {config}"


def compare_again(options: CompareOptions) -> str:
    """The command that compares the same again."""
    named = {
        "--report": options.report,
        "--baseline": options.baseline,
        "--policy": options.policy,
        "--profile": options.profile,
        "--fail-on": options.fail_on,
    }
    return spelled(["evalward", "compare", *_given(named)])


def release_again(config: object, report: Path | None = None) -> str:
    """The command that does the same release check again."""
    return f"evalward release {f'--report {report} ' if report else ''}--config {config}"


@dataclass(frozen=True)
class UpdateCommand:
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
