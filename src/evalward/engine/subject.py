"""What identifies who is evaluated in a run, and what with; and what a case depends on of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.base import digest
from evalward.records.case import Case
from evalward.records.report import SOLUTIONS, Subject
from evalward.records.target_id import target_id
from evalward.records.unchanged import Dependence
from evalward.suites.base import Prepared
from evalward.targets.base import Evaluated


def make_subject(parts: Mapping[str, str]) -> Subject:
    """The parts, and the hash over them."""
    return Subject.model_validate({"hash": digest(dict(parts)), **parts})


def subject_of(suite: Prepared, target: Evaluated) -> Subject:
    """What the suite says, what the target says, and what the target takes from the suite's cases."""
    return make_subject({**suite.subject, **target.subject, **_solutions(target, suite.cases)})


def dependence_of(case: Case, subject: Subject) -> Dependence | None:
    """On what a case depends, of a subject; `None`: on all of its suite, as far as is known."""
    if case.file_parts is None:
        return None
    seen = {name: value for name, value in subject.parts.items() if case.sees(name)}
    return Dependence(parts=sorted(set(case.file_parts)), subject=digest([seen, case.sees_besides]))


def _solutions(target: Evaluated, cases: Sequence[Case]) -> dict[str, str]:
    """The solutions of all cases of the suite, chosen or not, of who gives nothing else."""
    if target_id(target.id).form != "oracle":
        return {}
    apart = {case.id: texts for case in cases if case.is_for(target.id) and (texts := case.solution_apart())}
    return {SOLUTIONS: digest(apart)} if apart else {}
