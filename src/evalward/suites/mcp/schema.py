"""What editors know of YAML files of cases: a list of them. A line of JSONL is one, by the schema `mcp-case`."""

from __future__ import annotations

from pydantic import TypeAdapter

from evalward.suites.mcp.case import McpTask

CASES: TypeAdapter[list[McpTask]] = TypeAdapter(list[McpTask])
