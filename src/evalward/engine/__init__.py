"""How many at once: from suites, targets and cases to a report."""

from __future__ import annotations
