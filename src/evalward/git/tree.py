"""The commits of a repository and their files, read without touching the user's checkout.

The gate's rules and baseline come from here, so a file is either read, or known to be absent, or it is an error:
"could not look" never becomes "there is none".
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct, field

from evalward.git.errors import GitError
from evalward.git.program import run_git, run_git_within
from evalward.records.problem import wrong

MAX_FILE_BYTES = 10_000_000

MOST_LISTED = 100_000  # files
LINK_MODE, _PROGRAM, SUBMODULE_MODE = "120000", "100755", "160000"
_MOST_NAMES = 32 << 20  # bytes
_LONGEST, _MOST_LINKS = 4096, 2_000  # bytes of where a link leads, and links of other targets
_OPAQUE = {LINK_MODE.encode(), SUBMODULE_MODE.encode()}
_TAGS = "refs/tags/"


class RemoteFiles(Protocol):
    """Where files of commits are read when the clone does not have them: `client.GitHub`."""

    def read_file(self, repository: str, sha: str, path: str, limit: int) -> bytes | None:
        """The file's bytes, `None` when the commit has no such file; raises `GitError` if it is unknown."""


class FileChange(Struct, frozen=True):
    """A file that differs between two commits; its path from the repository's top. Renamed: removed and added.

    `opaque`: in one of the two other files stand behind it, as it is, or may be, a submodule or a symbolic link.
    """

    path: str
    kind: Literal["added", "changed", "removed"]
    opaque: bool = False


class TreeFile(Struct, frozen=True):
    """A file of a commit: its path, whether it can be run, and, of a symbolic link, where that leads.

    The link is `""` where that isn't known, and of a submodule, whose files belong to another repository.
    """

    path: str
    program: bool = False
    link: str | None = None


class OpaqueEntries(Struct, frozen=True):
    """What other files stand behind in a commit: submodules, and symbolic links with the text of where each leads.

    That text is `""` where it isn't known.
    """

    submodules: frozenset[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)


class _GitObject(Struct, frozen=True):
    """An object of the local store. `state` is `found`, or why there is none."""

    state: Literal["found", "missing", "no-file", "outside"]
    kind: str = ""
    size: int = 0
    oid: str = ""


class GitTree:
    """Read-only access to the commits of the repository that `folder` lies in.

    `folder` need not be the repository's top, and need not be a repository at all: then everything is read
    through `remote` (`None`: no such way), as files of `repository` (`owner/name`). `search_path` is where the
    git program is looked for. Commands run without a shell, without the user's and the system's git
    configuration, without hooks, prompts, network and secrets in their environment.
    """

    def __init__(
        self,
        folder: Path,
        *,
        repository: str = "",
        remote: RemoteFiles | None = None,
        search_path: str = os.defpath,
        limit: int = MAX_FILE_BYTES,
    ) -> None:
        self._folder = folder
        self._repository = repository
        self._remote = remote
        self._search_path = search_path
        self._limit = limit

    def head(self) -> str | None:
        """The checked-out commit, `None` where there is no repository or no commit."""
        return self._line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def prefix(self) -> str | None:
        """`folder` as seen from the repository's top, `""` or `a/b/`; `None` where there is no repository."""
        return self._prefix

    @cached_property
    def _prefix(self) -> str | None:
        code, output = self._git("rev-parse", "--show-prefix")
        return None if code else output.decode("utf-8", "surrogateescape").removesuffix("\n")

    def parents(self, sha: str) -> tuple[str, ...] | None:
        """The parents of a commit as the commit itself names them, `None` if it is not there.

        A shallow clone hides the parents of its oldest commits from `rev-parse` and `log`, not from the raw object.
        """
        found = self._find(sha)
        if found.kind != "commit" or found.size > self._limit:
            return None
        code, output = self._git("cat-file", "commit", found.oid)
        if code:
            return None
        header = output.split(b"\n\n", 1)[0].decode("ascii", "replace")
        return tuple(line.split(" ", 1)[1] for line in header.split("\n") if line.startswith("parent "))

    def tags(self) -> dict[str, str] | None:
        """Tag → commit, of all tags that HEAD was built upon; `None` where a shallow clone can't tell."""
        lines = self._tags("%(objectname) %(*objectname) %(refname)")
        if lines is None:
            return None
        words = (line.split(" ", 2) for line in lines)
        return {name.removeprefix(_TAGS): peeled or sha for sha, peeled, name in words}

    def tag_times(self) -> dict[str, str] | None:
        """The same tags → when each was made (of one without a time its commit), ISO 8601 in UTC."""
        lines = self._tags("%(creatordate:unix) %(refname)")
        words = None if lines is None else [line.split(" ", 1) for line in lines]
        return (
            words
            if words is None
            else {name.removeprefix(_TAGS): at for seconds, name in words if (at := _utc(seconds))}
        )

    def _tags(self, form: str) -> list[str] | None:
        """A line for each tag that HEAD was built upon; `None` where a shallow clone can't tell."""
        if self._line("rev-parse", "--is-shallow-repository") == "true":
            return None
        code, output = self._git("for-each-ref", "--merged=HEAD", f"--format={form}", _TAGS)
        return [] if code or not output else output.decode("utf-8", "replace").removesuffix("\n").split("\n")

    def commit_of(self, tag: str) -> str | None:
        """The commit of a tag, `None` when there is none of that name."""
        found = self._find(f"{_TAGS}{tag}^{{commit}}")
        return found.oid if found.kind == "commit" else None

    def resolve(self, revision: str) -> str | None:
        """The commit that a branch, tag or other name stands for, `None` when there is none."""
        return self._line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")

    def listed(self, sha: str, folder: str) -> list[TreeFile] | None:
        """The files of a commit below a folder (from the repository's top, which is `""`).

        `None` where local objects can't tell, and for more than `MOST_LISTED` of them.
        """
        paths = ["--", _clean_path(folder)] if folder else []
        code, output = self._git("ls-tree", "-r", "-z", "--full-tree", sha, *paths)
        lines = [line for line in output.decode("utf-8", "replace").split("\0") if line]
        if code or len(lines) > MOST_LISTED:
            return None
        entries = [(*line.partition("\t")[0].split(" "), line.partition("\t")[2]) for line in lines]
        links = self._link_targets([oid for mode, _, oid, _ in entries if mode == LINK_MODE])
        return [
            TreeFile(path, mode == _PROGRAM, links.get(oid, "") if mode == LINK_MODE or kind != "blob" else None)
            for mode, kind, oid, path in entries
        ]

    def opaque(self, commit: str) -> OpaqueEntries | None:
        """The submodules and symbolic links of a commit, `None` where local objects can't tell, or are too many."""
        words = ["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit]
        output = run_git_within(self._folder, self._search_path, words, _MOST_NAMES)
        if output is None:
            return None
        lines = [line.partition(b"\t") for line in output.split(b"\0") if line[:6] in _OPAQUE]
        entries = [(*about.decode("ascii").split(" "), os.fsdecode(path)) for about, _, path in lines]
        targets = self._link_targets([oid for mode, _, oid, _ in entries if mode == LINK_MODE])
        return OpaqueEntries(
            frozenset(path for mode, *_, path in entries if mode == SUBMODULE_MODE),
            {path: targets.get(oid, "") for mode, _, oid, path in entries if mode == LINK_MODE},
        )

    def _link_targets(self, oids: Sequence[str]) -> dict[str, str]:
        """Where links lead, by the ids of their blobs; those that are too long, or not there, are left out."""
        unique = list(dict.fromkeys(oids))
        requests = "".join(f"{oid}\n" for oid in unique).encode()
        code, output = self._git("cat-file", "--batch-check", stdin=requests) if unique else (0, b"")
        sizes = [line.split(" ") for line in output.decode("ascii", "replace").splitlines()] if not code else []
        known = [(words[0], int(words[2])) for words in sizes if len(words) == 3 and words[2].isdigit()]
        short = [(oid, size) for oid, size in known if size <= _LONGEST]
        found: dict[str, str] = {}
        requests = "".join(f"{oid}\n" for oid, _ in short[:_MOST_LINKS]).encode()
        code, output = self._git("cat-file", "--batch", stdin=requests) if short else (0, b"")
        at = 0
        for oid, size in short[:_MOST_LINKS]:
            head = f"{oid} blob {size}\n".encode()
            if code or not output.startswith(head, at):
                break
            at += len(head)
            found[oid] = os.fsdecode(output[at : at + size])
            at += size + 1
        return found

    def branch(self) -> str | None:
        """The checked-out branch, `None` for a detached HEAD."""
        return self._line("symbolic-ref", "--quiet", "--short", "HEAD")

    def changed(self, base: str, head: str = "HEAD") -> list[FileChange] | None:
        """The files that `head` changes since it left `base`; `None` where the local commits can't tell."""
        start = self._line("merge-base", base, head)
        if not start:
            return None
        code, output = self._git("diff-tree", "-r", "-z", "--no-renames", "--raw", start, head)
        if code:
            return None
        words = output.decode("utf-8", "replace").split("\0")
        kinds: dict[str, Literal["added", "removed"]] = {"A": "added", "D": "removed"}
        pairs = zip(words[::2], words[1::2], strict=False)
        # :OLD-MODE NEW-MODE OLD-ID NEW-ID LETTER
        found = [(about.removeprefix(":").split(" "), path) for about, path in pairs]
        return [
            FileChange(
                path, kinds.get(about[4], "changed"), opaque=not {LINK_MODE, SUBMODULE_MODE}.isdisjoint(about[:2])
            )
            for about, path in found
        ]

    def read(self, sha: str, path: str) -> bytes | None:
        """The content of `path` (from the repository's top) in commit `sha`; `None` when the commit has no such file.

        Read from the local objects, else through the API. Raises `GitError` when neither can tell, `InputError`
        when it is no file or larger than the limit.
        """
        clean = _clean_path(path)
        found = self._find(f"{sha}:{clean}")
        if found.state == "found":
            return self._content(clean, found)
        if found.state == "outside":
            raise wrong(clean, "is a symbolic link out of the repository in the base commit", "Commit the file itself.")
        if self._find(f"{sha}^{{commit}}").state == "found" and not self._is_partial():
            return None
        return self._read_remote(sha, clean)

    def _content(self, path: str, found: _GitObject) -> bytes:
        if found.kind != "blob":
            raise wrong(path, "is not a file in the base commit", "Name a file.")
        if found.size > self._limit:
            message = f"has {found.size:,} bytes in the base commit; at most {self._limit:,} are read"
            raise wrong(path, message, "Make it smaller.")
        code, output = self._git("cat-file", "blob", found.oid)
        if code or len(output) != found.size:
            raise GitError(None, f"git could not read {path!r} of the base commit.", "The clone may be damaged.")
        return output

    def _read_remote(self, sha: str, path: str) -> bytes | None:
        if self._remote is None:
            raise GitError(
                None,
                f"The base commit {sha[:12]} is not in the local clone, and there is no token to read it from GitHub.",
                "Check out with `fetch-depth: 2` or more, or pass `github-token`.",
            )
        try:
            return self._remote.read_file(self._repository, sha, path, self._limit)
        except GitError as error:
            message = f"The base commit {sha[:12]} is not in the local clone, and {path!r} of it could not be read:"
            advice = "Check out with `fetch-depth: 2` or more, or give the token `contents: read`."
            raise GitError(error.status, f"{message} {error.message}", advice) from None

    def _find(self, name: str) -> _GitObject:
        """Looks a name up; symbolic links inside the commit are followed as a checkout would follow them."""
        code, output = self._git("cat-file", "--batch-check", "--follow-symlinks", stdin=os.fsencode(name) + b"\n")
        line = output.split(b"\n", 1)[0]
        if code or not line or line == os.fsencode(f"{name} missing"):
            return _GitObject("missing")
        words = line.decode("utf-8", "replace").split(" ")
        if words[0] in {"symlink", "loop"}:
            return _GitObject("outside")
        if words[0] in {"dangling", "notdir"}:
            return _GitObject("no-file")
        if len(words) == 3 and words[2].isdigit():
            return _GitObject("found", kind=words[1], size=int(words[2]), oid=words[0])
        return _GitObject("missing")

    def _is_partial(self) -> bool:
        """True for a clone with a filter, which can lack objects of commits that it has."""
        code, _ = self._git("config", "--get-regexp", r"^remote\..*\.promisor$|^extensions\.partialclone$")
        return code == 0

    def _line(self, *args: str) -> str | None:
        code, output = self._git(*args)
        return None if code else output.decode("ascii", "replace").strip()

    def _git(self, *args: str, stdin: bytes = b"") -> tuple[int, bytes]:
        return run_git(self._folder, self._search_path, args, stdin=stdin)


def _utc(seconds: str) -> str | None:
    """Seconds since 1970 as ISO 8601; `None` for what is no time of a calendar."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return None


def repository_path(prefix: str | None, parts: Sequence[str]) -> str:
    """A path from the repository's top for path parts below the folder that `prefix` stands for.

    Raises `InputError` when the path leaves the repository.
    """
    return _clean_path(posixpath.join(prefix or "", *parts))


def _clean_path(path: str) -> str:
    clean = posixpath.normpath(path)
    if clean.startswith(("/", "../")) or clean in {".", ".."} or any(char in clean for char in "\n\0"):
        raise wrong(path.split("\n", 1)[0], "is not a path inside the repository", "Name a file of the repository.")
    return clean
