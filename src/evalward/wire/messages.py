"""What the keeper orders and the runner answers, and what the runner asks for meanwhile. All of it is data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from evalward.config.model import Config
from evalward.records.base import Count, Record
from evalward.records.guidance import GuidanceComparison
from evalward.records.problem import Problem
from evalward.records.report import ChosenCases, Report
from evalward.records.result import Result, Trial
from evalward.records.trace import Message, Turn
from evalward.targets.agents.base import Limit
from evalward.targets.base import Reply, Request
from evalward.wire.faults import WireFault
from evalward.wire.reading import Talk


def written(record: Record) -> bytes:
    """The bytes of a record."""
    return record.model_dump_json(by_alias=True).encode()


# --- what the keeper orders -----------------------------------------------------------------------------------------


class Beginning(Record):
    """What the runner knows of the outside. `keys`: the variables that hold a key there, by name; no value of them.

    `terminal`: progress is for a person who watches.
    """

    keys: list[str] = []
    terminal: bool = False


class LoadOrder(Record):
    """Read a configuration: its path, and how people see it. An `optional` one may be missing.

    `below`: the folder below which no link is followed.
    """

    config: str
    shown: str | None = None
    below: str | None = None
    optional: bool = False


class HeadConfig(Talk):
    """A configuration as it was read. `unfed` are the rules that none of its suites has a metric for."""

    config: Config
    file: str
    root: str
    sha256: str
    unfed: list[Problem] = []


class ReadOrder(Record):
    """Read a file: of the configuration's folder, or where `anywhere`, at any path that the user named."""

    path: str
    limit: Count
    anywhere: bool = False


class Chosen(Record):
    """What of the configuration is run: patterns; empty means all. `trials` overrides the suites' own number.

    `only`: of what the patterns leave, these cases of these runs, by their ids.
    """

    suites: list[str] = []
    targets: list[str] = []
    cases: list[str] = []
    trials: int | None = None
    only: list[ChosenCases] | None = None


class BaseSide(Record):
    """The base as something to measure: its commit, and the name of its configuration, whose files can be asked for.

    `suites` are those that are compared with it, and not with a committed baseline. `why_not`: why there is no base
    that could be measured.
    """

    commit: str = ""
    config: str = ""
    suites: list[str] = []
    why_not: str | None = None


class ShardOrder(Record):
    """Run one shard of the plan: number `index`, from 1, of `total`.

    `durations`: milliseconds that a trial of a case took, by suite, target and id; `usual`: that a trial of any case
    takes, by suite and target. `left` are suites that no shard measures. `attempt` counts the runs of the shard's job.
    """

    index: Count
    total: Count
    durations: dict[str, dict[str, dict[str, float]]] = {}
    usual: dict[str, dict[str, float]] = {}
    left: list[str] = []
    attempt: Count = 1


class MeasureOrder(Record):
    """Run the suites of the configuration that was read.

    `config` replaces it, with what only the base may say. `based`: a base judges, and its files can be asked for.
    `spare_keyless`: a live target without its key is not measured, instead of being a mistake. `guidance`: why changed
    guidance is held against the base's, if it is. `keyless`: whatever keys there are, none is used. `base` is measured
    beside the head where that is asked for. `withheld` are suites whose commands are not run, by name, and why.
    `shard`: only that part of the plan. `known` is what all shards have measured of it: only what no shard measures is
    run, and what is to be tried again; `settled`: nothing is, so what is known needs no key.
    `left` are the suites that no shard was to measure.
    `confirms`: a confirm stage may follow, and the planned trials leave it its part of the budget.
    `plan_only`: say what would be run, and run nothing of it. `ask_unchanged`: ask which runs the baseline stands for.
    `versioned`: the files belong to the commit of the repository that they lie in. `batched`: requests go in batches,
    for which many trials have to be under way.
    """

    config: Config | None = None
    chosen: Chosen = Chosen()
    based: bool = False
    spare_keyless: bool = False
    keyless: bool = False
    resume: bool = False
    guidance: str | None = None
    base: BaseSide = BaseSide(why_not="no base commit was named")
    withheld: dict[str, str] = {}
    shard: ShardOrder | None = None
    known: Report | None = None
    left: list[str] = []
    settled: bool = False
    confirms: bool = False
    plan_only: bool = False
    ask_unchanged: bool = False
    versioned: bool = True
    batched: bool = False


class GuidanceOrder(Record):
    """Compare guidance: the scenarios' variants, or what commit `against` has."""

    chosen: Chosen = Chosen()
    against: str | None = None
    resume: bool = False


class JudgeOrder(Record):
    """Hold a judge against labelled transcripts."""

    rubric: str
    labelled: str
    config: str
    model: str | None = None
    votes: int | None = None
    threshold: float | None = None


# --- what the runner asks for ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ask:
    """One question to a model. `trial` is who asks: a batch's answer finds back to it by that."""

    provider: str
    model: str
    request: Request
    trial: str = ""


@cache
def asks() -> TypeAdapter[Ask]:
    """How a question is written and read."""
    return TypeAdapter(Ask)


@cache
def replies() -> TypeAdapter[Reply]:
    """How an answer is written and read."""
    return TypeAdapter(Reply)


class Models(Record):
    """Models, as `provider/name`."""

    names: list[str] = []


class AllowanceOrder(Record):
    """An agent wants to ask a model by itself: for this trial, and within these bounds.

    `target` is the agent's id, for messages. A listening socket may come with it.
    """

    target: str
    provider: str
    model: str
    pinned: bool = True
    turns: int | None = None
    tokens: int | None = None
    usd: float | None = None


class Allowed(Record):
    """Where the agent asks, and what opens the door there: worth something for one trial."""

    number: int
    url: str
    token: str


class Number(Record):
    """A number: of an allowance, or how many requests wait."""

    number: int


class AnsweredTurn(Record):
    """One answered request of an agent. `main`: by the model that is evaluated."""

    turn: Turn
    message: Message
    main: bool


class Settled(Talk):
    """What an agent asked: its turns, the limit that ended it, and the provider's fault that its last request met."""

    answers: list[AnsweredTurn] = []
    limit: Limit | None = None
    fault: WireFault | None = None
    refused: str | None = None


OF_BASE = "/base"
"""Stands for the base's trials where else a guidance is named, none of which begins so."""


class KeptTrial(Talk):
    """A trial to write down. `apart` names the guidance that it belongs to, for trials of no run."""

    trial: Trial
    apart: str | None = None


class Stored(Record):
    """A path in the output folder, below the folder of other guidance where `apart` names one."""

    path: str = ""
    apart: str | None = None


class Wished(Record):
    """What identifies a trial that an earlier run may have left."""

    suite: str
    target: str
    case: str
    definition: str
    subject: str
    trial: int
    apart: str | None = None


class FoundTrial(Talk):
    """An earlier trial's result, or nothing; `note` says what was there instead."""

    result: Result | None = None
    note: str = ""


class RetrialRequest(Record):
    """Fresh trials of one run: how many of which case; of the head alone, or, `beside`, on either side.

    `was`: the suite and target of the base's that the run takes the place of.
    """

    suite: str
    target: str
    trials: dict[str, Count]
    beside: bool = False
    was: tuple[str, str] | None = None


class Agains(Record):
    """What the keeper wants to be tried again."""

    retries: list[RetrialRequest] = []


class UnchangedRuns(Record):
    """The runs, by suite and target, that are not measured because the baseline's trials stand; and the `cases` of
    other runs.
    """

    runs: list[tuple[str, str]] = []
    cases: list[ChosenCases] = []


class HarnessOrder(Record):
    """Run another harness: the command that the suite of this name has in the configuration that judges.

    `again`: not `run` but `rerun`, for these cases, `trials` times each. `folder` is a new one for its results, `home`
    one that it may have as its own; absolute paths of the runner's.
    """

    suite: str
    again: bool = False
    ids: list[str] = []
    trials: Count = 1
    folder: str = ""
    home: str = ""


class HarnessDone(Record):
    """How a harness ended. `exit_code` is `None` where there is none; a signal is its negative number.

    `began` is the time in seconds since 1970, `last` the end of what it printed, without secrets. `refused` says why it
    wasn't started at all.
    """

    exit_code: int | None = None
    timed_out: bool = False
    seconds: float = 0.0
    began: float = 0.0
    last: str = ""
    refused: str | None = None


class BasePath(Record):
    """A path of the base commit, from the configuration's folder."""

    path: str


class BaseFile(Record):
    """A file of the base, by its path; whether it can be run, and, of a symbolic link, where that leads."""

    path: str
    program: bool = False
    link: str | None = None


class Listing(Record):
    """The files below a folder of the base, or nothing where that can't be known."""

    files: list[BaseFile] | None = None


class GuidanceCompared(Record):
    """What guidances come to, side by side. `interrupted`: by which signal, if by one."""

    found: list[GuidanceComparison] = []
    interrupted: str | None = None
