"""What a log says of its run: task, model, how many samples there should be, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalward.records.base import digest, fitting
from evalward.records.moments import instant
from evalward.suites.external.formats.inspect.fields import count_at, list_at, object_at, objects_at, text_at

STARTED, CANCELLED, FAILED = "started", "cancelled", "error"


@dataclass(frozen=True)
class Header:
    """The run of a log. `content` is `header.json`, `_journal/start.json`, or a JSON log without its samples."""

    content: Mapping[str, Any]

    @property
    def eval(self) -> Mapping[str, Any]:
        """What was to be run."""
        return object_at(self.content, "eval")

    @property
    def task(self) -> str:
        """The task's name."""
        return text_at(self.eval, "task")

    @property
    def model(self) -> str:
        """The model that was asked."""
        return text_at(self.eval, "model")

    @property
    def version(self) -> str:
        """Of inspect."""
        return text_at(object_at(self.eval, "packages"), "inspect_ai")

    @property
    def task_id(self) -> str:
        """The same in a log and in that of its retry, another in every other run."""
        return text_at(self.eval, "task_id")

    @property
    def made_at(self) -> str | None:
        """When the run began, in UTC."""
        try:
            return instant(text_at(self.eval, "created"))
        except ValueError:
            return None

    @property
    def status(self) -> str:
        """How inspect says that it ended: a log without an end was killed, or is being written."""
        return text_at(self.content, "status") or STARTED

    @property
    def invalidated(self) -> bool:
        """Whether samples were declared invalid afterwards; which ones only they say."""
        return self.content.get("invalidated") is True

    @property
    def error(self) -> str:
        """What ended the run, where inspect says so."""
        return text_at(object_at(self.content, "error"), "message")

    @property
    def planned(self) -> int | None:
        """Trials that there should be: the chosen samples by the epochs. `dataset.samples` counts all of them."""
        dataset = object_at(self.eval, "dataset")
        if not isinstance(dataset.get("sample_ids"), list):
            return None
        return len(list_at(dataset, "sample_ids")) * (count_at(object_at(self.eval, "config"), "epochs") or 1)

    @property
    def scorers(self) -> int | None:
        """How many scorers the task has; `None` where an older log doesn't say."""
        if not isinstance(self.eval.get("scorers"), list):
            return None
        return len(objects_at(self.eval, "scorers"))

    @property
    def subject(self) -> dict[str, str]:
        """What is evaluated and may change: a hash of each part that a log has."""
        limits = {key: value for key, value in object_at(self.eval, "config").items() if key.endswith("_limit")}
        parts = {
            "solver": object_at(self.content, "plan").get("steps"),
            "model_config": self.eval.get("model_generate_config"),
            "scorers": self.eval.get("scorers"),
            "limits": limits,
            "task_version": self.eval.get("task_version"),
        }
        return {name: digest(fitting(part)) for name, part in parts.items() if part}

    def ending(self, present: int) -> str | None:
        """Why not all trials are there, `present` of those that were planned; `None` when nothing is missing."""
        if self.status not in {STARTED, CANCELLED, FAILED} or (self.planned is not None and present >= self.planned):
            return None
        count = f"{present} of {self.planned}" if self.planned is not None else f"{present}"
        if self.status == CANCELLED:
            return f"inspect was cancelled after {count} trials"
        if self.status == STARTED:
            return f"inspect hasn't finished: its log has {count} trials and no end"
        return f"an error ended inspect after {count} trials" + (f": {self.error}" if self.error else "")
