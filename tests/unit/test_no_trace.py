"""What runs in the tests' own process leaves it as it was: the next test finds environment and signals unchanged."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evalward import interrupts
from evalward.edge import taken_environment

TESTS = Path(__file__).parents[1]
CONFTEST = str(TESTS / "conftest.py")
IGNORED = 'trap "" INT TERM; exec "$@"'


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


def test_what_the_tests_were_started_with_ignored__signals_reach_them() -> None:
    """As by `make test &` in a script."""
    tests = "tests/integration/test_interrupts.py"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", tests]
    env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = ["sh", "-c", IGNORED, "sh", *words]
    done = subprocess.run(started, cwd=TESTS.parent, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
