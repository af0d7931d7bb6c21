"""What one trial of an optimisation task says to people: the end of what its tests printed."""

from __future__ import annotations

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence
from evalward.records.result import Result
from evalward.suites.speedup.details import SpeedupDetails

_TESTS = "TESTS:"


def evidence(result: Result) -> CaseEvidence:
    """The last lines of the tests, where the note about them has some."""
    if not isinstance(result.details, SpeedupDetails):
        return NO_EVIDENCE
    printed = (note.partition("\n")[2] for note in result.details.notes if note.startswith(_TESTS))
    return CaseEvidence(stderr=next(filter(None, printed), None))
