"""Cases that a change can't have touched stand by themselves; where anything isn't known, they are measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from evalward.commands.pipeline import Criteria, decide_report
from evalward.config.load import parse_config
from evalward.decide.unchanged import ChangeAtHand, StandingLimit, SuiteTerms, standing_cases, unchanged_runs
from evalward.engine.subject import make_subject
from evalward.github.unchanged import change_between
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, BaselineTrial
from evalward.records.outline import OutlinedCase, OutlinedRun, PlanOutline
from evalward.records.policy import Confirm, Limits, Policy, Rule
from evalward.records.report import Partial, Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.records.unchanged import UNCHANGED, Dependence, StandingCase, Unchanged
from evalward.records.verdict import Judgement, Outcome, RuleOutcome
from evalward.render.junit import junit
from evalward.suites.base import kind_named
from evalward.suites.skill.depends import folder_part, skill_folders

NOW, MADE = "2026-11-23T08:00:00Z", "2026-11-20T08:00:00Z"
LIMIT = StandingLimit(NOW, 14)
PASSED = BaselineTrial(status=Status.PASSED, score=1.0, max_score=1.0)
FAILED = BaselineTrial(status=Status.FAILED, score=0.0, max_score=1.0)
ON = {"a": Dependence(parts=["skills/a"], subject="sha256:a"), "b": Dependence(parts=["skills/b"], subject="sha256:b")}


def known_case(name: str, *trials: BaselineTrial, **more: Any) -> BaselineCase:
    told: dict[str, Any] = {"depends": ON[name[0]], "definition": f"sha256:{name}", **more}
    return BaselineCase(id=name, category=name[0], trials=list(trials or [PASSED]), **told)


def baseline_of(*cases: BaselineCase, trials: int = 1) -> Baseline:
    known = BaselineRun(
        suite="skills",
        kind="bash",
        target="openai/gpt-5",
        trials=trials,
        random=True,
        subject=Subject(hash="sha256:before"),
        metrics=kind_named("bash").measure([trial for case in cases for trial in case.results()]).metrics,
        cases=list(cases),
    )
    made = BaselineProvenance(created_at=MADE, commit="a" * 40, evalward="1")
    return Baseline(provenance=made, runs=[known])


def planned(*names: str, trials: int = 1, **more: Any) -> OutlinedRun:
    cases = [
        OutlinedCase(id=name, trials=trials, definition=f"sha256:{name}", depends=ON.get(name[0])) for name in names
    ]
    told: dict[str, Any] = {"cases": cases, "subject": "sha256:now", "trials": trials, **more}
    return OutlinedRun(suite="skills", kind="bash", target="openai/gpt-5", **told)


BASELINE = baseline_of(known_case("a1"), known_case("a2"), known_case("b1"), known_case("b2"))
PLANNED = planned("a1", "a2", "b1", "b2")
OWN = ("skills/*/SKILL.md", "skills/**", "evals/**")


def of_skills(path: str) -> frozenset[str] | None:
    found = skill_folders(path, ["skills/*/SKILL.md"])
    return None if found is None else frozenset(found)


TERMS = SuiteTerms(own=OWN, shared=["evals/**"], parts=of_skills, paths=["skills/**"])


def changing(*files: str, terms: SuiteTerms = TERMS, **more: Any) -> ChangeAtHand:
    return ChangeAtHand(files=files, suites={"skills": terms}, **more)


def standing(
    change: ChangeAtHand,
    run: OutlinedRun = PLANNED,
    baseline: Baseline | None = BASELINE,
    limit: StandingLimit = LIMIT,
    partial: Partial | None = None,
) -> list[str]:
    outline = PlanOutline(runs=[run], partial=partial)
    found = standing_cases(run, outline, baseline, change, limit)
    stands = unchanged_runs(outline, baseline, change, limit).get(("skills", "openai/gpt-5"))
    assert [case.id for case in stands.of if stands] == [case.id for case in found] if stands else not found
    return [case.id for case in found]


@pytest.mark.parametrize("file", ["skills/a/SKILL.md", "skills/a/scripts/x.py", "skills/a/evals/evals.json"])
def test_a_change_of_one_part__leaves_the_cases_of_the_others(file: str) -> None:
    assert standing(changing(file)) == ["b1", "b2"]
    assert standing(changing(file, "README.md", "docs/a.md")) == ["b1", "b2"]
    assert standing(changing(file, "skills/b/SKILL.md")) == []


def test_what_stands__says_what_it_asks_and_depends_on() -> None:
    stands = unchanged_runs(PlanOutline(runs=[PLANNED]), BASELINE, changing("skills/a/SKILL.md"), LIMIT)
    of = [StandingCase(id=name, definition=f"sha256:{name}", depends=ON["b"]) for name in ("b1", "b2")]
    assert list(stands.values()) == [Unchanged(since=MADE, commit="a" * 40, cases=2, of=of)]


@pytest.mark.parametrize(
    "change",
    [
        changing("skills/a/SKILL.md", "evals/cases.yaml"),
        changing("skills/a/SKILL.md", ".github/workflows/ci.yml"),
        changing("skills/a/SKILL.md", "src/tool.py", terms=structs.replace(TERMS, paths=())),
        changing("skills/a/SKILL.md", "skills/common.py"),
        changing("skills/c/SKILL.md"),  # nothing in the baseline depends on it
        changing("skills/a/SKILL.md", "skills/c/lib.py"),
        changing("skills/../skills/a/SKILL.md"),
        changing("skills/./a/SKILL.md"),
        changing("skills//a/SKILL.md"),
        changing("skills/a\\SKILL.md"),
        changing("skills/a"),
        changing("skills/a", opaque=["skills/a"]),
        changing("skills/a/lib", opaque=["skills/a/lib"]),
        changing("skills/a/x.py", links={"skills/b/link": "../a/x.py"}),
        changing("skills/a/x.py", links={"skills/b/link": "../a"}),
        changing("skills/a/x.py", links={"evals/link": "../skills/a/x.py"}),
        changing("skills/a/x.py", links={"skills/b/link": "/etc"}),
        changing("skills/a/x.py", links={"skills/b/link": ""}),
        changing("skills/a/x.py", terms=SuiteTerms(own=OWN)),
        changing("skills/a/x.py", terms=structs.replace(TERMS, always=True)),
        changing("skills/a/x.py", terms=structs.replace(TERMS, edited=True)),
        changing("skills/a/x.py", terms=structs.replace(TERMS, shared=["skills/a/**"])),
        ChangeAtHand(files=None, suites={"skills": TERMS}),
        ChangeAtHand(files=[], suites={"skills": TERMS}),
        ChangeAtHand(files=["skills/a/x.py"]),
    ],
)
def test_what_may_have_touched_all__has_all_measured(change: ChangeAtHand) -> None:
    assert standing(change) == []


@pytest.mark.parametrize(
    "case",
    [
        known_case("b2", FAILED, PASSED, BaselineTrial(status=Status.ERROR)),
        known_case("b2", BaselineTrial(status=Status.SKIPPED)),
        known_case("b2", definition="sha256:other"),
        known_case("b2", depends=None),
        known_case("b2", depends=Dependence(parts=["skills/b"], subject="sha256:other")),
        known_case("b2", depends=Dependence(parts=["skills/a", "skills/b"], subject="sha256:b")),
        known_case("b2", depends=Dependence(parts=[], subject="sha256:b")),
        known_case("b3"),
    ],
)
def test_a_case_that_the_baseline_has_otherwise__is_measured(case: BaselineCase) -> None:
    assert standing(changing("skills/a/x.py"), baseline=baseline_of(known_case("a1"), known_case("b1"), case)) == ["b1"]


def test_new_and_redefined_cases__are_measured() -> None:
    told = PLANNED.cases[2].model_copy(update={"definition": "sha256:new"})
    run = PLANNED.model_copy(update={"cases": [*PLANNED.cases[:2], told, PLANNED.cases[3], *planned("b9", "x").cases]})
    assert standing(changing("skills/a/x.py"), run=run) == ["b2"]


@pytest.mark.parametrize(
    "more",
    [
        {"run": PLANNED.model_copy(update={"both_sides": True})},
        {"run": planned("a1", "a2", "b1", "b2", trials=2)},
        {"run": PLANNED.model_copy(update={"target": "oracle"})},
        {"run": PLANNED.model_copy(update={"kind": "skill"})},
        {"partial": Partial(cases=["b1"])},
        {"baseline": None},
        {"limit": StandingLimit(NOW, 0)},
        {"limit": StandingLimit("2026-12-23T08:00:00Z", 14)},
    ],
)
def test_every_other_reason_for_measuring__holds_for_all_cases(more: dict[str, Any]) -> None:
    assert standing(changing("skills/a/x.py"), **more) == []


def test_where_all_are_untouched__the_run_stands_case_by_case() -> None:
    """Its subject may be another: of the parts on which none of these cases depends."""
    only = planned("b1", "b2")
    stands = unchanged_runs(PlanOutline(runs=[only]), BASELINE, changing("skills/a/x.py"), LIMIT)
    assert [found.ids for found in stands.values()] == [{"b1", "b2"}]


NAMES = st.text(alphabet="aAbBäÄsSkiln.\\ *[]é\u0301ſK", min_size=1, max_size=6).filter(lambda name: "/" not in name)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_a_path_touches_the_folder_that_it_lies_in__however_it_is_spelt(names: list[str]) -> None:
    path = "/".join(["skills", *names])
    found = skill_folders(path, ["skills/*/SKILL.md"])
    plain = not {"", ".", ".."}.intersection(names) and "\\" not in path
    if len(names) < 2 or not plain:
        assert found is None
    else:
        assert found == {folder_part(f"skills/{names[0]}")}
        assert skill_folders(f"skills/{names[0].swapcase()}/x", ["skills/*/SKILL.md"]) in (found, None) or (
            names[0].swapcase().casefold() != names[0].casefold()
        )


def test_folders_in_folders__are_all_touched() -> None:
    assert skill_folders("skills/a/b/x", ["./skills/**/SKILL.md"]) == {"skills", "skills/a", "skills/a/b"}
    assert skill_folders("skills/a/b/x", ["skills/a/b/SKILL.md", "skills/a/SKILL.md"]) == {"skills/a", "skills/a/b"}
    assert skill_folders("x.md", ["SKILL.md"]) is None
    assert skill_folders("scripts/x.md", ["SKILL.md"]) is None


CONFIG = """
version: 1
programs: {{tool: {{command: [python, skills/b/tool.py, "{{prompt}}"]}}}}
suites:
  - name: skills
    kind: skill
    skills: skills/*/SKILL.md
    cases: [{cases}]
    targets: [oracle]
"""


@pytest.mark.parametrize(
    ("file", "cases", "parts"),
    [
        ("pkg/skills/a/x.py", "evals/*.yaml", {"skills/a"}),
        ("pkg/skills/A/x.py", "evals/*.yaml", {"skills/a"}),
        ("pkg/skills/b/tool.py", "evals/*.yaml", None),  # a program of the configuration
        ("skills/a/x.py", "evals/*.yaml", None),
        ("pkg/evals/a.yaml", "evals/*.yaml", None),
        ("pkg/skills/a/x.py", "skills/*/own.yaml", None),  # cases of all that the key names lie here
        ("pkg/skills/a/x.py", "", {"skills/a"}),
    ],
)
def test_the_bases_configuration__says_which_parts_a_file_touches(
    file: str, cases: str, parts: set[str] | None, tmp_path: Any
) -> None:
    config = parse_config(CONFIG.format(cases=cases), "evalward.yml", tmp_path).config
    change = change_between(config, config, [file], "pkg/evalward.yml")
    assert change.suites["skills"].parts_touched(file) == parts


# --- judging --------------------------------------------------------------------------------------------------------


def results(name: str, *statuses: Status) -> list[Result]:
    return [
        Result(
            id=name,
            category=name[0],
            definition=f"sha256:{name}",
            trial=number,
            status=status,
            score=float(status is Status.PASSED),
            max_score=1.0,
        )
        for number, status in enumerate(statuses, 1)
    ]


def report_of(cases: list[Result], *stands: str, **more: Any) -> Report:
    of = [StandingCase(id=name, definition=f"sha256:{name}", depends=ON[name[0]]) for name in stands]
    told: dict[str, Any] = {"standing": Unchanged(since=MADE, cases=len(of), of=of) if of else None, **more}
    run = Run(
        suite="skills",
        kind="bash",
        target="openai/gpt-5",
        trials=5,
        random=True,
        planned=len(cases),
        subject=make_subject({"system": "sha256:x"}),
        cases=cases,
        **told,
    )
    return Report(tool=Tool(version="1"), created_at=NOW, runs=[run])


GOOD, BAD = [PASSED] * 5, [FAILED] * 5
OF_A = [f"a{number}" for number in range(4)]
OF_B = [f"b{number}" for number in range(20)]
RULE = Rule(metric="pass_rate", max_drop=0.05, floor=0.5)
POLICY = Policy(rules=[RULE], confirm=Confirm())


def pass_rate(judged: Judgement) -> RuleOutcome:
    return next(rule for rule in judged.verdict.rules if rule.rule.metric == "pass_rate")


def missing(judged: Judgement) -> list[list[str]]:
    return [reason.cases for reason in judged.verdict.reasons if reason.stage == "missing"]


def lost_a(*, standing_too: bool = True, rule: Rule = RULE) -> Judgement:
    """Three of four cases of skill a fail in all trials; those of b stand, or are in neither."""
    measured = [each for name in OF_A for each in results(name, *[Status.FAILED if name > "a0" else Status.PASSED] * 5)]
    others = OF_B if standing_too else []
    baseline = baseline_of(*(known_case(name, *GOOD) for name in [*OF_A, *others]), trials=5)
    return decide_report(report_of(measured, *others), baseline, POLICY.model_copy(update={"rules": [rule]}))


def test_what_stands__neither_waters_down_a_drop_nor_takes_part_in_its_test() -> None:
    alone, beside = lost_a(standing_too=False), lost_a()
    one, other = pass_rate(alone), pass_rate(beside)
    assert (other.delta, other.evidence, other.before, other.now) == (one.delta, one.evidence, one.before, one.now)
    assert other.delta == pytest.approx(-0.75)
    assert other.status == "fail"
    run = beside.comparison.runs[0]
    assert (run.comparable, run.total, run.planned, run.errors) == (4, 24, 20, 0)
    assert [case.q for case in run.cases if not case.stands] == [case.q for case in alone.comparison.runs[0].cases]
    assert [case.id for case in run.cases if case.stands] == sorted(OF_B)
    assert all(case.q is None and case.before == case.now for case in run.cases if case.stands)


def test_floors__are_over_all_cases__each_as_much_as_any_other() -> None:
    found = pass_rate(lost_a()).value
    assert found is not None
    assert found.value == pytest.approx(21 / 24)
    several = [
        known_case(name, *GOOD, *GOOD) for name in OF_B
    ]  # ten trials of each that stands, and five of the others
    measured = [each for name in OF_A for each in results(name, *[Status.FAILED] * 5)]
    baseline = baseline_of(*(known_case(name, *BAD) for name in OF_A), *several, trials=10)
    judged = decide_report(report_of(measured, *OF_B), baseline, POLICY)
    found = pass_rate(judged).value
    assert found is not None
    assert found.value == pytest.approx(20 / 24)
    assert judged.verdict.outcome is Outcome.PASS
    strict = pass_rate(lost_a(rule=RULE.model_copy(update={"floor": 0.9, "max_drop": 1.0})))
    assert (strict.status, strict.stage) == ("fail", "limit")


def test_errors__are_a_share_of_what_was_measured() -> None:
    measured = [*results("a0", *[Status.PASSED] * 5), *results("a1", *[Status.PASSED] * 4, Status.ERROR)]
    baseline = baseline_of(*(known_case(name, *GOOD) for name in ["a0", "a1", *OF_B]), trials=5)
    judged = decide_report(report_of(measured, *OF_B), baseline, Policy(limits=Limits(max_error_rate=0.05)))
    assert judged.verdict.outcome is Outcome.ERROR
    assert (judged.comparison.runs[0].errors, judged.comparison.runs[0].planned) == (1, 10)


def test_only_what_was_measured__is_tried_again() -> None:
    measured = [each for name in OF_A for each in results(name, *[Status.FAILED] * 5)]
    known = [known_case(name, *GOOD) for name in OF_A]
    baseline = baseline_of(*known, *(known_case(name, *BAD) for name in OF_B), trials=5)
    (again,) = Criteria(baseline, POLICY).retries(report_of(measured, *OF_B))
    assert set(again.trials) == set(OF_A)


def test_a_case_that_is_gone__is_missing_as_ever() -> None:
    baseline = baseline_of(known_case("a0", *GOOD), known_case("b0", *GOOD), known_case("b1", *GOOD), trials=5)
    judged = decide_report(report_of(results("a0", *[Status.PASSED] * 5), "b0"), baseline, POLICY)
    assert missing(judged) == [["b1"]]


@pytest.mark.parametrize(
    "update",
    [
        {"since": NOW},
        {"of": [StandingCase(id="b0", definition="sha256:other", depends=ON["b"])]},
        {"of": [StandingCase(id="b0", definition="sha256:b0", depends=ON["a"])]},
        {"of": [StandingCase(id="b7", definition="sha256:b0", depends=ON["b"])]},
        {"of": [StandingCase(id="a0", definition="sha256:a0", depends=ON["a"])]},
    ],
)
def test_what_the_baseline_has_otherwise__stands_for_nothing(update: dict[str, Any]) -> None:
    report = report_of(results("a0", *[Status.PASSED] * 5), "b0")
    (run,) = report.runs
    assert run.standing is not None
    report = report.model_copy(
        update={"runs": [run.model_copy(update={"standing": run.standing.model_copy(update=update)})]}
    )
    baseline = baseline_of(known_case("a0", *GOOD), known_case("b0", *GOOD), trials=5)
    judged = decide_report(report, baseline, POLICY)
    assert missing(judged) == [["b0"]]
    assert judged.comparison.runs[0].standing is None


def test_new_cases_alone__pass_beside_those_that_stand() -> None:
    baseline = baseline_of(known_case("b0", *GOOD), known_case("b1", *GOOD), trials=5)
    judged = decide_report(report_of(results("a0", *[Status.PASSED] * 5), "b0", "b1"), baseline, POLICY)
    assert judged.verdict.outcome is Outcome.PASS
    assert [said.code for said in judged.verdict.passing] == ["pass.cases_stand", "pass.not_compared"]


def test_a_run_that_stands_case_by_case__is_as_one_that_stands_as_a_whole() -> None:
    report = report_of([], not_measured=UNCHANGED, standing=None)
    of = [StandingCase(id=name, definition=f"sha256:{name}", depends=ON["b"]) for name in ("b0", "b1")]
    stands = Unchanged(since=MADE, cases=2, of=of)
    report = report.model_copy(update={"runs": [report.runs[0].model_copy(update={"unchanged": stands})]})
    baseline = baseline_of(known_case("b0", *GOOD), known_case("b1", *BAD), trials=5)
    judged = decide_report(report, baseline, POLICY)
    assert judged.verdict.outcome is Outcome.PASS
    assert [said.code for said in judged.verdict.passing] == ["pass.unchanged"]
    gone = baseline_of(*baseline.runs[0].cases, known_case("a0", *GOOD), trials=5)
    judged = decide_report(report, gone, POLICY)
    assert missing(judged) == [["a0"]]


def test_junit__skips_what_stands() -> None:
    judged = lost_a()
    assert junit(judged.comparison, judged.verdict).count(UNCHANGED) == len(OF_B)


def test_a_skills_files_matter__whatever_paths_name() -> None:
    text = (
        "suites: [{name: skills, kind: skill, skills: '*/SKILL.md', paths: ['docs/**'], targets: [openai/gpt-5]}]\n"
        "version: 1\n"
    )
    config = parse_config(text, "evalward.yml", Path()).config
    for file, matters in {"pdf/scripts/run.py": True, "docs/a.md": True, "setup.py": False}.items():
        change = change_between(config, config, [file], "evalward.yml")
        assert (list(change.touching(change.suites["skills"])) == [file]) is matters, file
