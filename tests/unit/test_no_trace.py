"""What runs in the tests' own process leaves it as it was: the next test finds environment and signals unchanged."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from evalward import interrupts
from evalward.edge import taken_environment

CONFTEST = str(Path(__file__).parents[1] / "conftest.py")


def test_a_command_in_this_process_leaves_no_trace(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY_OF_SOMEBODY", "x")
    before, handler = dict(os.environ), signal.getsignal(signal.SIGTERM)
    (ours,) = [each for each in request.config.pluginmanager.get_plugins() if getattr(each, "__file__", "") == CONFTEST]
    around = ours.pytest_runtest_protocol()
    next(around)
    taken_environment()
    interrupts.heed()
    assert "A_KEY_OF_SOMEBODY" not in os.environ
    assert signal.getsignal(signal.SIGTERM) is not handler
    with contextlib.suppress(StopIteration):
        next(around)
    assert dict(os.environ) == before
    assert signal.getsignal(signal.SIGTERM) is handler
