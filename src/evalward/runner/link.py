"""The keeper as the runner sees it: it asks models, keeps records and reads the base, for whoever asks it to."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from socket import socket
from typing import TypeVar

from msgspec import Struct

from evalward.engine.store import StoredTrial, TrialKey
from evalward.records.base import Record
from evalward.records.json_values import has_more_values
from evalward.records.outline import PlanOutline
from evalward.records.report import Report
from evalward.records.result import Trial
from evalward.targets.asking import AgentBounds, AgentRequests, AnsweredRequest, ModelDoor
from evalward.targets.base import Reply, Request
from evalward.targets.failures import FAILURES, Cause, TargetError
from evalward.targets.under_way import TrialsUnderWay
from evalward.wire import messages as m
from evalward.wire import reading
from evalward.wire.faults import error_of
from evalward.wire.frames import FRAME_LIMIT
from evalward.wire.peer import CallFailedError, Peer

R = TypeVar("R", bound=Record)


class TrialTooLargeError(ValueError):
    """A trial that is too large to be kept."""


class Keeper:
    """The keeper's services, over the wire."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.batched = False  # whether requests go in batches
        self.under_way = TrialsUnderWay(self._tell_all_wait)

    def call(self, name: str, order: Record | None = None, descriptors: Sequence[int] = ()) -> bytes:
        """Ask for something and wait. Raises what the keeper raised."""
        try:
            return self._peer.call(name, b"null" if order is None else m.written(order), descriptors)
        except CallFailedError as error:
            raise error_of(error.data) from None

    async def ask_for(self, name: str, data: bytes, descriptors: Sequence[int] = ()) -> bytes:
        """The same for coroutines."""
        try:
            return await self._peer.ask(name, data, descriptors)
        except CallFailedError as error:
            raise error_of(error.data) from None

    def say(self, text: str) -> None:
        """Text for people."""
        self._peer.note("say", text.encode("utf-8", "replace"))

    # --- who asks models --------------------------------------------------------------------------------------------

    def prepare(self, names: Sequence[str]) -> None:
        """Have the keeper load what these models need."""
        self.call("prepare", m.Models(names=list(names)))

    async def ask(self, provider: str, model: str, request: Request) -> Reply:
        """One answer. Raises `TargetError` after the retries."""
        with self.under_way.asking() as trial:
            asked = m.asks().dump_json(m.Ask(provider, model, request, trial))
            if reading.too_large(asked):
                text = FAILURES[Cause.CONTEXT_LENGTH].text.format(provider=provider, model=model)
                raise TargetError(Cause.CONTEXT_LENGTH, text, target=f"{provider}/{model}")
            reply: Reply = reading.parse(m.replies(), await self.ask_for("ask", asked))
        return reply

    def _tell_all_wait(self, requests: int) -> None:
        if self.batched:
            self._peer.note("all_wait", m.written(m.Number(number=requests)))

    @asynccontextmanager
    async def door(
        self, target: str, provider: str, model: str, bounds: AgentBounds, listener: socket | None
    ) -> AsyncIterator[ModelDoor]:
        """An allowance for one trial of an agent. Raises `TargetError` where there is no key that can be used."""
        order = m.AllowanceOrder(
            target=target,
            provider=provider,
            model=model,
            pinned=bounds.pinned,
            turns=bounds.turns,
            tokens=bounds.tokens,
            usd=bounds.usd,
        )
        with listener if listener is not None else nullcontext():
            descriptors = [listener.fileno()] if listener is not None else []
            answer = await self.ask_for("open_door", m.written(order), descriptors)
        allowed = reading.read(m.Allowed, answer)
        number = m.written(m.Number(number=allowed.number))
        try:
            yield _Door(self, allowed.url, allowed.token, number)
        finally:
            await self.ask_for("shut_door", number)

    async def close(self) -> None:
        """Nothing is open here: the keeper ends its connections itself."""

    # --- other harnesses --------------------------------------------------------------------------------------------

    def harness(self, order: m.HarnessOrder) -> m.HarnessDone:
        """Have another harness run, and wait for its end. A command that isn't started is no error: `refused`."""
        return reading.read(m.HarnessDone, self.call("harness", order))

    # --- records ----------------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """Have the keeper make the output folder ready. Raises `InputError`."""
        self.call("ready")

    def planned(self, outline: PlanOutline) -> None:
        """Say what is going to be run, before it is."""
        self.call("planned", outline)

    def unchanged(self, outline: PlanOutline) -> m.UnchangedRuns:
        """The runs and cases of a plan that the change can't have touched: they are not measured."""
        return reading.read(m.UnchangedRuns, self.call("unchanged", outline))

    def checkpoint(self, report: Report) -> Sequence[m.RetrialRequest]:
        """Hand over what is measured so far; what of it is to be tried again."""
        return reading.read(m.Agains, self.call("checkpoint", report)).retries

    def of_guidance(self, name: str) -> Shelf:
        """A folder of their own for trials of other guidance."""
        return Shelf(self, name)

    def of_base(self) -> Shelf:
        """A folder of their own for the base's trials."""
        return Shelf(self, m.OF_BASE)

    def keep(self, trial: Trial) -> str:
        """Have a trial of the report written down; its path."""
        return Shelf(self).keep(trial)

    def keep_folder(self, source: Path, path: str) -> None:
        """Have a folder kept."""
        Shelf(self).keep_folder(source, path)

    def has(self, path: str) -> bool:
        """Whether there is something at a path of the output."""
        return Shelf(self).has(path)

    def remove_folder(self, path: str) -> None:
        """Have what is there removed."""
        Shelf(self).remove_folder(path)

    def find(self, key: TrialKey) -> StoredTrial:
        """The finished trial that an earlier run left."""
        return Shelf(self).find(key)

    # --- the base ---------------------------------------------------------------------------------------------------

    def base_file(self, path: str) -> bytes | None:
        """A file of the base, by its path from the configuration's folder; `None` where it has none."""
        answer = self.call("base_file", m.BasePath(path=path))
        return answer[1:] if answer[:1] == b"+" else None

    def base_files(self, folder: str) -> Sequence[m.BaseFile] | None:
        """The files below a folder of the base; `None` where that can't be known."""
        return reading.read(m.Listing, self.call("base_listing", m.BasePath(path=folder))).files

    def base_listing(self, folder: str) -> Sequence[str] | None:
        """Their paths alone."""
        found = self.base_files(folder)
        return None if found is None else [file.path for file in found]


class Shelf(Struct, frozen=True):
    """A part of the output folder: the report's own, that of other guidance, or the base's."""

    keeper: Keeper
    name: str | None = None

    def keep(self, trial: Trial) -> str:
        """Have a trial written down; its path. Raises `TrialTooLargeError`."""
        data = m.written(m.KeptTrial(trial=trial, apart=self.name))
        if len(data) > FRAME_LIMIT:
            raise TrialTooLargeError(f"the trial has {len(data):,} bytes")
        if has_more_values(data, reading.MOST_TALK_VALUES):  # the keeper would not read it
            raise TrialTooLargeError(f"the trial has more than {reading.MOST_TALK_VALUES:,} values")
        try:
            return self.keeper._peer.call("keep", data).decode()
        except CallFailedError as error:
            raise error_of(error.data) from None

    def keep_folder(self, source: Path, path: str) -> None:
        """Have a folder kept, as it is now."""
        descriptor = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self.keeper.call("keep_folder", self._at(path), [descriptor])
        finally:
            os.close(descriptor)

    def has(self, path: str) -> bool:
        """Whether there is something."""
        return self.keeper.call("has", self._at(path)) == b"true"

    def remove_folder(self, path: str) -> None:
        """Have it removed."""
        self.keeper.call("remove_folder", self._at(path))

    def find(self, key: TrialKey) -> StoredTrial:
        """The finished trial that an earlier run left."""
        wish = m.Wished(
            suite=key.suite,
            target=key.target,
            case=key.case,
            definition=key.definition,
            subject=key.subject,
            trial=key.trial,
            apart=self.name,
        )
        found = reading.read(m.FoundTrial, self.keeper.call("find", wish))
        return StoredTrial(result=found.result, note=found.note)

    def _at(self, path: str) -> m.Stored:
        return m.Stored(path=path, apart=self.name)


class _Door(Struct, frozen=True):
    """An open door."""

    keeper: Keeper
    url: str
    token: str
    number: bytes

    async def settled(self) -> AgentRequests:
        """What was asked."""
        settled = reading.read(m.Settled, await self.keeper.ask_for("settle", self.number))
        error = None if settled.fault is None else error_of(m.written(settled.fault))
        answers = [AnsweredRequest(each.turn, each.message, each.main) for each in settled.answers]
        return AgentRequests(answers, settled.limit, error if isinstance(error, TargetError) else None, settled.refused)


class Telling:
    """A stream for people, at the keeper's end. `terminal`: somebody watches it."""

    def __init__(self, keeper: Keeper, *, terminal: bool) -> None:
        self._keeper, self._terminal = keeper, terminal

    def write(self, text: str) -> int:
        """Send it."""
        self._keeper.say(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """Whether a line may update itself."""
        return self._terminal
