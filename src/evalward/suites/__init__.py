"""What can be evaluated: one folder per kind, found through one registry."""

from __future__ import annotations

from evalward.suites.base import Kind, Prepared, kind_named, kinds

__all__ = ["Kind", "Prepared", "kind_named", "kinds"]
