"""What programs in Python build on: load, run, compare, decide, render. See docs/api.md.

Everything here takes and gives typed records; `InputError` says what is wrong with a file, where, and what to do. What
is not in `__all__` may change without notice.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from evalward.config.loaded import LoadedConfig
from evalward.edge import hide
from evalward.records.baseline import Baseline
from evalward.records.case import Case
from evalward.records.comparison import CaseChange, Comparison, RunComparison
from evalward.records.history import HistoryEntry
from evalward.records.metric import Metric
from evalward.records.policy import FailOn, Policy, Rule
from evalward.records.problem import InputError, Problem
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Message, Text, ToolUse, Trace, Turn
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict
from evalward.render.context import PageContext
from evalward.targets.base import Chat, Reply, Request, Target
from evalward.targets.base import Free as OfflineTarget

if TYPE_CHECKING:
    from evalward.commands.world import World
    from evalward.engine.selection import Selection

__all__ = [
    "Baseline",
    "Case",
    "CaseChange",
    "Chat",
    "Checked",
    "Comparison",
    "HistoryEntry",
    "InputError",
    "Judgement",
    "LoadedConfig",
    "Message",
    "Metric",
    "OfflineTarget",
    "Outcome",
    "PageContext",
    "Policy",
    "Problem",
    "Reason",
    "Reply",
    "Report",
    "Request",
    "Result",
    "Rule",
    "Run",
    "RunComparison",
    "Selected",
    "Status",
    "Target",
    "Text",
    "ToolUse",
    "Trace",
    "Trial",
    "Turn",
    "Verdict",
    "check",
    "compare",
    "decide",
    "headline",
    "load_baseline",
    "load_config",
    "load_history",
    "load_report",
    "policy_of",
    "record",
    "render",
    "run",
    "update_baseline",
]

DEFAULT_CONFIG = "evalward.yml"
DEFAULT_OUTPUT = "evalward-out"


@dataclass(frozen=True)
class Selected:
    """What of a configuration is run: patterns, where none means all. `trials` replaces the configuration's."""

    suites: Sequence[str] = ()
    targets: Sequence[str] = ()
    cases: Sequence[str] = ()
    trials: int | None = None


ALL = Selected()


@dataclass(frozen=True)
class Checked:
    """What a check found. `baseline` is what was compared with, `None` where there is none yet."""

    report: Report
    judgement: Judgement
    baseline: Baseline | None = field(repr=False)

    @property
    def verdict(self) -> Verdict:
        """The decision, and why."""
        return self.judgement.verdict


# --- load -------------------------------------------------------------------------------------------------------------


def load_config(file: str | Path = DEFAULT_CONFIG) -> LoadedConfig:
    """The configuration, opened by this process: see docs/api.md on keys. Raises `InputError` with all mistakes."""
    from evalward.config.load import load_config as load

    return load(Path(file))


def load_report(file: str | Path) -> Report:
    """A `report.json`, whoever wrote it: the metrics are computed anew from its cases. Raises `InputError`."""
    from evalward.commands.files import read_report
    from evalward.commands.pipeline import remeasured

    return remeasured(read_report(Path(file)), str(file))


def load_baseline(file: str | Path) -> Baseline:
    """A `baseline.json`. Raises `InputError`, also where there is none."""
    from evalward.commands.files import read_baseline_file

    return read_baseline_file(Path(file))


def load_history(file: str | Path) -> list[HistoryEntry]:
    """The entries of a `history.jsonl`, oldest first; lines that are none are left out. Raises `InputError`."""
    from evalward.commands.files import read_bytes
    from evalward.decide.history_file import read_history

    data = read_bytes(Path(file), "history", "Make it with `evalward history append`.")
    return list(read_history(data.decode("utf-8", "replace")).entries)


def policy_of(config: LoadedConfig, profile: str | None = None, fail_on: FailOn | None = None) -> Policy:
    """The rules of a configuration, of its profile where one is named. Raises `InputError` for an unknown one."""
    from evalward.commands.pipeline import policy_of as policy

    return policy(config, profile, fail_on)


# --- run --------------------------------------------------------------------------------------------------------------


def run(
    config: str | Path = DEFAULT_CONFIG,
    output: str | Path = DEFAULT_OUTPUT,
    *,
    selected: Selected = ALL,
    resume: bool = False,
    env: Mapping[str, str] | None = None,
    progress: TextIO | None = None,
) -> Report:
    """Run the suites as `evalward run` does; the report, which is also in the output folder with every trial.

    Whatever belongs to the configuration is opened and run by a process of its own, which has no key. `env` has the
    keys of live targets and the `PATH`, by default this process's environment; `progress` is where a log goes.
    Raises `InputError`.
    """
    from evalward.commands.run import RunOptions, measured_run

    options = RunOptions(Path(config), Path(output), _selection(selected), resume)
    _, services, report = measured_run(_world(env, progress), options)
    if services.unwritten is not None:
        raise services.unwritten
    return report


def check(
    config: str | Path = DEFAULT_CONFIG,
    output: str | Path = DEFAULT_OUTPUT,
    *,
    baseline: str | Path | None = None,
    profile: str | None = None,
    fail_on: FailOn | None = None,
    selected: Selected = ALL,
    resume: bool = False,
    env: Mapping[str, str] | None = None,
    progress: TextIO | None = None,
) -> Checked:
    """Run the suites and judge, as `evalward check` does: failures are tried again, doubts measured on both sides.

    `baseline` is the configuration's by default. For the others see `run`. Raises `InputError`.
    """
    from evalward.commands.check import checked
    from evalward.commands.measuring import runner_of
    from evalward.commands.options import CheckOptions

    options = CheckOptions(
        Path(config),
        Path(output),
        _selection(selected),
        None if baseline is None else Path(baseline),
        profile,
        fail_on,
        resume,
    )
    world = _world(env, progress)
    with runner_of(world) as runner:
        found = checked(world, runner, options)
    if found.services.unwritten is not None:
        raise found.services.unwritten
    return Checked(found.report, found.judgement, found.judging.baseline)


def record(config: LoadedConfig, suite: str, target: Target) -> list[Trial]:
    """One trial of each case of a suite by a target of your own, for a recording that `replay:NAME` takes.

    The cases are opened and run by this process: call it in one without keys. A recorded judge judges, no other is
    asked. Raises `InputError`.
    """
    from msgspec import structs

    from evalward.config import RECORDED
    from evalward.engine.subject import make_subject
    from evalward.suites.base import kind_named

    spec = next((each for each in config.config.suites if each.name == suite), None)
    if spec is None:
        from evalward.records.problem import wrong

        raise wrong(config.file, f"there is no suite {suite!r}", "Name one of `suites`.")
    kind = kind_named(spec.kind)
    prepared = kind.prepare(spec, config)
    subject = make_subject(prepared.subject).hash
    judge = config.config.judge
    if prepared.judging is not None and judge is not None and (judge.model or "").startswith(RECORDED):
        from evalward.suites.judge.who import make_judges

        prepared = structs.replace(prepared, judges=make_judges(prepared.judging, config, {}))

    async def trials() -> list[Trial]:
        done = []
        for case in prepared.cases:
            outcome = await kind.run_trial(prepared, case, target, 1)
            done.append(
                Trial(
                    suite=suite,
                    kind=kind.name,
                    target=target.id,
                    subject=subject,
                    case=case.written(),
                    result=outcome.result,
                    trace=outcome.trace,
                )
            )
        return done

    return asyncio.run(trials())


def _selection(selected: Selected) -> Selection:
    from evalward.engine.selection import Selection

    return Selection(tuple(selected.suites), tuple(selected.targets), tuple(selected.cases), selected.trials)


def _world(env: Mapping[str, str] | None, progress: TextIO | None) -> World:
    from evalward.commands.world import World, utc_now

    hide()  # the runner is a process of our user, and reads neither our memory nor the environment that we began with
    known = os.environ if env is None else env
    return World(StringIO(), progress or StringIO(), utc_now, dict(known), Path.cwd())


# --- compare and decide -----------------------------------------------------------------------------------------------


def compare(report: Report, baseline: Baseline | None) -> Comparison:
    """Metric by metric, category by category, case by case: what changed, over the cases that can be compared."""
    return decide(report, baseline).comparison


def decide(
    report: Report,
    baseline: Baseline | None = None,
    policy: Policy | None = None,
    history: Sequence[HistoryEntry] = (),
) -> Judgement:
    """The comparison and the verdict. Without a `policy` each kind's own rules hold; `history` decides nothing: it
    names what is flaky, and shows trends.
    """
    from evalward.commands.pipeline import decide_report

    return decide_report(report, baseline, policy or Policy(), history)


def update_baseline(report: Report, previous: Baseline | None = None, policy: Policy | None = None) -> Baseline:
    """The report as the new baseline; cases that did as before keep their earlier trials, as `baseline update --keep`.

    Raises `InputError` for a report that can't be one.
    """
    from evalward.commands.keeping import kept_baseline
    from evalward.decide.pooling import NamedReport

    return kept_baseline(NamedReport(report, "report.json"), previous, policy or Policy()).update.baseline


# --- render -----------------------------------------------------------------------------------------------------------


def headline(judgement: Judgement) -> str:
    """The verdict in a sentence: its deciding reason, or what a pass means."""
    from evalward.render.sentences import headline as sentence

    return sentence(judgement.verdict)


def render(
    what: Judgement | Report | Baseline | Sequence[Report],
    form: str = "terminal",
    *,
    context: PageContext | None = None,
    width: int = 100,
    colour: bool = False,
    verbose: bool = False,
    report: Report | None = None,
    baseline: Baseline | None = None,
    output: str | Path | None = None,
) -> str:
    """The text in an output format: `terminal`, `markdown`, `html`, `json`, `junit`, `badge`, or one that is installed.

    A baseline has one form, that of its file. `context` says where a judgement comes from, `width` and `colour` are the
    terminal's. `report` and `baseline` are what a judgement was made of, and `output` is the folder with the trials of
    the report: an HTML page shows what it is given. Raises `InputError` for a format that can't show this.
    """
    from evalward.commands.ending import shown_reports, sources_of
    from evalward.decide.baseline import dump_baseline
    from evalward.render.kept import Sources
    from evalward.render.outputs import Display, ShownJudgement, text_of

    display = Display(colour, width, verbose, accepting=context is not None)
    folder = None if output is None else Path(output)
    if isinstance(what, Baseline):
        return dump_baseline(what)
    if isinstance(what, Judgement):
        sources = sources_of(report, baseline, folder) if report else Sources(baseline=baseline)
        return text_of(form, ShownJudgement(what, context or PageContext(), display, sources))
    reports = [what] if isinstance(what, Report) else what
    shown = [sources_of(each, None, folder if len(reports) == 1 else None) for each in reports]
    return text_of(form, shown_reports(reports, display=display, sources=shown))
