"""How far the work is: a line that updates itself at a terminal, a quiet line now and then in a log."""

from __future__ import annotations

import time
from collections import Counter

from evalward.records.result import Result, Status
from evalward.runner.outside import Stream

LOG_EVERY_S = 15.0
BAR = 24


class ProgressLine:
    """Counts finished trials. `total` is how many there will be."""

    def __init__(self, total: int, stream: Stream, *, live: bool) -> None:
        self._total, self._stream, self._live = total, stream, live
        self._counts: Counter[Status] = Counter()
        self._usd = 0.0
        self._unknown = False
        self._started = self._printed_at = time.monotonic()

    def finished(self, run: str, result: Result) -> None:  # noqa: ARG002 - the totals are what people watch
        """One more trial is done."""
        self._counts[result.status] += 1
        self._usd += result.usage.cost_usd or 0.0  # an unknown cost is no part of it: so "at least"
        self._unknown = self._unknown or (result.valid and result.usage.cost_usd is None)
        now = time.monotonic()
        due = 0.1 if self._live else LOG_EVERY_S
        if now - self._printed_at >= due:
            self._printed_at = now
            self._show(now)

    def close(self) -> None:
        """Show the end state."""
        self._show(time.monotonic())
        if self._live:
            self._stream.write("\n")
        self._stream.flush()

    def _show(self, now: float) -> None:
        text = self._text(now)
        self._stream.write(f"\r\x1b[2K{text}" if self._live else f"{text}\n")
        self._stream.flush()

    def _text(self, now: float) -> str:
        done = sum(self._counts.values())
        parts = [f"{done}/{self._total} trials", f"{self._counts[Status.PASSED]} passed"]
        parts += [
            f"{self._counts[status]} {word}"
            for status, word in ((Status.FAILED, "failed"), (Status.ERROR, "errors"), (Status.SKIPPED, "skipped"))
            if self._counts[status]
        ]
        if self._usd:
            parts.append(f"{'at least ' if self._unknown else ''}${self._usd:.4f}")
        elapsed = now - self._started
        if 0 < done < self._total:
            parts.append(f"{elapsed / done * (self._total - done):.0f} s left")
        else:
            parts.append(f"{elapsed:.1f} s")
        text = ", ".join(parts)
        if not self._live:
            return text
        filled = BAR * done // max(1, self._total)
        return f"[{'█' * filled}{'·' * (BAR - filled)}] {text}"
