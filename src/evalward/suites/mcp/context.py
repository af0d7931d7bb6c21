"""What the trials of a suite have in common, as they are handed it. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from evalward.records.problem import Problem
from evalward.suites.base import Prepared
from evalward.suites.mcp.call_reader import CallReader
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.offered import OfferedTools
from evalward.suites.mcp.spec import McpSuite

if TYPE_CHECKING:
    from evalward.suites.mcp.servers import Servers


@dataclass(frozen=True)
class McpContext:
    """What models are told and offered, and how their calls are read.

    `unlisted` is the problem of a server that listed no tools; then there are none. `gone` are the problems of cases
    that name tools which the server doesn't list, by the case's id: these can't be measured. `servers` execute calls,
    in mode `run` alone. `variants` are the server's tools with other descriptions, by name.
    """

    tools: OfferedTools
    system: str
    timeout_s: float
    calls: CallReader
    max_turns: int = 1
    unlisted: Problem | None = None
    gone: Mapping[str, Sequence[Problem]] = field(default_factory=dict)
    servers: Servers | None = None
    variants: Mapping[str, Catalogue] = field(default_factory=dict)


McpPrepared: TypeAlias = Prepared[McpSuite, McpCase, McpContext]
