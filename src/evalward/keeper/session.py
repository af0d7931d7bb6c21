"""A runner at work for us: what we order, what it asks for meanwhile, and how both end together."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from evalward.keeper.process import RunnerProcess
from evalward.records.base import Record
from evalward.records.calibration import Calibration
from evalward.wire import messages as m
from evalward.wire.faults import InterruptedRunError, OtherSideError, RunnerGoneError, error_of, fault_of_error
from evalward.wire.peer import CallFailedError, Incoming, Peer, WireError

R = TypeVar("R", bound=Record)
Handler = Callable[[Incoming], Awaitable[bytes]]
FILE_LIMIT = 64 << 20  # bytes of a file that is read for us
_LAST = (signal.SIGINT, signal.SIGTERM)


class Runner:
    """The runner's process, as the keeper orders its work. One job at a time."""

    def __init__(self, env: Mapping[str, str], cwd: Path) -> None:
        self._process = RunnerProcess(env, cwd)
        self._peer = Peer(self._process.connection, self._heard)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._handlers: Mapping[str, Handler] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._peer.start()

    def close(self) -> None:
        """End it, and whatever it has started."""
        self._peer.close()
        self._process.close()

    # --- what it can do ---------------------------------------------------------------------------------------------

    def begin(self, beginning: m.Beginning) -> None:
        """Say what is outside."""
        self._job("begin", beginning)

    def load(
        self, config: str, shown: str | None = None, *, below: str | None = None, optional: bool = False
    ) -> m.Head | None:
        """Read a configuration; `None` for an `optional` one that isn't there. Raises `InputError`."""
        answer = self._job("load", m.LoadOrder(config=config, shown=shown, below=below, optional=optional))
        return None if answer == b"null" else self._read(m.Head, answer)

    def read(self, path: str, *, limit: int = FILE_LIMIT, anywhere: bool = False) -> bytes | None:
        """A file, by its path from the configuration's folder, or `anywhere`; `None` where there is none.

        Raises `InputError`.
        """
        answer = self._job("read", m.ReadOrder(path=path, limit=limit, anywhere=anywhere))
        return answer[1:] if answer[:1] == b"+" else None

    def measure(self, order: m.MeasureOrder, handlers: Mapping[str, Handler]) -> None:
        """Run the suites; the report is handed over at every stage of it. Raises `InputError`."""
        self._job("measure", order, handlers)

    def compare_guidance(self, order: m.GuidanceOrder, handlers: Mapping[str, Handler]) -> m.Compared:
        """Run scenarios with several guidances. Raises `InputError`."""
        return self._read(m.Compared, self._job("guidance", order, handlers))

    def check_judge(self, order: m.JudgeOrder, handlers: Mapping[str, Handler]) -> Calibration:
        """Hold a judge against labels. Raises `InputError`."""
        return self._read(Calibration, self._job("judge", order, handlers))

    # --- how it is done ---------------------------------------------------------------------------------------------

    @staticmethod
    def _read(model: type[R], data: bytes) -> R:
        try:
            return m.read(model, data)
        except m.BrokenMessageError as error:
            raise OtherSideError(f"the runner's answer can't be read: {error}") from None

    def _job(self, name: str, order: Record, handlers: Mapping[str, Handler] | None = None) -> bytes:
        try:
            if handlers is None:
                return self._peer.call(name, m.written(order))
            return asyncio.run(self._serving(name, m.written(order), handlers))
        except CallFailedError as failed:
            error = error_of(failed.data)
        except WireError as gone:
            error = RunnerGoneError(self._process.ended())
            error.__cause__ = gone
        if isinstance(error, InterruptedRunError):
            raise KeyboardInterrupt
        raise error

    async def _serving(self, name: str, data: bytes, handlers: Mapping[str, Handler]) -> bytes:
        loop = asyncio.get_running_loop()
        self._handlers, self._loop = handlers, loop
        try:
            with self._signals_passed_on(loop):
                return await self._peer.ask(name, data)
        finally:
            self._loop = None
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await handlers["close"](Incoming("close", b"null", (), None))

    @contextmanager
    def _signals_passed_on(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """The first SIGINT or SIGTERM ends the run cleanly; a second one ends us as it always would."""
        installed: list[signal.Signals] = []

        def restore() -> None:
            while installed:
                number = installed.pop()
                loop.remove_signal_handler(number)
                if number is signal.SIGTERM:  # asyncio gives it back to the system, where it would be our own handler's
                    signal.signal(signal.SIGTERM, signal.default_int_handler)

        def end(number: signal.Signals) -> None:
            restore()
            self._process.signal(number)

        for number in _LAST:
            # Only the main thread can have handlers: in a test or a notebook there are none.
            with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                loop.add_signal_handler(number, end, number)
                installed.append(number)
        try:
            yield
        finally:
            restore()

    # --- what it asks for -------------------------------------------------------------------------------------------

    def _heard(self, asked: Incoming) -> None:
        loop = self._loop
        if loop is None:
            self._refuse(asked)
            return
        try:
            loop.call_soon_threadsafe(self._start, asked)
        except RuntimeError:  # the loop has just ended
            self._refuse(asked)

    def _refuse(self, asked: Incoming) -> None:
        asked.close()
        self._peer.fail(asked, m.written(fault_of_error(WireError("nothing is asked for now"))))

    def _start(self, asked: Incoming) -> None:
        task = asyncio.get_running_loop().create_task(self._handle(asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, asked: Incoming) -> None:
        handler = self._handlers.get(asked.name)
        try:
            if handler is None or asked.name == "close":
                raise ValueError(f"the keeper does no {asked.name!r}")
            self._peer.answer(asked, await handler(asked))
        except asyncio.CancelledError:
            self._refuse(asked)
            raise
        except Exception as error:  # whatever is asked wrongly is the asker's trouble, and never ours
            self._peer.fail(asked, m.written(fault_of_error(error)))


@contextmanager
def opened_runner(
    env: Mapping[str, str], cwd: Path, *, keys: list[str] | None = None, terminal: bool = False
) -> Iterator[Runner]:
    """A runner for some jobs. `keys`: the variables that hold a key here, by name."""
    runner = Runner(env, cwd)
    try:
        runner.begin(m.Beginning(keys=keys or [], terminal=terminal))
        yield runner
    finally:
        runner.close()
