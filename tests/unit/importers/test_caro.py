from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evalward.importers.base import Imported
from evalward.importers.caro import read
from evalward.importers.caro_export import write
from evalward.records.problem import InputError
from evalward.records.report import Report, Run, Subject, Tool
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Trace
from evalward.suites.base import kind_named
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.metrics import measure
from support.written import make_baseline

# The result format as reference documents describe it, in our own words.
LABELS = {"properties": {"expected": {"type": "boolean"}, "actual": {"type": "boolean"}}}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
COUNT = {"type": "integer", "minimum": 0}
REASONS = [
    {"properties": {"type": {"const": "incorrect_command"}}, "required": ["type"]},
    *(
        {"properties": {"type": {"const": name}, **LABELS["properties"]}, "required": ["type", "expected", "actual"]}
        for name in ("safety_mismatch", "posix_mismatch")
    ),
    {
        "properties": {"type": {"const": "backend_error"}, "message": {"type": "string"}},
        "required": ["type", "message"],
    },
]
FAILED = ("test_id", "prompt", "expected", "actual")
SCHEMA = {
    "type": "object",
    "required": [
        "timestamp",
        "caro_version",
        "backend",
        "csr",
        "safety_accuracy",
        "posix_compliance_rate",
        "per_category",
        "failed_cases",
    ],
    "properties": {
        "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"},
        "caro_version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "backend": {"enum": ["mlx", "vllm", "ollama"]},
        **dict.fromkeys(("csr", "safety_accuracy", "posix_compliance_rate"), SHARE),
        "per_category": {
            "type": "object",
            "additionalProperties": {
                "required": ["total", "passed", "rate"],
                "properties": {"total": COUNT, "passed": COUNT, "rate": SHARE},
            },
        },
        "failed_cases": {
            "type": "array",
            "items": {
                "required": [*FAILED, "reason"],
                "properties": {
                    **{name: {"type": "string"} for name in FAILED},
                    "reason": {"type": "object", "oneOf": REASONS},
                },
            },
        },
    },
}


def failed(case: str = "x", reason: Any = None, **more: Any) -> dict[str, Any]:
    """One failed case of a file."""
    told = {"type": "incorrect_command"} if reason is None else reason
    return {"test_id": case, "prompt": "list", "expected": "ls -la", "actual": "ls", "reason": told, **more}


def category(passed: int, total: int) -> dict[str, Any]:
    return {"total": total, "passed": passed, "rate": passed / total if total else 0.0}


def document(
    correctness: tuple[int, int] = (0, 0),
    safety: tuple[int, int] = (0, 0),
    posix: tuple[int, int] = (0, 0),
    *cases: dict[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """A file that agrees with itself: (passed, total) by category."""
    total = correctness[1] + safety[1] + posix[1]
    return {
        "timestamp": "2026-01-09T12:00:00Z",
        "caro_version": "1.1.0",
        "backend": "mlx",
        "csr": (correctness[0] + safety[0] + posix[0]) / total if total else 0.0,
        "safety_accuracy": 1.0,
        "posix_compliance_rate": 1.0,
        "per_category": {
            "correctness": category(*correctness),
            "safety": category(*safety),
            "posix": category(*posix),
        },
        "failed_cases": list(cases),
        **more,
    }


def imported(data: dict[str, Any]) -> Imported:
    return read(json.dumps(data).encode(), "result.json")


def run_of(data: dict[str, Any]) -> Run:
    (run,) = imported(data).runs
    return run


def report_of(run: Run, created_at: str = "2026-01-09T12:00:00Z") -> Report:
    return Report(tool=Tool(version="0.3.0.dev1"), created_at=created_at, runs=[run])


def values(run: Run) -> dict[str, float | None]:
    return {name: metric.value for name, metric in run.metrics.items()}


# --- reading ---------------------------------------------------------------------------------------------------------


def test_rates__come_from_the_files_counts_with_numerators() -> None:
    run = run_of(document((1, 2), (0, 0), (0, 0), failed("demo_02")))
    assert (run.kind, run.suite, run.target) == ("command", "caro", "mlx")
    csr = run.metrics["csr"]
    assert (csr.value, csr.numerator, csr.denominator) == (0.5, 1, 2)
    assert run.categories["correctness"].passed == 1
    assert run.categories["safety"].rate is None


def test_rates__over_no_case_are_not_available() -> None:
    run = run_of(document((1, 1)))
    assert values(run)["safety_accuracy"] is None
    assert values(run)["posix_compliance_rate"] is None
    assert run.metrics["safety_accuracy"].reason == "no case of the category safety"


def test_only_failed_cases_are_cases_and_no_baseline_can_be_made_of_them() -> None:
    run = run_of(document((52, 55), (0, 0), (0, 0), failed("a"), failed("b"), failed("c")))
    assert [result.id for result in run.cases] == ["a", "b", "c"]
    assert run.planned == 55
    with pytest.raises(InputError, match="3 of 55 trials"):
        make_baseline(report_of(run), "report.json", None, {"command": kind_named("command")})


def test_safety__counts_wrong_commands_as_right_labels_as_the_specification_does() -> None:
    run = run_of(document((0, 0), (3, 4), (0, 0), failed()))  # E4
    assert values(run)["safety_accuracy"] == 1.0
    assert values(run)["safety_verified"] == 0.75
    assert run.metrics["safety_accuracy"].numerator == 4


def test_safety__of_a_mismatch_is_lower() -> None:
    mismatch = {"type": "safety_mismatch", "expected": True, "actual": False}
    data = document((0, 0), (3, 4), (0, 0), failed("s", mismatch), safety_accuracy=0.75)  # E5
    one = imported(data)
    assert list(one.warnings) == []
    (case,) = one.runs[0].cases
    assert (case.status, case.reason, case.category) == (Status.FAILED, "safety_mismatch", "safety")
    assert isinstance(case.details, CommandDetails)
    assert (case.details.safe_expected, case.details.safe_actual, case.details.answer) == (True, False, "ls")


def test_category__of_a_failed_case_is_unknown_where_several_have_failures() -> None:
    run = run_of(document((1, 2), (0, 1), (0, 0), failed("a"), failed("b")))
    assert {result.category for result in run.cases} == {"unknown"}


def test_backend_error__has_no_answer_and_counts_against() -> None:
    reason = {"type": "backend_error", "message": "timeout after 30 s"}
    data = document((0, 0), (3, 4), (0, 0), failed("b", reason, actual="(backend error)"), safety_accuracy=0.75)  # E3
    one = imported(data)
    (case,) = one.runs[0].cases
    assert (case.reason, case.message) == ("backend_error", "timeout after 30 s")
    assert isinstance(case.details, CommandDetails)
    assert case.details.answer is None
    assert values(one.runs[0])["backend_error_rate"] == 0.25
    assert [message.role for message in one.trials[0].trace.messages] == ["user"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("IncorrectCommand", "incorrect_command"),
        ("SafetyMismatch", "safety_mismatch"),
        ("PosixMismatch", "posix_mismatch"),
        ("BackendError", "backend_error"),
        ("incorrect_command", "incorrect_command"),
    ],
)
def test_reason__may_be_a_plain_word(word: str, reason: str) -> None:
    (case,) = run_of(document((0, 1), (0, 0), (0, 0), failed("a", word))).cases
    assert case.reason == reason


@pytest.mark.parametrize(
    "timestamp",
    [
        "2026-01-09T12:00:00Z",
        "2026-01-09T12:00:00.123456789+00:00",
        "2026-01-09T13:00:00+01:00",
        "2026-01-09T12:00:00.5Z",
    ],
)
def test_timestamp__is_read_in_every_form_that_writers_use(timestamp: str) -> None:
    assert imported(document((1, 1), timestamp=timestamp)).created_at == "2026-01-09T12:00:00Z"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (document((57, 60), csr=0.948), "counts 57 of 60"),
        (document((1, 2)), "counts 1 failed case, and lists 0"),
        (document((1, 1), safety_accuracy=0.5), "safety_accuracy 0.5, and counts no case of the category safety"),
        (document((0, 0), (3, 4), (0, 0), failed(), safety_accuracy=0.75), "its failed cases leave 4 of 4"),
        (document((0, 0), (0, 0), (2, 3), failed("p", "PosixMismatch")), "its failed cases leave 2 of 3"),
        (document((1, 1), meets_baseline=False), "meets_baseline false"),
        (document((1, 1), blocks_release=True), "blocks_release true"),
        (
            document(per_category={"posix": {"total": 2, "passed": 2, "rate": 0.5}}, csr=1.0),
            "posix 0.5, and counts 2 of 2",
        ),
    ],
)
def test_numbers__that_disagree_are_told(data: dict[str, Any], words: str) -> None:
    warnings = list(imported(data).warnings)
    assert any(words in warning for warning in warnings), warnings


def test_numbers__that_agree_are_silent() -> None:
    agreeing = document((52, 55), (4, 4), (2, 2), *(failed(name) for name in "abc"), meets_baseline=True)
    assert list(imported(agreeing).warnings) == []


@pytest.mark.parametrize(
    ("csr", "counts"),
    [(0.917, (55, 60)), (0.92, (55, 60)), (0.9, (56, 62)), (0.9166667, (55, 60)), (1.0, (60, 60)), (0.0, (0, 0))],
)
def test_a_rate__agrees_with_counts_that_round_to_it(csr: float, counts: tuple[int, int]) -> None:
    cases = [failed(f"c{number}") for number in range(counts[1] - counts[0])]
    data = document(counts, (0, 0), (0, 0), *cases, csr=csr)
    data["per_category"]["correctness"]["rate"] = csr
    one = imported(data)
    assert list(one.warnings) == []
    told = one.runs[0].metrics["csr"]
    assert (told.numerator, told.denominator) == counts


@pytest.mark.parametrize(
    ("csr", "counts"), [(0.916, (55, 60)), (0.91, (55, 60)), (0.9, (52, 60)), (1.0, (2999, 3000)), (0.0, (1, 3000))]
)
def test_a_rate__disagrees_with_counts_that_round_to_another(csr: float, counts: tuple[int, int]) -> None:
    one = imported(document(counts, csr=csr))
    assert any("it says csr" in warning for warning in one.warnings)
    assert one.runs[0].metrics["csr"].value is None


MISMATCH = {"type": "safety_mismatch", "expected": True, "actual": False}
ONLY_SAFETY: dict[str, Any] = {"per_category": {"safety": category(10, 10)}}


@pytest.mark.parametrize(
    ("data", "unknown"),
    [
        (document((47, 50), csr=0.948), {"csr"}),  # another rate than its counts
        (document(csr=0.917, **ONLY_SAFETY), {"csr", "backend_error_rate"}),
        (document(csr=0.917), {"csr", "backend_error_rate"}),  # a rate over no case
        (
            document((0, 0), (0, 0), (0, 0), failed(), csr=0.917, **ONLY_SAFETY),  # more failed cases than it counts
            {"csr", "safety_accuracy", "posix_compliance_rate", "safety_verified", "backend_error_rate"},
        ),
        (
            document((0, 0), (0, 0), (0, 0), failed(), csr=1.0, **ONLY_SAFETY),
            {"csr", "safety_accuracy", "posix_compliance_rate", "safety_verified", "backend_error_rate"},
        ),
        (
            document(csr=1.0, per_category={"safety": {"total": 2, "passed": 2, "rate": 0.5}}),
            {"csr", "safety_accuracy", "safety_verified", "backend_error_rate"},
        ),
        (document((1, 1), safety_accuracy=0.5), {"safety_accuracy"}),  # a rate over no case
        (
            document((1, 1), per_category={"correctness": category(1, 1)}, posix_compliance_rate=0.95),
            {"posix_compliance_rate"},
        ),
        (document((1, 1), (3, 4), (0, 0), failed("s"), safety_accuracy=0.75), {"safety_accuracy"}),
        (document((0, 0), (3, 4), (0, 0), failed("s", MISMATCH)), {"safety_accuracy"}),
        (
            document((1, 3), (3, 4), (0, 0), safety_accuracy=0.8),
            {"safety_accuracy", "backend_error_rate"},
        ),  # of no count
        (  # not every failed case is listed, but this one can only be of safety
            document((1, 1), (2, 4), (0, 0), failed("s", MISMATCH)),
            {"safety_accuracy", "backend_error_rate"},
        ),
        (  # one of both has it
            document((1, 1), (3, 4), (3, 4), failed("s", MISMATCH), failed("p")),
            {"safety_accuracy", "posix_compliance_rate"},
        ),
        (  # and not each
            document(
                (1, 1),
                (3, 4),
                (3, 4),
                failed("s", MISMATCH),
                failed("p"),
                safety_accuracy=0.75,
                posix_compliance_rate=0.75,
            ),
            {"safety_accuracy", "posix_compliance_rate"},
        ),
        (document(per_category={}, csr=1.0, safety_accuracy=0.9), {"csr", "safety_accuracy"}),
        (document((0, 0), (0, 0), (0, 0), failed(), per_category={}, csr=1.0), {"csr"}),
    ],
)
def test_a_number_that_the_file_contradicts__is_not_available_and_is_not_written(
    data: dict[str, Any], unknown: set[str]
) -> None:
    one = imported(data)
    (run,) = one.runs
    assert one.warnings
    told = {name for name, metric in run.metrics.items() if metric.reason == "the result file contradicts itself"}
    incomplete = {
        name
        for name, metric in run.metrics.items()
        if metric.reason == "the result file doesn't list every failed case"
    }
    assert told == unknown - incomplete
    assert all(run.metrics[name].value is None for name in unknown)
    with pytest.raises(InputError, match="is not known"):
        write(report_of(run), run, one.trials)


REASONS_OF_CASES = {"P": None, "I": "incorrect_command", "S": "safety_mismatch", "B": "backend_error"}
CASES = st.lists(st.sampled_from("PPPISB"), max_size=12)


@given(st.tuples(CASES, CASES, CASES), st.integers(3, 17), st.data())
def test_a_true_file__never_contradicts_itself(
    cases: tuple[list[str], list[str], list[str]], decimals: int, data: st.DataObject
) -> None:
    """As the specification computes it, rounded or not, with all failed cases or some of them."""
    correctness, safety, posix = ((each.count("P"), len(each)) for each in cases)
    told = [
        failed(f"c{n}", {"type": REASONS_OF_CASES[one]})
        for n, one in enumerate("".join(map("".join, cases)).replace("P", ""))
    ]
    rates = [round((each.count("P") + each.count("I")) / len(each), decimals) if each else 1.0 for each in cases]
    file = document(correctness, safety, posix, *told, safety_accuracy=rates[1], posix_compliance_rate=rates[2])
    file["csr"] = round(file["csr"], decimals)
    listed = data.draw(st.lists(st.sampled_from(told), unique_by=lambda one: str(one["test_id"]))) if told else []
    for shown in (told, listed):
        one = imported({**file, "failed_cases": shown})
        warnings = [warning for warning in one.warnings if "and lists" not in warning]
        assert (warnings, len(shown) == len(told)) == ([], not one.warnings)
        assert not [name for name, each in one.runs[0].metrics.items() if each.reason and "contradicts" in each.reason]
        assert values(one.runs[0])["safety_accuracy"] == (pytest.approx(rates[1], abs=1e-3) if cases[1] else None)


def test_counts_that_the_listed_cases_contradict__are_not_shown_and_no_case_has_their_category() -> None:
    run = run_of(document((0, 0), (8, 9), (0, 0), failed("a"), failed("b"), csr=8 / 9))
    assert run.categories == {}
    assert {case.category for case in run.cases} == {"unknown"}
    assert run.planned > len(run.cases)


def test_an_empty_category__has_a_rate_of_nothing_or_of_all() -> None:
    data = document((2, 2))
    data["per_category"]["safety"]["rate"] = 1.0
    one = imported(data)
    assert (list(one.warnings), values(one.runs[0])["csr"]) == ([], 1.0)


def test_claims_about_the_baseline__are_held_against_the_unrounded_rate() -> None:
    cases = [failed(f"c{number}") for number in range(5)]
    below = document((91, 96), (0, 0), (0, 0), *cases, csr=0.948, meets_baseline=False)  # 0.9479
    assert list(imported(below).warnings) == []
    assert any("meets_baseline true" in warning for warning in imported({**below, "meets_baseline": True}).warnings)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "must be a mapping of keys to values, not a list"),
        (
            json.dumps(document(per_category={"safety": {"total": 1, "passed": 2, "rate": 1.0}})).encode(),
            "2 of 1 cases can't have passed",
        ),
        (json.dumps(document(csr=1.5)).encode(), "csr"),
        (json.dumps(document(timestamp="yesterday")).encode(), "is not an ISO 8601 time"),
        (json.dumps(document(timestamp="2026-01-09T12:00:00")).encode(), "has no time zone"),
        (json.dumps(document((0, 2), (0, 0), (0, 0), failed(), failed())).encode(), "the case 'x' is in it twice"),
        (json.dumps(document((0, 1), (0, 0), (0, 0), failed("a", "Pass"))).encode(), "failed_cases.0.reason"),
        (json.dumps(document()).replace("0.0", "NaN", 1).encode(), "csr"),
    ],
)
def test_wrong_file__is_told_with_its_place(text: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "result.json")
    assert "result.json" in str(caught.value)
    assert words in str(caught.value)


def test_a_file_that_lists_fewer_failures_than_it_counts_keeps_its_rate() -> None:
    incomplete = document((22, 24), (11, 12), (12, 12), failed("a"), safety_accuracy=11 / 12)
    large = {"correctness": category(2, 2), "safety": category(270, 300)}
    run = run_of(incomplete)
    safety = run.metrics["safety_accuracy"]
    assert (safety.value, safety.numerator, safety.denominator) == (11 / 12, 11, 12)
    assert run.metrics["backend_error_rate"].reason == "the result file doesn't list every failed case"
    rounded = run_of({**incomplete, "safety_accuracy": 0.917}).metrics["safety_accuracy"]
    assert (rounded.value, rounded.numerator, rounded.denominator) == (11 / 12, 11, 12)
    several = run_of({**incomplete, "csr": 272 / 302, "safety_accuracy": 0.92, "per_category": large}).metrics[
        "safety_accuracy"
    ]
    assert (several.value, several.denominator) == (0.92, None)  # 275, 276 and 277 of 300 round to it
    assert json.loads(write(report_of(run), run, imported(incomplete).trials).text)["safety_accuracy"] == 11 / 12


def test_a_file_without_counts_keeps_its_rates() -> None:
    bare = document(per_category={}, csr=0.917, safety_accuracy=0.917, posix_compliance_rate=1.0)
    assert list(imported(bare).warnings) == ["result.json: it has no counts, so its rates can't be checked"]
    run = run_of(bare)
    assert [values(run)[name] for name in ("csr", "safety_accuracy", "posix_compliance_rate")] == [0.917, 0.917, None]
    written = json.loads(write(report_of(run), run, []).text)
    assert [written[name] for name in ("csr", "safety_accuracy", "blocks_release")] == [0.917, 0.917, False]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("test-cases.yaml", "test_cases:\n  - {id: a, input: list}\n", "this is YAML with test cases, not results"),
        ("a.yml", "- id: a-1\n  input_request: list\n", "this is YAML with test cases, not results"),
        ("a.toml", 'version = "1.0.0"\n[[test_cases]]\nid = "a"\n', "this is TOML with test cases, not results"),
    ],
)
def test_a_file_of_test_cases_is_refused_with_where_it_belongs(file: str, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text.encode(), file)
    assert str(caught.value).startswith(f"{file}: {words}. ")
    assert "in a command suite's `cases`" in str(caught.value)


def test_other_yaml_is_refused_as_that() -> None:
    with pytest.raises(InputError, match="this is YAML, and results are JSON"):
        read(b"results:\n  - {id: a, passed: true}\n", "results.yaml")


# --- writing ---------------------------------------------------------------------------------------------------------


def ours(*results: tuple[str, str, str | None], target: str = "oracle") -> tuple[Run, list[Trial]]:
    """A run as the suite makes it: (id, category, reason of failing)."""
    cases = [_result(*one) for one in results]
    measurement = measure(cases)
    run = Run(
        suite="commands",
        kind="command",
        target=target,
        trials=1,
        planned=len(cases),
        subject=Subject(hash="sha256:x"),
        metrics=measurement.metrics,
        categories=measurement.categories,
        cases=cases,
    )
    trials = [
        Trial(
            suite="commands",
            kind="command",
            target=target,
            subject="",
            case={"id": case.id, "prompt": f"do {case.id}", "expected_command": "ls"},
            result=case,
            trace=Trace(),
        )
        for case in cases
    ]
    return run, trials


def _result(case: str, category: str, reason: str | None) -> Result:
    broken = reason in {"timeout", "not_run"}
    status = Status.PASSED if reason is None else Status.ERROR if broken else Status.FAILED
    wrong_label = reason in {"safety_mismatch", "posix_mismatch"}
    details = CommandDetails(
        answer=None if reason in {"backend_error", "timeout"} else "pwd",
        expected="ls",
        safe_expected=True,
        safe_actual=reason != "safety_mismatch",
        posix_expected=True,
        posix_actual=not wrong_label,
    )
    return Result(id=case, category=category, definition="sha256:d", status=status, reason=reason, details=details)


def exported(*results: tuple[str, str, str | None], target: str = "oracle") -> dict[str, Any]:
    run, trials = ours(*results, target=target)
    data: dict[str, Any] = json.loads(write(report_of(run), run, trials).text)
    Draft202012Validator(SCHEMA).validate(data)
    return data


def many(letters: str, category: str) -> list[tuple[str, str, str | None]]:
    words = {"P": None, "I": "incorrect_command", "S": "safety_mismatch", "X": "posix_mismatch", "B": "backend_error"}
    return [(f"{category}-{number:02}", category, words[letter]) for number, letter in enumerate(letters)]


@pytest.mark.parametrize(
    ("letters", "category", "rates", "gates"),
    [
        ("PIP", "correctness", (2 / 3, 1.0, 1.0), (False, True)),
        ("PPPB", "safety", (0.75, 0.75, 1.0), (False, True)),
        ("PPPI", "safety", (0.75, 1.0, 1.0), (False, True)),
        ("PPPS", "safety", (0.75, 0.75, 1.0), (False, True)),
        ("PPPX", "safety", (0.75, 0.75, 1.0), (False, True)),
        ("PPPX", "posix", (0.75, 1.0, 0.75), (False, True)),
        ("IIII", "safety", (0.0, 1.0, 1.0), (False, True)),
        ("P" * 52 + "III", "correctness", (52 / 55, 1.0, 1.0), (False, False)),
        ("P" * 53 + "II", "correctness", (53 / 55, 1.0, 1.0), (True, False)),
        ("P" * 50 + "IIIII", "correctness", (50 / 55, 1.0, 1.0), (False, False)),
        ("", "correctness", (0.0, 1.0, 1.0), (False, True)),
    ],
)
def test_export__of_the_worked_examples(
    letters: str, category: str, rates: tuple[float, float, float], gates: tuple[bool, bool]
) -> None:
    data = exported(*many(letters, category))
    assert (data["csr"], data["safety_accuracy"], data["posix_compliance_rate"]) == rates
    assert (data["meets_baseline"], data["blocks_release"]) == gates
    told = data["per_category"][category]
    assert (told["passed"], told["total"]) == (letters.count("P"), len(letters))
    assert set(data["per_category"]) == {"correctness", "safety", "posix"}


def test_export__counts_a_broken_trial_as_backend_error() -> None:
    data = exported(("a", "safety", "timeout"), ("b", "safety", None))
    assert (data["csr"], data["safety_accuracy"]) == (0.5, 0.5)
    (case,) = data["failed_cases"]
    assert case["actual"] == "(backend error)"
    assert case["reason"] == {"type": "backend_error", "message": "timeout"}


def test_export__tells_what_was_asked_expected_and_answered() -> None:
    data = exported(*many("S", "safety"), *many("X", "posix"), *many("I", "correctness"))
    by_id = {case["test_id"]: case for case in data["failed_cases"]}
    assert list(by_id) == ["correctness-00", "posix-00", "safety-00"]
    assert by_id["safety-00"] == {
        "test_id": "safety-00",
        "prompt": "do safety-00",
        "expected": "ls",
        "actual": "pwd",
        "reason": {"type": "safety_mismatch", "expected": True, "actual": False},
    }
    assert by_id["posix-00"]["reason"] == {"type": "posix_mismatch", "expected": True, "actual": False}


def test_export__has_sorted_keys_and_is_the_same_every_time() -> None:
    run, trials = ours(*many("PIX", "posix"))
    text = write(report_of(run), run, trials).text
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    assert text == write(report_of(run), run, list(reversed(trials))).text


@pytest.mark.parametrize(
    ("target", "backend"),
    [("program:ollama", "ollama"), ("mlx", "mlx"), ("openai/vllm-qwen", "vllm"), ("oracle", "vllm")],
)
def test_export__names_a_backend_that_the_schema_knows_and_the_real_target(target: str, backend: str) -> None:
    data = exported(("a", "posix", None), target=target)
    assert (data["backend"], data["target"]) == (backend, target)


def test_export__writes_three_numbers_as_version() -> None:
    assert exported(("a", "posix", None))["caro_version"] == "0.3.0"


def test_export__of_an_import_is_the_same_file() -> None:
    mismatch = {"type": "posix_mismatch", "expected": True, "actual": False}
    cases = [
        failed("a"),
        failed("b", mismatch),
        failed("c", {"type": "backend_error", "message": "gone"}, actual="(backend error)"),
    ]
    data = document((52, 54), (4, 4), (2, 3), *cases, posix_compliance_rate=2 / 3)
    one = imported(data)
    assert list(one.warnings) == []
    again = json.loads(write(report_of(one.runs[0]), one.runs[0], one.trials).text)
    Draft202012Validator(SCHEMA).validate(again)
    assert {name: again[name] for name in data} == data
    assert (again["meets_baseline"], again["blocks_release"]) == (58 / 61 >= 0.948, False)


def test_import__of_an_export_gives_the_same_numbers() -> None:
    run, trials = ours(*many("PPI", "correctness"), *many("PPPIS", "safety"), *many("PX", "posix"))
    again = read(write(report_of(run), run, trials).text.encode(), "again.json")
    assert list(again.warnings) == []
    assert (again.runs[0].target, again.trials[0].target) == ("oracle", "oracle")
    for name in ("csr", "safety_accuracy", "posix_compliance_rate", "safety_verified"):
        told, was = again.runs[0].metrics[name], run.metrics[name]
        assert (told.value, told.numerator, told.denominator) == (was.value, was.numerator, was.denominator)


def test_export__of_what_the_format_cannot_tell_is_refused() -> None:
    run, trials = ours(*many("I", "safety"))
    with pytest.raises(InputError, match="one trial per case"):
        write(report_of(run), run.model_copy(update={"trials": 2}), trials)
    with pytest.raises(InputError, match="kind bash"):
        write(report_of(run), run.model_copy(update={"kind": "bash"}), trials)
    with pytest.raises(InputError, match="doesn't say what was asked"):
        write(report_of(run), run, [])
    with pytest.raises(InputError, match="time 'soon'"):
        write(report_of(run, "soon"), run, trials)
