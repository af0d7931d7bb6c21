"""Suites of kind `mcp`: how well models use the tools of an MCP server."""
