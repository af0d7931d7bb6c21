"""One trial in a terminal: everything in its order, long texts folded, nothing obeyed, nothing unknown as 0."""

from __future__ import annotations

import re

import pytest
from msgspec import structs

from evalward.records.baseline import BaselineCase, BaselineTrial
from evalward.records.result import CheckResult, Status
from evalward.records.sections import Facts, FileText, GridRow, SampleGroup, SamplePlot, TrialSection
from evalward.records.trace import Usage
from evalward.render.conversation import Called, Said, Step, TrialView, TurnEnd
from evalward.render.trial_terminal import ShownTrials, trials_text
from support.hostile import EVERYTHING
from support.showing import COLOUR, assert_seen


def view(*steps: Step, **changes: object) -> TrialView:
    plain = TrialView(
        suite="bash-tools",
        target="some/model",
        case="sum",
        category="numbers",
        trial=2,
        status=Status.FAILED,
        score="1/2",
        reason="checks_failed",
        message="",
        checks=[
            CheckResult(check="exit_code:0", passed=True, detail=""),
            CheckResult(check="stdout:3", passed=False, detail="it is 4"),
        ],
        usage=Usage(input_tokens=1_200, output_tokens=30, cost_usd=0.0021),
        judge_usage=None,
        duration_ms=8_100,
        steps=list(steps),
    )
    return structs.replace(plain, **changes)


def text(found: TrialView, *, full: bool = False, colour: bool = False, title: str = "") -> str:
    return trials_text(ShownTrials([], None, [(title, found)]), colour=colour, width=150, full=full)


def test_head_and_checks() -> None:
    assert text(view()) == (
        "✗ failed: sum, trial 2 · bash-tools × some/model\n"
        "  numbers · score 1/2 · 1,200 tokens in, 30 out, $0.0021 · 8.1 s\n"
        "  checks_failed\n"
        "\n"
        "Checks held: 1 of 2\n"
        "  ✓ exit_code:0\n"
        "  ✗ stdout:3\n"
        "      it is 4\n"
    )


def test_the_conversation_in_its_order() -> None:
    usage = Usage(input_tokens=200, cache_read_tokens=1_000, output_tokens=40, reasoning_tokens=25, cost_usd=0.001)
    steps: list[Step] = [
        Said("system", "Be brief."),
        Said("tool", "Runs bash."),
        Said("user", "Sum it."),
        Said("thinking", "awk"),
        Said("assistant", "I sum.\nWith awk."),
        Called("bash", "awk 1\nls", stdout="4\n", stderr="odd\n", exit_code=1, duration_ms=12, cut=70),
        TurnEnd(1, usage, "tool_use", "m-1", 2_100),
        Called("bash", "true", exit_code=0),
        TurnEnd(2, Usage(), "refusal", None, 0),
    ]
    assert text(view(*steps, checks=[], reason="")).partition("\n\n")[2] == (
        "System prompt\n  Be brief.\n\n"
        "Tool description\n  Runs bash.\n\n"
        "User\n  Sum it.\n\n"
        "Thinking\n  awk\n\n"
        "Model\n  I sum.\n  With awk.\n\n"
        "Tool bash · exit code 1 · 12 ms\n  $ awk 1\n    ls\n  4\n  stderr:\n  odd\n"
        "  … 70 more characters were not kept\n"
        "· turn 1: 1,200 tokens in (1,000 from the cache), 40 out (25 for thinking), $0.0010, 2.1 s; "
        "asks for a tool (m-1)\n\n"
        "Tool bash · exit code 0\n  $ true\n"
        "· turn 2: tokens unknown; refused\n"
    )


@pytest.mark.parametrize(
    ("call", "head"),
    [
        (Called("python", "x", stderr="no such tool", exit_code=2, ran=False), "Tool python · not run"),
        (Called("shell", "make", exit_code=None), "Tool shell · exit code unknown"),
        (Called("", "make", exit_code=3), "Tool · exit code 3"),
        (Called("Read", "a.txt", answer="hello"), "Tool Read"),
    ],
)
def test_how_a_call_ended(call: Called, head: str) -> None:
    assert f"\n{head}\n" in text(view(call))


def test_what_is_unknown_is_no_zero() -> None:
    found = text(view(TurnEnd(1, Usage(output_tokens=5), "end", None, 0), usage=Usage(), duration_ms=0, score=""))
    assert "  numbers\n" in found
    assert "· turn 1: n/a tokens in, 5 out\n" in found
    assert "$" not in found


def test_a_missing_file_says_so() -> None:
    found = text(view(missing="The file trials/a.1.json is not there."), title="retrial")
    assert found.endswith("\n– The file trials/a.1.json is not there.\n")
    assert found.startswith("✗ failed: sum, trial 2 (retrial) · ")


def test_long_outputs_are_folded_with_their_size_unless_all_is_wanted() -> None:
    lines = [f"line {number}" for number in range(5_000)]
    long = view(Called("bash", "seq", stdout="\n".join(lines), exit_code=0))

    short = text(long)
    left_out = len("\n".join(lines[30:4_990])) + 1
    assert f"line 29\n  … left out: 4,960 lines, {left_out:,} characters (--full shows them)\n  line 4990\n" in short
    assert "line 30\n" not in short
    assert [line for line in text(long, full=True).split("\n") if line.startswith("  line ")] == [
        f"  {line}" for line in lines
    ]


def test_a_line_of_a_megabyte_is_folded_everywhere() -> None:
    huge = "x" * 1_000_000
    steps: list[Step] = [
        Said("system", huge),
        Said("user", huge),
        Called(huge, huge, huge, huge, huge),
        Said("thinking", huge),
    ]
    checks = [CheckResult(check=huge, passed=False, detail=huge)]
    sections: list[TrialSection] = [
        Facts(title=huge, rows=[GridRow(label=huge, values=[huge])]),
        Facts(title=huge, heads=["a", "b"], rows=[GridRow(label=huge, values=[huge])]),
        FileText(name=huge, text=huge),
        SamplePlot(title=huge, unit="s", groups=[SampleGroup(name=huge, samples={huge: [1.0]})]),
    ]
    found = text(
        view(*steps, checks=checks, sections=sections, case=huge, suite=huge, message=huge, reason=huge, missing=huge)
    )
    assert len(found) < 100_000
    assert found.count("left out: ") >= 6


def test_sections_of_a_kind() -> None:
    sections = [
        Facts(
            title="Replay", rows=[GridRow(label="answers", values=["the same"]), GridRow(label="twice", values=["yes"])]
        ),
        Facts(title="Answer", heads=["expected", "found"], rows=[GridRow(label="command", values=["ls", "rm"])]),
        FileText(name="a.txt", text="left\n", cut=5),
        FileText(name="b.bin", text=None),
        SamplePlot(
            title="Samples", unit="s", groups=[SampleGroup(name="b", samples={"now": [0.3, 0.1, 0.2], "before": []})]
        ),
    ]
    found = text(view(sections=sections))
    assert "Replay\n  answers the same\n  twice   yes\n" in found
    assert re.search(r"\ncommand +ls +rm\n", found)
    assert "\nFile a.txt\n  left\n  … 5 more bytes are not shown\n" in found
    assert "\nFile b.bin\n  no text\n" in found
    assert re.search(r"\nb +now +3 +0\.2 s +0\.1 s +0\.3 s\n", found)
    assert "before" not in found


def test_the_baselines_numbers_stand_first() -> None:
    case = BaselineCase(
        id="sum",
        category="numbers",
        definition="sha256:x",
        trials=[
            BaselineTrial(
                status=Status.PASSED, score=2, max_score=2, usage=Usage(input_tokens=7, output_tokens=2), duration_ms=90
            ),
            BaselineTrial(status=Status.FAILED, max_score=2, reason="checks_failed"),
        ],
    )
    found = trials_text(ShownTrials(["Another definition."], case, [("", view())]), colour=False, width=120)
    assert found.startswith("! Another definition.\n\nIn the baseline: 2 trials\n")
    assert re.search(r"\n1 +✓ passed +2/2 +7 tokens in, 2 out +n/a +90 ms\n", found)
    assert re.search(r"\n2 +✗ failed +0/2 +n/a +n/a +n/a +checks_failed\n", found)
    assert found.index("In the baseline") < found.index("✗ failed: sum")


def test_colours_only_on_request() -> None:
    found = view(Said("user", "x"), Called("bash", "ls", exit_code=1))
    assert "\x1b" not in text(found)
    assert "\x1b[31m✗\x1b[0m" in text(found, colour=True)
    assert COLOUR.sub("", text(found, colour=True)) == text(found)


@pytest.mark.parametrize("full", [False, True])
def test_hostile_text_in_every_field_is_seen_and_controls_nothing(full: bool) -> None:
    bad = EVERYTHING
    steps: list[Step] = [
        *(Said(voice, bad) for voice in ("system", "tool", "user", "assistant", "thinking")),
        Called(bad, bad, bad, bad, bad, exit_code=1, cut=2),
        TurnEnd(1, Usage(), bad, bad, 1),
    ]
    sections = [
        Facts(title=bad, rows=[GridRow(label=bad, values=[bad, bad])]),
        Facts(title=bad, heads=[bad], rows=[GridRow(label=bad, values=[bad])]),
        FileText(name=bad, text=bad, cut=1),
        SamplePlot(title=bad, unit=bad, groups=[SampleGroup(name=bad, samples={bad: [1.0]})]),
    ]
    named = dict.fromkeys(("suite", "target", "case", "category", "score", "reason", "message", "missing"), bad)
    checks = [CheckResult(check=bad, passed=False, detail=bad)]
    case = BaselineCase(id=bad, category=bad, definition=bad, trials=[BaselineTrial(status=Status.ERROR, reason=bad)])
    found = trials_text(
        ShownTrials([bad], case, [(bad, view(*steps, checks=checks, sections=sections, **named))]),
        colour=True,
        width=80,
        full=full,
    )
    assert_seen(found)
    assert "␛[31mred" in found
    assert "⟨U+202E⟩gnp.exe" in found
    assert not re.search(r"^\s*::", COLOUR.sub("", found), re.MULTILINE)
