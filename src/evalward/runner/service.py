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
        self._busy = False
        self._peer = Peer(connection, self._queue.put)
        self._session = JobSession.of(self._peer)

    def serve(self) -> None:
        """Until the other side closes."""
        self._peer.start(self._left)
        while (asked := self._take()) is not None:
            self._busy = True
            self._run_job(asked)
            self._busy = False

    def _take(self) -> Incoming | None:
        while True:
            try:
                return self._queue.get()
            except KeyboardInterrupt:  # asked to end what isn't under way any more
                continue

    def _run_job(self, asked: Incoming) -> None:
        asked.close()  # no job takes files
        job = self._jobs.get(asked.name)
        try:
            if job is None:
                raise ValueError(f"there is no job {asked.name!r}")
            self._peer.answer(asked, job(self._session, asked.data))
        except (Exception, KeyboardInterrupt) as error:
            self._peer.fail(asked, written(_fault(error)))

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
    interrupts.heed()
    if sys.platform == "linux":
        kernel.no_new_privileges()
    connection, *starter = [socket.socket(fileno=int(number)) for number in sys.argv[1:]]
    for each in (connection, *starter):
        each.set_inheritable(False)  # whoever had it could ask for anything
    if starter:
        launch_by(Starter(starter[0]).launching())
    Service(connection).serve()
    atexit._run_exitfuncs()  # shells are ended; what else an interpreter takes down is nobody's any more
    os._exit(0)
