"""Git as a reader of commits: their files as they were committed, whatever lies in the checkout."""

from evalward.git.content import find_tree, write_tree
from evalward.git.errors import GitError
from evalward.git.program import repository_top, run_git
from evalward.git.tree import (
    MAX_FILE_BYTES,
    FileChange,
    GitTree,
    OpaqueEntries,
    RemoteFiles,
    TreeFile,
    repository_path,
)
from evalward.git.worktree import WorkingTree

__all__ = [
    "MAX_FILE_BYTES",
    "FileChange",
    "GitError",
    "GitTree",
    "OpaqueEntries",
    "RemoteFiles",
    "TreeFile",
    "WorkingTree",
    "find_tree",
    "repository_path",
    "repository_top",
    "run_git",
    "write_tree",
]
