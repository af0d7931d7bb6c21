"""What the base says and what the head says: the gate can't be talked down by the code that it judges.

Policy, profiles, limits, waivers, baseline, judge, rubrics, providers and budgets come from the base commit; suites,
cases, prompts and what is measured from the head. Where the rules of the two differ, both verdicts are shown. Keys go
only to hosts that the base names: while it names none, to the providers' own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.config import Config, HarnessSuite, IsolatedSuite, JudgeConfig, LoadedConfig, Suite
from evalward.config.load import parse_config
from evalward.config.model import HistoryPlace
from evalward.config.providers import Providers
from evalward.decide.baseline import dump_baseline, read_baseline
from evalward.git import GitTree, repository_path
from evalward.github.base import BaseChoice
from evalward.github.event import EventPlan
from evalward.github.settings import ActionInputs
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.problem import InputError, wrong


@dataclass(frozen=True)
class SideRules:
    """One side's rules: its policy, its baseline (`None`: it has none), and where and for how much models are asked.

    `baseline_path` and `protect`, the patterns of files whose change is pointed out, count from the config's folder.
    `judge` says who judges what only a reader can; `file` reads a file of this side, such as a rubric, by its path from
    the config's folder, and is `None` for the files that are checked out.
    `baseline_path` and `protect`, the patterns of files whose change is pointed out, count from the config's folder;
    `history` is where earlier measurements are; `guidance`: changed guidance is held against the base's.
    """

    policy: Policy
    baseline: Baseline | None
    providers: Providers
    budget: tuple[float | None, int | None]
    baseline_path: str
    protect: tuple[str, ...] = ()
    judge: JudgeConfig | None = None
    file: Callable[[str], bytes | None] | None = field(default=None, repr=False, compare=False)
    history: HistoryPlace | None = None
    guidance: bool = True
    unisolated: frozenset[str] = frozenset()  # the suites that may run agents without any isolation
    harnesses: Mapping[str, HarnessSuite] = field(default_factory=dict)  # suites with commands of other harnesses
    config: Config | None = field(default=None, repr=False, compare=False)  # the whole file, where it could be read


@dataclass(frozen=True)
class BaseAndHead:
    """Both sides. `judging` is what decides; `head` is the pull request's own, for showing what it would change.

    `unprotected`: the base has no config that could judge, so the head's policy decides, and the report says so;
    `note` then says what is wrong with the base's. `proposed`: somebody wants the head to be merged.
    """

    judging: SideRules
    head: SideRules
    unprotected: bool
    base: BaseChoice
    note: str = ""
    proposed: bool = False

    @property
    def providers(self) -> Providers:
        """Where models are asked. A head that nothing judges yet may not send keys to hosts of its own choice."""
        return Providers() if self.unprotected else self.judging.providers

    @property
    def key_names(self) -> frozenset[str]:
        """The variables that are named for keys where they count."""
        return self.providers.key_names.union(*(suite.key_names for suite in self.judging.harnesses.values()))

    @property
    def providers_edited(self) -> bool:
        """The head has other providers or another budget than those that are used."""
        return (self.head.providers, self.head.budget) != (self.providers, self.judging.budget)

    def applied(self, head: LoadedConfig) -> LoadedConfig:
        """The head's config with what only the base may say."""
        usd, tokens = self.judging.budget
        fields = {
            "providers": self.providers,
            "budget_usd": usd,
            "budget_tokens": tokens,
            "judge": self.judging.judge,
            "suites": [self._commanded(self._isolated(suite)) for suite in head.config.suites],
        }
        return replace(head, config=head.config.model_copy(update=fields), base_file=self.judging.file)

    def _isolated(self, suite: Suite) -> Suite:
        """The head's suite; that it may run without isolation, only the base says."""
        if not _unisolated([suite]) - self.judging.unisolated:
            return suite
        return suite.model_copy(update={"allow_unisolated": False})

    def withheld(self, head: LoadedConfig) -> Mapping[str, str]:
        """The head's suites whose commands are not run, by name, and why: they are not measured."""
        commanded = [suite for suite in head.config.suites if isinstance(suite, HarnessSuite) and suite.run is not None]
        return {suite.name: why for suite in commanded if (why := self._why_not_run(suite))}

    def _why_not_run(self, suite: HarnessSuite) -> str | None:
        if self.unprotected and suite.env:
            return "no configuration of the base names the keys that its commands may have; they run after the merge"
        if self._of_base_alone and self._in_base(suite) is None:
            return (
                "its commands come from the base's configuration, which has no suite of this name yet; they run after "
                "the merge"
            )
        return None

    @property
    def _of_base_alone(self) -> bool:
        """What is started is what the base says: a change that somebody proposes can't start anything else."""
        return self.proposed and not self.unprotected and self.judging.file is not None

    def _in_base(self, suite: HarnessSuite) -> HarnessSuite | None:
        """The base's suite of the same name, else the one that this takes the place of."""
        names = (suite.name, suite.replaces or suite.name)
        return next((self.judging.harnesses[name] for name in names if name in self.judging.harnesses), None)

    def _commanded(self, suite: Suite) -> Suite:
        """The head's suite with the commands that may be run, and the keys that these may have."""
        if not isinstance(suite, HarnessSuite):
            return suite
        if self._of_base_alone:
            return suite.with_commands_of(self._in_base(suite))
        return suite.with_commands_of(None) if self.unprotected and suite.env else suite

    def accepting(self, baseline: Baseline) -> BaseAndHead:
        """The sides, judged against the baseline of the head, which a maintainer accepted."""
        return replace(self, judging=replace(self.judging, baseline=baseline))

    @property
    def judge_edited(self) -> bool:
        """The head has another judge, or settings of it, than the one that judges."""
        return self.head.judge != self.judging.judge

    @property
    def commands_edited(self) -> bool:
        """The head has other commands of harnesses, or other keys for them, than those that are run."""
        suites = self.head.harnesses.values()
        return self._of_base_alone and any(suite != suite.with_commands_of(self._in_base(suite)) for suite in suites)

    @property
    def policy_edited(self) -> bool:
        """The head has another policy than the one that judges it."""
        return self.judging.policy != self.head.policy

    @property
    def baseline_edited(self) -> bool:
        """The head has another baseline than the one that it is compared with."""
        judging, head = self.judging.baseline, self.head.baseline
        if judging is None or head is None:
            return judging is not head
        return dump_baseline(judging) != dump_baseline(head)


HeadFiles = Callable[[str], bytes | None]
"""Reads a file of the head by its path from the working directory, `None` where there is none. Raises `InputError`.

Whoever judges holds keys, and opens nothing of the head itself.
"""


def read_sides(
    settings: ActionInputs, plan: EventPlan, base: BaseChoice, tree: GitTree, head: LoadedConfig, *, files: HeadFiles
) -> BaseAndHead:
    """Read both sides. Raises `InputError` for what is wrong in the head, `GitHubError` when the base can't be read.

    A base whose own files are broken must not block the pull request that mends them: it is said, and the head's
    rules hold. Where the pull request leaves them as they are, they are an `InputError` like any other.
    """
    head_side = _head_side(settings, plan, head, files)
    if base.sha is None:
        return BaseAndHead(head_side, head_side, unprotected=False, base=base)
    try:
        judging = base_side(settings, plan.branch, base.sha, tree, head.root)
    except InputError as error:
        if not _changes_the_rules(settings, plan, base.sha, tree, head, files=files):
            raise
        note = f"The base's own files are wrong, so they can't judge: {error.problems[0]}"
        return BaseAndHead(head_side, head_side, unprotected=True, base=base, note=note)
    if judging is None:
        return BaseAndHead(head_side, head_side, unprotected=True, base=base)
    if settings.baseline is not None and judging.baseline is None and head_side.baseline is None:
        raise wrong("input baseline", f"{settings.baseline!r} is neither in the base nor here", "Check the path.")
    return BaseAndHead(judging, head_side, unprotected=False, base=base, proposed=plan.proposed)


def _changes_the_rules(
    settings: ActionInputs, plan: EventPlan, sha: str, tree: GitTree, head: LoadedConfig, *, files: HeadFiles
) -> bool:
    """The head has another config or another baseline than the base."""
    paths = [settings.config, _baseline_path(settings, _baseline_name(settings, plan.branch, head))]
    return any(_base_bytes(tree, sha, _path(tree, settings, path)) != _head_bytes(files, path) for path in paths)


def _base_bytes(tree: GitTree, sha: str, path: str) -> bytes | None:
    try:
        return tree.read(sha, path)
    except InputError:
        return None  # too large, or no file: whatever the head has there is something else


def _head_bytes(files: HeadFiles, path: str) -> bytes | None:
    try:
        return files(path)
    except InputError:
        return None  # a link, or no file: whatever the base has there is something else


def _baseline_name(settings: ActionInputs, branch: str | None, config: LoadedConfig) -> str:
    return settings.baseline or config.config.baseline_for(branch, settings.profile)


def base_side(settings: ActionInputs, branch: str | None, sha: str, tree: GitTree, root: Path) -> SideRules | None:
    """The rules that commit `sha` has for changes of `branch`, `None` when it has no config.

    `root` is the folder of the config in the working tree. Raises `InputError` for what is wrong in that commit,
    `GitHubError` when it can't be read.
    """
    text = tree.read(sha, _path(tree, settings, settings.config))
    if text is None:
        return None
    shown = f"{settings.config} (base {sha[:12]})"
    config = parse_config(_decoded(text, shown), shown, root)
    policy = _policy(settings, branch, config)
    name = _baseline_name(settings, branch, config)
    content = tree.read(sha, _path(tree, settings, _baseline_path(settings, name)))
    baseline = read_baseline(content, f"{name} (base {sha[:12]})") if content is not None else None
    side = _side(policy, baseline, config, config.config.baseline_for(branch, settings.profile))

    def file(name: str) -> bytes | None:
        return tree.read(sha, _path(tree, settings, posixpath.join(posixpath.dirname(settings.config), name)))

    return replace(side, file=file)


def _side(policy: Policy, baseline: Baseline | None, config: LoadedConfig, baseline_path: str) -> SideRules:
    declared = config.config
    protect = declared.protect or [pattern for suite in declared.suites for pattern in suite.cases]
    budget = (declared.budget_usd, declared.budget_tokens)
    return SideRules(
        policy,
        baseline,
        declared.providers,
        budget,
        baseline_path,
        tuple(protect),
        declared.judge,
        history=declared.history,
        guidance=declared.guidance != "off",
        unisolated=_unisolated(declared.suites),
        harnesses={suite.name: suite for suite in declared.suites if isinstance(suite, HarnessSuite)},
        config=declared,
    )


def _unisolated(suites: Iterable[Suite]) -> frozenset[str]:
    return frozenset(suite.name for suite in suites if isinstance(suite, IsolatedSuite) and suite.allow_unisolated)


def _decoded(text: bytes, shown: str) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong(shown, f"isn't UTF-8: {error.reason}", "Save it as UTF-8.") from error


def _head_side(settings: ActionInputs, plan: EventPlan, head: LoadedConfig, files: HeadFiles) -> SideRules:
    name = _baseline_name(settings, plan.branch, head)
    content = files(_baseline_path(settings, name))
    baseline = read_baseline(content, name) if content is not None else None
    return _side(
        _policy(settings, plan.branch, head), baseline, head, head.config.baseline_for(plan.branch, settings.profile)
    )


def _policy(settings: ActionInputs, branch: str | None, config: LoadedConfig) -> Policy:
    policy = config.config.policy_for(branch, settings.profile, file=config.file)
    return policy.model_copy(update={"fail_on": settings.fail_on}) if settings.fail_on else policy


def _baseline_path(settings: ActionInputs, name: str) -> str:
    """A baseline's path from the working directory: the input's counts from there, the config's from the config."""
    return name if settings.baseline else posixpath.join(posixpath.dirname(settings.config), name)


def config_prefix(tree: GitTree, settings: ActionInputs) -> str:
    """The path from the repository's top to the config's folder, `""` or `a/b/`."""
    folder = posixpath.dirname(_path(tree, settings, settings.config))
    return f"{folder}/" if folder else ""


def _path(tree: GitTree, settings: ActionInputs, name: str) -> str:
    """A path from the repository's top, for a path from the working directory."""
    return repository_path(tree.prefix(), [settings.working_directory, name])
