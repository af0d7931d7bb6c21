"""The batches that were sent, in the output folder: `--resume` fetches their answers and buys nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalward.engine.store import safe_name
from evalward.keeper.outputs import BATCHES, OutputFolder
from evalward.records.base import json_data
from evalward.records.batch import SentBatch
from evalward.records.problem import InputError
from evalward.records.reading import parse_record

MOST_BATCHES = 1000  # that an earlier run is believed to have left


@dataclass(frozen=True)
class BatchLedger:
    """`batches/ID.json` in the output folder, one for each batch. `resume`: those of an earlier run count."""

    output: Callable[[], OutputFolder]
    resume: bool = False

    def keep(self, batch: SentBatch) -> None:
        """Write a batch down. Raises `InputError` where that is not possible."""
        self.output().write_json(f"{BATCHES}/{safe_name(batch.id)}.json", json_data(batch))

    def earlier(self, provider: str, model: str, host: str) -> Sequence[SentBatch]:
        """The batches that an earlier run sent for a model, to this host. What can't be read is none."""
        if not self.resume:
            return []
        folder = self.output().folder
        if not folder.has(BATCHES):
            return []
        below = folder.below(BATCHES)
        found = [self._read(name) for name in below.names()[:MOST_BATCHES]]
        wanted = (provider, model, host)
        return [each for each in found if each is not None and (each.provider, each.model, each.host) == wanted]

    def _read(self, name: str) -> SentBatch | None:
        path = f"{BATCHES}/{name}"
        try:
            return parse_record(self.output().folder.read(path), path, SentBatch, "a batch", "Its requests are new.")
        except (InputError, OSError, ValueError):
            return None
