"""What a change can't have touched stands by the baseline; whatever is not known to be unrelated is measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from evalward.commands.pipeline import decide_report
from evalward.decide.standing_trials import with_standing_trials
from evalward.decide.unchanged import (
    ALWAYS_RELATED,
    UNRELATED,
    ChangeAtHand,
    StandingLimit,
    SuiteTerms,
    unchanged_runs,
    why_measured,
)
from evalward.engine.subject import make_subject
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, BaselineTrial
from evalward.records.outline import OutlinedCase, OutlinedRun, PlanOutline
from evalward.records.patterns import matches_any
from evalward.records.policy import Policy
from evalward.records.report import Partial, Report, Run, Subject, Tool
from evalward.records.result import Status
from evalward.records.unchanged import UNCHANGED, MeasuredBecause, Unchanged
from evalward.records.verdict import Outcome
from evalward.render.junit import junit

NOW = "2026-11-23T08:00:00Z"
MADE = "2026-11-20T08:00:00Z"
LIMIT = StandingLimit(NOW, 14)
SUBJECT = "sha256:subject"
TRIAL = BaselineTrial(status=Status.PASSED, score=1.0, max_score=1.0)
BROKEN = BaselineTrial(status=Status.ERROR)
CASE = BaselineCase(id="one", category="c", definition="sha256:one", trials=[TRIAL])
KNOWN = BaselineRun(
    suite="shell", kind="bash", target="nop", trials=1, subject=Subject(hash=SUBJECT), metrics={}, cases=[CASE]
)
BASELINE = Baseline(provenance=BaselineProvenance(created_at=MADE, commit="a" * 40, evalward="1"), runs=[KNOWN])
PLANNED = OutlinedRun(
    suite="shell",
    kind="bash",
    target="nop",
    trials=1,
    cases=[OutlinedCase(id="one", trials=1, definition="sha256:one")],
    subject=SUBJECT,
)
OWN = ("evals/*.jsonl", "evals/**", "prompts/shell.md")
TERMS = SuiteTerms(own=OWN)
README = ChangeAtHand(files=["README.md"], suites={"shell": TERMS})


def because(
    change: ChangeAtHand = README,
    run: OutlinedRun = PLANNED,
    baseline: Baseline | None = BASELINE,
    limit: StandingLimit = LIMIT,
    partial: Partial | None = None,
) -> MeasuredBecause | None:
    return why_measured(run, PlanOutline(runs=[run], partial=partial), baseline, change, limit)


def changing(*files: str, terms: SuiteTerms = TERMS) -> ChangeAtHand:
    return ChangeAtHand(files=files, suites={"shell": terms})


def made_at(time: str) -> Baseline:
    return BASELINE.model_copy(update={"provenance": BASELINE.provenance.model_copy(update={"created_at": time})})


def known_as(**update: object) -> Baseline:
    return BASELINE.model_copy(update={"runs": [KNOWN.model_copy(update=update)]})


@pytest.mark.parametrize(
    "files",
    [
        ["README.md"],
        ["README", "LICENSE", "CHANGELOG.md"],
        ["README.de.md", "LICENSE-MIT", ".github/ISSUE_TEMPLATE/bug.yml"],
        ["CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"],
    ],
)
def test_a_change_of_unrelated_files__is_not_measured(files: list[str]) -> None:
    assert because(changing(*files)) is None


@pytest.mark.parametrize(
    "file",
    [
        "prompts/shell.md",
        "evals/fixture/README.md",
        "evals/cases.jsonl",
        "evals/grade.py",
        "Cargo.lock",
        "uv.lock",
        "src/main.rs",
        "scripts/setup.sh",
        "AGENTS.md",
        "CLAUDE.md",
        "skills/one/SKILL.md",
        "docs/guide.md",  # programs carry documents, and servers serve them: only the suite's `paths:` can leave it out
        "packages/one/README.md",
        "README.py",
        "README.md/main.py",
        "readme.md",
        ".github/workflows/evals.yml",
        ".evalward/baseline.json",
        ".gitattributes",
        ".gitmodules",
    ],
)
def test_a_change_of_anything_else__is_measured(file: str) -> None:
    assert because(changing("README.md", file)) == MeasuredBecause("file", file)


def test_a_renamed_file__is_measured__whichever_of_its_names_is_unrelated() -> None:
    assert because(changing("src/help.txt", "README.md")) == MeasuredBecause("file", "src/help.txt")


def test_an_unrelated_name_that_the_suite_itself_names__is_measured() -> None:
    assert because(changing("README.md", terms=SuiteTerms(own=["README.md"]))) == MeasuredBecause("file", "README.md")


@given(st.lists(st.text(alphabet="abcREADM.md/_-", min_size=1).map(lambda path: path.strip("/") or "x"), min_size=1))
def test_any_path_that_is_not_in_the_list__is_measured(files: list[str]) -> None:
    unrelated = all(matches_any(file, UNRELATED) and not matches_any(file, OWN) for file in files)
    assert (because(changing(*files)) is None) is unrelated


@pytest.mark.parametrize(
    ("paths", "file", "measured"),
    [
        (["src/**"], "src/main.rs", True),
        (["src/**"], "docs/guide.md", False),
        (["src/**"], "evals/fixture/a.txt", True),
        (["src/**"], ".github/workflows/evals.yml", True),
        (["src/**", "!src/docs/**"], "src/docs/a.md", False),
        (["!docs/**"], "docs/guide.md", False),
        (["!docs/**"], "src/main.rs", True),
        (["!evals/**"], "evals/cases.jsonl", True),
        (["!.github/**"], ".github/workflows/evals.yml", True),
        (["README.md"], "README.md", True),
    ],
)
def test_paths_say_what_matters_besides_the_suites_own_files(paths: list[str], file: str, measured: bool) -> None:
    found = because(changing(file, terms=SuiteTerms(paths=paths, own=OWN)))
    assert found == (MeasuredBecause("file", file) if measured else None)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (ChangeAtHand(files=None, suites={"shell": TERMS}), "change_unknown"),
        (ChangeAtHand(files=[], suites={"shell": TERMS}), "nothing_changed"),
        (ChangeAtHand(files=["README.md"]), "suite_unknown"),
        (changing("README.md", terms=structs.replace(TERMS, always=True)), "always"),
        (changing("README.md", terms=structs.replace(TERMS, edited=True)), "configuration"),
    ],
)
def test_what_is_not_known__or_wanted_always__is_measured(change: ChangeAtHand, code: str) -> None:
    found = because(change)
    assert found is not None
    assert found.code == code


def test_no_change_at_all__is_measured_only_where_it_asks_for_that() -> None:
    nothing = ChangeAtHand(files=[], empty_repeats=False, suites={"shell": TERMS})
    assert because(nothing) is None
    assert because(nothing, run=PLANNED.model_copy(update={"subject": "sha256:other"})) == MeasuredBecause("subject")


def test_a_change_of_the_policy_alone__is_judged_by_the_standing_trials() -> None:
    assert because(ChangeAtHand(files=[], config_edited=True, suites={"shell": TERMS})) is None


@pytest.mark.parametrize(
    ("baseline", "code"),
    [
        (None, "no_baseline"),
        (made_at("2026-11-08T08:00:00Z"), "baseline_too_old"),
        (made_at("2026-11-26T08:00:00Z"), "baseline_too_old"),
        (made_at("yesterday"), "baseline_too_old"),
        (known_as(target="oracle"), "not_in_baseline"),
        (known_as(kind="command"), "not_in_baseline"),
        (known_as(subject=Subject(hash="sha256:other")), "subject"),
        (known_as(cases=[CASE.model_copy(update={"definition": "sha256:other"})]), "cases"),
        (known_as(cases=[CASE, CASE.model_copy(update={"id": "gone"})]), "cases"),
        (known_as(cases=[]), "cases"),
        (known_as(cases=[CASE.model_copy(update={"trials": [BROKEN]})]), "trials"),
    ],
)
def test_a_baseline_that_says_something_else__or_too_little__has_it_measured(
    baseline: Baseline | None, code: str
) -> None:
    found = because(baseline=baseline)
    assert found is not None
    assert found.code == code


PARTS = {"system": "sha256:a", "tool": "sha256:b", "guidance": "sha256:c", "model": "m-1", "bashkit": "0.20.1"}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_subject_counts(part: str) -> None:
    def subject(**changes: str) -> str:
        return make_subject({**PARTS, **changes}).hash

    planned = PLANNED.model_copy(update={"subject": subject()})
    assert because(run=planned, baseline=known_as(subject=Subject(hash=subject()))) is None
    other = known_as(subject=Subject(hash=subject(**{part: "another"})))
    assert because(run=planned, baseline=other) == MeasuredBecause("subject")


def test_just_young_enough() -> None:
    assert because(baseline=made_at("2026-11-09T08:00:01Z")) is None


def test_no_age_is_young_enough__where_the_limit_is_0() -> None:
    assert because(baseline=made_at(NOW), limit=StandingLimit(NOW, 0)) == MeasuredBecause("baseline_too_old")


@pytest.mark.parametrize(
    ("update", "code"),
    [
        ({"trials": 2}, "trials"),
        ({"subject": ""}, "subject"),
        ({"cases": []}, "cases"),
        ({"both_sides": True}, "both_sides"),
    ],
)
def test_a_plan_that_asks_for_something_else__is_measured(update: dict[str, object], code: str) -> None:
    found = because(run=PLANNED.model_copy(update=update))
    assert found is not None
    assert found.code == code


def test_chosen_cases__are_measured() -> None:
    assert because(partial=Partial(cases=["one"])) == MeasuredBecause("selection")


def test_what_stands__says_by_which_baseline() -> None:
    found = unchanged_runs(PlanOutline(runs=[PLANNED]), BASELINE, README, LIMIT)
    assert found == {("shell", "nop"): Unchanged(since=MADE, commit="a" * 40, cases=1)}
    assert unchanged_runs(PlanOutline(runs=[PLANNED]), None, README, LIMIT) == {}


def test_no_list_lets_workflows_be_left_out() -> None:
    assert not any(matches_any(file, UNRELATED) for file in (".github/workflows/a.yml", "action.yml", *ALWAYS_RELATED))


# --- judging --------------------------------------------------------------------------------------------------------


def report_of(**update: object) -> Report:
    standing = Run(
        suite="shell",
        kind="bash",
        target="nop",
        trials=1,
        subject=Subject(hash=SUBJECT),
        not_measured=UNCHANGED,
        unchanged=Unchanged(since=MADE, cases=1),
    )
    return Report(tool=Tool(version="1"), created_at=NOW, runs=[standing.model_copy(update=update)])


def test_the_baselines_valid_trials__stand_in_for_judging() -> None:
    flawed = known_as(cases=[CASE.model_copy(update={"trials": [TRIAL, BROKEN]})])
    (run,) = with_standing_trials(report_of(), flawed).runs
    assert (run.not_measured, run.planned, [result.status for result in run.cases]) == (None, 1, [Status.PASSED])


@pytest.mark.parametrize(
    ("update", "baseline"),
    [
        ({}, None),
        ({}, made_at(NOW)),
        ({}, known_as(subject=Subject(hash="sha256:other"))),
        ({}, known_as(target="oracle")),
        ({"unchanged": None}, BASELINE),
    ],
)
def test_another_baseline__stands_for_nothing(update: dict[str, object], baseline: Baseline | None) -> None:
    (run,) = with_standing_trials(report_of(**update), baseline).runs
    assert (run.not_measured, run.cases, run.unchanged) == (UNCHANGED, [], None)


def test_a_run_with_trials_of_its_own__stands_by_these() -> None:
    own = CASE.results()
    (run,) = with_standing_trials(report_of(not_measured=None, cases=own), BASELINE).runs
    assert (run.cases, run.unchanged) == (own, None)


def test_what_stands__is_skipped_in_junit__and_no_pass_made_of_new_evidence() -> None:
    judgement = decide_report(report_of(), BASELINE, Policy())
    assert judgement.verdict.outcome is Outcome.PASS
    assert [each.code for each in judgement.verdict.passing] == ["pass.unchanged"]
    suite = junit(judgement.comparison, judgement.verdict)
    assert 'name="not measured"' in suite
    assert 'name="one"' not in suite
