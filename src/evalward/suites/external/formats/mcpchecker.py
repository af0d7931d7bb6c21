"""mcpchecker's results, `mcpchecker-NAME-out.json` (it was called gevals before): tasks for agents with MCP servers.

A run of a task passes when its verification and its assertions do. Written from mcpchecker's source of July 2026.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalward.records.base import digest
from evalward.records.problem import wrong
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, unreadable
from evalward.suites.external.formats.document import Document
from evalward.suites.external.formats.mcpchecker_run import foreign_run
from evalward.suites.external.formats.values import mapping, outline, rows, text, whole

TITLE = "results of mcpchecker"
RESULTS = "results"
_RUN = frozenset({"taskName", "taskPassed", "allAssertionsPassed"})
_IN_RESULTS = frozenset(f"{RESULTS}.{key}" for key in _RUN)
_SUMMARY = frozenset({"summary.agent", "summary.evals"})
_NAME = re.compile(r"(?:mcpchecker|gevals)-.*-out\.json", re.DOTALL)


class McpChecker:
    """The format."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the protocol's
        """By the keys of its object and of the first run in it; older versions write the runs as a bare list."""
        keys = outline(head)
        return keys >= _IN_RESULTS or keys >= _RUN or keys >= _SUMMARY

    def belongs(self, name: str) -> bool:
        """By the name that mcpchecker gives its files."""
        return _NAME.fullmatch(posixpath.basename(name)) is not None

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file one run. Raises `InputError`."""
        return [_results(file) for file in files if self.belongs(file.name) or self.recognises(file, file.head())]


FORMAT = McpChecker()


def _results(file: ForeignFile) -> ForeignResults:
    bare = file.head().removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
    document = None if bare else Document(file, TITLE, (RESULTS,))
    items: Iterable[Any] = whole(file, TITLE) if document is None else document.items()
    summary = {} if document is None else mapping(document.head.get("summary"))
    return ForeignResults(_trials(items, _target(summary), file), subject=_subject(summary), file=file.name)


def _trials(items: Iterable[Any], target: str, file: ForeignFile) -> Iterator[ForeignTrial]:
    seen: set[tuple[str, int | None]] = set()
    for run in items:
        if not isinstance(run, dict):
            raise unreadable(file, TITLE, "a run in it is not an object")
        trial = foreign_run(run, target, file)
        if (trial.case, trial.number) in seen:
            raise wrong(file.name, f'two tasks are called "{trial.case}"', "Give every task a name of its own.")
        seen.add((trial.case, trial.number))
        yield trial
    if not seen:
        raise wrong(file.name, "there is no run of a task in it", "Let mcpchecker run at least one task.")


_MOST_NAME = 100  # characters of a server's or a judge's


def _target(summary: Mapping[str, Any]) -> str:
    """The agent with its model, as AGENT/MODEL; "" where the file doesn't tell."""
    agent = mapping(summary.get("agent"))
    name = text(agent.get("name")) or text(agent.get("type")).removeprefix("builtin.")
    return "/".join(part for part in (name, text(agent.get("model"))) if part)


def _subject(summary: Mapping[str, Any]) -> dict[str, str]:
    """What is under evaluation beside the agent: the tools of each server, with their descriptions; and who judges."""
    found = {
        f"tools of {text(server.get('name'))[:_MOST_NAME]}": digest([dict(tool) for tool in rows(server.get("tools"))])
        for server in rows(summary.get("mcpServers"))
        if rows(server.get("tools"))
    }
    judge = mapping(summary.get("judge"))
    said = text(judge.get("model")) or text(judge.get("name"))
    return {**found, **({"judge": said[:_MOST_NAME]} if said else {})}
