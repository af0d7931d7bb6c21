"""What can go wrong with a target, as one frozen table: is it retried, how is it counted, what are people told.

A target that refuses, runs into its limits or gives nothing is no failure of this kind: that is an answer, and its
turn says so (`Turn.stop`). The rows of the table that are counted as `failed` are there because people meet these words
too, and because what a target makes unreadable is its own doing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from evalward.records.providers import PROVIDERS
from evalward.records.result import Status

Counted = Literal[Status.ERROR, Status.FAILED]


class Cause(StrEnum):
    """Why a trial, or the whole run, could not go on. The value is the `reason` of the result."""

    RATE_LIMIT = "rate_limit"
    OVERLOAD = "overload"
    NETWORK = "network"
    TIMEOUT = "timeout"
    KEY = "key"
    QUOTA = "quota"
    MODEL_NOT_FOUND = "model_not_found"
    CONTEXT_LENGTH = "context_length"
    MALFORMED = "malformed_answer"
    REFUSAL = "refusal"
    REJECTED = "rejected_request"
    UNREADABLE = "unreadable_result"
    SANDBOX = "sandbox"
    BUDGET = "budget"
    BATCH = "batch"
    OURS = "ours"


class FailureRule(Struct, frozen=True):
    """One row of the table.

    `told` is one or two sentences with the remedy; it may name {provider}, {model} and {variable} (the environment
    variable of the key). `stops_run`: every other trial would meet the same, so that the run ends with one message.
    """

    cause: Cause
    retried: bool
    counted: Counted
    stops_run: bool
    text: str


_ROWS = (
    FailureRule(
        Cause.RATE_LIMIT,
        retried=True,
        counted=Status.ERROR,
        stops_run=False,
        text="{provider} limits the rate of requests. Lower `concurrency` of the provider, or try again later.",
    ),
    FailureRule(
        Cause.OVERLOAD,
        retried=True,
        counted=Status.ERROR,
        stops_run=False,
        text="{provider} is overloaded or failing. Try again later.",
    ),
    FailureRule(
        Cause.NETWORK,
        retried=True,
        counted=Status.ERROR,
        stops_run=False,
        text="{provider} could not be reached, or the connection was lost. Check the network and the provider's "
        "`base_url`.",
    ),
    FailureRule(
        Cause.TIMEOUT,
        retried=True,
        counted=Status.ERROR,
        stops_run=False,
        text="{provider} did not answer in time. Raise `timeout_s` of the provider or of {model}.",
    ),
    FailureRule(
        Cause.KEY,
        retried=False,
        counted=Status.ERROR,
        stops_run=True,
        text="{provider}: the API key is missing or was rejected. Set the environment variable {variable} to a valid "
        "key that may use {model}.",
    ),
    FailureRule(
        Cause.QUOTA,
        retried=False,
        counted=Status.ERROR,
        stops_run=True,
        text="The account at {provider} is out of credit or over its spending limit. Add credit or raise the limit.",
    ),
    FailureRule(
        Cause.MODEL_NOT_FOUND,
        retried=False,
        counted=Status.ERROR,
        stops_run=True,
        text="{provider} has no model {model}. Check the name of the target and the provider's `base_url`.",
    ),
    FailureRule(
        Cause.CONTEXT_LENGTH,
        retried=False,
        counted=Status.FAILED,
        stops_run=False,
        text="The conversation became longer than {model} can read. That is the target's result: it counts as failed.",
    ),
    FailureRule(
        Cause.MALFORMED,
        retried=True,
        counted=Status.ERROR,
        stops_run=False,
        text="{provider} returned a malformed or truncated response. Check the provider's `base_url`.",
    ),
    FailureRule(
        Cause.REFUSAL,
        retried=False,
        counted=Status.FAILED,
        stops_run=False,
        text="{model} refused, or its content filter did. That is the target's result: it counts as failed.",
    ),
    FailureRule(
        Cause.REJECTED,
        retried=False,
        counted=Status.ERROR,
        stops_run=False,
        text="{provider} does not accept the request. Check the settings of {model}: not every model takes every "
        "setting.",
    ),
    FailureRule(
        Cause.UNREADABLE,
        retried=False,
        counted=Status.FAILED,
        stops_run=False,
        text="What {model} said, did or left can't be read or judged, and the message says why. That is the target's "
        "result: it counts as failed.",
    ),
    FailureRule(
        Cause.SANDBOX,
        retried=False,
        counted=Status.ERROR,
        stops_run=False,
        text="The sandbox failed. Run the case again; if it happens again, report it with the case.",
    ),
    FailureRule(
        Cause.BUDGET,
        retried=False,
        counted=Status.ERROR,
        stops_run=True,
        text="The budget is spent. What was measured is kept; raise `budget_usd` or `budget_tokens`, or run less.",
    ),
    FailureRule(
        Cause.BATCH,
        retried=False,
        counted=Status.ERROR,
        stops_run=True,
        text="No batch of {provider} answered all requests to {model} within `batch.wait`. What was measured is kept: "
        "continue with --resume, or write `then: live` under `batch`.",
    ),
    FailureRule(
        Cause.OURS,
        retried=False,
        counted=Status.ERROR,
        stops_run=False,
        text="Evalward itself failed. Report it with the trial's file.",
    ),
)

FAILURES: Mapping[Cause, FailureRule] = MappingProxyType({row.cause: row for row in _ROWS})
"""The table. Complete: every cause has its row."""


NO_KEY_SENT = (
    "{provider} refuses requests without a key: to a `base_url` of your own no key is sent. Add `key_env: {usual}` to "
    "`providers.{provider}`, or the name of another variable that holds the key."
)
"""What is said of the cause `key` where the configuration names none."""


def key_words(provider: str, model: str, variable: str | None) -> str:
    """What people are told where a key is missing or refused; `variable` has the one that is sent, `None`: none is."""
    if variable is None:
        return NO_KEY_SENT.format(provider=provider, usual=PROVIDERS[provider].key_env)
    return FAILURES[Cause.KEY].text.format(provider=provider, model=model, variable=variable)


class TargetError(Exception):
    """A target that gave no answer, after the retries that its cause allows.

    `message` says whose failure it is, what to do, and what the provider said (cleaned of keys, cut, one line; it is
    still the provider's text: let it pass `render.escape`). `retry_after`: seconds that the provider asked to wait.
    """

    def __init__(self, cause: Cause, message: str, *, target: str, retry_after: float | None = None) -> None:
        self.cause, self.message, self.target, self.retry_after = cause, message, target, retry_after
        super().__init__(message)

    @property
    def rule(self) -> FailureRule:
        """The row of the table."""
        return FAILURES[self.cause]


def failures_table() -> str:
    """The table as Markdown, for the documentation."""
    lines = ["| cause | retried | counted as | stops the run | message |", "|---|---|---|---|---|"]
    for rule in FAILURES.values():
        text = rule.text.format(provider="PROVIDER", model="MODEL", variable="VARIABLE")
        cells = [f"`{rule.cause}`", _yes(rule.retried), f"`{rule.counted}`", _yes(rule.stops_run)]
        lines.append(f"| {' | '.join(cells)} | {text} |")
    return "\n".join(lines) + "\n"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
