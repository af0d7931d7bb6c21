"""What the keeper does for the runner: it asks models, keeps records, reads the base. A request is only data."""

from __future__ import annotations

import asyncio
import gc
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cached_property
from socket import socket
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from evalward.config.batch import Batch
from evalward.config.model import Config
from evalward.decide.standing_trials import marked_as_standing
from evalward.engine.keeping import RunRetrials
from evalward.engine.store import Store, StoredTrial, TrialKey, safe_name
from evalward.git import TreeFile
from evalward.keeper.outputs import BESIDE, GUIDANCE, OutputFolder
from evalward.records.base import json_data
from evalward.records.budget import Budget
from evalward.records.outline import PlanOutline
from evalward.records.problem import NoRoomError
from evalward.records.report import REPORT_FILE, ChosenCases, Report, digest_of
from evalward.records.unchanged import Unchanged
from evalward.redaction import NOTHING, Redaction
from evalward.targets.asking import AgentBounds, ModelDoor
from evalward.wire import messages as m
from evalward.wire import reading
from evalward.wire.faults import WireFault, fault_of_error
from evalward.wire.peer import Incoming

if TYPE_CHECKING:
    from evalward.keeper.batch_office import BatchOffice
    from evalward.keeper.harness import Harnesses
    from evalward.keeper.models import ModelKeeper

MOST_DOORS = 256  # each has files open


class BaseFilesService(Protocol):
    """The files of the commit that judges, by their paths from the configuration's folder."""

    def read(self, path: str) -> bytes | None:
        """The file, `None` where there is none. Raises `RemoteFilesError`."""
        ...

    def listed(self, folder: str) -> Sequence[TreeFile] | None:
        """The files below a folder, `None` where that can't be known. Raises `RemoteFilesError`."""
        ...


@dataclass
class Services:
    """The keeper's half of one invocation.

    `config` says where models are asked, and how much; `open_output` makes the output folder ready when there is
    something to write; `say` shows text to people, `now` is the time as ISO 8601 in UTC; `retries` says what of a
    report is tried again. `report` is the newest that was handed over, `digest` that of its file, and
    `unwritten` why it lies in none. `folder` is the configuration's, in which other harnesses run; `withheld` are the
    suites whose commands are not run, by name, and why. `planned` hears what is going to be run. `confirms`: a
    confirm stage may follow, for which a part of the budget is kept until the first report. `unchanged` says
    which runs of a plan aren't measured because the baseline's trials stand. `parts` is the report of shards that have
    measured the plan: what they used counts in the budget. `batch`: requests go in batches, on these terms; `resume`:
    those that an earlier run has sent count.
    """

    config: Config
    env: Mapping[str, str] = field(repr=False)
    open_output: Callable[[], OutputFolder]
    say: Callable[[str], None]
    now: Callable[[], str]
    redaction: Redaction = NOTHING
    retries: Callable[[Report], Sequence[RunRetrials]] = lambda report: ()  # noqa: ARG005
    base: BaseFilesService | None = None
    folder: str = ""
    withheld: Mapping[str, str] = field(default_factory=dict)
    planned: Callable[[PlanOutline], None] = lambda outline: None  # noqa: ARG005
    unchanged: Callable[[PlanOutline], Mapping[tuple[str, str], Unchanged]] = lambda outline: {}  # noqa: ARG005
    confirms: bool = False
    parts: Report | None = None
    batch: Batch | None = None
    resume: bool = False
    report: Report | None = None
    digest: str = ""
    unwritten: NoRoomError | None = None
    _output: OutputFolder | None = None
    _asking: int = 0
    _standing: Mapping[tuple[str, str], Unchanged] = field(default_factory=dict)
    _doors: dict[int, _OpenDoor] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @cached_property
    def models(self) -> ModelKeeper:
        """Who asks models, when the first is asked for: most of what a keeper loads is for this."""
        from evalward.keeper.models import ModelKeeper  # noqa: PLC0415
        from evalward.targets.purse import Purse  # noqa: PLC0415

        usd, tokens = self.config.budget_usd, self.config.budget_tokens
        budget = Budget.planned(usd, tokens, confirms=self.confirms and self.report is None)
        purse = Purse(usd, tokens, budget.kept)
        for result in (result for run in (self.parts.runs if self.parts else ()) for result in run.cases):
            for usage in result.usages:
                purse.known(usage)
        return ModelKeeper(self.config, self.env, purse, self._office())

    def _office(self) -> BatchOffice | None:
        if self.batch is None:
            return None
        from evalward.keeper.batch_ledger import BatchLedger  # noqa: PLC0415 - few runs can wait
        from evalward.keeper.batch_office import BatchOffice  # noqa: PLC0415

        ledger = BatchLedger(lambda: self.output, self.resume)
        return BatchOffice(self.batch, ledger, lambda text: self.say(f"{text}\n"), self.now)

    @cached_property
    def harnesses(self) -> Harnesses:
        """Who runs other harnesses, when the first is to be run."""
        from evalward.keeper.harness import Harnesses  # noqa: PLC0415

        return Harnesses(self.config, self.folder, self.env, self.say, self.redaction, self.withheld)

    @property
    def output(self) -> OutputFolder:
        """The output folder, made ready when it is first asked for. Raises `InputError`."""
        if self._output is None:
            self._output = self.open_output()
        return self._output

    def handlers(self) -> Mapping[str, Callable[[Incoming], Awaitable[bytes]]]:
        """All of them, by name."""
        direct: Mapping[str, Callable[[Incoming], Awaitable[bytes]]] = {
            "say": self._say,
            "prepare": self._prepare,
            "ask": self._ask,
            "all_wait": self._all_wait,
            "open_door": self._open_door,
            "settle": self._settle,
            "shut_door": self._shut_door,
            "harness": self._harness,
            "close": self._close,
            "checkpoint": self._reported,
        }
        quick: Mapping[str, Callable[[Incoming], bytes]] = {"keep": self._keep, "has": self._has, "find": self._find}
        slow: Mapping[str, Callable[[Incoming], bytes]] = {
            "planned": self._planned,
            "unchanged": self._unchanged,
            "ready": self._ready,
            "keep_folder": self._keep_folder,
            "remove_folder": self._remove_folder,
            "base_file": self._base_file,
            "base_listing": self._base_listing,
        }
        here = {name: _here(work) for name, work in quick.items()}
        return {**direct, **here, **{name: _in_thread(work) for name, work in slow.items()}}

    # --- models -----------------------------------------------------------------------------------------------------

    async def _say(self, asked: Incoming) -> bytes:
        asked.close()
        self.say(asked.data.decode("utf-8", "replace"))
        return b"null"

    async def _prepare(self, asked: Incoming) -> bytes:
        asked.close()
        self.models.prepare(reading.read(m.Models, asked.data).names)
        gc.freeze()  # the SDKs stay as long: to look for garbage in them takes a tenth of a second each time
        return b"null"

    async def _ask(self, asked: Incoming) -> bytes:
        asked.close()
        order: m.Ask = reading.parse(m.asks(), asked.data)
        self._asking += 1
        try:
            reply = await self.models.ask(order.provider, order.model, order.request, order.trial)
        finally:
            self._asking -= 1
        return self.redaction.data(m.replies().dump_json(reply))  # a server may echo our key, and the runner has none

    async def _all_wait(self, asked: Incoming) -> bytes:
        asked.close()
        if reading.read(m.Number, asked.data).number == self._asking:  # of fewer, one has its answer by now
            self.models.all_wait()
        return b"null"

    async def _open_door(self, asked: Incoming) -> bytes:
        listener = None
        try:
            if asked.descriptors:
                listener = socket(fileno=asked.descriptors[0])
                asked.descriptors.pop(0)
        finally:
            asked.close()
        stack = AsyncExitStack()
        try:
            if len(self._doors) >= MOST_DOORS:
                raise ValueError(f"{MOST_DOORS} allowances are open")
            order = reading.read(m.AllowanceOrder, asked.data)
            bounds = AgentBounds(order.turns, order.tokens, order.usd, order.pinned)
            door = self.models.door(order.target, order.provider, order.model, bounds, listener)
            opened = _OpenDoor(stack, await stack.enter_async_context(door))
        except BaseException:
            if listener is not None:
                listener.close()
            raise
        number = next(self._numbers)
        self._doors[number] = opened
        return m.written(m.Allowed(number=number, url=opened.door.url, token=opened.door.token))

    async def _settle(self, asked: Incoming) -> bytes:
        asked.close()
        opened = self._doors[reading.read(m.Number, asked.data).number]
        found = await opened.door.settled()
        answers = [m.AnsweredTurn(turn=one.turn, message=one.message, main=one.main) for one in found.answers]
        fault: WireFault | None = None if found.ended_by is None else fault_of_error(found.ended_by)
        return self.redaction.data(
            m.written(m.Settled(answers=answers, limit=found.limit, fault=fault, refused=found.refused))
        )

    async def _shut_door(self, asked: Incoming) -> bytes:
        asked.close()
        opened = self._doors.pop(reading.read(m.Number, asked.data).number, None)
        if opened is not None:
            await opened.stack.aclose()
        return b"null"

    async def _close(self, asked: Incoming) -> bytes:
        asked.close()
        while self._doors:
            await self._doors.popitem()[1].stack.aclose()
        if "models" in self.__dict__:
            await self.models.close()
        if "harnesses" in self.__dict__:
            await asyncio.to_thread(self.harnesses.end)
        gc.unfreeze()
        return b"null"

    # --- other harnesses --------------------------------------------------------------------------------------------

    async def _harness(self, asked: Incoming) -> bytes:
        asked.close()
        order = reading.read(m.HarnessOrder, asked.data)
        return m.written(await asyncio.to_thread(self.harnesses.run, order, asked.sender))

    # --- records ----------------------------------------------------------------------------------------------------

    def _planned(self, asked: Incoming) -> bytes:
        self.planned(reading.read(PlanOutline, asked.data))
        return b"null"

    def _unchanged(self, asked: Incoming) -> bytes:
        self._standing = self.unchanged(reading.read(PlanOutline, asked.data))
        cases = [
            ChosenCases(suite=suite, target=target, cases=sorted(found.ids))
            for (suite, target), found in self._standing.items()
            if found.of
        ]
        return m.written(
            m.UnchangedRuns(runs=[key for key, found in self._standing.items() if not found.of], cases=cases)
        )

    def _ready(self, asked: Incoming) -> bytes:  # noqa: ARG002 - it says nothing
        _ = self.output
        return b"null"

    async def _reported(self, asked: Incoming) -> bytes:
        again = await _in_thread(self._checkpoint)(asked)
        if "models" in self.__dict__:
            self.models.unlock()
        return again

    def _checkpoint(self, asked: Incoming) -> bytes:
        data = asked.take()
        report, is_clean = reading.read(Report, data).with_own_texts(), self.output.redaction.absent(data)
        del data  # tens of megabytes of a large report, while its retrials are sought
        if not is_clean:
            report = self.output.redaction.record(report)
        made = self.report.created_at if self.report is not None else self.now()  # by our clock, at the first stage
        runs = [marked_as_standing(run, self._standing.get((run.suite, run.target))) for run in report.runs]
        report = report.model_copy(update={"created_at": made, "runs": runs})
        self.report = report
        self._write(report)
        again = [
            m.RetrialRequest(
                suite=one.suite, target=one.target, trials=dict(one.trials), beside=one.beside, was=one.was
            )
            for one in self.retries(report)
        ]
        return m.written(m.Agains(retries=again))

    def _write(self, report: Report) -> None:
        try:
            data = self.output.redaction.json(json_data(report))
            self.output.write_clean(REPORT_FILE, data)
            self.unwritten, self.digest = None, digest_of(data)
        except NoRoomError as error:
            self.unwritten = error  # told at the end, after what was measured

    def _store(self, shelf: str | None) -> Store:
        store, folder = self.output.store, _folder(shelf)
        return store.below(folder) if folder else store

    def _keep(self, asked: Incoming) -> bytes:
        order = reading.read(m.KeptTrial, asked.data)
        return _shown(order.apart, self._store(order.apart).keep(order.trial)).encode()

    def _keep_folder(self, asked: Incoming) -> bytes:
        order = reading.read(m.Stored, asked.data)
        self._store(order.apart).keep_folder(asked.descriptors[0], order.path, asked.sender)
        return b"null"

    def _has(self, asked: Incoming) -> bytes:
        order = reading.read(m.Stored, asked.data)
        return b"true" if self._store(order.apart).has(order.path) else b"false"

    def _remove_folder(self, asked: Incoming) -> bytes:
        order = reading.read(m.Stored, asked.data)
        self._store(order.apart).remove_folder(order.path)
        return b"null"

    def _find(self, asked: Incoming) -> bytes:
        wish = reading.read(m.Wished, asked.data)
        key = TrialKey(wish.suite, wish.target, wish.case, wish.definition, wish.subject, wish.trial)
        found: StoredTrial = self._store(wish.apart).find(key)
        result = found.result
        if result is not None and result.trace is not None:
            result = result.model_copy(update={"trace": _shown(wish.apart, result.trace)})
        return m.written(m.FoundTrial(result=result, note=found.note))

    # --- the base ---------------------------------------------------------------------------------------------------

    def _base_file(self, asked: Incoming) -> bytes:
        found = self._base().read(reading.read(m.BasePath, asked.data).path)
        return b"-" if found is None else b"+" + found

    def _base_listing(self, asked: Incoming) -> bytes:
        found = self._base().listed(reading.read(m.BasePath, asked.data).path)
        if found is None:
            return m.written(m.Listing())
        return m.written(m.Listing(files=[m.BaseFile(path=f.path, program=f.program, link=f.link) for f in found]))

    def _base(self) -> BaseFilesService:
        if self.base is None:
            raise ValueError("there is no base")
        return self.base


def _folder(shelf: str | None) -> str:
    """Where trials of no run lie below the output folder."""
    if shelf is None:
        return ""
    return BESIDE if shelf == m.OF_BASE else f"{GUIDANCE}/{safe_name(shelf)}"


def _shown(shelf: str | None, path: str) -> str:
    """The path of something that was kept, from the output folder on."""
    folder = _folder(shelf)
    return f"{folder}/{path}" if folder else path


class _OpenDoor(Struct, frozen=True):
    """An agent's allowance while it is open."""

    stack: AsyncExitStack
    door: ModelDoor


def _here(work: Callable[[Incoming], bytes]) -> Callable[[Incoming], Awaitable[bytes]]:
    """What takes less time than going to another thread would."""
    done = _closing(work)

    async def handler(asked: Incoming) -> bytes:
        return done(asked)

    return handler


def _in_thread(work: Callable[[Incoming], bytes]) -> Callable[[Incoming], Awaitable[bytes]]:
    done = _closing(work)

    async def handler(asked: Incoming) -> bytes:
        return await asyncio.to_thread(done, asked)

    return handler


def _closing(work: Callable[[Incoming], bytes]) -> Callable[[Incoming], bytes]:
    """The same; then the files that came with what was asked are closed, however it ended and by whom it is done."""

    def done(asked: Incoming) -> bytes:
        try:
            return work(asked)
        finally:
            asked.close()

    return done
