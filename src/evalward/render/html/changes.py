"""A case that changed, the baseline beside what was measured now: numbers, checks, the command and what it said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from evalward.records.comparison import CaseChange, RunComparison, Tally
from evalward.records.metric import Unit
from evalward.records.result import CheckResult, Result, Status
from evalward.render.anchors import trial_anchor
from evalward.render.changed_texts import ChangedText
from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.sides import RunTrials
from evalward.render.html.texts import RunTexts
from evalward.render.kinds import TrialText
from evalward.render.names import spoken
from evalward.render.numbers import format_count, format_number, plural
from evalward.render.view import RESULTS, Badge, CaseEntry, Some

UNKNOWN = "–"
MOST_CHECKS = 50  # of one trial
MOST_MARKS = 40  # trials of one side that are named one by one
NOTHING_KEPT = "The measurements are missing; this is what the judgement says."


class RunBeside(Struct, frozen=True):
    """A run that was compared: its cases by their ids, the trials behind them, and the texts that changed."""

    run: RunComparison
    trials: RunTrials
    cases: Mapping[str, CaseChange]
    texts: RunTexts


RunsByName = Mapping[str, RunBeside]
"""By `suite × target`, which is how an entry names its run."""


class TrialMark(Struct, frozen=True):
    """How one trial ended; `link` is the fragment of where it stands in full, empty where it doesn't."""

    name: str
    badge: Badge
    link: str = ""


class CaseSide(Struct, frozen=True):
    """One side of a case: how its trials ended, and of the one to look at first its checks and its command."""

    title: str
    trials: Some[TrialMark]
    numbers: list[str]
    why: str = ""
    looked_at: str = ""
    checks: list[CheckResult] = field(default_factory=list)
    more_checks: int = 0
    session: str = ""
    note: str = ""
    none_failing: bool = False

    @property
    def told(self) -> bool:
        """True when there is more than numbers to look at."""
        return bool(self.checks or self.session or self.why or self.none_failing)


class ChangedCase(Struct, frozen=True):
    """A case that changed: its entry as in the comment, its place in the page, and its sides, the earlier one first.

    `rows` are the numbers of all sides beside each other, a label and a text for each side; `text` is what it asks, of
    a case that asks something else now.
    """

    entry: CaseEntry
    anchor: str
    sides: list[CaseSide]
    rows: list[tuple[str, list[str]]]
    text: ChangedText | None = None

    @property
    def told(self) -> list[CaseSide]:
        """The sides of which there is more than numbers."""
        return [side for side in self.sides if side.told]


NUMBERS: Sequence[str] = ("Passed", "Score", "Cost per trial", "Tokens per trial", "Time per trial", "Turns, calls")


def runs_by_name(runs: Iterable[RunComparison], trials: Iterable[RunTrials], texts: Iterable[RunTexts]) -> RunsByName:
    """The runs of a comparison with their trials and texts."""
    return {
        run.name: RunBeside(run, found, {case.id: case for case in run.cases}, told)
        for run, found, told in zip(runs, trials, texts, strict=True)
    }


def changed(entries: Iterable[CaseEntry], runs: RunsByName, book: AnchorBook) -> list[ChangedCase]:
    """The cases of these entries with both sides, as far as they're at hand."""
    only = next(iter(runs), "")
    found = []
    for entry in entries:
        pair = runs.get(entry.run or only)
        case = pair.cases.get(entry.id) if pair else None
        if pair and case:
            found.append(_changed(entry, case, pair, book))
    return found


def _changed(entry: CaseEntry, case: CaseChange, pair: RunBeside, book: AnchorBook) -> ChangedCase:
    run = pair.run
    sides = [side for side in _sides(entry, case, run, pair.trials) if side is not None]
    rows = [(label, [side.numbers[row] for side in sides]) for row, label in enumerate(NUMBERS)]
    told = [(label, values) for label, values in rows if any(value != UNKNOWN for value in values)]
    return ChangedCase(entry, book.take(run.suite, run.target, case.id), sides, told, pair.texts.cases.get(case.id))


def _sides(entry: CaseEntry, case: CaseChange, run: RunComparison, trials: RunTrials) -> list[CaseSide | None]:
    def link(result: Result) -> str:
        return trial_anchor(run.suite, run.target, case.id, result.trial)

    before, now = trials.before_of(case), trials.now.get(case.id, [])
    base_again, again = trials.base_fresh.get(case.id, []), trials.fresh.get(case.id, [])
    known = "Base, measured now" if trials.measured else "Baseline"
    return [
        _side(known, before, trials) if before else _told(known, case.before),
        _side("Base, retried", base_again, trials) if base_again else None,
        _side("Now", now, trials, link=link, session=entry.session) if now else _of_entry(entry, case.now),
        _side("Now, retried", again, trials, link=link) if again else None,
    ]


def _side(
    title: str,
    results: Sequence[Result],
    trials: RunTrials,
    *,
    link: Callable[[Result], str] = lambda _: "",
    session: str = "",
) -> CaseSide:
    """A side whose trials are at hand. `session` is what stands for that of the trial, where its kind tells none."""
    first = _to_look_at(results)
    texts = [trials.kind.trial_text(result) if trials.kind else TrialText() for result in results]
    text = texts[results.index(first)]
    marks = [TrialMark(f"trial {each.trial}", RESULTS[each.status], link(each)) for each in results[:MOST_MARKS]]
    checks = sorted(first.checks, key=lambda check: check.passed)
    return CaseSide(
        title=title,
        trials=Some(marks, len(results)),
        numbers=numbers_of(results, texts),
        why=_why(first),
        looked_at=f"trial {first.trial}" if len(results) > 1 else "",
        checks=checks[:MOST_CHECKS],
        more_checks=max(0, len(checks) - MOST_CHECKS),
        session=text.session or session,
        none_failing=first.status is Status.FAILED and all(check.passed for check in checks),
    )


def _to_look_at(results: Sequence[Result]) -> Result:
    """The first that failed, else the first that is valid, else the first."""
    wanted = (Status.FAILED, Status.PASSED)
    return next((each for status in wanted for each in results if each.status is status), results[0])


def _why(result: Result) -> str:
    return ": ".join(part for part in (spoken(result.reason), result.message) if part)


def _told(title: str, tally: Tally | None) -> CaseSide | None:
    """A side of which only the tally is known."""
    if tally is None:
        return None
    return CaseSide(title, Some([], tally.trials), [*_tally(tally), *[UNKNOWN] * (len(NUMBERS) - 2)])


def _of_entry(entry: CaseEntry, tally: Tally | None) -> CaseSide | None:
    """What was measured now, where the report isn't at hand: the judgement has the failing checks of one trial."""
    side = _told("Now", tally)
    if side is None:
        return None
    checks = [CheckResult(check=each.check, passed=False, detail=each.detail) for each in entry.checks]
    return CaseSide("Now", side.trials, side.numbers, "", "", checks, entry.more_checks, entry.session, NOTHING_KEPT)


def _tally(tally: Tally) -> list[str]:
    score = UNKNOWN if tally.score is None else format_number(tally.score, "ratio")
    return [f"{tally.passed:,} of {tally.trials:,}", score]


def numbers_of(results: Sequence[Result], texts: Sequence[TrialText] = ()) -> list[str]:
    """What the trials of one case came to, in the order of `NUMBERS`: means over those that are valid.

    A mean of which one value is unknown is unknown.
    """
    valid = [result for result in results if result.valid]
    tally = Tally.of(valid)
    turns = [", ".join(part for part in (_turns(text), text.calls) if part) for text in texts]
    return [
        *(_tally(tally) if tally else [f"0 of 0 ({plural(len(results), 'trial')} not valid)", UNKNOWN]),
        mean([result.usage.cost_usd for result in valid], "usd"),
        _tokens(valid),
        mean([result.duration_ms or None for result in valid], "ms"),
        "; ".join(dict.fromkeys(turn for turn in turns if turn)) or UNKNOWN,
    ]


def _turns(text: TrialText) -> str:
    return f"{text.turns} turn{'' if text.turns == '1' else 's'}" if text.turns else ""


def _tokens(results: Sequence[Result]) -> str:
    read = mean([result.usage.total_input_tokens for result in results], "score")
    written = mean([result.usage.output_tokens for result in results], "score")
    return UNKNOWN if read == written == UNKNOWN else f"{read} in, {written} out"


def mean(values: Sequence[float | None], unit: Unit) -> str:
    """The mean in its unit; `–` where there are none or one is unknown."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return UNKNOWN
    return format_count(sum(known) / len(known)) if unit == "score" else format_number(sum(known) / len(known), unit)
