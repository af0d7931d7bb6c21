"""Details are read by the record of the kind that they name, as strictly as any record, and no other kind is loaded."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any, Literal

import pytest
from pydantic import ValidationError

from evalward.records import by_kind
from evalward.records.result import Details, OtherDetails, Result
from evalward.suites.base import kinds
from evalward.suites.bash.details import BashDetails

READ = """
import json, sys
from evalward.records.result import Result
trial = {"id": "a", "category": "b", "definition": "c", "status": "passed", "details": {"kind": sys.argv[1]}}
Result.model_validate_json(json.dumps(trial))
print(" ".join(name for name in sys.modules if name.startswith("evalward.suites.")))
"""


def read(details: str, *, strict: bool = False) -> Details:
    text = f'{{"id": "a", "category": "b", "definition": "c", "status": "passed", "details": {details}}}'
    return Result.model_validate_json(text, strict=strict).details


@pytest.mark.parametrize("kind", ["bash", "nobody_knows"])
def test_reading_loads_the_code_of_no_other_kind(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", READ, kind], capture_output=True, text=True, check=True)
    others = [name for name in done.stdout.split() if name.split(".")[2] in {"command", "scenario", "speedup"}]
    assert others == []
    assert ("evalward.suites.bash.details" in done.stdout.split()) == (kind == "bash")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("details", "place", "error"),
    [
        ("5", ("details", "other"), "model_type"),
        ('{"kind": 7}', ("details", "other", "kind"), "string_type"),
        ('{"kind": "bash", "turns": -1}', ("details", "bash", "turns"), "greater_than_equal"),
        ('{"kind": "scenario", "judge": 5}', ("details", "scenario", "judge"), "model_type"),
        ('{"kind": "command", "allow": ["Not A Rule"]}', ("details", "command", "allow", 0), "string_pattern_mismatch"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(
    details: str, place: tuple[Any, ...], error: str, strict: bool
) -> None:
    with pytest.raises(ValidationError) as refused:
        read(details, strict=strict)
    assert [(each["loc"], each["type"]) for each in refused.value.errors()] == [(place, error)]


def test_strict_reading_takes_no_text_for_a_number() -> None:
    assert read('{"kind": "bash", "turns": "3"}') == BashDetails(turns=3)
    with pytest.raises(ValidationError, match="int_type"):
        read('{"kind": "bash", "turns": "3"}', strict=True)


class _Own(Details):
    kind: Literal["own"] = "own"
    points: int = 0


@pytest.mark.parametrize("strict", [True, False])
def test_a_kind_of_another_distribution_reads_its_own_details(strict: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_kind, "installed", lambda _: {"own": "elsewhere:OWN"})
    monkeypatch.setattr(by_kind, "_record", lambda _: _Own)
    assert read('{"kind": "own", "points": 3}', strict=strict) == _Own(points=3)
    with pytest.raises(ValidationError):
        read('{"kind": "own", "points": "many"}', strict=strict)


def test_what_is_of_no_kind_is_kept_and_no_baseline_keeps_it() -> None:
    found = read('{"kind": "elsewhere", "points": 3}')
    assert isinstance(found, OtherDetails)
    assert found.model_dump() == {"kind": "elsewhere", "points": 3}
    assert found.summary() == OtherDetails(kind="elsewhere")


def test_the_schema_has_the_details_of_every_kind() -> None:
    schema = Result.model_json_schema()
    text = json.dumps(schema)
    assert all(f'"title": "{name.capitalize()}Details"' in text for name in kinds())
    assert set(re.findall(r'"#/\$defs/([^"]+)"', text)) <= set(schema["$defs"])
