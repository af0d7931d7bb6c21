"""Which two baselines `evalward baseline diff` compares: files, or the committed one of revisions of git."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evalward.commands.files import read_baseline_file
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.decide.baseline import read_baseline
from evalward.git import GitError, GitTree, repository_path
from evalward.records.baseline import Baseline
from evalward.records.problem import wrong

HEAD = "HEAD"


@dataclass(frozen=True)
class BaselineSides:
    """Where baselines are looked for: in the folder of the config, and in its repository's commits.

    `loaded` is the config, `None` where there is none: then only files can be named.
    """

    world: World
    loaded: LoadedConfig | None
    profile: str | None = None

    def pair(self, old: str | None, new: str | None) -> tuple[Baseline | None, Baseline]:
        """The two sides: without words HEAD's baseline and the working tree's; one word is the older side.

        Before the first one is committed, HEAD's is `None`. Raises `InputError`.
        """
        before = self._committed_now() if old is None else self.named(old)
        return before, self._here() if new is None else self.named(new)

    def named(self, word: str) -> Baseline:
        """The baseline of a file or of a revision. Raises `InputError` for what is neither, and for what is both."""
        file = self.world.cwd / word
        is_file = os.path.lexists(file) and not file.is_dir()
        sha = None if _is_path(word) else self._tree.resolve(word)
        if is_file and sha is not None:
            remedy = f"Write ./{word} for the file, or {word}^0 for the revision."
            raise wrong(word, "this is both a file and a revision of git", remedy)
        if sha is None:
            return self._of_file(word, file, exists=is_file)
        found = self._at(sha, word)
        if found is None:
            raise wrong(word, f"{self._path} is not in this revision", "Name one in which it was committed.")
        return found

    def _of_file(self, word: str, file: Path, *, exists: bool) -> Baseline:
        if exists:
            return read_baseline_file(file)
        what = "there is no such file" if _is_path(word) else "there is no such file, and no such revision of git"
        raise wrong(word, what, "Name a baseline, or a branch, tag or commit that has one.")

    def _here(self) -> Baseline:
        config = self._config
        return read_baseline_file(config.root / self._path, config.root)

    def _committed_now(self) -> Baseline | None:
        sha = self._tree.head()
        if sha is None:
            raise wrong(HEAD, "there is no commit to compare with", "Name two files: evalward baseline diff OLD NEW.")
        return self._at(sha, HEAD)

    def _at(self, sha: str, revision: str) -> Baseline | None:
        """The baseline in a commit, `None` where it has none."""
        path = repository_path(self._tree.prefix(), [self._path])
        try:
            content = self._tree.read(sha, path)
        except GitError as error:
            raise wrong(revision, f"its {path} can't be read: {error.message.rstrip('.')}", error.advice) from None
        return None if content is None else read_baseline(content, f"{revision}:{path}")

    @property
    def _config(self) -> LoadedConfig:
        if self.loaded is None:
            message = "no evalward.yml in this folder or above names the baseline"
            raise wrong("baseline diff", message, "Name two files: evalward baseline diff OLD NEW.")
        return self.loaded

    @property
    def _path(self) -> str:
        """The baseline's path from the config's folder."""
        return self._config.config.baseline_for(None, self.profile)

    @cached_property
    def _tree(self) -> GitTree:
        root = self.loaded.root if self.loaded else self.world.cwd
        return GitTree(root, search_path=self.world.env.get("PATH", os.defpath))


def _is_path(word: str) -> bool:
    """True for what is never a revision, whatever git knows: `./main`, `../b.json`, `/tmp/b.json`."""
    return posixpath.isabs(word) or word.startswith(("./", "../"))
