"""What holds for all tests. Property tests have no deadline: a busy machine is no failure of the code."""

import pytest
from hypothesis import settings

import evalward.keeper.process
import evalward.sandbox.process.launching  # noqa: F401 - loaded both: they are what starts processes
from support import warm

settings.register_profile("evalward", deadline=None)
settings.load_profile("evalward")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Processes start warm, in the test and in whatever is prepared for it, unless their start is what is tested."""
    if item.get_closest_marker("cold") is None:
        warm.use()
    else:
        warm.use_none()
