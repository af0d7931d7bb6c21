"""`evalward history page`: the whole history as one HTML file, for a repository's own web page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.commands.emitting import write_text
from evalward.commands.files import read_baseline_file
from evalward.commands.history import APPEND_HINT, Where, stored
from evalward.commands.pipeline import policy_of
from evalward.commands.tags import version_of
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.config.loaded import LoadedConfig
from evalward.decide.history_file import HISTORY_FILE, History, read_history
from evalward.decide.past import PastOptions, past_of
from evalward.git import GitTree
from evalward.github.settings import SERVER_URL
from evalward.keeper.outputs import HISTORY_PAGE
from evalward.records.exits import EXIT_OK
from evalward.records.history import HistoryEntry
from evalward.records.past import Release
from evalward.records.policy import Rule
from evalward.records.problem import wrong
from evalward.registry import KINDS, has
from evalward.render.html.history_page import history_page
from evalward.render.html.links import Links
from evalward.render.numbers import plural
from evalward.suites.base import kind_named

FOLDER = Path(".evalward")
_MOST_RELEASES = 50
_SHALLOW = "The clone is shallow, so the page shows no releases. Check out with `fetch-depth: 0`."


@dataclass(frozen=True)
class HistoryPageOptions:
    """What `history page` was asked for. The three selections are patterns; none: everything.

    `where`: by the configuration, where nothing else is said. `config`: its file, where there is one. `repository`
    is its web address: the environment's, where none is given.
    """

    output: Path
    where: Where | None = None
    config: Path | None = None
    profile: str | None = None
    suites: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    baseline: Path | None = None
    anchor: Path | None = None
    repository: str | None = None


def page(world: World, options: HistoryPageOptions) -> int:
    """Write the page into the folder, always exit code 0."""
    links_of(options.repository, world.env)  # a mistake in it is said before anything is read
    loaded = _config(options)
    where = options.where or _place(loaded)
    data = stored(world, where)
    if data is None:
        raise wrong(str(where), "there is no history", APPEND_HINT)
    history = read_history(data.decode("utf-8", "replace"))
    tree = GitTree(world.cwd, search_path=world.env.get("PATH", os.defpath))
    made = made_page(history, loaded, options, tree, world.env)
    for warning in (*history.warnings, *made.notes):
        world.say(f"warning: {warning}")
    path = options.output / HISTORY_PAGE
    write_text(world.cwd / path, made.text, world.redaction)
    world.show(f"{path}: {made.said}")
    return EXIT_OK


@dataclass(frozen=True)
class MadePage:
    """The page, what it holds in a few words, and what people should know about it."""

    text: str
    said: str
    notes: tuple[str, ...] = ()


def made_page(
    history: History,
    loaded: LoadedConfig | None,
    options: HistoryPageOptions,
    tree: GitTree,
    env: Mapping[str, str],
) -> MadePage:
    """The page of a history; `tree` knows the releases, `env` the repository. Raises `InputError`."""
    tagged = tree.tag_times()
    past = past_of(history, _asked(history, loaded, options, tagged or {}))
    if history.entries and not past.runs:
        known = sorted({entry.name for entry in history.entries})
        raise wrong(HISTORY_FILE, "no run is chosen", f"Known: {', '.join(known)}.")
    text = history_page(past, links_of(options.repository, env))
    said = f"{plural(sum(run.known.runs for run in past.runs), 'run')}, {len(text.encode()) / 1e6:.2f} MB"
    return MadePage(text, said, () if tagged is not None else (_SHALLOW,))


def links_of(repository: str | None, env: Mapping[str, str]) -> Links:
    """Where links lead: to the address that was given, else to the repository of the workflow. Raises `InputError`."""
    if repository is None:
        return Links.at(f"{env.get('GITHUB_SERVER_URL') or SERVER_URL}/{env.get('GITHUB_REPOSITORY', '')}")
    found = Links.at(repository)
    if not found.repository:
        remedy = "Write it as in https://github.com/owner/name."
        raise wrong("--repository", f"{repository!r} is not a repository's address", remedy)
    return found


def _config(options: HistoryPageOptions) -> LoadedConfig | None:
    """The configuration that is named, or none."""
    if options.config is None:
        if options.profile is not None:
            raise wrong("--profile", "a profile is part of a configuration", "Name the file with --config.")
        return None
    return load_config(options.config)


def _place(loaded: LoadedConfig | None) -> Where:
    place = loaded.config.history if loaded else None
    if loaded is None or place is None:
        return Where(FOLDER)
    return Where(loaded.root / (place.folder or FOLDER), place.branch, loaded.root)


def _asked(
    history: History, loaded: LoadedConfig | None, options: HistoryPageOptions, tagged: Mapping[str, str]
) -> PastOptions:
    return PastOptions(
        rules=policy_of(loaded, options.profile, None).rules if loaded else (),
        defaults=_defaults(history.entries),
        releases=_releases(history.entries, tagged),
        baseline=read_baseline_file(options.baseline) if options.baseline else None,
        anchor=read_baseline_file(options.anchor) if options.anchor else None,
        label=options.anchor.name if options.anchor else "",
        suites=options.suites,
        targets=options.targets,
        refs=options.refs,
    )


def _defaults(entries: Iterable[HistoryEntry]) -> Mapping[str, Sequence[Rule]]:
    """The rules of each kind that is installed."""
    names = dict.fromkeys(entry.kind for entry in entries if has(KINDS, entry.kind))
    return {name: kind_named(name).default_rules for name in names}


def _releases(entries: Iterable[HistoryEntry], tagged: Mapping[str, str]) -> list[Release]:
    """The versions among the tags, and those that were measured by their name."""
    times = {entry.ref: entry.at for entry in sorted(entries, key=lambda each: each.at, reverse=True) if entry.ref}
    found = {name: at for name, at in {**times, **tagged}.items() if version_of(name)}
    made = [Release(name=name, at=at) for name, at in found.items()]
    return sorted(made, key=lambda each: (each.at, each.name))[-_MOST_RELEASES:]
