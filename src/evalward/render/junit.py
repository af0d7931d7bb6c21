"""JUnit XML: one testsuite per run with one testcase per case, and one testsuite for what the policy says.

A case's trials are folded as the comparison folds them: it fails when half of its valid trials or fewer passed, it is
an error when none was valid, it is skipped when the target could not do it. So a failed case is a failure here also
where the policy allows it; what the gate makes of it stands in the testsuite `policy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal
from xml.etree import ElementTree as ET

from msgspec import Struct

from evalward.records.comparison import CaseChange, Comparison, RunComparison
from evalward.records.unchanged import UNCHANGED
from evalward.records.verdict import Outcome, Reason, RuleOutcome, Verdict
from evalward.render.escape import one_line, plain
from evalward.render.sentences import headline, message, remedy

POLICY = "policy"
_NAME_CHARS, _MESSAGE_CHARS, _BODY_CHARS = 300, 500, 8_000

State = Literal["passed", "failure", "error", "skipped"]


class Test(Struct, frozen=True):
    """One testcase. `kind` is the type of a failure or error, `body` its text, `place` is `file:line`."""

    name: str
    state: State = "passed"
    kind: str = ""
    message: str = ""
    body: str = ""
    place: str | None = None


def junit(comparison: Comparison, verdict: Verdict | None = None) -> str:
    """The XML text. Without a verdict (a report alone) there is no testsuite for the policy."""
    root = ET.Element("testsuites", {"name": "Evalward"})
    for run in comparison.runs:
        _add(root, run.name, _tests(run, compared=comparison.baseline is not None))
    if verdict is not None:
        _add(root, POLICY, _policy(verdict), {"verdict": verdict.outcome, "headline": headline(verdict)})
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


# --- cases ----------------------------------------------------------------------------------------------------------


def _tests(run: RunComparison, *, compared: bool) -> list[Test]:
    if run.not_measured is not None:
        return [Test("not measured", "skipped", message=run.not_measured)]
    if run.unchanged is not None:
        return [Test("not measured", "skipped", message=UNCHANGED)]
    new = {case.id for case in run.new_failures} if compared else frozenset[str]()
    return [_new(case) if case.id in new else _test(case) for case in run.cases]


def _new(case: CaseChange) -> Test:
    return Test(case.id, "failure", "new", f"not in the baseline, {case.now} now", _body(case), case.place)


def _test(case: CaseChange) -> Test:
    if case.stands:
        return Test(case.id, "skipped", message=UNCHANGED)
    if case.change == "missing":
        return Test(case.id, "skipped", message="the baseline has this case, and it was not run")
    if case.now is None:
        why = case.note or "no valid trial"
        if case.skipped:
            return Test(case.id, "skipped", message=why, place=case.place)
        return Test(case.id, "error", "not_valid", why, _body(case), case.place)
    if case.now.passes:
        return Test(case.id, place=case.place)
    before = f"{case.before} in the baseline, " if case.before else ""
    kind = "broken" if case.change == "broken" else "failed"
    return Test(case.id, "failure", kind, f"{before}{case.now} now", _body(case), case.place)


def _body(case: CaseChange) -> str:
    checks = [f"{check.check}: {check.detail}" for check in case.checks if not check.passed]
    command = [f"$ {case.command}"] if case.command else []
    return "\n".join([*checks, *([case.note] if case.note else []), *command, case.stderr or ""]).strip()


# --- policy ---------------------------------------------------------------------------------------------------------


def _policy(verdict: Verdict) -> list[Test]:
    """Every rule, and every reason that is no rule's. They fail exactly where the verdict says so."""
    judged_by_rule = {(rule.suite, rule.target, rule.rule.metric) for rule in verdict.rules}
    reasons = [
        reason for reason in verdict.reasons if (reason.suite, reason.target, reason.metric) not in judged_by_rule
    ]
    return [*(_rule(rule, verdict) for rule in verdict.rules), *(_reason(reason, verdict) for reason in reasons)]


def _rule(rule: RuleOutcome, verdict: Verdict) -> Test:
    name = f"{rule.rule.metric} of {rule.suite} × {rule.target}: {rule.rule.in_words}"
    if rule.status in {"ok", "warn"}:
        return Test(name, message=message(rule))
    if rule.status in {"not_available", "not_judged"}:
        return Test(name, "skipped", message=message(rule))
    outcome = Outcome.FAIL if rule.status == "fail" else Outcome.INCONCLUSIVE
    return Test(name, _state(outcome, verdict), rule.stage, message(rule))


def _reason(reason: Reason, verdict: Verdict) -> Test:
    body = "\n".join([remedy(reason), *reason.cases[:100]]).strip()
    text = message(reason)
    return Test(f"{reason.stage}: {text}", _state(reason.outcome, verdict), reason.stage, text, body)


def _state(outcome: Outcome, verdict: Verdict) -> State:
    """What is inconclusive fails only where the policy wants that."""
    if outcome is Outcome.ERROR:
        return "error"
    if outcome is Outcome.INCONCLUSIVE and verdict.fail_on != "inconclusive":
        return "skipped"
    return "failure"


# --- XML ------------------------------------------------------------------------------------------------------------


def _add(root: ET.Element, name: str, tests: Sequence[Test], properties: dict[str, str] | None = None) -> None:
    suite = ET.SubElement(root, "testsuite", {"name": _line(name)})
    suite.set("tests", str(len(tests)))
    for count, state in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(test.state == state for test in tests)))
    if properties:
        listed = ET.SubElement(suite, "properties")
        for key, value in properties.items():
            ET.SubElement(listed, "property", {"name": key, "value": _line(value, _MESSAGE_CHARS)})
    for test in tests:
        _add_test(suite, name, test)


def _add_test(suite: ET.Element, class_name: str, test: Test) -> None:
    element = ET.SubElement(suite, "testcase", {"name": _line(test.name), "classname": _line(class_name)})
    for key, value in _place(test.place):
        element.set(key, value)
    if test.state == "passed":
        if test.message:
            ET.SubElement(element, "system-out").text = _text(test.message)
        return
    child = ET.SubElement(element, test.state, {"message": _line(test.message, _MESSAGE_CHARS)})
    if test.state != "skipped":
        child.set("type", test.kind)
        child.text = _text(test.body)


def _place(place: str | None) -> Iterable[tuple[str, str]]:
    file, _, line = (place or "").rpartition(":")
    return [("file", _line(file)), ("line", line)] if file and line.isascii() and line.isdigit() else []


def _line(text: str, limit: int = _NAME_CHARS) -> str:
    """An attribute: one line, without the characters that XML has no form for."""
    return one_line(text, limit)


def _text(text: str) -> str:
    """Content: `plain` takes away what XML has no form for."""
    return plain(text, _BODY_CHARS)
