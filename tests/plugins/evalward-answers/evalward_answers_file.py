"""Format `answer-lines`: one answered question a line, `ID right` or `ID wrong`."""

from __future__ import annotations

from evalward_answers import ANSWER

from evalward.importers.base import Imported
from evalward.records.base import digest, digest_text
from evalward.records.problem import wrong
from evalward.records.report import Run, Subject
from evalward.records.result import Result, Status

_SAID = {"right": Status.PASSED, "wrong": Status.FAILED}


def read(text: bytes, file: str) -> Imported:
    """See `evalward.importers.base.Importer`."""
    results = [_result(line, number, file) for number, line in enumerate(text.decode().splitlines(), 1)]
    subject = Subject(hash=digest_text(file))
    metrics = ANSWER.measure(results).metrics
    run = Run(
        suite="answers",
        kind=ANSWER.name,
        target="nop",
        trials=1,
        planned=len(results),
        subject=subject,
        metrics=metrics,
        cases=results,
    )
    return Imported([run])


def _result(line: str, number: int, file: str) -> Result:
    name, _, said = line.partition(" ")
    if said not in _SAID:
        raise wrong(file, f"{line!r} is no answered question", "Write ID right, or ID wrong.", line=number)
    score = float(said == "right")
    return Result(id=name, category="answer", definition=digest(name), status=_SAID[said], score=score, max_score=1.0)
