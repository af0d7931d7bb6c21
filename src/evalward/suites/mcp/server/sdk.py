"""The official SDK: an extra, because few need it and it takes a second to load."""

from __future__ import annotations

from importlib.util import find_spec

from evalward.records.problem import wrong


def require_sdk(package: str = "mcp") -> None:
    """Raises `InputError` where the SDK isn't installed."""
    if find_spec(package) is None:
        message = f"servers are spoken to with the package {package}, which is not installed here"
        raise wrong("kind: mcp", message, 'Install it: pip install "evalward[mcp]".')
