"""What a runner that only plans may ask its keeper for."""

from __future__ import annotations

from evalward.commands.planning import SERVED


def test_planning__no_service_that_spends_starts_or_writes_anything() -> None:
    assert set(SERVED) == {"planned", "find", "say", "close"}
