"""What a pull request changes, for the question which suites it can't have touched. Only the base's word counts.

The files come from git's trees, and where they can't tell, nothing is known: then everything is measured.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from evalward.config import Config, Suite
from evalward.decide.unchanged import ChangeAtHand, SuiteTerms, TouchedParts
from evalward.git import GitTree, OpaqueEntries, repository_path
from evalward.github.event import EventPlan
from evalward.github.settings import ActionInputs
from evalward.github.sides import BaseAndHead
from evalward.records.patterns import before_wildcard

JUDGING_KEYS = frozenset(
    (
        "policy",
        "limits",
        "waive",
        "protect",
        "profiles",
        "anchor",
        "fail_on",
        "confirm",
        "history",
        "budget_usd",
        "budget_tokens",
        "max_age_days",
    )
)
"""Keys of the configuration that no trial depends on: they judge what is there, or say how much may be spent."""

_NAMING_FILES = ("agents", "programs", "scripts", "recordings", "patches", "logs", "judge")


def may_stand(settings: ActionInputs, plan: EventPlan, sides: BaseAndHead) -> bool:
    """Whether a baseline's trials may stand at all: of a pull request's check, where the base can judge."""
    proposed = plan.event == "pull_request" and settings.mode == "check" and settings.trials is None
    return proposed and not sides.unprotected and sides.judging.file is not None and max_age_days(sides) > 0


def max_age_days(sides: BaseAndHead) -> int:
    """How old a baseline may be for its trials to stand, as the base has it; 0: they never do."""
    return sides.judging.config.max_age_days if sides.judging.config is not None else 0


def change_at_hand(settings: ActionInputs, plan: EventPlan, sides: BaseAndHead, tree: GitTree) -> ChangeAtHand:
    """The files that the pull request changes, and what the base says of each suite. Raises `GitError`."""
    base, head = sides.judging.config, sides.head.config
    checked_out = tree.head() in {plan.event_sha, plan.head_sha}
    changes = tree.changed(sides.base.sha) if sides.base.sha is not None and checked_out else None
    entries = tree.opaque("HEAD") if changes is not None else None
    if changes is None or entries is None or base is None or head is None:
        return ChangeAtHand()
    file = repository_path(tree.prefix(), [settings.working_directory, settings.config])
    change = change_between(base, head, [change.path for change in changes], file)
    return with_opaque(change, [each.path for each in changes if each.opaque], entries)


def with_opaque(change: ChangeAtHand, opaque: Collection[str], entries: OpaqueEntries) -> ChangeAtHand:
    """The change with those of its files that others stand behind, and the links and submodules of a commit of it."""
    known = entries.submodules | entries.links.keys()
    found = {file for file in change.files or () if file in known}
    return structs.replace(change, opaque=found.union(opaque), links=entries.links)


def change_between(base: Config, head: Config, files: Sequence[str], file: str) -> ChangeAtHand:
    """A change of these files, where the base has one configuration and the head another, in `file`.

    All paths count from the repository's top.
    """
    folder = posixpath.dirname(file)
    return ChangeAtHand(
        files=[each for each in files if each != file],
        config_edited=file in files,
        suites=_terms(base, head, f"{folder}/" if folder else ""),
    )


def _terms(base: Config, head: Config, folder: str) -> Mapping[str, SuiteTerms]:
    """What the base says of each suite that both sides have, by name."""
    edited = _measuring(base) != _measuring(head)
    here = {suite.name: suite for suite in head.suites}
    shared = [name for key in _NAMING_FILES for name in _texts(getattr(base, key))]
    return {
        suite.name: SuiteTerms(
            always=suite.always,
            paths=[_pattern(folder, pattern) for pattern in suite.paths],
            own=[pattern for name in [*_named_by(suite), *shared] for pattern in _own(folder, name)],
            shared=[pattern for name in [*_named_for_all(suite), *shared] for pattern in _own(folder, name)],
            parts=partial(_parts, suite, folder),
            edited=edited or _dumped(suite) != _dumped(here[suite.name]),
        )
        for suite in base.suites
        if suite.name in here
    }


def _measuring(config: Config) -> Any:
    """All of a configuration that trials may depend on, without the suites."""
    return config.model_dump(mode="json", exclude={*JUDGING_KEYS, "suites"})


def _dumped(suite: Suite) -> Any:
    return suite.model_dump(mode="json")


def _named_by(suite: Suite) -> Iterator[str]:
    return _texts(suite.model_dump(mode="json", exclude={"paths"}))


_NAMING_NO_FILE = frozenset(("name", "kind", "replaces", "paths"))


def _named_for_all(suite: Suite) -> Iterator[str]:
    """What may name files on which all cases of the suite depend."""
    return _texts(suite.model_dump(mode="json", exclude={*_NAMING_NO_FILE, *suite.separate_keys}))


def _parts(suite: Suite, folder: str, file: str) -> TouchedParts:
    """The parts of the suite that a change of this file touches. The path counts from the repository's top."""
    names = suite.parts_touched(file.removeprefix(folder)) if file.startswith(folder) else None
    return None if names is None else frozenset(names)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value: some of them name files, and which, a kind knows. `recorded:FILE` names FILE, too."""
    if isinstance(value, str):
        yield from dict.fromkeys((value, value.partition(":")[2] or value))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif hasattr(value, "model_dump"):
        yield from _texts(value.model_dump(mode="json"))


def _pattern(folder: str, pattern: str) -> str:
    """A pattern of `paths:` from the repository's top."""
    excludes = pattern.startswith("!")
    return ("!" if excludes else "") + posixpath.normpath(posixpath.join(folder, pattern[excludes:]))


def _own(folder: str, name: str) -> Iterator[str]:
    """Patterns of the files that a text may name: itself, what is below it, and what lies beside it in a folder."""
    path = posixpath.normpath(posixpath.join(folder, name))
    if path == ".":
        yield "**"
    if path == "." or path.startswith(("/", "../")):
        return
    yield from (path, f"{path}/**")
    fixed = posixpath.dirname(before_wildcard(path))
    if fixed and fixed != folder.rstrip("/"):
        yield f"{fixed}/**"
