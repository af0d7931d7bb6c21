"""Puts a release's tag on its commit, and moves `v1` and `v1.2` to it, each on the remote and only where that is right.

    python scripts/release_tags.py settle v1.2.3 --from SHA --to SHA   # from the tagged commit to the release's
    python scripts/release_tags.py move v1.2.3                         # v1 and v1.2, unless a newer release has them

A tag that somebody else has moved meanwhile is left alone (`--force-with-lease`). A second run changes nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from release_tree import TAG, ReleaseError, Repository

Version = tuple[int, int, int]


def settle(repository: Repository, remote: str, tag: str, source: str, release: str) -> bool:
    """Moves a new tag from the commit that was tagged to the release's; whether it was moved.

    Raises `ReleaseError` where the remote's tag is at neither of the two.
    """
    objects, commits = _remote_tags(repository, remote)
    if commits.get(tag) == repository.commit(release):
        return False
    if commits.get(tag) != repository.commit(source):
        raise ReleaseError(f"{tag} is at {commits.get(tag, 'no commit')} on {remote}, not at {source}: was it moved?")
    _push(repository, remote, tag, objects[tag], release)
    return True


def move(repository: Repository, remote: str, tag: str) -> list[str]:
    """Moves `v1` and `v1.2` to the release `v1.2.3`; those that moved. A patch of an older line leaves `v1`."""
    objects, commits = _remote_tags(repository, remote)
    if tag not in commits:
        raise ReleaseError(f"{remote} has no tag {tag}.")
    version = _version(tag)
    others = [_version(name) for name in commits if TAG.fullmatch(name)]
    moved = []
    for length in (2, 1):
        name = "v" + ".".join(map(str, version[:length]))
        newest = max(other for other in others if other[:length] == version[:length])
        if newest == version and commits.get(name) != commits[tag]:
            _push(repository, remote, name, objects.get(name, ""), commits[tag])
            moved.append(name)
    return moved


def _version(tag: str) -> Version:
    found = TAG.fullmatch(tag)
    if found is None:
        raise ReleaseError(f"{tag}: a release's tag is v and three numbers, for example v1.2.3.")
    return int(found[1]), int(found[2]), int(found[3])


def _remote_tags(repository: Repository, remote: str) -> tuple[dict[str, str], dict[str, str]]:
    """Of each of the remote's tags the object that it names, and the commit behind that."""
    lines = [line.split("\t") for line in repository.git("ls-remote", "--tags", remote).splitlines()]
    named = {name.removeprefix("refs/tags/"): sha for sha, name in lines}
    objects = {name: sha for name, sha in named.items() if not name.endswith("^{}")}
    return objects, {name: named.get(f"{name}^{{}}", sha) for name, sha in objects.items()}


def _push(repository: Repository, remote: str, tag: str, seen: str, commit: str) -> None:
    """Moves one tag, unless it is no longer at the object that was seen; empty: unless there is one by now."""
    ref = f"refs/tags/{tag}"
    repository.git("push", "--quiet", f"--force-with-lease={ref}:{seen}", remote, f"{commit}:{ref}")


def main() -> None:
    """Moves tags on the remote `origin` of the working directory's repository."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["settle", "move"])
    parser.add_argument("tag", help="the release, for example v1.2.3")
    parser.add_argument("--from", dest="source", default="", help="with settle: the commit that was tagged")
    parser.add_argument("--to", dest="release", default="", help="with settle: the release's commit")
    parser.add_argument("--remote", default="origin")
    options = parser.parse_args()
    repository = Repository(Path.cwd())
    try:
        if options.command == "settle":
            moved = settle(repository, options.remote, options.tag, options.source, options.release)
            print(f"{options.tag}: {'moved to' if moved else 'already at'} {options.release}")
        else:
            print(f"moved: {', '.join(move(repository, options.remote, options.tag)) or 'none'}")
    except ReleaseError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
