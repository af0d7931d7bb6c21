"""What holds for all tests. Property tests have no deadline: a busy machine is no failure of the code.

They try the same examples in every run, whatever other tests have loaded: a green commit stays green. `make stress`
tries others.
"""

import gc
import os
import signal
from collections.abc import Callable, Generator
from types import FrameType

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

import evalward.keeper.process
import evalward.sandbox.process.launching  # noqa: F401 - loaded both: they are what starts processes
from evalward import interrupts
from evalward.edge import FEWER_COLLECTIONS
from evalward.sandbox import virtual
from support import warm

_SIGNALS: dict[signal.Signals, Callable[[int, FrameType | None], object] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}

settings.register_profile("evalward", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("evalward")
setattr(virtual, "start_early", lambda: None)  # noqa: B010 - it would start beside whatever test comes next


def pytest_sessionstart() -> None:
    """Examples, signals and modes of files depend on nothing that happens to be so.

    Hypothesis draws from the constants of all modules that happen to be loaded, too: only where it searches.
    """
    if settings.get_current_profile_name() == "evalward":
        assert callable(providers._get_local_constants)
        providers._get_local_constants = Constants
    for number, usual in _SIGNALS.items():  # a script that starts the tests in its background has SIGINT ignored
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    os.umask(0o022)  # some files must be others' to read, as in a checkout


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is loaded for all tests stays to the end: nothing looks for garbage in it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(FEWER_COLLECTIONS)  # as our own processes
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """A command that ran in this process leaves no trace: it takes the environment for itself, and heeds signals."""
    environment, handlers = dict(os.environ), {each: signal.getsignal(each) for each in _SIGNALS}
    try:
        return (yield)
    finally:
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Processes start warm, in the test and in whatever is prepared for it, unless their start is what is tested."""
    interrupts._seen = False  # of the test before
    warm_before, cold = warm.in_use(), item.get_closest_marker("cold") is not None
    if cold:
        warm.use_none()
    else:
        warm.use()
    if warm_before is cold:
        virtual._WORKERS.stop()  # they were started the other way


def pytest_sessionfinish() -> None:
    """They end before whoever has started them does."""
    virtual._WORKERS.stop()
