"""Results that a change brings along: they say what its author wants, and judge nothing."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import dirname

from evalward.config import LoadedConfig
from evalward.git import GitTree
from evalward.records.problem import wrong
from evalward.suites.external.formats.base import ForeignFile


def refuse_committed(loaded: LoadedConfig, files: Sequence[ForeignFile]) -> None:
    """Where a base judges, results that lie in the commit under evaluation are refused. Raises `InputError`."""
    if loaded.base_file is None:
        return
    tree = GitTree(loaded.root)
    head = tree.head()
    if head is None:
        return
    top = tree.prefix() or ""
    folders = dict.fromkeys(dirname(top + file.name) for file in files)
    listed = {folder: tree.listed(head, folder) for folder in folders}
    for file in files:
        known = listed[dirname(top + file.name)]
        if known is None or any(each.path == top + file.name for each in known):
            message = "it is committed in the change under evaluation, so it is not a result of this workflow"
            raise wrong(file.name, message, "Remove it from the commit, and let the workflow's harness write it.")
