"""What the configuration may say. Checks across several keys are in `checks`; here stand shapes and bounds."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model, model_validator

from evalward.config.agents import AgentProgram
from evalward.config.batch import Batch, BatchTerms
from evalward.config.fields import Name, Text, TextList
from evalward.config.harness import HarnessSuite
from evalward.config.judge import JudgeConfig
from evalward.config.kinds import SuiteOfItsKind, spec_of
from evalward.config.providers import Providers
from evalward.config.suite import ComparedSuite
from evalward.records.base import StrictRecord
from evalward.records.policy import Anchor, Confirm, FailOn, Limits, Off, Policy, Rule, Waiver
from evalward.records.problem import wrong
from evalward.records.words import did_you_mean, shown
from evalward.registry import KINDS, ours

PROMPT_MARK = "{prompt}"
"""Stands for a case's request in a program's arguments and in a prompt template."""


class Program(StrictRecord):
    """An external program that turns a request into a command; started as it is, never through a shell."""

    command: list[Text] = Field(
        min_length=1, description="The program and its arguments; {prompt} stands for the request"
    )
    output: Text = Field(
        default="text",
        description="What it prints: text, or JSON with the command at a path like $.command",
        json_schema_extra={"pattern": r"^(text|\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\])+)$"},
    )
    timeout_s: float = Field(default=30, gt=0, le=3600, allow_inf_nan=False, description="Seconds for one answer")
    network: Literal["none", "open"] = Field(
        default="none", description="open: it may use the network, for example to call its own model"
    )


class HistoryPlace(StrictRecord):
    """Where `history.jsonl` is: what earlier runs measured. It names flaky cases and feeds trends and anchor."""

    folder: Text | None = Field(default=None, description="A folder of the repository")
    branch: Text | None = Field(default=None, description="A branch only for this, such as evalward-data")

    @model_validator(mode="after")
    def _one_of_both(self) -> HistoryPlace:
        if (self.folder is None) == (self.branch is None):
            raise ValueError("history needs either a folder or a branch")
        return self


class Profile(StrictRecord):
    """What holds on some branches beyond, or instead of, the rules of the whole file."""

    branches: TextList = Field(default=[], description="Branch patterns; * matches any text, slashes included")
    fail_on: FailOn | None = Field(default=None, alias="fail-on", description="Replaces the file's fail-on")
    policy: list[Rule] = Field(
        default=[], description="Further rules; one of equal metric, suite and target replaces the file's"
    )
    limits: Limits | None = Field(default=None, description="Replaces the file's limits, as a whole")
    baseline: Text | None = Field(default=None, description="Baseline file instead of the file's")


class Config(StrictRecord):
    """The whole file. All paths are relative to its folder and stay inside it."""

    version: Literal[1] = Field(description="Version of this format")
    baseline: Text = Field(default=".evalward/baseline.json", description="The committed baseline file")
    suites: list[SuiteOfItsKind] = Field(min_length=1, description="What is evaluated")
    policy: list[Rule] = Field(default=[], description="The rules that say what blocks")
    limits: Limits = Field(default=Limits(), description="How many errors of the measurement itself are allowed")
    waive: list[Waiver] = Field(default=[], description="Cases, suites or targets that may be missing")
    protect: TextList = Field(default=[], description="Files whose changes are pointed out; patterns")
    profiles: dict[Name, Profile] = Field(default={}, description="Other policies, by branch")
    recordings: dict[Name, Text] = Field(default={}, description="Folders or reports for the targets replay:NAME")
    programs: dict[Name, Program] = Field(default={}, description="External programs for the targets program:NAME")
    agents: dict[Name, AgentProgram] = Field(default={}, description="Coding agents for the targets agent:NAME")
    scripts: dict[Name, Text] = Field(
        default={}, description="Files or folders with the steps of the targets scripted:NAME, by case"
    )
    patches: dict[Name, Text] = Field(
        default={}, description="Folders with ID.patch, or paths with {id}, for the targets patch:NAME"
    )
    logs: dict[Name, Text] = Field(
        default={}, description="Folders with ID.log, or paths with {id}, for the targets log:NAME"
    )
    providers: Providers = Field(default=Providers(), description="Settings of the model providers")
    judge: JudgeConfig | None = Field(default=None, description="The LLM judge of what a program can't check")
    budget_usd: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Budget in US dollars; once spent, no further trial starts"
    )
    budget_tokens: int | None = Field(
        default=None, gt=0, description="Budget in tokens, read and written; once spent, no further trial starts"
    )
    batch: BatchTerms = Field(
        default=False,
        description="Whether scheduled runs and updates of the baseline send their requests in batches, at half price",
    )
    history: HistoryPlace | None = Field(default=None, description="Where measurements of earlier runs are kept")
    guidance: Literal["auto"] | Off = Field(
        default="auto", description="Whether changed guidance of scenarios is compared with the base's"
    )
    confirm: Confirm | Off = Field(default=Confirm(), description="The confirm stage of random targets, or off")
    anchor: Anchor = Field(
        default="auto",
        description="What slow losses are measured against: auto (the last release's baseline, else the oldest of the "
        "branch's history), the tag of a release, or off",
    )
    max_age_days: int = Field(
        default=14,
        ge=0,
        le=365,
        description="How old a baseline may be, in days, for its trials to stand where a pull request changes nothing "
        "that a suite depends on; 0: every suite is always measured",
    )
    fail_on: FailOn = Field(default="regression", alias="fail-on", description="Which verdicts make the exit code 1")

    @property
    def key_names(self) -> frozenset[str]:
        """The variables that are named for keys, of providers and of other harnesses: what they hold is secret."""
        commanded = (suite.key_names for suite in self.suites if isinstance(suite, HarnessSuite))
        return self.providers.key_names.union(*commanded)

    @property
    def batches(self) -> Batch | None:
        """The terms on which a run that can wait sends its requests in batches; `None` where it doesn't."""
        if isinstance(self.batch, Batch):
            return self.batch
        return Batch() if self.batch else None

    def _confirm(self) -> Confirm | None:
        return None if self.confirm == "off" else self.confirm

    @property
    def _with_base(self) -> list[str]:
        return [
            suite.name for suite in self.suites if isinstance(suite, ComparedSuite) and suite.compare_with == "base"
        ]

    @property
    def _judge_errors(self) -> float:
        return (self.judge or JudgeConfig()).max_error_rate

    def active_profile(self, branch: str | None, profile: str | None = None) -> tuple[str, Profile] | None:
        """Name and content of the profile that holds: the named one, else the first that matches the branch."""
        if profile is not None:
            named = self.profiles.get(profile)
            return None if named is None else (profile, named)
        if branch is None:
            return None
        return next((item for item in self.profiles.items() if _matches(branch, item[1].branches)), None)

    def baseline_for(self, branch: str | None, profile: str | None = None) -> str:
        """Path of the baseline file: the active profile's, else the file's."""
        active = self.active_profile(branch, profile)
        return (active[1].baseline if active else None) or self.baseline

    def policy_for(self, branch: str | None, profile: str | None = None, *, file: str = "evalward.yml") -> Policy:
        """The policy on a branch, or of the named profile.

        Raises `InputError` (with `file` as its place) for the name of a profile that doesn't exist.
        """
        if profile is not None and profile not in self.profiles:
            known = f"Profiles: {', '.join(self.profiles)}." if self.profiles else "The file has no profiles."
            hint = did_you_mean(profile, self.profiles)
            raise wrong(file, f"there is no profile {shown(profile)}", f"{hint} {known}".strip(), field="profiles")
        base = Policy(
            rules=self.policy,
            limits=self.limits,
            max_judge_error_rate=self._judge_errors,
            waive=self.waive,
            confirm=self._confirm(),
            with_base=self._with_base,
            fail_on=self.fail_on,
            anchor=self.anchor,
        )
        active = self.active_profile(branch, profile)
        if active is None:
            return base
        name, own = active
        return Policy(
            rules=_joined(self.policy, own.policy),
            limits=own.limits or self.limits,
            max_judge_error_rate=self._judge_errors,
            waive=self.waive,
            confirm=self._confirm(),
            with_base=self._with_base,
            fail_on=own.fail_on or self.fail_on,
            profile=name,
            anchor=self.anchor,
        )


def _matches(branch: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(branch, pattern) for pattern in patterns)


def _joined(base: list[Rule], own: list[Rule]) -> list[Rule]:
    replaced = {(rule.metric, rule.suite, rule.target) for rule in own}
    return [rule for rule in base if (rule.metric, rule.suite, rule.target) not in replaced] + own


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the file, for editors, with the kinds of suites that come with Evalward."""
    of_a_kind = Annotated[reduce(or_, map(spec_of, ours(KINDS))), Field(discriminator="kind")]  # type: ignore[valid-type]
    suites = (list[of_a_kind], Config.model_fields["suites"])  # type: ignore[valid-type]
    whole = create_model("Config", __base__=Config, __doc__=Config.__doc__, suites=suites)
    schema = whole.model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "evalward.yml"}
