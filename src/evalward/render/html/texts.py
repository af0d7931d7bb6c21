"""The texts that changed, run by run: prompts, and cases that ask something else now, as far as there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from evalward.records.comparison import RunComparison
from evalward.render.changed_texts import ChangedText, changed_texts
from evalward.render.kept import Sources

MOST_CASES = 100  # redefined cases of a page whose texts are compared


class RunTexts(Struct, frozen=True):
    """What changed in one run: prompts in the order of its subject, cases by their ids."""

    prompts: list[ChangedText] = field(default_factory=list)
    cases: Mapping[str, ChangedText] = field(default_factory=dict)


def texts_of(runs: Sequence[RunComparison], sources: Sources) -> list[RunTexts]:
    """The texts of each run; none where neither report nor baseline is at hand. The first cases have theirs."""
    if sources.report is None and sources.baseline is None:
        return [RunTexts() for _ in runs]
    room, found = MOST_CASES, []
    for run in runs:
        redefined = run.of("redefined")[:room]
        room -= len(redefined)
        changed = changed_texts(run.model_copy(update={"cases": redefined}), sources)
        prompts = [each for each in changed if each.what == "prompt"]
        found.append(RunTexts(prompts, {each.name: each for each in changed if each.what == "case"}))
    return found
