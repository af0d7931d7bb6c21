"""What changed between two measurements: metrics, categories, subject. Nothing here knows of cases."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalward.records.comparison import CategoryChange, MetricChange, SubjectChange
from evalward.records.metric import EPSILON, CategorySummary, Measurement, Metric
from evalward.records.report import UNRECORDED, Subject
from evalward.records.surface import PartText, PartTexts
from evalward.records.texts import stands_for


def metric_changes(before: Measurement, now: Measurement, whole: Mapping[str, Metric]) -> list[MetricChange]:
    """Each metric on both sides and over the whole report, in the order of the report."""
    names = list(whole) + [name for name in before.metrics if name not in whole]
    return [_metric_change(name, before.metrics.get(name), now.metrics.get(name), whole.get(name)) for name in names]


def _metric_change(name: str, before: Metric | None, now: Metric | None, whole: Metric | None) -> MetricChange:
    before, now, whole = _sound(before), _sound(now), _sound(whole)
    known = whole or now or before
    return MetricChange(
        id=name,
        before=before,
        now=now if before else whole,
        whole=whole,
        delta=_delta(before, now),
        better=known.better if known else "neither",
    )


def _sound(metric: Metric | None) -> Metric | None:
    """The metric; a value that is no number is not available: it would keep to every limit, as nothing is above it."""
    if metric is None or metric.value is None or math.isfinite(metric.value):
        return metric
    return metric.model_copy(update={"value": None, "reason": f"{metric.value} is not a number"})


def _delta(before: Metric | None, now: Metric | None) -> float | None:
    if before is None or now is None or before.value is None or now.value is None:
        return None
    delta = now.value - before.value
    return 0.0 if abs(delta) <= EPSILON else delta


def category_changes(
    before: Measurement, now: Measurement, gone: Mapping[str, CategorySummary]
) -> list[CategoryChange]:
    """Each category on both sides, by name; `gone` are those of the baseline that no case has any more."""
    was = {**before.categories, **gone}
    names = sorted({*was, *now.categories})
    return [CategoryChange(name=name, before=was.get(name), now=now.categories.get(name)) for name in names]


def part_texts(subject: Subject, texts: Mapping[str, str]) -> PartTexts:
    """The parts of a subject with the texts that are kept of them. One that isn't that of its hash counts as none."""
    return {
        part: PartText(key, text if text is not None and stands_for(key, text) is not False else None)
        for part, key in subject.parts.items()
        for text in [texts.get(key)]
    }


def subject_changes(before: Subject, now: Subject) -> list[SubjectChange]:
    """The parts of the subject that differ, by name. What one side has not recorded is not known to differ."""
    parts = {name: (before.parts.get(name), now.parts.get(name)) for name in sorted({*before.parts, *now.parts})}
    return [
        SubjectChange(part=name, before=old, now=new)
        for name, (old, new) in parts.items()
        if old != new and not (name in UNRECORDED and None in (old, new))
    ]
