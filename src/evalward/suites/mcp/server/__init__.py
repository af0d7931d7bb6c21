"""Talking with an MCP server: it is started behind walls or reached by HTTP, lists its tools, and executes calls.

The SDK (`evalward[mcp]`) is imported here alone, and only when a server is really spoken to.
"""
