"""The prompts that changed and the cases that were redefined, as texts: what their hashes stood for, and stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from evalward.records.baseline import BaselineRun
from evalward.records.comparison import RunComparison
from evalward.records.report import Run
from evalward.records.texts import GUIDANCE, SYSTEM, TOOL_PROMPT, is_altered
from evalward.render.kept import Sources
from evalward.render.text_diff import CONTEXT, TextDiff, text_diff

TITLES = {SYSTEM: "System prompt", TOOL_PROMPT: "Tool description", GUIDANCE: "Guidance"}

NO_TEXTS_BEFORE = (
    "The baseline keeps no texts: an earlier version of Evalward made it. Its next update adds them, and from then on "
    "a change is shown."
)
NO_TEXTS_NOW = "The report keeps no texts: an earlier version of Evalward made it, or another tool."
LEFT_OUT_BEFORE = "The earlier text was left out for its size, or it isn't that of its hash."
LEFT_OUT_NOW = "The new text was left out for its size, or it isn't that of its hash."
SAME_PROMPT = "What is kept of both texts is equal: the difference is in what was cut or redacted."
SAME_CASE = "The case reads the same: what changed is something that it refers to, such as the content of a file."
PARTLY = "A part of these texts was cut or redacted: a difference in it is not shown."


class ChangedText(Struct, frozen=True):
    """A text that changed: a prompt by the `name` of the subject's part, or a redefined case by its id.

    `diff` is `None` where there is nothing to show, and `note` says why; beside a diff it says what that lacks.
    """

    what: Literal["prompt", "case"]
    name: str
    title: str
    diff: TextDiff | None
    note: str = ""


def changed_texts(run: RunComparison, sources: Sources, context: int = CONTEXT) -> list[ChangedText]:
    """The texts of a run that changed: prompts in the order of its subject, then cases by id."""
    return list(_Changed(sources, context).of(run))


@dataclass(frozen=True)
class _Changed:
    sources: Sources
    context: int
    texts: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", self.sources.texts())

    def of(self, run: RunComparison) -> Iterator[ChangedText]:
        for change in run.subject:
            if change.part in TITLES or {change.before, change.now} & self.texts.keys():
                title = TITLES.get(change.part, change.part)
                yield self._changed(run, "prompt", change.part, title, (change.before, change.now))
        redefined = run.of("redefined")
        before, now = (self._definitions(run, old=old) if redefined else {} for old in (True, False))
        for case in redefined:
            keys = before.get(case.was or case.id), now.get(case.id)
            if None not in keys:
                yield self._changed(run, "case", case.id, case.id, keys)

    def _changed(
        self,
        run: RunComparison,
        what: Literal["prompt", "case"],
        name: str,
        title: str,
        keys: tuple[str | None, str | None],
    ) -> ChangedText:
        """`keys` are the hashes of both sides; `None` of a side that had no such part, and so no text."""
        before, now = ("" if key is None else self.texts.get(key) for key in keys)
        if before is None or now is None:
            return ChangedText(what, name, title, None, self._missing(run, old=before is None))
        altered = is_altered(before) or is_altered(now)
        if before == now:
            return ChangedText(what, name, title, None, SAME_PROMPT if altered or what == "prompt" else SAME_CASE)
        return ChangedText(what, name, title, text_diff(before, now, self.context), PARTLY if altered else "")

    def _missing(self, run: RunComparison, *, old: bool) -> str:
        """Why there is no text of a side."""
        report, baseline = self.sources.report, self.sources.baseline
        known = baseline if old and run.base_now is None else report
        if known is not None and known.texts:
            return LEFT_OUT_BEFORE if old else LEFT_OUT_NOW
        return NO_TEXTS_BEFORE if old and run.base_now is None else NO_TEXTS_NOW

    def _definitions(self, run: RunComparison, *, old: bool) -> dict[str, str]:
        """Case → definition of one side."""
        place = (run.replaced.suite, run.replaced.target) if old and run.replaced else (run.suite, run.target)
        found = next((each for each in self._runs(run, old=old) if (each.suite, each.target) == place), None)
        return {case.id: case.definition for case in found.cases} if found else {}

    def _runs(self, run: RunComparison, *, old: bool) -> Sequence[Run | BaselineRun]:
        report, baseline = self.sources.report, self.sources.baseline
        if not old:
            return report.runs if report else []
        if run.base_now is not None and report and report.base:
            return report.base.runs
        return baseline.runs if baseline else []
