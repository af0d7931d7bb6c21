"""Which rules judged: part of the subject of every run whose answers were validated."""

from __future__ import annotations

VERSION = "2"
"""Raised whenever a command may be judged otherwise than before; a test holds it to what the rules say."""
