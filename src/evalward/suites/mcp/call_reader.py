"""What a model tried: its tool uses as calls of the servers' tools."""

from __future__ import annotations

from evalward.records.pairing import named_call
from evalward.records.trace import ToolUse
from evalward.suites.mcp.attempts import attempted
from evalward.suites.mcp.details import AttemptedCall
from evalward.suites.mcp.offered import OfferedTools
from evalward.suites.mcp.validity import ArgumentSchemas


class CallReader:
    """Reads the calls of a suite's models; the input schema of each tool is prepared once."""

    def __init__(self, tools: OfferedTools) -> None:
        self._names, self._own = tools.names, tools.own.server
        self._schemas = {each.server: ArgumentSchemas(each) for each in (tools.own, *tools.others)}

    def attempt(self, use: ToolUse) -> AttemptedCall:
        """One call, before anything is executed: of which tool, and whether its arguments fit."""
        named = self._names.find(use.name)
        found = (named.tool, self._schemas[named.server]) if named is not None else None
        return attempted(use.name, use.input, found)

    def is_own(self, call: AttemptedCall) -> bool:
        """Whether it is of a tool of the suite's own server."""
        return call.known and call.server == self._own

    def text(self, use: ToolUse) -> str:
        """The call as its record has it, with the tool's own name."""
        return named_call(self._names.shown(use.name), use.input)
