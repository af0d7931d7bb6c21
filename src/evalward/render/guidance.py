"""Guidances side by side: the specification's table, what is better by more than chance, and what each should say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.records.guidance import GuidanceColumn, GuidanceComparison, GuidanceDifference, GuidanceReport, Standing
from evalward.records.metric import Metric, Unit
from evalward.records.report import Finding
from evalward.render.console import Screen
from evalward.render.escape import one_line, without_marks
from evalward.render.findings import numbers_and_commands
from evalward.render.guidance_view import Diagnosis, GuidanceRow, GuidanceView
from evalward.render.names import quoted, short_hash
from evalward.render.numbers import format_delta, format_number, format_value, plural
from evalward.render.templates import render
from evalward.render.view import Detail

_MOST_FINDINGS = 6
_MOST_FILES = 6
_MOST_COLUMNS = 6
_FIRST_EVIDENCE, _EVIDENCE = 600, 160  # characters
_WORDS: dict[Standing, str] = {
    "better": "better by more than chance",
    "worse": "worse by more than chance",
    "unclear": "no difference that these trials show",
    "same": "no difference",
    "thin": "too few trials to say",
    "unknown": "not available",
}
_MARKS = {"good": "✅", "info": "ℹ️", "warning": "⚠️"}


def build_guidance(comparison: GuidanceComparison, detail: Detail = "full") -> GuidanceView:
    """What is shown of a comparison; `headline` shows neither table nor diagnoses, `failures` no diagnoses."""
    columns = comparison.columns[:_MOST_COLUMNS]
    comparison = comparison.model_copy(update={"columns": columns})
    notes = list(comparison.notes)
    if comparison.left_out:
        named = ", ".join(map(quoted, comparison.left_out[:10]))
        each = "guidance" if comparison.compares == "guidance" else "set of descriptions"
        notes.append(f"Left out, because not every {each} has a valid trial of it: {named}.")
    return GuidanceView(
        title=comparison.compares.capitalize(),
        name=comparison.name,
        why=comparison.why,
        headlines=_headlines(comparison),
        columns=[column.name for column in columns],
        others=[column.name for column in columns[1:]],
        rows=[] if detail == "headline" else _rows(comparison),
        diagnoses=[_diagnosis(column) for column in columns] if detail == "full" else [],
        notes=notes,
    )


def _headlines(comparison: GuidanceComparison) -> list[str]:
    """A sentence per column but the first."""
    if comparison.not_measured is not None:
        what = "guidance versions" if comparison.compares == "guidance" else "descriptions"
        return [f"The {what} could not be compared: {comparison.not_measured}."]
    reference = comparison.columns[0].name
    return [_headline(comparison.of(c.name), c.name, reference) for c in comparison.columns[1:]]


def _headline(differences: Sequence[GuidanceDifference], name: str, reference: str) -> str:
    better = [d.name for d in differences if _direction(d) == "better"]
    worse = [d.name for d in differences if _direction(d) == "worse"]
    parts = [f"{word} on {_listed(names)}" for word, names in (("better", better), ("worse", worse)) if names]
    against = f"{quoted(name)} against {quoted(reference)}"
    if parts:
        chance = "" if any(d.standing == "exact" for d in differences) else ", by more than chance"
        return f"{against}: {' and '.join(parts)}{chance}."
    if all(d.standing in {"same", "unknown"} for d in differences):
        return f"{against}: no difference."
    if any(d.standing == "thin" for d in differences):
        return f"{against}: too few trials to distinguish them."
    return f"{against}: no difference that these trials show."


def _direction(difference: GuidanceDifference) -> str | None:
    """Better or worse, where that is more than chance or no chance is involved."""
    if difference.standing in {"better", "worse"}:
        return difference.standing
    if difference.standing != "exact" or difference.delta is None or difference.better == "neither":
        return None
    return "better" if (difference.delta > 0) == (difference.better == "higher") else "worse"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


# ------------------------------------------------------------------------------------------- the table


def _rows(comparison: GuidanceComparison) -> list[GuidanceRow]:
    found = {(d.column, d.metric): d for d in comparison.differences}
    rows = []
    for number in comparison.columns[0].numbers if comparison.columns else []:
        values = {c.name: n.value for c in comparison.columns for n in c.numbers if n.metric == number.metric}
        others = [found[c.name, number.metric] for c in comparison.columns[1:] if (c.name, number.metric) in found]
        rows.append(
            GuidanceRow(
                name=number.name,
                values=[_value(values.get(column.name)) for column in comparison.columns],
                differences=[_difference(d, number.value.unit) for d in others],
                verdicts=[_verdict(d) for d in others],
            )
        )
    return rows


def _value(metric: Metric | None) -> str:
    if metric is not None and metric.value is not None and metric.unit == "score":
        return f"{metric.value:.2f}"
    return format_value(metric)


def _difference(difference: GuidanceDifference, unit: Unit) -> str:
    text = format_delta(difference.delta, unit)
    if difference.interval is None or difference.delta is None:
        return text
    return f"{text} ({_bound(difference.interval.low, unit)} … {_bound(difference.interval.high, unit)})"


def _bound(value: float, unit: Unit) -> str:
    """A limit of an interval, rounded like a number beside which it stands."""
    if unit == "ratio":
        return f"{value * 100:+.1f}".replace("-", "−")
    text = format_number(round(value, 2), unit)
    return text if value < 0 else f"+{text}"


def _verdict(difference: GuidanceDifference) -> str:
    if difference.standing == "exact":
        return f"{_direction(difference) or 'different'}, no chance in it"
    words = _WORDS[difference.standing]
    return words if difference.q is None or difference.standing == "same" else f"{words} ({_p(difference.q)})"


def _p(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


# ------------------------------------------------------------------------------------------- the diagnoses


def _diagnosis(column: GuidanceColumn) -> Diagnosis:
    facts = [plural(column.trials, "trial")]
    facts += [f"{quoted(path)} {_print(fingerprint)}" for path, fingerprint in list(column.files.items())[:_MOST_FILES]]
    more = len(column.files) - _MOST_FILES
    if more > 0:
        facts.append(f"and {plural(more, 'file')} more")
    shown = [_finding(finding, number) for number, finding in enumerate(column.findings[:_MOST_FINDINGS])]
    return Diagnosis(column.name, facts, shown, list(column.advice))


def _print(fingerprint: str) -> str:
    return short_hash(fingerprint) if fingerprint else "is not there"


def _finding(finding: Finding, number: int) -> tuple[str, str, str]:
    """The first with all of its evidence: what follows often shows the same commands."""
    limit = _EVIDENCE if number else _FIRST_EVIDENCE
    return _MARKS[finding.level], finding.message, one_line(finding.evidence, limit)


# ------------------------------------------------------------------------------------------- outputs


def guidance_markdown(comparisons: Iterable[GuidanceComparison]) -> str:
    """The comparisons as a page."""
    views = [build_guidance(one) for one in comparisons]
    described = {view.title for view in views} == {"Descriptions"}
    asked = "Which descriptions are better?" if described else "Is this guidance any good?"
    return render("guidance_page.md.j2", asked=asked, views=views)


def guidance_json(comparisons: Sequence[GuidanceComparison]) -> str:
    """The text of `guidance.json`."""
    return GuidanceReport(comparisons=list(comparisons)).model_dump_json(by_alias=True, indent=1) + "\n"


def guidance_text(comparisons: Iterable[GuidanceComparison], *, colour: bool, width: int) -> str:
    """The comparisons for a terminal or a log."""
    screen = Screen(colour, width)
    for one in comparisons:
        say_guidance(screen, build_guidance(one))
    return screen.text()


def say_guidance(screen: Screen, view: GuidanceView) -> None:
    """One comparison on a screen."""
    screen.heading(f"{view.title}: {view.name}")
    for line in (view.why, *view.headlines, *view.notes):
        if line:
            screen.say(without_marks(line), 2)
    if view.rows:
        changes = [word for other in view.others for word in (f"{other}: difference", f"{other}: more than chance?")]
        headers = [one_line(header, 60) for header in ("metric", *view.columns, *changes)]
        rows = [[r.name, *r.values, *_paired(r)] for r in view.rows]
        screen.blank()
        screen.table(headers, rows, "l" + "r" * len(view.columns) + "rl" * len(view.others))
    for diagnosis in view.diagnoses:
        screen.blank()
        screen.say(without_marks(f"{diagnosis.name}: {' · '.join(diagnosis.facts)}"), 2)
        for mark, message, evidence in diagnosis.findings:
            numbers, commands = numbers_and_commands(evidence)
            screen.say(f"{message} ({numbers})" if numbers else message, 4, mark)
            for command in commands:
                screen.say(command, 8)
        for advice in diagnosis.advice:
            screen.say(advice, 4, "→")


def _paired(row: GuidanceRow) -> list[str]:
    """Differences and verdicts in turn, the latter shorter: columns are narrow."""
    shorter = [
        text.replace(" by more than chance", "").replace(_WORDS["unclear"], "not shown") for text in row.verdicts
    ]
    return [cell for pair in zip(row.differences, shorter, strict=True) for cell in pair]
