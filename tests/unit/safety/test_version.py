"""The validator's version names what it says: another answer to a known command is another version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from evalward.safety import VERSION, assess

_DATA = Path(__file__).parents[2] / "data"
SAID = ("2", "4141497f27622943")


def test_a_validator_that_answers_otherwise_has_another_version() -> None:
    digest = hashlib.sha256()
    for name in ("safety-labels.jsonl", "safety-fresh.jsonl", "safety-platforms.jsonl"):
        for line in (_DATA / name).read_text("utf-8").splitlines():
            found = assess(json.loads(line)["command"])
            said = [str(found.level), found.parsed, sorted((each.rule, str(each.level)) for each in found.findings)]
            digest.update(json.dumps(said).encode() + b"\n")
    assert (VERSION, digest.hexdigest()[:16]) == SAID, "raise safety.version.VERSION, then write both here"
