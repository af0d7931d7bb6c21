"""What lies in the checkout otherwise than in a commit: changed, new, hidden from git, or of a submodule.

Git compares, and starts nothing for it: what the repository's configuration names as filters is switched off by name.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from evalward.git.program import repository_top, run_git, run_git_within

_MOST_LISTED = 32 << 20  # bytes of names
_SUBMODULE = "160000"
_SKIPPED = "S"  # the tag of a file that the checkout need not have
_FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
_FILTER_KEYS = ("clean", "smudge", "process", "required")
_PLAIN = ("--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv")


class WorkingTree(Struct, frozen=True, dict=True):
    """The files of the checkout that `folder` lies in. `search_path` is where the git program is looked for."""

    folder: Path
    search_path: str = os.defpath

    @cached_property
    def _top(self) -> Path:
        return repository_top(self.folder) or self.folder

    def changed(self, commit: str) -> list[str] | None:
        """The files that differ from those of a commit, by their paths from the repository's top; `None`: not known.

        New files are among them unless git ignores them. Submodules always are, and files whose changes git was asked
        to hide, because it doesn't look at either.
        """
        tracked = self._names("diff", *_PLAIN, "--ignore-submodules=all", commit, "--", env=self._without_filters)
        new = self._names("ls-files", "-z", "--others", "--exclude-standard")
        hidden = self._hidden()
        if tracked is None or new is None or hidden is None:
            return None
        return sorted({*tracked, *(name.rstrip("/") for name in new), *hidden})

    def ignored(self, places: Iterable[str]) -> list[str] | None:
        """The files that git ignores in these folders, or at these paths, from the repository's top; `None`: not known.

        `""` is the whole repository.
        """
        named = sorted({posixpath.normpath(place) if place else "." for place in places})
        if not named:
            return []
        words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", *named)
        found = self._names("--literal-pathspecs", *words)
        return found if found is None else [name.rstrip("/") for name in found]

    def opaque(self, names: Iterable[str]) -> set[str]:
        """Those of the paths that other files stand behind: symbolic links, and repositories, which are folders."""
        return {name for name in names if stat.S_IFMT(self._mode(name)) in {stat.S_IFLNK, stat.S_IFDIR}}

    def first_link(self, path: str) -> str | None:
        """The first symbolic link on a path from the repository's top, the path's end included; `None`: none is."""
        parts = path.split("/")
        above = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
        return next((place for place in above if stat.S_ISLNK(self._mode(place))), None)

    def _mode(self, name: str) -> int:
        """0 for what isn't there, or can't be looked at."""
        try:
            return os.lstat(self._top / name).st_mode
        except (OSError, ValueError):
            return 0

    def _hidden(self) -> list[str] | None:
        """Submodules, and files of which git was told that they don't change, or aren't there though they are."""
        tagged = self._names("ls-files", "-z", "-v")
        staged = self._names("ls-files", "-z", "--stage")
        if tagged is None or staged is None:
            return None
        return [*self._untold(tagged), *_submodules(staged)]

    def _untold(self, tagged: Sequence[str]) -> Iterator[str]:
        for line in tagged:
            tag, _, name = line.partition(" ")
            if tag.islower() or (tag == _SKIPPED and os.path.lexists(self._top / name)):
                yield name

    @cached_property
    def _without_filters(self) -> Mapping[str, str]:
        """Environment in which no filter of the repository's configuration has a program."""
        _, output = run_git(self._top, self.search_path, _FILTERS)  # 1 where there is none
        names = [os.fsdecode(name) for name in output.split(b"\0") if name]
        filters = dict.fromkeys(name.rpartition(".")[0] for name in names)
        pairs = [(f"{name}.{key}", "false" if key == "required" else "") for name in filters for key in _FILTER_KEYS]
        keys = {f"GIT_CONFIG_KEY_{at}": key for at, (key, _) in enumerate(pairs)}
        values = {f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in enumerate(pairs)}
        return {"GIT_CONFIG_COUNT": str(len(pairs)), **keys, **values}

    def _names(self, *args: str, env: Mapping[str, str] | None = None) -> list[str] | None:
        """What a command lists, between zero bytes; `None` where it fails or lists too much."""
        output = run_git_within(self._top, self.search_path, args, _MOST_LISTED, env or {})
        return None if output is None else [os.fsdecode(name) for name in output.split(b"\0") if name]


def _submodules(staged: Sequence[str]) -> Iterator[str]:
    for line in staged:
        about, _, name = line.partition("\t")
        if about.startswith(_SUBMODULE):
            yield name
