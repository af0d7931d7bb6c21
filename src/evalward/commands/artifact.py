"""The report that another workflow run left: hostile data, whoever it says that wrote it.

Anybody can open a pull request whose workflow uploads anything. So: one regular file of bounded size, no link followed,
nothing else of the folder read; strict types, bounded counts and numbers; and every metric is computed anew from the
cases. What can't be told from here is whether the cases' results are true: whoever shows them has to say so.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evalward.engine.store import artifacts_path, trial_path
from evalward.keeper.outputs import BESIDE
from evalward.records.metric import EPSILON, CategorySummary, Metric
from evalward.records.model_words import in_words
from evalward.records.problem import InputError, wrong
from evalward.records.report import REPORT_FILE, REPORT_SCHEMA, Beside, Report, Run
from evalward.records.result import Result
from evalward.suites.across import diagnose
from evalward.suites.base import kind_named, kinds
from evalward.suites.batched import findings_of

MAX_REPORT_BYTES = 20_000_000
MAX_RUNS = 200
MAX_RESULTS = 50_000
MAX_CHECKS = 200  # of one result
MAX_NAME = 1_000  # characters of what identifies something
MAX_NUMBER = 2.0**53

_OF_BASE = f"{BESIDE}/"  # before the paths of the base's trials

REMEDY = "The first stage has to upload its output folder, and this one to download it."


def read_artifact(folder: Path) -> Report:
    """The report in a downloaded artifact. Raises `InputError` when there is none, or none that could be true."""
    return parse_report(artifact_bytes(folder))


def parse_report(data: bytes) -> Report:
    """The report in these bytes, of whoever. Raises `InputError` when it is none, or none that could be true."""
    try:
        _known_schema(json.loads(data, parse_int=_int, parse_float=_float, parse_constant=_constant))
        report = Report.model_validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _refused(in_words(first)[0], ".".join(map(str, first["loc"]))[:MAX_NAME]) from None
    except (ValueError, RecursionError) as error:
        raise _refused(f"not a report: {str(error)[:MAX_NAME]}") from None
    _bounded(report)
    return report.with_own_texts()


_NAMED = 5  # mismatches in a note


@dataclass(frozen=True)
class Recomputed:
    """A report whose numbers are those of its cases; where it had said otherwise; and what can't be computed anew."""

    report: Report
    mismatches: Sequence[str]
    left_out: Sequence[str]

    def notes(self) -> Iterator[str]:
        """What its readers should know."""
        if self.mismatches:
            more = f" and {len(self.mismatches) - _NAMED} more" if len(self.mismatches) > _NAMED else ""
            lies = "; ".join(self.mismatches[:_NAMED])
            yield f"Its own numbers don't match its cases, so they were not used: {lies}{more}."
        yield from (f"{one}." for one in self.left_out)


def recomputed(report: Report, *, of_base: bool = False) -> Recomputed:
    """The report with metrics, categories and findings computed from its cases.

    A run of a kind that is not installed here keeps none: nobody can say what its numbers should be. Paths of
    files are dropped where they aren't those that a run of ours gives them. What it measured of the base is kept where
    `of_base` says so, as of a run that had the keys for it.
    """
    mismatches: list[str] = []
    left_out: list[str] = []
    if not of_base and (report.base is not None or any(run.beside is not None for run in report.runs)):
        left_out.append("What the report says of the base is left out: it had no key to measure that with")
        kept = [run.model_copy(update={"beside": None}) for run in report.runs]
        report = report.model_copy(update={"base": None, "runs": kept})
    runs = [_measured(run, mismatches) for run in report.runs]
    base = report.base and report.base.model_copy(
        update={"runs": [_measured(run, mismatches, _OF_BASE) for run in report.base.runs]}
    )
    if report.guidance:
        left_out.append("What the report says of other guidance is left out: the trials behind it are not in it")
    whole = report.model_copy(update={"runs": runs, "findings": diagnose(runs), "guidance": [], "base": base})
    return Recomputed(whole, mismatches, left_out)


def artifact_bytes(folder: Path) -> bytes:
    """The bytes of the report in a downloaded artifact: of a regular file, no link, pipe, device or folder, and never
    more than the limit. Raises `InputError`.
    """
    try:
        handle = os.open(folder / REPORT_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise wrong(REPORT_FILE, "the artifact has no report", REMEDY) from None
    except OSError as error:
        raise wrong(REPORT_FILE, f"the artifact's report can't be read: {error.strerror}", REMEDY) from None
    try:
        data = _regular(handle)
    finally:
        os.close(handle)
    if len(data) > MAX_REPORT_BYTES:
        raise wrong(REPORT_FILE, f"the artifact's report has more than {MAX_REPORT_BYTES:,} bytes", "Run fewer cases.")
    return data


def _regular(handle: int) -> bytes:
    """The first bytes of a regular file, at most one more than the limit."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # before Python opens it: that refuses folders in its own way
        raise wrong(REPORT_FILE, "is not a regular file in the artifact", REMEDY)
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read(MAX_REPORT_BYTES + 1)


def _known_schema(data: Any) -> None:
    json.dumps(data, ensure_ascii=False).encode()  # a lone surrogate would break whoever writes it again
    if not isinstance(data, dict) or data.get("schema") != REPORT_SCHEMA:
        raise ValueError(f"its schema is not {REPORT_SCHEMA}")


def _int(text: str) -> int:
    if len(text) > 20:
        raise ValueError("a number is too large")
    number = int(text)
    _bounded_number(number)
    return number


def _float(text: str) -> float:
    number = float(text)
    _bounded_number(number)
    return number


def _bounded_number(number: float) -> None:
    if not -MAX_NUMBER <= number <= MAX_NUMBER:
        raise ValueError("a number is too large")


def _constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _refused(message: str, field: str = "") -> InputError:
    return wrong(f"the artifact's {REPORT_FILE}", message, "It can't be published.", field=field)


def _bounded(report: Report) -> None:
    """Raises `InputError` for a report that no run of ours would leave."""
    known = report.base.runs if report.base else []
    if len(report.runs) + len(known) > MAX_RUNS:
        raise _refused(f"has {len(report.runs) + len(known):,} runs, more than {MAX_RUNS}")
    results = sum(len(found) for run in (*report.runs, *known) for found in _all_results(run))
    if results > MAX_RESULTS:
        raise _refused(f"has {results:,} results, more than {MAX_RESULTS:,}")
    for runs in (report.runs, known):
        names = [(run.suite, run.target) for run in runs]
        if len(set(names)) < len(names):
            raise _refused("has two runs of the same suite and target")
        for run in runs:
            _bounded_run(run)


def _all_results(run: Run) -> list[list[Result]]:
    """Planned and fresh trials, and those of either side beside each other."""
    sides = [run.beside.base, run.beside.head] if run.beside else []
    return [run.cases, run.confirmation, *sides]


def _bounded_run(run: Run) -> None:
    if max(len(run.suite), len(run.target), len(run.kind)) > MAX_NAME:
        raise _refused("a run's name is too long")
    if not 0 <= run.planned <= MAX_RESULTS or not 1 <= run.trials <= MAX_RESULTS:
        raise _refused(f"{run.name[:MAX_NAME]}: can't have this many trials")
    _bounded_standing(run)
    both_sides = run.beside or Beside()
    for results in ([*run.cases, *run.confirmation, *both_sides.head], both_sides.base):
        if len({(result.id, result.trial) for result in results}) < len(results):
            raise _refused(f"{run.name[:MAX_NAME]}: has two results of the same trial")
    planned = {(result.id, result.definition) for result in run.cases}
    fresh = [*run.confirmation, *both_sides.head, *both_sides.base]
    if any((result.id, result.definition) not in planned or result.trial <= run.trials for result in fresh):
        raise _refused(f"{run.name[:MAX_NAME]}: has a retrial of a case without a planned trial")
    for result in (*run.cases, *fresh):
        if max(len(result.id), len(result.category)) > MAX_NAME or len(result.checks) > MAX_CHECKS:
            raise _refused(f"{run.name[:MAX_NAME]}: a result is too large")
        if not 0 <= result.score <= result.max_score + EPSILON:
            raise _refused(f"{run.name[:MAX_NAME]}: a score is not between 0 and its maximum")


def _bounded_standing(run: Run) -> None:
    for stands in (each for each in (run.unchanged, run.standing) if each is not None):
        longest = max((max(len(each.id), len(each.depends.parts)) for each in stands.of), default=0)
        if len(stands.of) > MAX_RESULTS or longest > MAX_NAME:
            raise _refused(f"{run.name[:MAX_NAME]}: can't have left out so much")
        if len(stands.ids) < len(stands.of):
            raise _refused(f"{run.name[:MAX_NAME]}: leaves out a case twice")


def _with_our_paths(run: Run, result: Result, shelf: str = "") -> Result:
    """Of the paths of its files only those that a run of ours would have given them."""
    trace = shelf + trial_path(run.suite, run.target, result.id, result.trial)
    files = artifacts_path(run.suite, run.target, result.id, result.trial)
    kept = {
        "trace": trace if result.trace == trace else None,
        "details": result.details.with_artifacts(files if result.details.files_kept == files else None),
    }
    return result.model_copy(update=kept)


def _measured(run: Run, mismatches: list[str], shelf: str = "") -> Run:
    run = _with_paths(run, shelf).model_copy(update={"unchanged": None, "standing": None})  # only who judges says it
    if run.not_measured is not None or run.kind not in kinds():
        if run.not_measured is None:
            mismatches.append(f"{run.name}: its metrics are left out, because its kind {run.kind!r} is not known here")
        return run.model_copy(update={"metrics": {}, "categories": {}, "findings": []})
    kind = kind_named(run.kind)
    found = kind.measure(run.cases)
    mismatching = _differing(run.metrics, found.metrics) + _differing_categories(run.categories, found.categories)
    if mismatching:
        mismatches.append(f"{run.name}: it claims other numbers than its cases give ({', '.join(mismatching[:5])})")
    update = {"metrics": found.metrics, "categories": found.categories, "findings": findings_of(kind, run.cases, found)}
    return run.model_copy(update=update)


def _with_paths(run: Run, shelf: str) -> Run:
    kept = {
        name: [_with_our_paths(run, result, shelf) for result in results]
        for name, results in (("cases", run.cases), ("confirmation", run.confirmation))
    }
    both_sides = run.beside and run.beside.model_copy(
        update={
            "base": [_with_our_paths(run, result, _OF_BASE) for result in run.beside.base],
            "head": [_with_our_paths(run, result) for result in run.beside.head],
        }
    )
    return run.model_copy(update={**kept, "beside": both_sides})


def _differing(claimed: Mapping[str, Metric], found: Mapping[str, Metric]) -> list[str]:
    """Metrics whose claimed value, counts, unit or direction are not those that the cases give."""
    names = [*found, *(name for name in claimed if name not in found)]
    return [name for name in names if not _same(claimed.get(name), found.get(name))]


def _same(claimed: Metric | None, found: Metric | None) -> bool:
    if claimed is None or found is None:
        return claimed is found
    pairs = [(getattr(claimed, name), getattr(found, name)) for name in ("value", "numerator", "denominator")]
    return (claimed.unit, claimed.better) == (found.unit, found.better) and all(_near(*pair) for pair in pairs)


def _near(claimed: float | None, found: float | None) -> bool:
    if claimed is None or found is None:
        return claimed is found
    return abs(claimed - found) <= EPSILON * max(1.0, abs(found))


def _differing_categories(claimed: Mapping[str, CategorySummary], found: Mapping[str, CategorySummary]) -> list[str]:
    names = dict.fromkeys([*found, *claimed])
    return [name[:60] for name in names if not _same_category(claimed.get(name), found.get(name))]


def _same_category(claimed: CategorySummary | None, found: CategorySummary | None) -> bool:
    if claimed is None or found is None:
        return claimed is found
    return all(_near(getattr(claimed, name), getattr(found, name)) for name in CategorySummary.model_fields)
