"""Results of promptfoo: JSON of version 3, and JSON lines."""

from __future__ import annotations

from evalward.suites.external.formats.promptfoo.format import FORMAT

__all__ = ["FORMAT"]
