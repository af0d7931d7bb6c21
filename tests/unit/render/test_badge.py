from __future__ import annotations

import json

import pytest

from evalward.records.verdict import Outcome, Verdict
from evalward.render.badge import badge


@pytest.mark.parametrize(
    ("outcome", "message", "color"),
    [
        (Outcome.PASS, "passing", "brightgreen"),
        (Outcome.FAIL, "failing", "red"),
        (Outcome.INCONCLUSIVE, "inconclusive", "yellow"),
        (Outcome.ERROR, "not judged", "lightgrey"),
    ],
)
def test_badge__is_what_the_endpoint_badge_takes(outcome: Outcome, message: str, color: str) -> None:
    told = json.loads(badge(Verdict(outcome=outcome, headline="<script>")))
    assert told == {"schemaVersion": 1, "label": "evalward", "message": message, "color": color}
