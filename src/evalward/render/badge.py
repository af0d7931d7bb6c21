"""The verdict as a badge: JSON for the endpoint badge of shields.io."""

from __future__ import annotations

import json

from evalward.records.verdict import Outcome, Verdict

_LOOKS = {
    Outcome.PASS: ("passing", "brightgreen"),
    Outcome.FAIL: ("failing", "red"),
    Outcome.INCONCLUSIVE: ("inconclusive", "yellow"),
    Outcome.ERROR: ("not judged", "lightgrey"),
}


def badge(verdict: Verdict, label: str = "evalward") -> str:
    """The text of `badge.json`. It says the verdict and nothing that others wrote."""
    message, color = _LOOKS[verdict.outcome]
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": color}) + "\n"
