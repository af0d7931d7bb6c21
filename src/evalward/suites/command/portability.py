"""POSIX verdicts for a whole suite: looked up where known, checked many at once where many are known beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from evalward.suites.command.case import Rules
from evalward.suites.command.posix import PosixReport, check_posix, check_posix_many


class Portability:
    """The checker of one suite. Starting shellcheck costs more than what it does, so nothing is checked twice."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Rules], PosixReport] = {}
        self._warming: dict[str, asyncio.Task[None]] = {}

    async def check(self, command: str, rules: Rules) -> PosixReport:
        """The verdict on one command."""
        known = self._known.get((command, rules))
        if known is None:
            known = await asyncio.to_thread(check_posix, command, rules)
            self._known[command, rules] = known
        return known

    async def check_many(self, commands: Iterable[str], rules: Rules) -> None:
        """Check all of these at once, for later look-ups."""
        new = [c for c in dict.fromkeys(commands) if (c, rules) not in self._known]
        if new:
            reports = await asyncio.to_thread(check_posix_many, new, rules)
            self._known.update({(command, rules): report for command, report in zip(new, reports, strict=True)})
