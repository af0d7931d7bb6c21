"""Bytes and ids: JSON, server-sent events, and ids and seals that are the same in every run."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable

_SALT = "evalward test model"


def digest(*parts: object, size: int = 24) -> str:
    """Hexadecimal digits that depend on nothing but `parts`."""
    text = "\x1f".join([_SALT, *map(str, parts)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:size]


def seal(text: str) -> str:
    """An opaque text that holds `text` and shows any change: what a signature or encrypted content is to a client."""
    hidden = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"{hidden}.{digest('seal', text)}"


def opened(sealed: str) -> str | None:
    """The text in a seal; `None` when somebody changed it."""
    hidden, _, mark = sealed.partition(".")
    try:
        text = base64.urlsafe_b64decode(hidden).decode("utf-8", "surrogatepass")
    except ValueError:
        return None
    return text if mark == digest("seal", text) else None


def json_bytes(value: object) -> bytes:
    """JSON as the services send it: compact and in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def sse(value: object, event: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n".encode() if event else b""
    return head + b"data: " + json_bytes(value) + b"\n\n"


def pieces(text: str, count: int = 3) -> list[str]:
    """`text` in up to `count` parts, or in parts of 32,768 characters when it is long. None for an empty text."""
    size = min(32_768, max(1, -(-len(text) // count)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def estimate_tokens(values: Iterable[object]) -> int:
    """A number of tokens that grows with the content. Only for `count_tokens`."""
    return max(1, sum(len(json_bytes(value)) for value in values) // 4)
