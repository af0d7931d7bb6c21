"""How far the work is: a line that updates itself at a terminal, quiet lines in a log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from evalward.records.result import NOT_RUN, Result, Status
from evalward.render.escape import log_text, one_line
from evalward.render.numbers import format_number, plural
from evalward.runner.outside import Stream

LOG_EVERY_S = 15.0
BAR = 24


class ProgressLine:
    """Counts finished trials. `runs` are the names of the runs, each with how many trials it will have.

    In a log each run has a line when it is done. Trials that an early end left out are no finished ones.
    """

    def __init__(self, runs: Iterable[tuple[str, int]], stream: Stream, *, live: bool) -> None:
        self._stream, self._live = stream, live
        self._planned: Counter[str] = Counter()
        for run, size in runs:
            self._planned[run] += size
        self._total = self._planned.total()
        self._of_runs: dict[str, Counter[Status]] = {run: Counter() for run in self._planned}
        self._counts: Counter[Status] = Counter()
        self._usd = 0.0
        self._unknown = False
        self._shown: int | None = None
        self._started = self._printed_at = time.monotonic()
        self.kept = 0

    def finished(self, run: str, result: Result, *, kept: bool = False) -> None:
        """One more trial is done; `kept`: by an earlier run, which is resumed."""
        if result.reason == NOT_RUN:
            return
        self.kept += kept
        self._counts[result.status] += 1
        self._usd += result.usage.cost_usd or 0.0  # an unknown cost is no part of it: so "at least"
        self._unknown = self._unknown or (result.valid and result.usage.cost_usd is None)
        now = time.monotonic()
        self._count_run(run, result.status)
        due = 0.1 if self._live else LOG_EVERY_S
        if now - self._printed_at >= due:
            self._printed_at = now
            self._show(now)

    def close(self) -> None:
        """Show the end state, unless a log has it already, or there was nothing to do."""
        if not self._total and not self._counts:
            return
        if self._live or self._shown != self._counts.total():
            self._show(time.monotonic(), ended=True)
        if self._live:
            self._stream.write("\n")
        self._stream.flush()

    def _count_run(self, run: str, status: Status) -> None:
        """In a log, say that a run among several is done."""
        counts = self._of_runs.setdefault(run, Counter())
        counts[status] += 1
        if self._live or len(self._planned) < 2 or counts.total() != self._planned[run]:
            return
        self._stream.write(log_text(f"{one_line(run, 200)}: {', '.join(_outcomes(counts))}") + "\n")
        self._stream.flush()

    def _show(self, now: float, *, ended: bool = False) -> None:
        self._shown = self._counts.total()
        text = self._text(now, ended=ended)
        self._stream.write(f"\r\x1b[2K{text}" if self._live else f"{text}\n")
        self._stream.flush()

    def _text(self, now: float, *, ended: bool) -> str:
        done = self._counts.total()
        parts = [f"{done}/{plural(self._total, 'trial')}", *_outcomes(self._counts)]
        if self._usd:
            parts.append(f"{'at least ' if self._unknown else ''}${self._usd:.4f}")
        elapsed = now - self._started
        if 0 < done < self._total and not ended:
            parts.append(f"{format_number(elapsed / done * (self._total - done) * 1000, 'ms')} left")
        else:
            parts.append(format_number(elapsed * 1000, "ms"))
        text = ", ".join(parts)
        if not self._live:
            return text
        filled = BAR * done // max(1, self._total)
        return f"[{'█' * filled}{'·' * (BAR - filled)}] {text}"


def _outcomes(counts: Counter[Status]) -> list[str]:
    """`4 passed`, and of the others those that there are."""
    parts = [f"{counts[Status.PASSED]} passed"]
    parts += [f"{counts[Status.FAILED]} failed"] if counts[Status.FAILED] else []
    parts += [plural(counts[Status.ERROR], "error")] if counts[Status.ERROR] else []
    return parts + ([f"{counts[Status.SKIPPED]} skipped"] if counts[Status.SKIPPED] else [])
