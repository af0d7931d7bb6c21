"""`--changed-since REV`: what nothing has touched since a commit isn't measured; the baseline's trials stand.

The rule is that of pull requests (`decide.unchanged`). Here the change is what the working tree has otherwise than the
commit, and the commit's configuration says what matters.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from evalward.commands.since import SinceRequest
from evalward.commands.world import World
from evalward.config import Config, LoadedConfig
from evalward.config.load import parse_config
from evalward.decide.baseline import dump_baseline, read_baseline
from evalward.decide.unchanged import ChangeAtHand, RunName, StandingLimit, unchanged_runs, why_measured
from evalward.git import GitError, GitTree, WorkingTree, repository_path
from evalward.github.unchanged import change_between, with_opaque
from evalward.records.baseline import Baseline
from evalward.records.outline import PlanOutline
from evalward.records.patterns import before_wildcard, matches_any, matches_or_below
from evalward.records.problem import InputError, wrong
from evalward.records.unchanged import Unchanged
from evalward.render.escape import one_line
from evalward.render.names import short_hash
from evalward.render.numbers import plural
from evalward.render.sentences.measured import AskedSince

OPTION = "--changed-since"
_MOST_IGNORED = 10_000
_MOST_NAMED = 5


@dataclass(frozen=True)
class ChangedSince:
    """What changed since a commit. `why_all`: why all is measured whatever changed, if so."""

    world: World
    baseline: Baseline | None
    asked: AskedSince
    change: ChangeAtHand = field(default_factory=ChangeAtHand)
    why_all: str = ""

    def unchanged(self, outline: PlanOutline) -> Mapping[RunName, Unchanged]:
        """The runs for which the baseline's trials stand. Which, and why the others are measured, is said."""
        limit = StandingLimit(self.world.now(), self.asked.days)
        found = {} if self.why_all else unchanged_runs(outline, self.baseline, self.change, limit)
        for line in self._said(outline, found, limit):
            self.world.note(f"note: {line}")
        return found

    def _said(self, outline: PlanOutline, found: Mapping[RunName, Unchanged], limit: StandingLimit) -> Iterator[str]:
        if self.why_all:
            yield f"all is measured: {self.why_all}."
            return
        stands = [(run, found[run.suite, run.target]) for run in outline.runs if (run.suite, run.target) in found]
        left = [
            run.name if not each.of else f"{each.cases:,} of {plural(len(run.cases), 'case')} of {run.name}"
            for run, each in stands
        ]
        if left:
            day = stands[0][1].day
            yield f"not measured, unchanged since {self.asked.name}: {_listed(left)}. The baseline of {day} stands."
        whole = {(run.suite, run.target) for run, each in stands if each.cases == len(run.cases)}
        whys = (
            (run.name, why_measured(run, outline, self.baseline, self.change, limit))
            for run in outline.runs
            if (run.suite, run.target) not in whole
        )
        reasons = self.asked.by_reason(whys)
        for each in outline.harnesses:
            reasons.setdefault("its harness runs as a whole", []).append(each.suite)
        yield from (f"measured, because {reason}: {_listed(names)}." for reason, names in reasons.items())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return one_line(", ".join(names[:_MOST_NAMED]) + more)


def changed_since(world: World, loaded: LoadedConfig, request: SinceRequest) -> ChangedSince:
    """What changed since the commit that was named. Raises `InputError` for a name that no commit has."""
    search_path = world.env.get("PATH", os.defpath)
    tree = GitTree(loaded.root, search_path=search_path)
    prefix = tree.prefix()
    if prefix is None:
        raise wrong(OPTION, "the files here belong to no git repository", "Leave it out.")
    sha = tree.resolve(request.revision)
    if sha is None:
        message = f"there is no commit {one_line(request.revision)!r} here"
        raise wrong(OPTION, message, "Name a branch, a tag or a commit; fetch what this clone doesn't have.")
    looked = _SinceCommit(loaded, request, tree, WorkingTree(loaded.root, search_path), sha, prefix)
    name = one_line(request.revision)
    name = short_hash(sha) if sha.startswith(request.revision) else f"{name} ({short_hash(sha)})"
    made = request.baseline.provenance.created_at if request.baseline else ""
    asked = AskedSince(name, posixpath.basename(loaded.file), made)
    found = ChangedSince(world, request.baseline, asked)
    try:
        base = looked.config()
        if base is None:
            return replace(found, why_all=f"{name} has no {asked.config}")
        asked = replace(asked, days=base.max_age_days)
        change, why = looked.change(base, world.cwd)
    except (GitError, InputError) as error:  # whatever it is, to measure is right
        return replace(found, why_all=f"{name} can't be read: {one_line(str(error)).rstrip('.')}")
    return replace(found, asked=asked, change=change, why_all=why)


@dataclass(frozen=True)
class _SinceCommit:
    """The commit and the working tree, and what they are looked at for."""

    loaded: LoadedConfig
    request: SinceRequest
    tree: GitTree
    here: WorkingTree
    sha: str
    prefix: str

    @property
    def _file(self) -> str:
        return repository_path(self.prefix, [posixpath.basename(self.loaded.file)])

    def config(self) -> Config | None:
        """The commit's configuration, `None` where it has none. Raises `GitError`, `InputError`."""
        text = self.tree.read(self.sha, self._file)
        if text is None:
            return None
        shown = f"{posixpath.basename(self.loaded.file)} of {short_hash(self.sha)}"
        return parse_config(text.decode("utf-8-sig", "replace"), shown, self.loaded.root).config

    def change(self, base: Config, cwd: Path) -> tuple[ChangeAtHand, str]:
        """What changed, and why all is measured whatever that is. Raises `GitError`, `InputError`."""
        if self.request.trials is not None:
            return ChangeAtHand(), "--trials asks for new trials"
        if not self._same_baseline(cwd):
            return ChangeAtHand(), "the baseline isn't that of the commit"
        files = self.here.changed(self.sha)
        entries = self.tree.opaque(self.sha)
        if files is None or entries is None:
            return ChangeAtHand(), "git can't tell what changed"
        change = change_between(base, self.loaded.config, self._not_ours(files, cwd), self._file)
        own = sorted({pattern for terms in change.suites.values() for pattern in terms.own})
        ignored = self.here.ignored(_fixed(pattern) for pattern in own)
        if ignored is None or len(ignored) > _MOST_IGNORED:
            return ChangeAtHand(), f"git ignores more than {_MOST_IGNORED:,} files in folders that suites name"
        links = {link for pattern in own if (link := self.here.first_link(_fixed(pattern)))}
        opaque = self.here.opaque([*files, *ignored]) | links
        more = [
            file
            for file in self._not_ours([*ignored, *sorted(links - entries.links.keys() - {*files, *ignored})], cwd)
            if (matches_or_below if file in opaque else matches_any)(file, own)
        ]
        change = structs.replace(change, files=[*(change.files or ()), *more], empty_repeats=False)
        return with_opaque(change, opaque.intersection(change.files or ()), entries), ""

    def _same_baseline(self, cwd: Path) -> bool:
        """Whether the commit has the very baseline that judges, or there is none that could stand."""
        known = self.request.baseline
        if known is None:
            return True
        path = self._from_top(self.request.path, cwd)
        content = self.tree.read(self.sha, path) if path is not None else None
        return content is not None and dump_baseline(read_baseline(content, path or "")) == dump_baseline(known)

    def _not_ours(self, files: Sequence[str], cwd: Path) -> list[str]:
        """The files without those in folders of results."""
        ours = [path for folder in self.request.ours if (path := self._from_top(folder, cwd)) is not None]
        return [file for file in files if not any(file == path or file.startswith(f"{path}/") for path in ours)]

    def _from_top(self, path: Path, cwd: Path) -> str | None:
        """A path from the repository's top; `None` for one that leads out of it, and for the top itself."""
        from_root = os.path.relpath(os.path.realpath(cwd / path), os.path.realpath(cwd / self.loaded.root))
        found = posixpath.normpath(posixpath.join(self.prefix, from_root))
        return None if found == "." or found.startswith("../") or found == ".." else found


def _fixed(pattern: str) -> str:
    """The folder, or the path, below which a pattern's files lie; `""` for the whole repository."""
    fixed = before_wildcard(pattern)
    return pattern if fixed == pattern else posixpath.dirname(fixed)
