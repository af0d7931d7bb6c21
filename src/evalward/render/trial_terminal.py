"""Trials for a terminal: how each ended, its checks, its conversation, and what its kind shows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from evalward.records.baseline import BaselineCase
from evalward.records.sections import Facts, FileText, SamplePlot, TrialSection
from evalward.records.trace import Usage
from evalward.render.console import Colour, Screen
from evalward.render.conversation import Called, Said, Step, TrialView, TurnEnd, Voice
from evalward.render.escape import html_shown, one_line
from evalward.render.folding import folded
from evalward.render.numbers import NOT_AVAILABLE, format_count, format_number, plural
from evalward.render.view import RESULTS

_VOICES: dict[Voice, tuple[str, Colour | str]] = {
    "system": ("System prompt", "dim"),
    "tool": ("Tool description", "dim"),
    "user": ("User", "bold"),
    "assistant": ("Model", "green"),
    "thinking": ("Thinking", "dim"),
}
_STOPS = {
    "tool_use": "asks for a tool",
    "length": "cut off: the answer is as long as it may be",
    "refusal": "refused",
    "content_filter": "stopped by the content filter",
    "context_length": "the conversation is too long for the model",
    "pause": "paused by the provider",
    "other": "stopped for another reason",
}
_FILE_LINES = 12
_NAME = 300  # characters of a name or message on one line


@dataclass(frozen=True)
class ShownTrials:
    """What is shown of a case: the baseline's side before now's, each under a title; `notes` stand above all.

    `before` are the trials that the baseline keeps as numbers alone.
    """

    notes: Sequence[str]
    before: BaselineCase | None
    views: Sequence[tuple[str, TrialView]]


def trials_text(shown: ShownTrials, *, colour: bool, width: int, full: bool = False) -> str:
    """The trials for a terminal. `full` folds nothing."""
    screen = Screen(colour, width)
    for note in shown.notes:
        screen.say(html_shown(note), mark="!", colour="yellow")
    if shown.before is not None:
        _numbers(screen, shown.before)
    for title, view in shown.views:
        _TrialWriter(screen, full=full).write(title, view)
    return screen.text()


def _numbers(screen: Screen, case: BaselineCase) -> None:
    """A line for each trial of the baseline."""
    screen.heading(f"In the baseline: {plural(len(case.trials), 'trial')}")
    rows = [
        [
            str(number),
            f"{RESULTS[trial.status].mark} {RESULTS[trial.status].word}",
            _score(trial.score, trial.max_score),
            _tokens(trial.usage) or NOT_AVAILABLE,
            _cost(trial.usage) or NOT_AVAILABLE,
            format_number(trial.duration_ms, "ms") if trial.duration_ms else NOT_AVAILABLE,
            _line(trial.reason or ""),
        ]
        for number, trial in enumerate(case.trials, 1)
    ]
    screen.table(["trial", "ended", "score", "tokens", "cost", "time", "reason"], rows, "llrlrrl")


class _TrialWriter:
    """Writes one trial to a screen."""

    def __init__(self, screen: Screen, *, full: bool) -> None:
        self._screen, self._full = screen, full

    def write(self, title: str, view: TrialView) -> None:
        """All of it."""
        self._head(title, view)
        self._checks(view)
        for step in view.steps:
            self._step(step)
        if view.missing:
            self._screen.blank()
            self._screen.say(_line(view.missing), mark="–", colour="dim")
        for section in view.sections:
            self._section(section)

    def _head(self, title: str, view: TrialView) -> None:
        badge, screen = RESULTS[view.status], self._screen
        name = f"{view.case}, trial {view.trial}" + (f" ({title})" if title else "")
        screen.blank()
        line = _line(f"{badge.word}: {name} · {view.suite} × {view.target}")
        screen.lines.append(f"{screen.paint(badge.mark, badge.colour)} {screen.paint(line, 'bold')}")
        judge = f"judge {_used(view.judge_usage)}" if view.judge_usage and _used(view.judge_usage) else ""
        facts = [view.category, f"score {view.score}" if view.score else "", _used(view.usage), judge, _time(view)]
        screen.say(_line(" · ".join(fact for fact in facts if fact)), 2)
        why = ": ".join(part for part in (view.reason, view.message) if part)
        if why:
            screen.exact(self._cut(why), 2)

    def _checks(self, view: TrialView) -> None:
        if not view.checks:
            return
        self._screen.heading(f"Checks held: {sum(check.passed for check in view.checks)} of {len(view.checks)}")
        for check in view.checks:
            mark, colour = ("✓", "green") if check.passed else ("✗", "red")
            self._screen.lines.append(f"  {self._screen.paint(mark, colour)} {_line(check.check)}")
            if check.detail:
                self._screen.exact(self._cut(check.detail), 6)

    def _step(self, step: Step) -> None:
        match step:
            case Said():
                title, colour = _VOICES[step.voice]
                self._title(title, colour)
                self._text(step.text, "dim" if step.voice in {"system", "tool", "thinking"} else None)
            case Called():
                self._called(step)
            case TurnEnd():
                self._screen.say(_line(_turn(step)), mark="·", colour="dim")

    def _called(self, call: Called) -> None:
        how = [_ended(call), format_number(call.duration_ms, "ms") if call.duration_ms is not None else ""]
        failed = not call.ran or call.exit_code not in {0, None}
        self._title(_line(" · ".join([f"Tool {call.tool}".strip(), *filter(None, how)])), "red" if failed else "yellow")
        if call.command:
            self._text(_prompted(call.command), "bold")
        self._text(call.stdout)
        if call.stderr:
            self._screen.say("stderr:", 2)
            self._text(call.stderr)
        self._text(call.answer)
        if call.cut:
            self._screen.say(
                f"{plural(call.cut, 'more character was', 'more characters were')} not kept", 2, "…", "dim"
            )

    def _section(self, section: TrialSection) -> None:
        match section:
            case Facts():
                self._facts(section)
            case FileText():
                self._file(section)
            case SamplePlot():
                self._samples(section)

    def _facts(self, facts: Facts) -> None:
        self._screen.heading(html_shown(facts.title))
        if facts.heads:
            width = len(facts.heads)
            rows = [
                [_line(row.label), *map(_line, row.values[:width]), *[""] * (width - len(row.values))]
                for row in facts.rows
            ]
            self._screen.table(["", *map(_line, facts.heads)], rows, "l" * (width + 1))
            return
        most = max((len(_line(row.label)) for row in facts.rows), default=0)
        for row in facts.rows:
            self._screen.say(_line(", ".join(row.values)), 2, _line(row.label).ljust(most))

    def _file(self, file: FileText) -> None:
        self._title(_line(f"File {file.name}"), "dim")
        if file.text is None:
            self._screen.say("no text", 2)
            return
        self._text(file.text, lines=_FILE_LINES)
        if file.cut:
            self._screen.say(f"{plural(file.cut, 'more byte is', 'more bytes are')} not shown", 2, "…", "dim")

    def _samples(self, plot: SamplePlot) -> None:
        """Numbers in place of a drawing."""
        self._screen.heading(html_shown(plot.title))
        rows = [
            [
                _line(group.name),
                _line(label),
                str(len(found)),
                *(f"{value:.4g} {_line(plot.unit)}" for value in _three(found)),
            ]
            for group in plot.groups
            for label, found in group.samples.items()
            if found
        ]
        self._screen.table(["", "", "samples", "median", "fastest", "slowest"], rows, "llrrrr")

    def _title(self, text: str, colour: Colour | str) -> None:
        self._screen.blank()
        self._screen.lines.append(self._screen.paint(text, colour))

    def _text(self, text: str, colour: Colour | str | None = None, lines: int = 0) -> None:
        """A text as it is, its middle left out where it is long."""
        if not text.strip("\n"):
            return
        if self._full:
            self._screen.exact(text.strip("\n"), 2, colour)
            return
        found = folded(text, head=lines, tail=0) if lines else folded(text)
        self._screen.exact(found.head, 2, colour)
        if found.left_out:
            what = f"{plural(found.lines, 'line')}, " if found.lines else ""
            self._screen.say(
                f"left out: {what}{plural(found.left_out, 'character')} (--full shows them)", 2, "…", "yellow"
            )
        if found.tail:
            self._screen.exact(found.tail, 2, colour)

    def _cut(self, text: str) -> str:
        """A message: its beginning."""
        most = 2_000
        return text if self._full or len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def _prompted(command: str) -> str:
    """A command as a shell shows it, its further lines below the first."""
    return "$ " + command.strip("\n").replace("\n", "\n  ")


def _ended(call: Called) -> str:
    if not call.ran:
        return "not run"
    if call.exit_code is not None:
        return f"exit code {call.exit_code}"
    return "" if call.answer else "exit code unknown"  # what only gives an answer has none


def _turn(turn: TurnEnd) -> str:
    """`Turn 2: 1,200 tokens in, 310 out, $0.0021, 2.1 s; asks for a tool (model)`."""
    facts = [_used(turn.usage), format_number(turn.wall_ms, "ms") if turn.wall_ms else ""]
    took = ", ".join(fact for fact in facts if fact) or "tokens unknown"
    stop = f"; {_STOPS[turn.stop]}" if turn.stop in _STOPS else ""
    return f"turn {turn.number}: {took}{stop}" + (f" ({turn.model})" if turn.model else "")


def _used(usage: Usage) -> str:
    return ", ".join(part for part in (_tokens(usage), _cost(usage)) if part)


def _tokens(usage: Usage) -> str:
    """Empty where none are known."""
    read, written = usage.total_input_tokens, usage.output_tokens
    if read is None and written is None:
        return ""
    more = [
        f"{count:,} {words}"
        for count, words in (
            (usage.cache_read_tokens, "from the cache"),
            (usage.cache_write_tokens, "into the cache"),
        )
        if count
    ]
    cached = f" ({', '.join(more)})" if more else ""
    thought = f" ({usage.reasoning_tokens:,} for thinking)" if usage.reasoning_tokens else ""
    return f"{_count(read)} tokens in{cached}, {_count(written)} out{thought}"


def _count(value: int | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:,}"


def _cost(usage: Usage) -> str:
    return "" if usage.cost_usd is None else format_number(usage.cost_usd, "usd")


def _time(view: TrialView) -> str:
    return format_number(view.duration_ms, "ms") if view.duration_ms else ""


def _score(score: float, most: float) -> str:
    return f"{format_count(score)}/{format_count(most)}" if most else NOT_AVAILABLE


def _three(samples: Iterable[float]) -> tuple[float, float, float]:
    found = sorted(samples)
    return median(found), found[0], found[-1]


def _line(text: str) -> str:
    """One line in which everything can be seen."""
    return one_line(html_shown(text[: 4 * _NAME]), _NAME)
