"""Shards from the command line: what each of them may do, and how their parts are read and put together."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from evalward.commands.given import refuse_committed_report
from evalward.commands.measuring import read_report_of
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.decide.confirm import may_confirm
from evalward.engine.parts import MergedParts, NamedPart, merged
from evalward.engine.store import artifacts_path, trial_path
from evalward.git import GitTree
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.session import RunnerSession
from evalward.records.baseline import Baseline
from evalward.records.history import HistoryEntry
from evalward.records.part import Shard, told_count
from evalward.records.policy import Policy
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE, Report
from evalward.wire import messages as m
from evalward.writing import Folder

MOST_TRIAL = 64 << 20  # bytes of a trial's file
_ELSEWHERE = "Name another folder with --output."
_NAME_THEM = "Name the output folders of all shards, or the folder that they were downloaded to."
_WHOLE = "Keep the whole output folder of a shard as its part."
_SAME = "Check out the measured commit and judge there."


class ShardBasis(NamedTuple):
    """A shard of what is measured, and the baseline, policy and history that all shards know, from the commit that
    judges. `attempt` is that of its job.
    """

    shard: Shard
    baseline: Baseline | None
    policy: Policy
    attempt: int
    history: Sequence[HistoryEntry] = ()


class PartsKeeping(NamedTuple):
    """Where the trials of parts are kept, from where their folders count, and who hears what is odd about them."""

    output: OutputFolder
    anchor: Path
    warn: Callable[[str], object]


def ordered(loaded: LoadedConfig, order: m.MeasureOrder, share: ShardBasis) -> tuple[LoadedConfig, m.MeasureOrder]:
    """The configuration with a shard's part of the budgets and of the requests at once, and the order to run the shard.

    The cases are shared out by how long the baseline's trials took, or those of the history.
    """
    from evalward.commands.shard_times import durations_of, usual_times  # noqa: PLC0415 - few runs are shards
    from evalward.engine.shards import config_of_shard  # noqa: PLC0415 - it loads what plans suites

    number, total = share.shard
    config = config_of_shard(loaded.config, total, confirms=may_confirm(share.policy, share.baseline))
    part = m.ShardOrder(
        index=number,
        total=total,
        durations=durations_of(share.baseline),
        usual=usual_times(share.history),
        left=list(share.policy.with_base),
        attempt=share.attempt,
    )
    return replace(loaded, config=config), order.model_copy(update={"shard": part, "config": config})


def attempt_of(world: World) -> int:
    """How often GitHub has run this job for the same event; 1 elsewhere."""
    return told_count(world.env.get("GITHUB_RUN_ATTEMPT", "")) or 1


def here(world: World) -> GitTree:
    """The repository that we were called in, if it is one."""
    return GitTree(world.cwd, search_path=world.env.get("PATH", os.defpath))


def folders_in(folder: Path, anchor: Path) -> list[Path]:
    """The folders in a folder, by name: each holds a part. Raises `InputError`, also where there is none."""
    found = Folder(folder, anchor)
    try:
        found.handle(make=False)
        names = [entry.path for entry in found.entries() if entry.is_folder and "/" not in entry.path]
    except FileNotFoundError:
        raise wrong(str(folder), "there is no such folder", _NAME_THEM) from None
    except NotADirectoryError:
        raise wrong(str(folder), "it is not a folder", _NAME_THEM) from None
    except OSError as error:
        raise wrong(str(folder), f"can't be read: {error.strerror or error}", _NAME_THEM) from error
    if not names:
        raise wrong(str(folder), "it holds no part", _NAME_THEM)
    return [folder / name for name in sorted(names)]


def read_parts(runner: RunnerSession, folders: Sequence[Path], tree: GitTree) -> MergedParts:
    """All parts as one. Raises `InputError`, also for parts that are committed in `tree`, and `IncompleteError`."""
    for folder in folders:
        if not folder.is_absolute():
            refuse_committed_report(str(folder), folder.as_posix(), tree)
    return merged([NamedPart(str(folder), read_report_of(runner, str(folder / REPORT_FILE))) for folder in folders])


def refuse_others(found: MergedParts, loaded: LoadedConfig, commit: str | None, option: str = "--parts") -> None:
    """Raises `InputError` for parts of another commit or configuration than those that judge them."""
    made = found.report.provenance
    if commit is not None and made.commit is not None and commit != made.commit:
        raise wrong(option, f"the parts are of commit {made.commit[:7]}, and this is {commit[:7]}", _SAME)
    if made.config_sha256 != loaded.sha256:
        raise wrong(option, f"the parts were measured with another {loaded.file}", _SAME)


def take_parts(
    found: MergedParts,
    loaded: LoadedConfig,
    commit: str | None,
    keep: PartsKeeping,
    *,
    also: Callable[[], object] | None = None,
) -> Report:
    """The report of all parts, once they are of this commit and configuration; their trials are in the output folder.

    Raises `InputError`, also as `also` does, before anything is kept.
    """
    refuse_others(found, loaded, commit)
    if also is not None:
        also()
    for note in found.notes:
        keep.warn(note)
    keep_trials(found, keep.output, keep.anchor)
    return found.report


def refuse_output(folders: Sequence[Path], output: Path, cwd: Path) -> None:
    """Raises `InputError` for an output folder that is a part, or lies in one: what it holds would be cleared."""
    place = Path(os.path.realpath(cwd / output))
    for folder in folders:
        part = Path(os.path.realpath(cwd / folder))
        if place == part or part in place.parents:
            raise wrong(str(output), f"the output folder would replace the part {folder}", _ELSEWHERE)


def spread(folders: Sequence[Path], cwd: Path) -> list[Path]:
    """The folders of the parts: one that has no report of its own stands for the folders in it, and a report for its
    folder. Raises `InputError`.
    """
    found: list[Path] = []
    for named in folders:
        folder = named.parent if named.name == REPORT_FILE else named
        found += [folder] if Folder(folder, cwd).has(REPORT_FILE) else folders_in(folder, cwd)
    return found


def keep_trials(found: MergedParts, output: OutputFolder, cwd: Path) -> None:
    """Copy the trials and artifacts of all parts to the output folder: their paths are those of the report.

    Raises `InputError` where one can't be read or written.
    """
    folders = {name: Folder(Path(name), cwd) for name in set(found.folders.values())}
    for run in found.report.runs:
        for result in run.cases:
            if result.trace is None:
                continue
            folder = folders[found.folders[result.trace]]
            if result.trace != trial_path(run.suite, run.target, result.id, result.trial):
                raise wrong(str(folder.path / REPORT_FILE), f"{result.id} names a file that isn't its own", _WHOLE)
            _copy(folder, result.trace, output)
            artifacts = artifacts_path(run.suite, run.target, result.id, result.trial)
            if folder.has(artifacts):
                source = folder.below(artifacts).handle(make=False)
                output.folder.put(source, artifacts, output.redaction.data)


def _copy(folder: Folder, path: str, output: OutputFolder) -> None:
    try:
        data = folder.read(path, MOST_TRIAL)
    except OSError as error:
        lost = "there is no such trial" if error.errno == errno.ENOENT else f"can't be read: {error.strerror or error}"
        raise wrong(str(folder.path / path), lost, _WHOLE) from error
    output.write_clean(path, data)
