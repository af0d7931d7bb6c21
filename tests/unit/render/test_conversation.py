"""A trial as people read it: what is said and called in which order, and what is unknown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evalward.records.result import Result, Trial
from evalward.records.sections import FileText
from evalward.records.trace import Block, Message, Opaque, Role, Text, ToolCall, ToolResult, ToolUse, Trace, Turn, Usage
from evalward.render.conversation import (
    UNREADABLE_THINKING,
    Called,
    Said,
    TrialView,
    TurnEnd,
    thinking_of,
    trial_view,
    view_of,
)
from evalward.render.kept import Kept, NothingKept, Sources
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.kind import SCENARIO
from support.results import result, run

TEXTS = {"sha256:s": "Be brief.", "sha256:t": "Runs bash."}


def message(role: Role, *blocks: Block) -> Message:
    return Message(role=role, content=list(blocks))


def use(identity: str, command: str) -> ToolUse:
    return ToolUse(id=identity, name="bash", input={"commands": command})


def answer(identity: str, text: str) -> ToolResult:
    return ToolResult(tool_use_id=identity, content=text)


def stored(trace: Trace, of: Result | None = None) -> Trial:
    return Trial(suite="s", kind="bash", target="t", subject="sha256:x", result=of or result("a"), trace=trace)


def shown(trace: Trace, of: Result | None = None) -> TrialView:
    found = of or result("a")
    return trial_view(run([found], parts={"system": "sha256:s"}), found, stored(trace, found), {})


def test_the_order_is_prompt_tool_task_words_calls_and_what_each_turn_took() -> None:
    trace = Trace(
        messages=[
            message("user", Text(text="Count.")),
            message(
                "assistant",
                Opaque(provider="anthropic", data={"type": "thinking", "thinking": "wc it"}),
                Text(text="I count."),
                use("1", "wc -l f"),
                use("2", "cat g"),
            ),
            message("tool_result", answer("1", "3 f"), answer("2", "STDERR: no g\nExit code: 1")),
            message("assistant", Text(text="Three.")),
        ],
        tool_calls=[
            ToolCall(commands="wc -l f", stdout="3 f\n", exit_code=0, duration_ms=12),
            ToolCall(commands="cat g", stderr="no g\n", exit_code=1, cut=9),
        ],
        turns=[
            Turn(usage=Usage(input_tokens=9, output_tokens=3, cost_usd=0.1), stop="tool_use", model="m-1", wall_ms=70),
            Turn(stop="end"),
        ],
    )
    found = result("a", "failed", score=1.0, most=2.0, reason="checks_failed")
    target = run([found], parts={"system": "sha256:s", "tool_description": "sha256:t"})

    view = trial_view(target, found, stored(trace, found), TEXTS)

    assert view.steps == [
        Said("system", "Be brief."),
        Said("tool", "Runs bash."),
        Said("user", "Count."),
        Said("thinking", "wc it"),
        Said("assistant", "I count."),
        Called("bash", "wc -l f", stdout="3 f\n", exit_code=0, duration_ms=12),
        Called("bash", "cat g", stderr="no g\n", exit_code=1, cut=9),
        TurnEnd(1, Usage(input_tokens=9, output_tokens=3, cost_usd=0.1), "tool_use", "m-1", 70),
        Said("assistant", "Three."),
        TurnEnd(2, Usage(), "end", None, 0),
    ]
    assert (view.score, view.reason, view.missing, view.before) == ("1/2", "checks_failed", "", False)


def test_texts_that_were_not_kept_are_left_out() -> None:
    assert shown(Trace(messages=[message("user", Text(text="Go."))])).steps == [Said("user", "Go.")]


def test_a_use_that_nothing_was_kept_of_shows_what_the_model_read() -> None:
    """Agents read and edit files without a shell; a call without exit code and time has none."""
    trace = Trace(
        messages=[
            message("assistant", ToolUse(id="1", name="Read", input={"path": "a.txt"})),
            message("tool_result", answer("1", "hello"), answer("9", "of nobody")),
            message("assistant", ToolUse(id="1", name="Edit", input={"path": "a", "to": "b"})),
            message("tool_result", answer("1", "edited")),
            message("assistant", ToolUse(id="3", name="Lost", input=None)),
        ],
        tool_calls=[ToolCall(commands="make", exit_code=None)],
    )
    assert shown(trace).steps == [
        Called("Read", "a.txt", answer="hello"),
        Called("", "", answer="of nobody"),
        Called("Edit", '{\n  "path": "a",\n  "to": "b"\n}', answer="edited"),
        Called("Lost", "null"),
        Called("", "make", exit_code=None, duration_ms=None),
    ]


def test_a_call_that_was_not_run_says_so() -> None:
    trace = Trace(
        messages=[message("assistant", ToolUse(id="1", name="python", input={"code": "1"}))],
        tool_calls=[ToolCall(commands="python", stderr="There is no tool.", exit_code=2, ran=False)],
    )
    assert shown(trace).steps == [Called("python", "python", stderr="There is no tool.", exit_code=2, ran=False)]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [(0, "A B"), (1, "A B 1"), (2, "A 1 B 2"), (3, "A 1 B 2 3"), (4, "A B 1 2 3 4")],
)
def test_turns_follow_their_messages_where_there_are_as_many_else_they_come_last(turns: int, expected: str) -> None:
    trace = Trace(
        messages=[message("assistant", Text(text="A")), message("assistant", Text(text="B"))],
        turns=[Turn() for _ in range(turns)],
    )
    steps = shown(trace).steps
    assert " ".join(str(step.number) if isinstance(step, TurnEnd) else getattr(step, "text", "") for step in steps) == (
        expected
    )


def test_turns_of_calls_alone_follow_the_messages_with_calls() -> None:
    """A scripted agent takes a turn for each call, and none for its words."""
    trace = Trace(
        messages=[
            message("assistant", Text(text="A")),
            message("assistant", use("1", "ls")),
            message("assistant", Text(text="B")),
        ],
        tool_calls=[ToolCall(commands="ls", exit_code=0)],
        turns=[Turn()],
    )
    kinds = [type(step).__name__ for step in shown(trace).steps]
    assert kinds == ["Said", "Called", "TurnEnd", "Said"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, "hm"),
        ({"type": "thinking", "thinking": "", "signature": "s"}, UNREADABLE_THINKING),
        ({"type": "redacted_thinking", "data": "zz"}, UNREADABLE_THINKING),
        ({"type": "reasoning", "summary": [{"text": "one"}, {"text": "two"}], "encrypted_content": "zz"}, "one\n\ntwo"),
        ({"type": "reasoning", "summary": [], "encrypted_content": "zz"}, UNREADABLE_THINKING),
        ({"type": "reasoning", "content": [{"text": "all"}, "odd", {"text": 7}]}, "all"),
        ({"type": "web_search_call"}, "(web_search_call: a block of the provider's own)"),
        ({"type": ["thinking"], "thinking": 7, "summary": "x"}, UNREADABLE_THINKING),
        ("text", UNREADABLE_THINKING),
        (None, UNREADABLE_THINKING),
    ],
)
def test_thinking_is_read_where_a_provider_sends_it(data: object, text: str) -> None:
    assert thinking_of(Opaque(provider="p", data=data)) == text


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (result("a", trace="trials/a.1.json"), "The file trials/a.1.json is not there, or can't be read."),
        (result("a"), "The report names no file of this trial."),
        (result("a", "skipped"), "Nothing was run."),
        (result("a", "error", reason="not_run"), "Nothing was run."),
    ],
)
def test_a_trial_without_a_file_says_so(found: Result, why: str) -> None:
    view = trial_view(run([found]), found, None, {})
    assert (view.steps, view.missing) == ([], why)


def test_another_cases_file_is_not_shown_as_this_ones() -> None:
    found = result("a", trace="trials/b.1.json")
    other = stored(Trace(messages=[message("user", Text(text="Other."))]), result("b"))
    view = trial_view(run([found]), found, other, {})
    assert (view.steps, view.missing) == ([], "The file trials/b.1.json is another case's.")


class _Folder(NothingKept):
    """A folder with one trial and one file; it notes what is asked for."""

    def __init__(self, trial: Trial) -> None:
        self.asked: list[str] = []
        self._trial = trial

    def trial(self, path: str) -> Trial | None:
        self.asked.append(path)
        return self._trial

    def files(self, folder: str) -> Sequence[FileText]:
        self.asked.append(folder)
        return [FileText(name="fixture/a.txt", text="left")]


def test_file_and_sections_are_looked_up_where_the_report_lies() -> None:
    found = result("a", trace="trials/a.1.json", details=ScenarioDetails(artifacts="artifacts/a.1"))
    kept = _Folder(stored(Trace(messages=[message("user", Text(text="Go."))]), found))
    sources = Sources(kept=kept, kinds={"scenario": SCENARIO})

    view = view_of(sources, run([found], kind="scenario"), found)

    assert kept.asked == ["artifacts/a.1", "trials/a.1.json"]
    assert view.steps == [Said("user", "Go.")]
    assert FileText(name="fixture/a.txt", text="left") in view.sections


def test_the_baselines_side_is_looked_up_in_its_own_folder() -> None:
    found = result("a", trace="trials/a.1.json")
    now, before = (_Folder(stored(Trace(), found)) for _ in range(2))
    sources = Sources(kept=now, kept_before=before)

    view = view_of(sources, run([found]), found, before=True)

    kept: Kept = before
    assert view.before
    assert (kept.trial("x") is not None, now.asked, before.asked) == (True, [], ["trials/a.1.json", "x"])
