"""What a log says of its run: task, model, how many samples there should be, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalward.records.base import digest, fitting
from evalward.records.moments import instant
from evalward.render.numbers import plural
from evalward.suites.external.formats.values import count, mapping, rows, text

MOST_VALUES = 1_000_000
"""Values of a header: it has the ids of all samples."""
STARTED, CANCELLED, FAILED = "started", "cancelled", "error"


@dataclass(frozen=True)
class Header:
    """The run of a log. `content` is `header.json`, `_journal/start.json`, or a JSON log without its samples."""

    content: Mapping[str, Any]

    @property
    def eval(self) -> Mapping[str, Any]:
        """What was to be run."""
        return mapping(self.content.get("eval"))

    @property
    def task(self) -> str:
        """The task's name."""
        return text(self.eval.get("task"))

    @property
    def model(self) -> str:
        """The model that was asked."""
        return text(self.eval.get("model"))

    @property
    def version(self) -> str:
        """Of inspect."""
        return text(mapping(self.eval.get("packages")).get("inspect_ai"))

    @property
    def task_id(self) -> str:
        """The same in a log and in that of its retry, another in every other run."""
        return text(self.eval.get("task_id"))

    @property
    def made_at(self) -> str | None:
        """When the run began, in UTC."""
        try:
            return instant(text(self.eval.get("created")))
        except ValueError:
            return None

    @property
    def status(self) -> str:
        """How inspect says that it ended: a log without an end was killed, or is being written."""
        return text(self.content.get("status")) or STARTED

    @property
    def invalidated(self) -> bool:
        """Whether samples were declared invalid afterwards; which ones only they say."""
        return self.content.get("invalidated") is True

    @property
    def error(self) -> str:
        """What ended the run, where inspect says so."""
        return text(mapping(self.content.get("error")).get("message"))

    @property
    def planned(self) -> int | None:
        """Trials that there should be: the chosen samples by the epochs. `dataset.samples` counts all of them."""
        chosen = mapping(self.eval.get("dataset")).get("sample_ids")
        if not isinstance(chosen, list):
            return None
        return count(len(chosen) * (count(mapping(self.eval.get("config")).get("epochs")) or 1))

    @property
    def scorers(self) -> int | None:
        """How many scorers the task has; `None` where an older log doesn't say."""
        if not isinstance(self.eval.get("scorers"), list):
            return None
        return len(rows(self.eval.get("scorers")))

    @property
    def subject(self) -> dict[str, str]:
        """What is evaluated and may change: a hash of each part that a log has."""
        limits = {key: value for key, value in mapping(self.eval.get("config")).items() if key.endswith("_limit")}
        parts = {
            "solver": mapping(self.content.get("plan")).get("steps"),
            "model_config": self.eval.get("model_generate_config"),
            "scorers": self.eval.get("scorers"),
            "limits": limits,
            "task_version": self.eval.get("task_version"),
        }
        return {name: digest(fitting(part, MOST_VALUES)) for name, part in parts.items() if part}

    def ending(self, present: int) -> str | None:
        """Why not all trials are there, `present` of those that were planned; `None` when nothing is missing."""
        if self.status not in {STARTED, CANCELLED, FAILED} or (self.planned is not None and present >= self.planned):
            return None
        trials = f"{present} of {self.planned} trials" if self.planned is not None else plural(present, "trial")
        if self.status == CANCELLED:
            return f"inspect was cancelled after {trials}"
        if self.status == STARTED:
            return f"inspect hasn't finished: its log has {trials} and no end"
        return f"an error ended inspect after {trials}" + (f": {self.error}" if self.error else "")
