"""A runner at work for us: what we order, what it asks for meanwhile, and how both end together."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from evalward.edge import FEWER_COLLECTIONS
from evalward.engine.control import on_signals
from evalward.keeper.process import started
from evalward.records.base import Record
from evalward.records.calibration import Calibration
from evalward.wire import messages as m
from evalward.wire import reading
from evalward.wire.errors import InterruptedRunError, OtherSideError, RunnerGoneError
from evalward.wire.faults import error_of, fault_of_error
from evalward.wire.frames import WireError
from evalward.wire.peer import CallFailedError, CallingPeer, Incoming

R = TypeVar("R", bound=Record)
Handler = Callable[[Incoming], Awaitable[bytes]]
FILE_LIMIT = 64 << 20  # bytes of a file that is read for us
PATIENCE_S = 600.0  # for a job that only reads files
MOST_HELD = 1 << 30  # bytes of what the runner asks for at once; one message may be as large as any
_REFUSED = m.written(fault_of_error(WireError("nothing is asked for now")))


class RunnerSession:
    """The runner's process, as the keeper orders its work. One job at a time."""

    def __init__(self, env: Mapping[str, str], cwd: Path) -> None:
        self._process = started(env, cwd)
        self._line = CallingPeer(self._process.connection, self._process.user)
        self._asked_to_end = False
        self._held = 0  # bytes of what it asked for and has no answer to
        self._handlers: Mapping[str, Handler] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def dismiss(self) -> None:
        """Nothing more is wanted of it: it ends while we go on."""
        self._line.close()

    def close(self) -> None:
        """End it, and whatever it has started."""
        self.dismiss()
        self._process.close()

    # --- what it can do ---------------------------------------------------------------------------------------------

    def begin(self, beginning: m.Beginning) -> None:
        """Say what is outside."""
        self._job("begin", beginning)

    def load(
        self, config: str, shown: str | None = None, *, below: str | None = None, optional: bool = False
    ) -> m.HeadConfig | None:
        """Read a configuration; `None` for an `optional` one that isn't there. Raises `InputError`."""
        answer = self._job("load", m.LoadOrder(config=config, shown=shown, below=below, optional=optional))
        return None if answer == b"null" else self._read(m.HeadConfig, answer)

    def read(self, path: str, *, limit: int = FILE_LIMIT, anywhere: bool = False) -> bytes | None:
        """A file, by its path from the configuration's folder, or `anywhere`; `None` where there is none.

        Raises `InputError`.
        """
        answer = self._job("read", m.ReadOrder(path=path, limit=limit, anywhere=anywhere))
        return answer[1:] if answer[:1] == b"+" else None

    def measure(self, order: m.MeasureOrder, handlers: Mapping[str, Handler]) -> None:
        """Run the suites; the report is handed over at every stage of it. Raises `InputError`."""
        self._job("measure", order, handlers)

    def compare_guidance(self, order: m.GuidanceOrder, handlers: Mapping[str, Handler]) -> m.GuidanceCompared:
        """Run scenarios with several guidances. Raises `InputError`."""
        return self._read(m.GuidanceCompared, self._job("guidance", order, handlers))

    def check_judge(self, order: m.JudgeOrder, handlers: Mapping[str, Handler]) -> Calibration:
        """Hold a judge against labels. Raises `InputError`."""
        return self._read(Calibration, self._job("judge", order, handlers))

    # --- how it is done ---------------------------------------------------------------------------------------------

    @staticmethod
    def _read(model: type[R], data: bytes) -> R:
        try:
            return reading.read(model, data)
        except reading.BrokenMessageError as error:
            raise OtherSideError(f"the runner's answer can't be read: {error}") from None

    def _job(self, name: str, order: Record, handlers: Mapping[str, Handler] | None = None) -> bytes:
        try:
            if handlers is None:
                return self._line.call(name, m.written(order), _REFUSED, PATIENCE_S)
            return asyncio.run(self._serving(name, m.written(order), handlers))
        except CallFailedError as failed:
            error = error_of(failed.data)
        except TimeoutError:
            raise OtherSideError(f"the runner gave no answer to {name!r} in {PATIENCE_S:.0f} s") from None
        except WireError as gone:
            error = RunnerGoneError(*self._process.ended())
            error.__cause__ = gone
        if isinstance(error, InterruptedRunError) and self._asked_to_end:
            raise KeyboardInterrupt
        if isinstance(error, InterruptedRunError | OSError):  # of its making: ours would say that we were interrupted
            error = OtherSideError(f"the runner ended unexpectedly: {error}")  # or that nobody reads our output
        raise error

    async def _serving(self, name: str, data: bytes, handlers: Mapping[str, Handler]) -> bytes:
        self._handlers, self._held = handlers, 0
        often = gc.get_threshold()
        gc.set_threshold(FEWER_COLLECTIONS, *often[1:])  # hardly anything of a request refers to itself
        try:
            with on_signals(self._pass_on):  # the first ends the run cleanly, a second one ends us
                return await self._line.serve(name, data, self._start)
        finally:
            gc.set_threshold(*often)
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await handlers["close"](Incoming("close", b"null", [], None))

    def _pass_on(self, number: signal.Signals) -> None:
        self._asked_to_end = True
        self._process.signal(number)

    # --- what it asks for -------------------------------------------------------------------------------------------

    def _start(self, asked: Incoming) -> None:
        size = len(asked.data) + 1000
        self._held += size
        if self._held > MOST_HELD:  # no further word is read before there is room for it
            self._line.pause()
        task = asyncio.get_running_loop().create_task(self._handle(asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._done(size))

    def _done(self, size: int) -> None:
        full, self._held = self._held > MOST_HELD, max(0, self._held - size)
        if full and self._held <= MOST_HELD:
            self._line.go_on()

    async def _handle(self, asked: Incoming) -> None:
        handler = self._handlers.get(asked.name)
        try:
            if handler is None or asked.name == "close":
                asked.close()
                raise ValueError(f"the keeper does no {asked.name!r}")
            self._line.answer(asked, await handler(asked))
        except asyncio.CancelledError:  # a thread may still be at work with its files, and closes them
            self._line.fail(asked, _REFUSED)
            raise
        except Exception as error:  # whatever is asked wrongly is the asker's trouble, and never ours
            self._line.fail(asked, m.written(fault_of_error(error)))


@contextmanager
def opened_runner(
    env: Mapping[str, str], cwd: Path, *, keys: list[str] | None = None, terminal: bool = False
) -> Iterator[RunnerSession]:
    """A runner for some jobs. `keys`: the variables that hold a key here, by name."""
    runner = RunnerSession(env, cwd)
    try:
        runner.begin(m.Beginning(keys=keys or [], terminal=terminal))
        yield runner
    finally:
        runner.close()
