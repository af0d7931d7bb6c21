"""deepeval test run test_shapes.py [--repeat N] [--ignore-errors]: every shape of a case, without a model."""

import os

import pytest
from deepeval import assert_test
from deepeval.metrics import BaseConversationalMetric, BaseMetric
from deepeval.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn

STATE = os.environ.get("EVAL_STATE", "baseline")


class _Plain:
    def __init__(self, name, rule, threshold=1.0, flaky=False):
        self.name, self.rule, self.threshold, self.flaky = name, rule, threshold, flaky
        self.strict_mode = self.async_mode = self.verbose_mode = False
        self.include_reason = True
        self.evaluation_model = None
        self.error = None

    def measure(self, test_case, *args, **kwargs):
        self.score, self.reason = self.rule(test_case)
        self.success = self.score is not None and self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return bool(self.success) and self.error is None

    @property
    def __name__(self):
        return self.name


class Plain(_Plain, BaseMetric):
    pass


class Talk(_Plain, BaseConversationalMetric):
    pass


def contains(case):
    return float(case.expected_output in case.actual_output), f"looked for {case.expected_output!r}"


def raises(case):
    raise RuntimeError("judge unavailable: HTTP 500")


def nan(case):
    return float("nan"), "no number"


KINDS = {
    "good": [("Contains", contains, False)],
    "bad": [("Contains", lambda case: (0.0, "never"), False)],
    "flaky-bad": [("Contains", contains, False), ("Experimental", lambda case: (0.0, "never"), True)],
    "broken": [("Contains", contains, False), ("Judge", raises, False)],
    "broken-and-bad": [("Contains", lambda case: (0.0, "never"), False), ("Judge", raises, False)],
    "flaky-broken": [("Contains", contains, False), ("Experimental", raises, True)],
    "nan": [("Contains", contains, False), ("Number", nan, False)],
    "raises": [],
    "a-1-b": [("Contains", contains, False)],
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_kind(kind):
    if kind == "raises":
        raise ConnectionError("provider down: HTTP 503")
    call = ToolCall(name="bash", input_parameters={"command": "wc -l notes.txt"}, output="42")
    case = LLMTestCase(
        input=f"How many lines? ({kind})",
        actual_output="There are 42.",
        expected_output="42",
        context=["notes"],
        tools_called=[call],
        expected_tools=[ToolCall(name="bash")],
        token_cost=0.0002,
        completion_time=0.5,
        tags=["tools", "files"],
        additional_metadata={"area": "tools"},
    )
    assert_test(case, [Plain(name, rule, flaky=flaky) for name, rule, flaky in KINDS[kind]])


def test_talk():
    case = ConversationalTestCase(
        turns=[Turn(role="user", content="Hello"), Turn(role="assistant", content="Hi, I am 42.")],
        scenario="A greeting",
        expected_outcome="42",
        chatbot_role="helper",
        user_description="Ana",
    )
    assert_test(case, [Talk("Polite", lambda case: (1.0, "polite"))])
