"""The runner's process: one job after the other, as the keeper orders them, until the keeper goes."""

from __future__ import annotations

import atexit
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping

from evalward import interrupts
from evalward.runner.jobs import JOBS, JobSession
from evalward.sandbox.launcher import kernel
from evalward.sandbox.process.launching import launch_by
from evalward.sandbox.process.starter import Starter
from evalward.wire.faults import WireFault, fault_of_error
from evalward.wire.messages import written
from evalward.wire.peer import Incoming, Peer

LAST_S = 20.0  # for ending what runs, when the keeper has gone

Job = Callable[[JobSession, bytes], bytes]


class Service:
    """Serves one connection, on the main thread: jobs have event loops and signal handlers of their own."""

    def __init__(self, connection: socket.socket, jobs: Mapping[str, Job] = JOBS) -> None:
        self._jobs = jobs
        self._queue: queue.SimpleQueue[Incoming | None] = queue.SimpleQueue()
        self._busy = self._late = False
        self._peer = Peer(connection, self._queue.put)
        self._session = JobSession.of(self._peer)

    def serve(self) -> None:
        """Until the other side closes."""
        self._peer.start(self._left)
        while (asked := self._queue.get()) is not None:
            asked.close()  # no job takes files
            try:
                answer = self._run_job(asked)
            except (Exception, KeyboardInterrupt) as error:
                self._busy = False
                self._peer.fail(asked, written(_fault(error)))
            else:
                self._peer.answer(asked, answer)

    def spared(self) -> bool:
        """Whether no job is under way that a signal could interrupt: it interrupts the next one then, which may have
        been ordered already.
        """
        self._late = not self._busy
        return self._late

    def _run_job(self, asked: Incoming) -> bytes:
        self._busy = True
        try:
            if self._late:
                self._late = False
                raise KeyboardInterrupt
            if asked.name not in self._jobs:
                raise ValueError(f"there is no job {asked.name!r}")
            return self._jobs[asked.name](self._session, asked.data)
        finally:
            self._busy = False

    def _left(self) -> None:
        """The keeper has gone: what runs is ended, and so are we, be it by force."""
        self._queue.put(None)
        if self._busy:
            os.kill(os.getpid(), signal.SIGTERM)
        threading.Thread(target=_end_all, daemon=True).start()


def _fault(error: BaseException) -> WireFault:
    fault = fault_of_error(error)
    return fault_of_error(KeyboardInterrupt()) if fault.kind == "ours" and interrupts.seen() else fault


def _end_all() -> None:
    time.sleep(LAST_S)
    os._exit(1)


def main() -> None:
    """The arguments are numbers of descriptors: the connection's, and the launchers' starter's if there is one."""
    service: Service | None = None
    interrupts.heed(lambda: service is None or service.spared())
    if sys.platform == "linux":
        kernel.no_new_privileges()
    connection, *starter = [socket.socket(fileno=int(number)) for number in sys.argv[1:]]
    for each in (connection, *starter):
        each.set_inheritable(False)  # whoever had it could ask for anything
    if starter:
        launch_by(Starter(starter[0]).launching())
    service = Service(connection)
    service.serve()
    atexit._run_exitfuncs()  # shells are ended; what else an interpreter takes down is nobody's any more
    os._exit(0)
