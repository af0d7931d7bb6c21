"""The comment says what happened, fits, and shows nothing that others made up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.commands.pipeline import decide_report
from evalward.records.codes.reasons import MissingCases
from evalward.records.comparison import CaseChange
from evalward.records.policy import Policy, Rule
from evalward.records.report import Finding
from evalward.records.verdict import Judgement, Outcome, Reason
from evalward.render.anchors import ANCHOR, case_anchor, link_place
from evalward.render.context import Accepting, PageContext
from evalward.render.markdown import COMMENT_LIMIT, SUMMARY_LIMIT, comment, fit, summary
from evalward.render.page import build_page
from evalward.render.view import FULL, HEADLINE, Detail
from support import comparisons, example_reports, judgements
from support.hostile import EVERYTHING, SNIPPETS, fill
from support.markdown import Rendered, rendered, tags
from support.results import passes, report, result, run
from support.shown import report_markdown

EXAMPLES = {
    "failed": judgements.failed,
    "passed": judgements.passed,
    "first_run": judgements.first_run,
    "inconclusive": judgements.inconclusive,
    "unjudged": judgements.unjudged,
    "several": judgements.several,
    "all_fine": judgements.all_fine,
    "upgraded": judgements.upgraded,
}
DETAILS: list[Detail] = ["full", "failures", "headline"]
CALM = "calm"


def head(text: str) -> str:
    """The heading's line."""
    return next(line for line in text.split("\n") if line.startswith("### "))


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("failed", "### ❌ Evalward: failed — tool_call_success_rate fell 8.3 pp (81.2 % → 72.9 %)"),
        ("passed", "### ✅ Evalward: passed — nothing got worse"),
        ("first_run", "### ⚠️ Evalward: passed, but nothing was compared — there is no baseline yet"),
        ("inconclusive", "### ❔ Evalward: inconclusive — pass_rate fell 5.4 pp"),
        ("unjudged", "### 🛑 Evalward: could not be judged — bash-tools × openai/gpt-5.5: 12 of 37 trials"),
    ],
)
@pytest.mark.parametrize("detail", DETAILS)
def test_first_line__is_the_verdict(name: str, start: str, detail: Detail) -> None:
    lines = comment(EXAMPLES[name](), judgements.context(), detail).split("\n")

    assert lines[0] == "<!-- evalward:comment schema=1 id=default -->"
    assert lines[1].startswith(start)


def test_context_line__says_what_was_compared() -> None:
    text = comment(judgements.failed(), judgements.context())

    assert (
        "`bash-tools` × `replay:haiku` · 37 cases (35 comparable) · baseline `3f2a9c1` of 2026-11-18 · head `9e8d7c6`"
    ) in text.split("\n")


def test_table__shows_baseline_now_delta_threshold_status() -> None:
    lines = comment(judgements.failed(), judgements.context()).replace("&nbsp;", " ").split("\n")

    assert "| metric | baseline | this PR | Δ | threshold | status |" in lines
    assert (
        "| `tool_call_success_rate` | 81.2 % (78/96) | 72.9 % (70/96) | −8.3 pp | ≥ 70 %, drop ≤ 5 pp | ❌ fail |"
    ) in lines
    assert "| `overall_rate` | 94.6 % (174/184) | 91.8 % (169/184) | −2.7 pp | ≥ 90 % (default) | ✅ ok |" in lines
    assert "| `total_input_tokens` | 184,220 tokens | 191,034 tokens | +6,814 tokens |" in lines


def test_reasons__beyond_the_first_say_what_to_do() -> None:
    text = comment(judgements.failed(), judgements.context())

    assert (
        "**What to do:** Look at the broken cases: fix them, or accept the change, which updates the baseline." in text
    )
    assert (
        "- ❌ bash-tools × `replay:haiku`: the case tar_list of the baseline is missing"
        "<br>→ Restore what is missing, update the baseline, or waive each case in the config, with a reason."
    ) in text
    assert text.count("more than the 5 pp allowed") == 1


def test_advice__stands_once_for_all_reasons_that_it_is_about() -> None:
    floors = [Rule(metric=metric, floor=0.999) for metric in ("pass_rate", "overall_rate")]
    now = report(run([*passes("a"), result("b", "failed")]))
    judgement = decide_report(now, None, Policy(rules=floors))

    assert len(judgement.verdict.reasons) == 2
    assert comment(judgement, judgements.context()).count("change its floor in the policy") == 1


def test_broken_cases__stand_open_with_check_command_and_stderr() -> None:
    text = comment(judgements.failed(), judgements.context())
    document = rendered(text)

    assert "details open=None" in document.elements
    place = link_place(case_anchor("bash-tools", "replay:haiku", "json_nested_keys"))
    line = f"- ❌ `json_nested_keys` · json_processing · passed → failed{place}\n"
    assert f"{line}  - `exit_code:0`: expected 0, got 5\n" in text
    assert (
        "  $ cat user.json | jq -r '.user.hobbies[] | @csv' | sort -u\n"
        "  jq: error (at user.json:4): Cannot iterate over null (null)\n"
    ) in text


def test_broken_cases__ten_and_how_many_more() -> None:
    cases = [comparisons.broken_case(f"case_{number:02}") for number in range(14)]
    judgement = judgements.failed()
    judgement = Judgement(comparison=comparisons.comparison(comparisons.run(cases=cases)), verdict=judgement.verdict)

    text = comment(judgement, judgements.context())

    assert "<b>Broken: 14</b>" in text
    assert "case_09" in text
    assert "case_10" not in text
    assert "- and 4 more" in text
    assert "case_13" in summary(judgement, judgements.context())


def test_sections__are_folded_and_in_order() -> None:
    text = comment(judgements.failed(), judgements.context())
    titles = ["Broken: 3", "Fixed: 1", "Other changes: 1 missing", "Categories: 1 of 6", "What changed", "Warnings: 2"]
    titles += ["How to reproduce", "How to accept"]

    places = [text.index(title) for title in titles]

    assert places == sorted(places)
    assert text.count("<details open>") == 1
    assert text.count("<details") == text.count("</details>")
    assert "| tool_description | `1a1a1a1a1a1a` | `2b2b2b2b2b2b` |" in text


def test_notes__say_what_the_numbers_are_about() -> None:
    text = comment(judgements.failed(), judgements.context())

    assert "over the 35 comparable of 37 cases" in text
    assert "1 of 37 trials ended in an error" in text
    assert "4 of 37 replayed trials diverged from the recording" in text
    assert "`tool_description` changed: replay does not measure this change" in text


def test_allowances__of_a_pull_request_stand_open_known_cases_first() -> None:
    added = [CaseChange(id=f"new-{n}", category="safety", change="added", allows=["disk.wipe"]) for n in range(6)]
    known = CaseChange(id="stick", category="safety", change="redefined", allows=["disk.format", "machine.down"])
    told = "⚠️ 7 cases allow dangerous commands that the baseline does not: `stick` (disk.format, machine.down), `new-0`"

    def shown(*, is_new: bool = False) -> str:
        compared = comparisons.comparison(comparisons.run(cases=[*added, known], added=is_new))
        return comment(judgements.passed().model_copy(update={"comparison": compared}), judgements.context())

    assert told in shown()
    assert "and 2 more." in shown()
    assert "allow dangerous" not in shown(is_new=True)  # a run that the baseline does not know is told as new


def test_allowances__are_said_where_the_page_has_no_room_for_their_run() -> None:
    stick = CaseChange(id="stick", category="safety", change="redefined", allows=["disk.format"])
    runs = [comparisons.run(cases=[stick], suite=f"suite-{n:02}") for n in range(HEADLINE.runs + 1)]
    compared = judgements.passed().model_copy(update={"comparison": comparisons.comparison(*runs)})

    page = build_page(compared, judgements.context(), HEADLINE)

    told = "⚠️ 1 case allows dangerous commands that the baseline does not: `stick` (disk.format)."
    assert f"`suite-00` × `{runs[0].target}`: {told}" in page.alerts
    assert page.alerts[-1] == f"And in {HEADLINE.runs + 1 - 5} more runs."
    assert not [alert for alert in build_page(compared, judgements.context(), FULL).alerts if "allow" in alert]


def test_first_run__says_that_nothing_was_compared() -> None:
    text = comment(judgements.first_run(), judgements.context(unprotected=True))

    assert "> Unprotected: the base commit has no configuration that could judge" in text
    assert "> There is no baseline, so nothing was compared" in text
    assert "no baseline" in text


def test_unprotected__is_never_a_plain_pass() -> None:
    text = comment(judgements.passed(), judgements.context(unprotected=True))

    assert "✅ Evalward" not in text


def test_several_runs__each_has_its_state() -> None:
    text = comment(judgements.several(), judgements.context(notes=("This pull request edits the policy.",)))

    assert "#### ❌ `bash-tools` × `replay:haiku`\n" in text
    assert "#### ❌ `commands` × `nop`: missing" in text
    assert "#### ❔ `scenarios` × `anthropic/claude-haiku-4-5`: not measured" in text
    assert "Not measured: the key ANTHROPIC_API_KEY is not available" in text
    assert "<summary>✅ <code>bash-tools</code> × <code>oracle</code>: ok</summary>" in text
    assert "Partial run" in text
    assert "The run was interrupted: the budget of &#36;5.00 was spent" in text
    assert "> This pull request edits the policy." in text


def test_two_runs__are_both_open() -> None:
    passed = judgements.passed()
    runs = comparisons.comparison(comparisons.run(), comparisons.run(target="oracle"))

    text = comment(Judgement(comparison=runs, verdict=passed.verdict), judgements.context())

    assert "#### ⚠️ `bash-tools` × `replay:haiku`" in text
    assert "#### ✅ `bash-tools` × `oracle`" in text
    assert "2 runs" not in text
    assert "1 suite × 2 targets" in text


def test_limit__is_judged_on_all_cases_and_says_so() -> None:
    change = comparisons.change(
        "pass_rate", comparisons.rate(33, 35), comparisons.rate(33, 35), whole=comparisons.rate(33, 37)
    )
    rules = [comparisons.outcome(comparisons.rules()[1].rule, change, "fail")]
    passed = judgements.passed()
    judgement = Judgement(
        comparison=comparisons.comparison(comparisons.run(metrics=[change])),
        verdict=passed.verdict.model_copy(update={"rules": rules}),
    )

    assert "| 94.3 % (33/35); all cases: 89.2 % (33/37) |" in comment(judgement, judgements.context())


def test_value__does_not_round_across_its_floor() -> None:
    change = comparisons.change("pass_rate", comparisons.rate(95, 100), comparisons.rate(94_999, 100_000))
    rule = comparisons.rules()[0].rule.model_copy(update={"metric": "pass_rate", "floor": 0.95})
    judgement = Judgement(
        comparison=comparisons.comparison(comparisons.run(metrics=[change])),
        verdict=judgements.passed().verdict.model_copy(update={"rules": [comparisons.outcome(rule, change, "fail")]}),
    )

    text = comment(judgement, judgements.context()).replace("&nbsp;", " ")

    assert "| 95.000 % (95/100) | 94.999 % (94,999/100,000) | −0.001 pp | ≥ 95 %" in text


def test_metric_without_value__says_why() -> None:
    rule = comparisons.rules()[0].rule.model_copy(update={"metric": "cost_usd"})
    cost = next(item for item in comparisons.metric_changes() if item.id == "cost_usd")
    judgement = judgements.passed()
    verdict = judgement.verdict.model_copy(update={"rules": [comparisons.outcome(rule, cost, "not_available")]})

    text = comment(judgement.model_copy(update={"verdict": verdict}), judgements.context())

    assert "| n/a (a replay costs nothing) | – |" in text
    assert "❔&nbsp;not available" in text


def test_failures__leaves_out_what_is_fine_and_says_so() -> None:
    text = comment(judgements.failed(), judgements.context(), "failures")

    assert "overall_rate" not in text
    assert "total_input_tokens" not in text
    assert "csv_revenue" not in text
    assert "json_nested_keys" in text
    assert "Shortened to fit" in text


def test_headline__has_verdict_reasons_and_counts() -> None:
    text = comment(judgements.failed(), judgements.context(), "headline")

    assert "tar_list" in text
    assert "<details" not in text
    assert "Cases: 3 broken, 1 fixed, 1 missing, 1 not valid, 1 worse" in text


def test_fit__takes_the_first_that_fits() -> None:
    judgement, context = judgements.failed(), judgements.context()
    full, failures, headline = (comment(judgement, context, detail) for detail in DETAILS)

    assert fit(judgement, context) == full
    assert fit(judgement, context, len(full) - 1) == failures
    assert fit(judgement, context, len(failures) - 1) == headline
    assert "too long to show" in fit(judgement, context, len(headline) - 1)
    assert fit(judgement, context, 10).startswith(context.marker)


@pytest.mark.parametrize("text", ["x" * 3000, "@|`" * 1000, "é🎉" * 1500, "\n" * 3000, "`" * 3000])
def test_sizes__hold_in_the_worst_case(text: str) -> None:
    judgement = judgements.huge(text=text)

    short = fit(judgement, judgements.context())
    assert len(short) <= COMMENT_LIMIT
    assert "too long to show" not in short
    assert len(summary(judgement, judgements.context()).encode()) <= SUMMARY_LIMIT


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("detail", DETAILS)
def test_hostile_text__changes_no_element(name: str, detail: Detail) -> None:
    calm = rendered(comment(fill(EXAMPLES[name](), CALM), judgements.context(), detail))
    hostile = rendered(comment(fill(EXAMPLES[name](), EVERYTHING), judgements.context(), detail))

    assert "octocat" in hostile.text
    assert hostile.elements == calm.elements
    assert hostile.links() == calm.links() == []
    (places, others), (calm_places, calm_others) = hidden(hostile.comments), hidden(calm.comments)
    assert others - {" "} == calm_others
    assert len(places) == len(calm_places)


def hidden(comments: Sequence[str]) -> tuple[list[str], set[str]]:
    """The places of links, and the other hidden comments."""
    places = [text for text in comments if re.fullmatch(rf" evalward:link={ANCHOR.pattern} ", text)]
    return places, set(comments) - set(places)


def test_link_places__are_only_in_a_comment() -> None:
    """A file of `compare`, and the job summary, are not edited later."""
    failed = judgements.failed()
    assert "evalward:link" in comment(failed, judgements.context())
    assert "evalward:link" not in comment(failed, judgements.context(marker=""))
    assert "evalward:link" not in summary(failed, judgements.context())


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_hostile_snippet__changes_no_element(snippet: str) -> None:
    hostile = rendered(comment(fill(judgements.several(), f"x{snippet} y"), judgements.context()))

    assert hostile.elements == list(calm_elements())
    assert hostile.links() == []


@cache
def calm_elements() -> tuple[str, ...]:
    """What a comment on several runs is made of where nobody means harm."""
    return tuple(rendered(comment(fill(judgements.several(), CALM), judgements.context())).elements)


@given(text=st.lists(st.sampled_from(SNIPPETS), max_size=6).map("".join))
def test_hostile_context__changes_no_element(text: str) -> None:
    hostile = in_context(text)

    assert hostile.elements == list(elements_in_calm_context())
    assert hostile.links() == []


def in_context(value: str) -> Rendered:
    """A comment around which everything is called so."""
    context = judgements.context(
        title=f"x{value}",
        head_sha=f"x{value}",
        base_sha=f"x{value}",
        report_path=f"x{value}",
        command=f"x{value}",
        accept=Accepting(f"x{value}", f"x{value}", f"x{value}"),
        notes=(f"x{value}",),
    )
    return rendered(comment(judgements.passed(), context))


@cache
def elements_in_calm_context() -> tuple[str, ...]:
    """What it is made of where nobody means harm."""
    return tuple(in_context("").elements)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//x.example", "vbscript:x"])
def test_run_url__only_web_addresses(url: str) -> None:
    document = rendered(comment(judgements.passed(), judgements.context(run_url=url)))

    assert tags(document, ["a"]) == ["a href=#", "/a"] * 2


@pytest.mark.parametrize("end", [") [y](https://z", "/<b>", " x", "\n\n# x", "`", "\\"])
def test_run_url__cannot_leave_its_link(end: str) -> None:
    document = rendered(comment(judgements.passed(), judgements.context(run_url="https://x.example/" + end)))

    (run, _, artifacts, _) = tags(document, ["a"])
    assert run.startswith("a href=https://x.example/")
    assert artifacts == f"{run}#artifacts"
    assert tags(document, ["h1", "b"]) == []


def test_run_url__and_its_artifacts_are_the_only_links() -> None:
    document = rendered(comment(judgements.passed(), judgements.context()))

    run = "a href=https://github.com/acme/tools/actions/runs/123456"
    assert tags(document, ["a"]) == [run, "/a", f"{run}#artifacts", "/a"]


@pytest.mark.parametrize("marker", ["text", "<!-- a --> b -->", "<!-- a\n-->", "<!-- <!-- -->"])
def test_marker__must_be_one_comment(marker: str) -> None:
    with pytest.raises(ValueError, match="one HTML comment"):
        comment(judgements.passed(), judgements.context(marker=marker))


def test_summary__has_no_marker_and_shows_traces() -> None:
    text = summary(judgements.failed(), judgements.context())

    assert text.startswith("### ❌ Evalward")
    assert "trace `trials/json_nested_keys.1.json`" in text


def test_reason_cases__are_named_once() -> None:
    judgement = judgements.passed()
    reasons = [
        Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            statements=[MissingCases(suite="s", target="t", count=7, first=("a", "b", "c"))],
            cases=list("abcdefghi"),
        ),
    ]
    verdict = judgements.failed().verdict
    verdict = verdict.model_copy(update={"reasons": [*verdict.reasons, *reasons]})

    text = comment(judgement.model_copy(update={"verdict": verdict}), judgements.context())

    missing = "- ❌ s × t: 7 cases (a, b, c, …) of the baseline are missing"
    assert f"{missing} (`d`, `e`, `f`, `g`, `h` and 1 more)" in text


def test_minimal_context__is_enough() -> None:
    text = comment(judgements.passed(), PageContext())

    assert text.startswith("### ✅ Evalward: passed")
    assert "How to" not in text


def test_rendering__is_deterministic() -> None:
    assert comment(judgements.several(), judgements.context()) == comment(judgements.several(), judgements.context())


def test_one_report__in_full() -> None:
    text = report_markdown([example_reports.report()])

    assert text.startswith("### Evalward report\n\n2026-11-21 08:00 UTC · evalward 0.1.0 · commit `9e8d7c6`\n")
    assert "1 passed · 1 failed · 1 error · 1 skipped" in text
    assert "| `tool_call_success_rate` | 72.9 % (70/96) |" in text
    assert "| `cost_usd` | n/a (a replay costs nothing) |" in text
    assert "- ❌ `json_nested_keys` · json_processing · failed · 1/2 · checks failed" in text
    assert "  - `stdout_contains:42`: stdout is '41\\\\n'" in text
    assert "⚠️ json_processing is the weakest category (62.5 % (5/8), threshold 80 %)" in text
    assert "Not passed: 3 of 4" in text
    assert "All trials: 1 of 4 passed" in text
    assert "| ✅&nbsp;passed | 2/2 | 4 | 2 ok, 1 error | 1,200 in, 310 out | 8.1 s |" in text


def test_several_reports__names_of_models_are_all_code() -> None:
    names = ("anthropic/claude-haiku-4-5-20251001", "openai/gpt-5.2")  # the first alone has what links by itself
    text = report_markdown([example_reports.report(name) for name in names])
    assert "| metric | `claude-haiku-4-5-20251001` | `gpt-5.2` |" in text
    assert "- **`gpt-5.2`** `bash-tools × openai/gpt-5.2`: " in text


def test_what_the_runs_show_together__has_the_title_of_the_terminal() -> None:
    finding = Finding(id="x", level="info", message="Only `m/one` passes", evidence="`m/two`: no", threshold="one")
    text = report_markdown([example_reports.report(findings=[finding])])
    assert "#### Across all runs\n\n- – Only `m/one` passes (`m/two`\\: no, threshold one)" in text


def test_several_reports__stand_side_by_side() -> None:
    text = report_markdown(
        [example_reports.report(), example_reports.report("oracle", warnings=["careful"], interrupted="spent")]
    )

    assert "- **`replay:haiku`** `bash-tools × replay:haiku`" in text
    assert "- **`oracle`** `bash-tools × oracle`" in text
    assert "| metric | `replay:haiku` | `oracle` |\n|:---|---:|---:|\n" in text
    assert "| `pass_rate` | 86.5 % (32/37) | 86.5 % (32/37) |" in text
    assert "> careful" in text


@pytest.mark.parametrize("count", [1, 2])
def test_hostile_report__changes_no_element(count: int) -> None:
    calm = rendered(report_markdown([fill(example_reports.report(), CALM)] * count))
    hostile = rendered(report_markdown([fill(example_reports.report(), EVERYTHING)] * count))

    assert hostile.elements == calm.elements
    assert hostile.links() == []
