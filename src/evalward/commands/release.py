"""`evalward release`: what is to be released, against the branch's baseline and against the last release."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evalward.commands.anchoring import anchor_of_config
from evalward.commands.baseline_ci import acceptances
from evalward.commands.ending import RELEASE_FORMATS, display_of, files_line, sources_of, write_outputs, write_page
from evalward.commands.files import read_committed, read_report
from evalward.commands.history import Where, stored
from evalward.commands.pipeline import Decide, decide_report, remeasured
from evalward.commands.spelling import release_again
from evalward.commands.stored_history import history_of
from evalward.commands.tags import last_release
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.decide.baseline import UPDATE_HINT, read_baseline
from evalward.git import GitTree, repository_path
from evalward.keeper.outputs import OutputFolder
from evalward.records.baseline import Baseline
from evalward.records.policy import FailOn
from evalward.records.problem import InputError, wrong
from evalward.records.release import ReleaseReport
from evalward.records.report import Report
from evalward.redaction import Redaction
from evalward.render.context import PageContext
from evalward.render.escape import one_line
from evalward.render.outputs import ShownJudgement, ShownRelease, text_of
from evalward.suites.across import unfed_rules


@dataclass(frozen=True)
class DecidedRelease:
    """Both judgements of a report, and the baselines that they compared it with: the branch's, the last release's."""

    found: ReleaseReport
    report: Report
    baseline: Baseline | None
    tagged: Baseline | None

    def shown(self, command: str, output: OutputFolder | Path, redaction: Redaction) -> ShownRelease:
        """What is written of it. `command` reproduces the check, `output` has the report's trials."""
        context = PageContext(head_sha=self.found.commit, command=command)
        branch, tag = (sources_of(self.report, each, output, redaction) for each in (self.baseline, self.tagged))
        return ShownRelease(self.found, context, branch, tag)


@dataclass(frozen=True)
class ReleaseOptions:
    """What `release` was asked for. `branch` selects the profile, unless `profile` does; `tag` is not the last.

    `search_path` is where the git program is looked for.
    """

    report: Path
    config: Path
    output: Path
    branch: str | None = None
    profile: str | None = None
    tag: str | None = None
    fail_on: FailOn | None = None
    search_path: str = os.defpath


def release(world: World, options: ReleaseOptions) -> int:
    """The worse of both verdicts' exit codes; writes the release report."""
    loaded = load_config(options.config)
    world = world.hiding(loaded.config.key_names)
    problems = unfed_rules(loaded)
    if problems:
        raise InputError(problems)
    report = remeasured(read_report(options.report), str(options.report))
    search_path = world.env.get("PATH", "")
    tree = GitTree(loaded.root, search_path=search_path)
    branch = options.branch or branch_of(world.env) or tree.branch()
    options = replace(options, branch=branch, search_path=search_path)
    judge = _judge(world, loaded, tree, options)
    decided = decide_release(loaded, report, options, reading(loaded.root), judge)
    output = OutputFolder.open(options.output, world.redaction, shared=True, search_path=search_path or os.defpath)
    shown = decided.shown(release_again(options.config, options.report), options.report.parent, world.redaction)
    written = [
        *write_outputs(shown, output, RELEASE_FORMATS),
        *write_page(shown, output, lambda text: world.say(f"warning: {text}")),
    ]
    _show(world, decided.found, files_line(options.output, written))
    return decided.found.exit_code


def _judge(world: World, loaded: LoadedConfig, tree: GitTree, options: ReleaseOptions) -> Decide:
    """Judges by the anchor, too: what is released has lost nothing bit by bit."""
    config = loaded.config
    policy = config.policy_for(options.branch, options.profile, file=loaded.file)
    anchor, notes = anchor_of_config(tree, loaded, policy, profile=options.profile, branch=options.branch, blocks=True)
    for note in notes:
        world.say(f"warning: {note}")
    history = history_of(
        world, config.history, lambda name: stored(world, Where((loaded.root / name).parent, None, loaded.root))
    )
    return partial(decide_report, history=history, anchor=anchor)


def reading(root: Path) -> Callable[[str], bytes | None]:
    """Reads files below a folder, `None` where there is none. Raises `InputError`."""

    def read(name: str) -> bytes | None:
        path = root / name
        return read_committed(path, "baseline", UPDATE_HINT, root) if os.path.lexists(path) else None

    return read


def branch_of(env: Mapping[str, str]) -> str | None:
    """The branch that a workflow run is about, `None` for tags and outside of GitHub Actions."""
    ref = env.get("GITHUB_REF", "")
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None


def decide_release(
    loaded: LoadedConfig,
    report: Report,
    options: ReleaseOptions,
    read: Callable[[str], bytes | None],
    judge: Decide = decide_report,
) -> DecidedRelease:
    """Both judgements of a report, by the rules and baselines of the checked-out config and of the last release.

    `read` gives a file of the checkout by its path from the configuration's folder, `None` where there is none. `judge`
    holds it against the branch's baseline, and the anchor where there is one.
    Raises `InputError` for a shallow clone, which hides the releases, and for a tag that isn't there.
    """
    tree = GitTree(loaded.root, search_path=options.search_path)
    config = loaded.config
    policy = config.policy_for(options.branch, options.profile, file=loaded.file)
    policy = policy.model_copy(update={"fail_on": options.fail_on}) if options.fail_on else policy
    path = config.baseline_for(options.branch, options.profile)
    content = read(path)
    baseline = None if content is None else read_baseline(content, str(loaded.root / path))
    tag = options.tag or _tag(tree)
    tagged, note = _of_tag(loaded, tree, options, tag) if tag else (None, "There is no earlier release.")
    found = ReleaseReport(
        commit=tree.head(),
        branch=options.branch,
        profile=policy.profile,
        tag=tag,
        note=note,
        accepted=_accepted_since(tagged, baseline),
        against_branch=judge(report, baseline, policy),
        against_tag=decide_report(report, tagged, policy) if tagged else None,
    )
    return DecidedRelease(found, report, baseline, tagged)


def _tag(tree: GitTree) -> str | None:
    tags = tree.tags()
    if tags is None:
        raise wrong("the clone", "is shallow, so earlier releases are unknown", "Check out with `fetch-depth: 0`.")
    return last_release(tags, tree.head())


def _of_tag(loaded: LoadedConfig, tree: GitTree, options: ReleaseOptions, tag: str) -> tuple[Baseline | None, str]:
    """The baseline that was committed at a tag, and a sentence where there is none."""
    sha = tree.commit_of(tag)
    if sha is None:
        raise wrong("--tag", f"there is no tag {tag!r}", "Fetch the tags, or name an existing one.")
    names = dict.fromkeys([loaded.config.baseline_for(options.branch, options.profile), loaded.config.baseline])
    for name in names:
        content = tree.read(sha, repository_path(tree.prefix(), [name]))
        if content is not None:
            return read_baseline(content, f"{name} ({tag})"), ""
    return None, f"The release {tag} has no baseline ({', '.join(names)}), so it can't be compared with."


def _accepted_since(tagged: Baseline | None, baseline: Baseline | None) -> list[str]:
    known = set(acceptances(tagged)) if tagged else set()
    return [line for line in (acceptances(baseline) if baseline else []) if line not in known]


def _show(world: World, found: ReleaseReport, files: str) -> None:
    """Whether it may be released, both verdicts in full, and the same once more."""
    display = display_of(world, world.out)
    word = "✗ Release: blocked" if found.exit_code else "✓ Release: may be released"
    world.show(word)
    if world.quiet:
        return
    world.show(f"\nAgainst the baseline of {one_line(found.branch or 'this checkout')}:")
    world.show(text_of("terminal", ShownJudgement(found.against_branch, display=display)))
    if found.against_tag is None:
        world.show(found.note)
    else:
        world.show(f"Against the release {one_line(found.tag or '')}:")
        world.show(text_of("terminal", ShownJudgement(found.against_tag, display=display)))
    world.show(f"{word}\n  {files}")
