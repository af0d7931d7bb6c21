"""Work that is done with another user's rights, in a process that ends with it. Only for root."""

from __future__ import annotations

import os
from collections.abc import Callable


def as_user(user: int, work: Callable[[], bool]) -> bool:
    """Whether the work was done as this user, without any group of ours, and what it says of itself.

    Nothing is done as anybody else: where the change of user fails, or the work raises, the answer is no. Raises
    `ChildProcessError` where another part of this process has waited for every child.
    """
    child = os.fork()
    if child == 0:
        done = False
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            done = os.getresuid() == (user, user, user) and work()
        finally:
            os._exit(0 if done else 1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0
