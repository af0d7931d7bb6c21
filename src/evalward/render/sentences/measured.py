"""Why a run is measured, although it was asked only for what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evalward.records.unchanged import Because, MeasuredBecause, day_of
from evalward.render.escape import one_line
from evalward.render.numbers import plural

_PLAIN: Mapping[Because, str] = MappingProxyType(
    {
        "nothing_changed": "nothing changed",
        "no_baseline": "there is no baseline",
        "always": "it has `always: true`",
        "both_sides": "it is compared with the base commit",
        "selection": "cases were chosen",
        "not_in_baseline": "the baseline doesn't have it",
        "subject": "its prompt, tool, guidance, model or versions aren't those of the baseline",
        "cases": "its cases aren't those of the baseline",
        "trials": "the baseline has too few valid trials of a case",
    }
)


@dataclass(frozen=True)
class AskedSince:
    """What is asked for: what changed since `name`. `config` is the configuration's file; the baseline was made at
    `made`, ISO 8601, and may be `days` old.
    """

    name: str
    config: str
    made: str = ""
    days: int = 0

    def because(self, found: MeasuredBecause) -> str:
        """The reason, as it goes on after "because"."""
        match found.code:
            case "file":
                return f"{one_line(found.file)} changed"
            case "change_unknown":
                return f"what changed since {self.name} isn't known"
            case "suite_unknown":
                return f"{self.config} of {self.name} has no suite of this name"
            case "configuration":
                return f"{self.config} changed in something that its trials may depend on"
            case "baseline_too_old":
                return self._too_old()
        return _PLAIN[found.code]

    def by_reason(self, found: Iterable[tuple[str, MeasuredBecause | None]]) -> dict[str, list[str]]:
        """The names of runs by the reason why they are measured; those without one are left out."""
        reasons: dict[str, list[str]] = {}
        for name, because in found:
            if because is not None:
                reasons.setdefault(self.because(because), []).append(name)
        return reasons

    def _too_old(self) -> str:
        if self.days == 0:
            return f"`max_age_days` is 0 in {self.config} of {self.name}"
        return f"the baseline is of {day_of(self.made)}, and `max_age_days` allows {plural(self.days, 'day')}"
