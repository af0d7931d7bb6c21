"""Skill runs for people: what changed, arms, confused skills; in the comment, at a terminal, on the page."""

from __future__ import annotations

import pytest

from evalward.commands.pipeline import Criteria
from evalward.decide.verdict import reach_verdict
from evalward.records.policy import Policy, Rule
from evalward.records.report import Finding, Report
from evalward.records.result import Result, Status
from evalward.records.sections import Facts, FileText
from evalward.records.surface import Surface
from evalward.records.verdict import Judgement
from evalward.render.html.page import judgement_page
from evalward.render.markdown import comment
from evalward.render.outputs.base import ShownJudgement
from evalward.render.terminal import judgement_text
from evalward.suites.skill.findings import interpret
from evalward.suites.skill.kind import SKILL
from support import judgements
from support.hostile import EVERYTHING, SNIPPETS
from support.markdown import rendered
from support.shown import report_markdown, report_text
from support.skill_reports import arm, loaded, query, skill_base, skill_report, task, tasks

OLD = {"csv": "Read and merge CSV files.", "xlsx": "Work with Excel workbooks."}
NEW = {"csv": "Read and merge CSV files.", "xlsx": "Work with tables of any kind: Excel, CSV, TSV."}
QUERIES = ("merge-two-tables-1a2b3c", "merge-these-tables-4d5e6f", "count-rows-in-export-7a8b9c")
RULES = [*SKILL.default_rules, Rule(metric="uplift_pass_rate", must_beat="without")]


def queries(*won: str) -> list[Result]:
    """Three trials of each query for `csv`, with what was loaded; and one that is not for `xlsx`."""
    asked = [
        query("csv", *([name] if name else []), id_=id_, trial=trial)
        for id_, name in zip(QUERIES, won, strict=True)
        for trial in (1, 2, 3)
    ]
    return [*asked, query("xlsx", wanted=False, id_="send-a-mail")]


WORK = tasks((4, 1), (4, 0), (3, 2), (4, 0), (4, 1), (4, 2))


def judged(now: Report, before: Report) -> Judgement:
    policy = Policy(rules=RULES)
    seen = Criteria(skill_base(before), policy).compared(now)
    return Judgement(comparison=seen.comparison, verdict=reach_verdict(seen.comparison, policy, {}, seen.samples))


def regression() -> Judgement:
    """The description of `xlsx` was widened, and it is loaded for CSV files now."""
    return judged(
        skill_report([*queries("xlsx", "xlsx", "csv"), *WORK], NEW),
        skill_report([*queries("csv", "csv", "csv"), *WORK], OLD),
    )


def test_the_comment__says_first_what_changed_then_what_it_did() -> None:
    text = comment(regression(), judgements.context())
    assert "❌" in text.splitlines()[1]
    places = [text.index(words) for words in ("**Skills: 1 changed**", "With and without", "Confused skills")]
    assert places == sorted(places)
    assert "- `xlsx`: the description differs (26 → 46 characters)" in text
    assert "+ Work with tables of any kind: Excel, CSV, TSV." in text
    assert "| tasks | with | without | baseline's |" in text
    assert "| `expectations held` | 95.8 % (23/24) | 25.0 % (6/24) | 95.8 % (23/24) |" in text
    assert "Per task, against no skill: +70.8 pp, better (p = 0.016). Per task, against the baseline's: ±0." in text
    assert "| `csv → xlsx` | 6 of 9 | 0 of 9 | xlsx |" in text
    assert "Asked for `csv`, `xlsx` was loaded first" in text


def test_tasks_of_unequal_trials__count_once_each() -> None:
    """As where only what changed was run: what stands has the baseline's trials."""
    stands = [task("old", arm("with", 4), arm("without", 0), trial=trial) for trial in range(1, 7)]
    before = skill_report([*stands, *tasks((4, 2), trials=6)])
    text = comment(judged(skill_report([*stands, *tasks((4, 2), trials=2)]), before), judgements.context())
    assert "| `trials` | 8 | 8 | 12 |" in text
    assert "| `expectations held` | 100.0 % | 25.0 % | 100.0 % |" in text
    assert "Per task, against no skill: +75.0 pp, better" in text


def test_a_baseline_of_some_of_the_tasks__says_so_and_the_rule_its_own_number() -> None:
    before = skill_report(tasks((4, 0), trials=3))
    now = skill_report([*tasks((4, 0), trials=3), *[task("new", arm("with", 2), arm("without", 2)) for _ in range(3)]])
    text = comment(judged(now, before), judgements.context())
    assert "The baseline's are of 1 of 2 tasks: the others are new or ask something else." in text
    assert "| 100.0 pp | 100.0 pp | ±0 | better&nbsp;than&nbsp;without&nbsp;(+50.0&nbsp;pp&nbsp;over&nbsp;all" in text


def test_a_terminal_of_80_columns__has_every_table() -> None:
    shown = judgement_text(regression(), colour=False, width=80, verbose=True)
    alone = report_text([skill_report([*queries("xlsx", "xlsx", "csv"), *WORK], NEW)], colour=False, width=80)
    for text in (shown, alone):
        assert all(title in text for title in ("With and without", "Confused skills", "Skills"))
        assert max(map(len, text.splitlines())) <= 80


def test_what_is_not_proven__is_not_said() -> None:
    few = tasks((4, 1), (2, 2))
    text = report_markdown([skill_report(few)])
    assert "Per task, against no skill: +37.5 pp, which may be chance (p = 0.5)." in text
    steady = report_markdown([skill_report(few, random=False, target="scripted:steady")])
    assert "Per task, against no skill: +37.5 pp." in steady


def test_what_no_arm_tells__has_no_row() -> None:
    silent = [task("t", arm("with", 4, tokens=None, cost=None), arm("without", 4, tokens=None, cost=None))]
    text = report_markdown([skill_report(silent)])
    assert "time per trial" in text
    assert not any(words in text for words in ("tokens per trial", "cost per trial"))


def test_no_table__without_what_would_be_in_it() -> None:
    text = report_markdown([skill_report([query("csv", "csv")])])
    assert not any(title in text for title in ("With and without", "Confused skills"))


@pytest.mark.parametrize("text", [*SNIPPETS, EVERYTHING])
def test_no_name__becomes_anything_else(text: str) -> None:
    won = loaded(text, origin="agent")
    now = skill_report([*queries("csv", "csv", ""), query("csv", won, id_="x"), query("csv", won, id_="y")], NEW)
    rendered(comment(judged(now, now), judgements.context()))


# --- findings --------------------------------------------------------------------------------------------------------


def found(results: list[Result]) -> dict[str, Finding]:
    return {each.id: each for each in interpret(results)}


def test_missed_queries__with_the_words_that_they_share() -> None:
    (finding,) = found(queries("", "", "csv")).values()
    assert (finding.id, finding.evidence) == ("missed_queries", "6 of 9 trials; they share: `merge`, `tables`") or (
        finding.evidence == "6 of 9 trials; they share: `tables`, `merge`"
    )


@pytest.mark.parametrize(
    ("results", "name", "words"),
    [
        ([query("csv", "csv", wanted=False)], "near_misses_taken", "`csv` was loaded by queries that are not for it"),
        ([query("csv", loaded("csv", how="read"))], "only_read", "In 1 trial the skill's file was read"),
        ([query("csv", loaded("verify", origin="agent"))], "agents_own_skill", "of the agent's own was loaded first"),
        ([task("t", arm("with", 4, skill=None), arm("without", 4))], "never_loaded", "the arms compare nothing"),
    ],
)
def test_other_findings(results: list[Result], name: str, words: str) -> None:
    assert words in found(results)[name].message


def test_a_skill_that_helps_nothing__is_named_where_the_suite_as_a_whole_gains() -> None:
    idle = [task(name, arm("with", held), arm("without", 2), skill="xlsx") for name, held in {"a": 3, "b": 1}.items()]
    finding = found([*tasks((4, 0), (4, 0), trials=2), *idle])["skill_does_not_help"]
    assert finding.message == "The tasks of `xlsx` go no better with it"
    assert finding.evidence.startswith("±0 over 2 tasks")
    assert "skill_does_not_help" not in found([*tasks((4, 0), (4, 0)), idle[1]])


def test_a_run_in_which_all_is_well__has_no_findings() -> None:
    assert not interpret([*queries("csv", "csv", "csv"), *WORK])
    assert not interpret([query("csv").model_copy(update={"status": Status.ERROR})])


# --- what agents are offered -----------------------------------------------------------------------------------------


def surface(before: dict[str, str], now: dict[str, str]) -> Surface | None:
    return judged(skill_report(WORK, now), skill_report(WORK, before)).comparison.runs[0].surface


def test_a_renamed_skill__breaks_what_calls_it_by_name() -> None:
    found = surface(OLD, {"csv": OLD["csv"], "tables": OLD["xlsx"]})
    assert found is not None
    assert [(each.how, each.was, each.name) for each in found.changes] == [("renamed", "xlsx", "tables")]
    assert (found.breaking, found.breaks) == (1, "what calls it by name")


def test_what_agents_cut__is_said() -> None:
    found = surface(OLD, {**OLD, "long": "x" * 1_600, **{f"s{n}": "y" * 900 for n in range(6)}})
    assert found is not None
    (long,) = [each for each in found.changes if each.name == "long"]
    assert long.other == ["codex cuts it at 1,024 characters", "claude-code cuts it at 1,536 characters"]
    assert any("claude-code shows some skills by their name alone" in note for note in found.notes)


def test_equal_skills__are_no_change() -> None:
    assert surface(OLD, OLD) is None


def test_one_trial__shows_both_arms_and_not_the_skills_that_were_installed() -> None:
    result = task("t", arm("with", 4), arm("without", 1, status="failed"))
    names = ("fixture/.agents/skills/csv/SKILL.md", "without/fixture/.claude/skills/csv/a.sh", "fixture/answer.txt")
    arms, *files = SKILL.trial_sections(result, [FileText(name=name, text="x") for name in names])
    assert isinstance(arms, Facts)
    assert {row.label: row.values for row in arms.rows} | {"heads": arms.heads} == {
        "heads": ["with", "without"],
        "ended": ["passed", "failed"],
        "expectations held": ["4 of 4", "1 of 4"],
        "loaded": ["csv", "(no skill)"],
        "tokens": ["1,000 tokens", "1,000 tokens"],
        "cost": ["$0.0100", "$0.0100"],
        "time": ["4.0 s", "4.0 s"],
        "turns": ["3", "3"],
    }
    assert [file.name for file in files if isinstance(file, FileText)] == ["fixture/answer.txt"]
    (loads,) = SKILL.trial_sections(query("csv", loaded("csv", how="read"), "xlsx"), [])
    assert isinstance(loads, Facts)
    assert loads.rows[0].values == ["csv", "csv (read), then xlsx"]


def test_the_page__says_how_sure_it_is_of_arms() -> None:
    unproven = skill_report(tasks((4, 3), (3, 3), (4, 4), (4, 4), (3, 4), (4, 3)))
    page = judgement_page(ShownJudgement(judged(unproven, unproven), judgements.context()))
    assert "Decided on the planned trials that are valid in both arms." in page
    assert "With and without" in page
    steady = skill_report(tasks((3, 3)), random=False, target="scripted:steady")
    page = judgement_page(ShownJudgement(judged(steady, steady), judgements.context()))
    assert "gives the same result for the same input" in page
