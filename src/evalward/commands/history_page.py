"""`evalward history page`: the whole history as one HTML file, for a repository's own web page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.commands.check import policy_of
from evalward.commands.files import read_baseline_file, write_text
from evalward.commands.history import APPEND_HINT, Where, stored
from evalward.commands.tags import version_of
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.config.loaded import LoadedConfig
from evalward.decide.history_file import History, read_history
from evalward.decide.past import PastOptions, past_of
from evalward.git import GitTree
from evalward.records.history import HistoryEntry
from evalward.records.past import Past, Release
from evalward.records.policy import Rule
from evalward.records.problem import wrong
from evalward.records.verdict import EXIT_OK
from evalward.registry import KINDS, has
from evalward.render.html.history_page import history_page
from evalward.render.html.links import Links
from evalward.render.numbers import plural
from evalward.suites.base import kind_named

PAGE_FILE = "index.html"
FOLDER = Path(".evalward")
_MOST_RELEASES = 50
_SHALLOW = "The clone is shallow, so the page shows no releases. Check out with `fetch-depth: 0`."


@dataclass(frozen=True)
class HistoryPageOptions:
    """What `history page` was asked for. The three selections are patterns; none: everything.

    `where`: by the configuration, where nothing else is said. `config`: evalward.yml, where there is one. `repository`
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
    links = _links(world, options.repository)
    loaded = _config(options)
    where = options.where or _place(loaded)
    data = stored(world, where)
    if data is None:
        raise wrong(str(where), "there is no history", APPEND_HINT)
    history = read_history(data.decode("utf-8", "replace"))
    for warning in history.warnings:
        world.say(f"warning: {warning}")
    past = _past(world, history, loaded, options)
    if history.entries and not past.runs:
        known = sorted({entry.name for entry in history.entries})
        raise wrong(str(where), "no run is chosen", f"Known: {', '.join(known)}.")
    path = options.output / PAGE_FILE
    text = history_page(past, links)
    write_text(world.cwd / path, text, world.redaction)
    world.say(f"{path}: {plural(sum(run.known.runs for run in past.runs), 'run')}, {len(text.encode()) / 1e6:.2f} MB")
    return EXIT_OK


def _links(world: World, repository: str | None) -> Links:
    if repository is None:
        name = world.env.get("GITHUB_REPOSITORY", "")
        return Links.at(f"{world.env.get('GITHUB_SERVER_URL') or 'https://github.com'}/{name}")
    found = Links.at(repository)
    if not found.repository:
        remedy = "Write it as in https://github.com/owner/name."
        raise wrong("--repository", f"{repository!r} is no address of a repository", remedy)
    return found


def _config(options: HistoryPageOptions) -> LoadedConfig | None:
    """The configuration that is named, else evalward.yml, else none."""
    usual = Path("evalward.yml")
    if options.config is None and not os.path.lexists(usual):
        if options.profile is not None:
            raise wrong("--profile", "a profile is part of a configuration", "Name the file with --config.")
        return None
    return load_config(options.config or usual)


def _place(loaded: LoadedConfig | None) -> Where:
    place = loaded.config.history if loaded else None
    if loaded is None or place is None:
        return Where(FOLDER)
    return Where(loaded.root / (place.folder or FOLDER), place.branch, loaded.root)


def _past(world: World, history: History, loaded: LoadedConfig | None, options: HistoryPageOptions) -> Past:
    asked = PastOptions(
        rules=policy_of(loaded, options.profile, None).rules if loaded else (),
        defaults=_defaults(history.entries),
        releases=_releases(world, history.entries),
        baseline=read_baseline_file(options.baseline) if options.baseline else None,
        anchor=read_baseline_file(options.anchor) if options.anchor else None,
        label=options.anchor.name if options.anchor else "",
        suites=options.suites,
        targets=options.targets,
        refs=options.refs,
    )
    return past_of(history, asked)


def _defaults(entries: Iterable[HistoryEntry]) -> Mapping[str, Sequence[Rule]]:
    """The rules of each kind that is installed."""
    names = dict.fromkeys(entry.kind for entry in entries if has(KINDS, entry.kind))
    return {name: kind_named(name).default_rules for name in names}


def _releases(world: World, entries: Iterable[HistoryEntry]) -> list[Release]:
    """The versions among the tags that HEAD was built upon, and those that were measured by their name."""
    tagged = GitTree(world.cwd, search_path=world.env.get("PATH", os.defpath)).tag_times()
    if tagged is None:
        world.say(f"warning: {_SHALLOW}")
    times = {entry.ref: entry.at for entry in sorted(entries, key=lambda each: each.at, reverse=True) if entry.ref}
    found = {name: at for name, at in {**times, **(tagged or {})}.items() if version_of(name)}
    made = [Release(name=name, at=at) for name, at in found.items()]
    return sorted(made, key=lambda each: (each.at, each.name))[-_MOST_RELEASES:]
