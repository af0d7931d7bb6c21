"""A folder of a commit, written out file by file: blobs as they were committed, through no filter and no attribute."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from evalward.git.errors import GitError
from evalward.git.program import NO_GIT, NO_REPOSITORY, run_git, run_git_within

MOST_ENTRIES = 100_000
MOST_BYTES = 2 << 30
_AT_ONCE = 32 << 20  # bytes that are held in memory at once, and the largest file but for itself
_MOST_FILE = 512 << 20
_MOST_LISTED = MOST_ENTRIES * 300  # bytes
_LONGEST_LINK = 4096
_FILES, _LINK, _SUBMODULE = {"100644", "100755", "100664"}, "120000", "160000"
_FETCH = "fetch it (fetch-depth: 0)"


class _Blob(Struct, frozen=True):
    """A file or a link of a commit's folder."""

    mode: str
    oid: str
    size: int
    path: str


def find_tree(folder: Path, commit: str, path: str, search_path: str = os.defpath) -> str:
    """The id of a folder of a commit, by its path from the repository's top. Raises `ValueError` where git has none."""
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}:{path}"]
    code, output = _git_output(folder, search_path, words)
    if code in {NO_GIT, NO_REPOSITORY}:
        raise ValueError("git knows no repository here, or no such commit or folder in it; " + _FETCH)
    tree = output.decode("ascii", "replace").strip()
    kind = _git_output(folder, search_path, ["cat-file", "-t", tree])[1].strip() if not code else b""
    if kind != b"tree":
        raise ValueError(f"git doesn't know this commit or folder; {_FETCH}")
    _listed(folder, search_path, tree)
    return tree


def write_tree(folder: Path, tree: str, target: Path, search_path: str = os.defpath) -> None:
    """Write what is in a tree to `target`, which is made: links as links, submodules not at all.

    Raises `ValueError` for what can't be read, is too much, or would be written outside; `OSError`.
    """
    blobs = _listed(folder, search_path, tree)
    target.mkdir(parents=True)
    for batch in _batches([blob for blob in blobs if blob.mode in _FILES]):
        for blob, content in zip(batch, _contents(folder, search_path, batch), strict=True):
            _write(target, blob, content)
    links = [blob for blob in blobs if blob.mode == _LINK]  # last: nothing is written through them
    for blob, content in zip(links, _contents(folder, search_path, links), strict=True):
        place = target / blob.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.fsdecode(content))


def _write(target: Path, blob: _Blob, content: bytes) -> None:
    place = target / blob.path
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as stream:
        stream.write(content)
    place.chmod(0o755 if blob.mode == "100755" else 0o644)


def _listed(folder: Path, search_path: str, tree: str) -> list[_Blob]:
    """All files and links below a tree. Raises `ValueError` for a name that is none, and for too many of them."""
    output = run_git_within(folder, search_path, ["ls-tree", "-r", "-z", "-l", "--full-tree", tree], _MOST_LISTED)
    if output is None:
        raise ValueError(
            f"git can't list the folder of this commit, or it has more than {MOST_ENTRIES:,} files; {_FETCH}"
        )
    lines = [line for line in output.split(b"\0") if line]
    if len(lines) > MOST_ENTRIES:
        raise ValueError(f"the folder of this commit has more than {MOST_ENTRIES:,} files")
    blobs = [blob for line in lines if (blob := _blob(line)).mode != _SUBMODULE]
    if sum(blob.size for blob in blobs) > MOST_BYTES or any(blob.size > _MOST_FILE for blob in blobs):
        raise ValueError("the folder of this commit is too large: 2 GiB in all, 512 MiB a file")
    links = [blob for blob in blobs if blob.mode == _LINK]
    for link, content in zip(links, _contents(folder, search_path, links), strict=True):
        _refuse_leaving(link.path, os.fsdecode(content))
    return blobs


def _blob(line: bytes) -> _Blob:
    about, _, name = line.partition(b"\t")
    mode, _, oid, size = about.decode("ascii", "replace").split()
    path = os.fsdecode(name)
    parts = path.split("/")
    if any(part in {"", ".", ".."} or part.casefold() == ".git" for part in parts):
        raise ValueError(f"the commit has a file with a name that no folder can hold: {ascii(path)[:80]}")
    if mode == _SUBMODULE:
        return _Blob(mode, oid, 0, path)
    if not size.isdigit():
        raise ValueError(f"git lacks the content of {ascii(path)[:80]}; {_FETCH}")
    if mode not in {*_FILES, _LINK} or (mode == _LINK and int(size) > _LONGEST_LINK):
        raise ValueError(f"the commit has something that is not a file: {ascii(path)[:80]}")
    return _Blob(mode, oid, int(size), path)


def _refuse_leaving(path: str, target: str) -> None:
    leads = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if "\0" in target or PurePosixPath(target).is_absolute() or leads.split("/")[0] == "..":
        raise ValueError(f"the link {ascii(path)[1:-1][:80]} leads out of the folder of this commit")


def _batches(blobs: Sequence[_Blob]) -> Iterator[list[_Blob]]:
    batch: list[_Blob] = []
    for blob in blobs:
        if batch and sum(one.size for one in batch) + blob.size > _AT_ONCE:
            yield batch
            batch = []
        batch.append(blob)
    if batch:
        yield batch


def _contents(folder: Path, search_path: str, blobs: Sequence[_Blob]) -> Iterator[bytes]:
    """The bytes of blobs of known size, as the object store has them."""
    if not blobs:
        return
    requests = "".join(f"{blob.oid}\n" for blob in blobs).encode()
    code, output = _git_output(folder, search_path, ["cat-file", "--batch", "--buffer"], requests)
    at = 0
    for blob in blobs:
        head = f"{blob.oid} blob {blob.size}\n".encode()
        if code or not output.startswith(head, at):
            raise ValueError(f"git lacks the content of {ascii(blob.path)[:80]}; {_FETCH}")
        at += len(head)
        yield output[at : at + blob.size]
        at += blob.size + 1


def _git_output(folder: Path, search_path: str, words: Sequence[str], stdin: bytes = b"") -> tuple[int, bytes]:
    try:
        return run_git(folder, search_path, words, stdin=stdin)
    except GitError as error:
        raise ValueError(f"git can't be asked: {error}") from error
