"""What a pull request changes in the rules and files that judge it, for the top of its comment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalward.commands.pipeline import decide_report
from evalward.decide.edits import baseline_edits, policy_edits
from evalward.github.protect import ProtectedChanges
from evalward.github.sides import BaseAndHead
from evalward.records.report import Report
from evalward.render.sentences import headline

_MOST_LINES = 10


@dataclass(frozen=True, slots=True)
class Edits:
    """Sentences, and below them lines of a list: old → new, and the files."""

    sentences: tuple[str, ...]
    lines: tuple[str, ...]


def edits_of(sides: BaseAndHead, report: Report, protected: ProtectedChanges) -> Edits:
    """What to show first."""
    sentences = list(_sentences(sides, report))
    if protected.files:
        count = len(protected.files)
        sentences.append(f"{count} protected file{'' if count == 1 else 's'} changed: review what judges this change.")
    if protected.note:
        sentences.append(protected.note)
    files = [f"{change.kind} `{change.path.replace('`', chr(39))}`" for change in protected.files]
    lines = [*_first_lines(_rules(sides)), *_first_lines(files)]
    return Edits(tuple(sentences), tuple(lines))


def _sentences(sides: BaseAndHead, report: Report) -> Iterator[str]:
    if sides.note:
        yield sides.note
    if sides.providers_edited:
        yield "This pull request edits providers or budgets. Those of the base are used: keys go only where it says."
    if sides.judge_edited and not sides.unprotected:
        yield "This pull request edits the judge. The base's judge and rubrics are used."
    if sides.commands_edited:
        yield "This pull request edits a harness's commands or the keys that they get. Those of the base are used."
    edited = [word for word, yes in (("policy", sides.policy_edited), ("baseline", sides.baseline_edited)) if yes]
    if not edited or sides.unprotected:
        return
    own = decide_report(report, sides.head.baseline, sides.head.policy).verdict
    yield (
        f"This pull request edits its {' and its '.join(edited)}. It is judged by the base's; "
        f"with its own the verdict would be: {own.outcome} ({headline(own)})."
    )


def _rules(sides: BaseAndHead) -> list[str]:
    if sides.unprotected:
        return []
    lines = [f"policy: {line}" for line in policy_edits(sides.judging.policy, sides.head.policy)]
    if sides.baseline_edited:
        lines += [f"baseline: {line}" for line in baseline_edits(sides.judging.baseline, sides.head.baseline)]
    return lines


def _first_lines(lines: list[str]) -> list[str]:
    left = len(lines) - _MOST_LINES
    return lines if left <= 0 else [*lines[:_MOST_LINES], f"and {left:,} more"]
