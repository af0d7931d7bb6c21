"""Evalward: the gate that keeps a repository's LLM tool use from getting worse."""

__version__ = "0.1.0"
