"""The commit that a release is: the tagged one, with an `action.yml` that names the built image by digest.

    python scripts/release_tree.py check v1.2.3                  # tag, package and changelog say the same version
    python scripts/release_tree.py notes v1.2.3                  # the changelog's part, for the GitHub release
    python scripts/release_tree.py make v1.2.3 --image ghcr.io/OWNER/NAME@sha256:…   # prints the commit
    python scripts/release_tree.py verify v1.2.3                 # nothing else differs; prints the image

On `main` the action builds its image from the Dockerfile, in a release it pulls the one that was tested. The commit has
one parent, fixed words and the parent's date: the same commit and image make the same SHA on every machine. `verify`
makes it again and compares. Nothing is checked out: git writes objects only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

IMAGE = re.compile(r"[a-z0-9.-]+(?::[0-9]+)?/[a-z0-9][a-z0-9._/-]*@sha256:[0-9a-f]{64}")
TAG = re.compile(r"v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
_BUILT = re.compile(r"^  image: Dockerfile$", re.MULTILINE)
_PULLED = re.compile(r"^  image: docker://(\S+)$", re.MULTILINE)
_HEADING = re.compile(r"^## \[?([^\]\s]+)\]?(?: - (\S+))?[ ]*$", re.MULTILINE)
_WHO = {"NAME": "github-actions[bot]", "EMAIL": "41898282+github-actions[bot]@users.noreply.github.com"}


class ReleaseError(Exception):
    """What keeps a commit from being a release, with what to do."""


@dataclass(frozen=True)
class Repository:
    """A git repository, whose objects are read and written."""

    folder: Path

    def git(self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
        """What git prints, without the last line's end. Raises `ReleaseError` with what git says."""
        return self._run(words, stdin, env or {}).removesuffix("\n")

    def commit(self, name: str) -> str:
        """The full SHA of a commit, by any of its names."""
        return self.git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")

    def text(self, commit: str, path: str) -> str:
        """A file of a commit, to the last character."""
        return self._run(("show", f"{commit}:{path}"), "", {})

    def _run(self, words: Sequence[str], stdin: str, env: Mapping[str, str]) -> str:
        """Standard output as it is: bytes are decoded here, since text mode would change line ends."""
        command = ["git", "-C", str(self.folder), *words]
        done = subprocess.run(command, input=stdin.encode(), env=os.environ | env, capture_output=True, check=False)
        if done.returncode != 0:
            raise ReleaseError(f"git {' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode()


@dataclass(frozen=True)
class Entry:
    """One part of the changelog: its version or `Unreleased`, the date, and its text."""

    version: str
    date: str
    text: str


def read_changelog(text: str) -> list[Entry]:
    """The parts of a changelog, newest first."""
    text = re.split(r"^\[[^\]]+\]: ", text, maxsplit=1, flags=re.MULTILINE)[0]  # without the addresses at the end
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        Entry(head[1], head[2] or "", text[head.end() : end].strip()) for head, end in zip(heads, ends, strict=False)
    ]


def check(repository: Repository, commit: str, tag: str) -> Entry:
    """The changelog's part of a release whose tag, package and changelog agree. Raises `ReleaseError`."""
    if TAG.fullmatch(tag) is None:
        raise ReleaseError(f"{tag}: a release's tag is v and three numbers, for example v1.2.3.")
    version = tag.removeprefix("v")
    found = re.search(r'^__version__ = "([^"]+)"$', repository.text(commit, "src/evalward/__init__.py"), re.MULTILINE)
    if found is None or found[1] != version:
        raise ReleaseError(f"src/evalward/__init__.py: the version is {found and found[1]}, the tag says {version}.")
    entries = read_changelog(repository.text(commit, "CHANGELOG.md"))
    if entries and entries[0].version.lower() == "unreleased" and entries.pop(0).text:
        raise ReleaseError(
            f"CHANGELOG.md: entries are still under Unreleased: move them under `## [{version}] - DATE`."
        )
    if not entries or entries[0].version != version:
        newest = entries[0].version if entries else "none"
        raise ReleaseError(f"CHANGELOG.md: the newest version is {newest}, the tag says {version}.")
    if re.fullmatch(r"\d{4}-\d\d-\d\d", entries[0].date) is None or not entries[0].text:
        raise ReleaseError(f"CHANGELOG.md: {version} needs a date (YYYY-MM-DD) and entries.")
    return entries[0]


def make(repository: Repository, source: str, image: str) -> str:
    """Writes the release's commit; its SHA. Raises `ReleaseError`."""
    if IMAGE.fullmatch(image) is None:
        raise ReleaseError(f"{image}: write the image with its digest, REGISTRY/NAME@sha256:<64 hexadecimal digits>.")
    source = repository.commit(source)
    action = repository.text(source, "action.yml")
    if len(_BUILT.findall(action)) != 1:
        raise ReleaseError(f"action.yml of {source[:12]}: it must have the line `image: Dockerfile` once.")
    blob = repository.git("hash-object", "-w", "--stdin", stdin=_BUILT.sub(f"  image: docker://{image}", action))
    with tempfile.TemporaryDirectory() as made:
        index = {"GIT_INDEX_FILE": str(Path(made) / "index")}
        repository.git("read-tree", source, env=index)
        repository.git("update-index", "--cacheinfo", f"100644,{blob},action.yml", env=index)
        tree = repository.git("write-tree", env=index)
    date = repository.git("show", "--no-patch", "--format=%ct +0000", source)
    who = {
        f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in {**_WHO, "DATE": date}.items()
    }
    words = f"Release with the image that was built\n\n{image}\n"
    return repository.git("commit-tree", tree, "-p", source, "--no-gpg-sign", stdin=words, env=who)


def verify(repository: Repository, release: str) -> str:
    """The image that a release's commit names; nothing else differs from its parent. Raises `ReleaseError`."""
    release = repository.commit(release)
    parents = repository.git("show", "--no-patch", "--format=%P", release).split()
    named: list[str] = _PULLED.findall(repository.text(release, "action.yml"))
    if len(parents) != 1 or len(named) != 1:
        raise ReleaseError(f"{release}: this commit is not a release: its action.yml names no image by digest.")
    changed = repository.git("diff-tree", "-r", "--name-only", parents[0], release).splitlines()
    if changed != ["action.yml"]:
        raise ReleaseError(f"{release}: more than action.yml differs from {parents[0]}: {', '.join(changed)}")
    if make(repository, parents[0], named[0]) != release:
        raise ReleaseError(f"{release}: this is not what its parent {parents[0]} and {named[0]} make.")
    return named[0]


def main() -> None:
    """Checks, makes or verifies, in the repository of the working directory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["check", "notes", "make", "verify"])
    parser.add_argument("tag", help="v1.2.3; with make and verify also another name of a commit")
    parser.add_argument("--commit", help="the tagged commit, where the tag is elsewhere (default: the tag)")
    parser.add_argument("--image", default="", help="with make: the image with its digest")
    options = parser.parse_args()
    repository, commit = Repository(Path.cwd()), options.commit or options.tag
    try:
        if options.command == "make":
            print(make(repository, commit, options.image))
        elif options.command == "verify":
            print(verify(repository, commit))
        else:
            entry = check(repository, commit, options.tag)
            print(entry.text if options.command == "notes" else entry.version)
    except ReleaseError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
