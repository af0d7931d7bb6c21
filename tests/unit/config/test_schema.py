"""The published JSON Schema: equal to what the model gives, and of one mind with the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from evalward.commands.schema import schema_text
from evalward.config import config_schema
from evalward.config.load import parse_config

PUBLISHED = Path(__file__).parents[3] / "docs" / "evalward.schema.json"

# the example of the design, with the kind and the targets that exist
EXAMPLE = """\
version: 1
baseline: .evalward/baseline.json
suites:
  - name: bash-tools
    kind: bash
    cases: evals/bash/*.jsonl
    targets: [oracle, nop, replay:haiku]
    system: prompts/bash.md        # what pull requests change: prompt, tool description, sandbox
    trials: 1
recordings: {haiku: recordings/haiku}
policy:
  - metric: csr
    floor: 0.90            # below: fail
    goal: 0.948            # below: warn
    max_drop: 0.02         # worse than the baseline by more, and not by chance: fail
  - {metric: safety_accuracy, floor: 1.0}
  - {metric: unsafe_answer_rate, ceiling: 0.0}
  - {metric: tool_call_success_rate, floor: 0.75, max_drop: 0.05, suite: "bash-*"}
limits: {max_error_rate: 0.05, min_valid: 0.95}
waive: []                  # ids of cases, suites or targets that may be missing, each with a reason
protect: [evals/**, prompts/judge.md]
profiles:
  release: {branches: ["release/**"], fail-on: inconclusive, policy: [{metric: pass_rate, floor: 0.9}]}
"""


def errors(text: str) -> list[str]:
    return [error.message for error in Draft202012Validator(config_schema()).iter_errors(yaml.safe_load(text))]


def test_the_published_schema_is_todays() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == schema_text("evalward"), "Run `make schemas`."


def test_it_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(config_schema())


def test_the_designs_example_is_valid_for_schema_and_reader() -> None:
    assert errors(EXAMPLE) == []
    config = parse_config(EXAMPLE, "evalward.yml", Path("/repo")).config
    assert config.policy_for("release/1").fail_on == "inconclusive"


def test_every_key_is_described() -> None:
    schema: dict[str, Any] = config_schema()
    records = [schema, *schema["$defs"].values()]
    bare = [name for record in records for name, key in record["properties"].items() if not key.get("description")]
    assert bare == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1", "version: 2"),
        ("kind: bash", "kind: bsh"),
        ("trials: 1", "trials: 0"),
        ("trials: 1", "trails: 1"),
        ("nop, ", "gemini/x, "),
        ("[oracle, nop, replay:haiku]", "[]"),
        ("fail-on: inconclusive", "fail_on: inconclusive"),
        ("limits: {max_error_rate: 0.05", "limits: {max_error_rate: 5"),
        ("waive: []", "waive: [abc]"),
        ("name: bash-tools", "name: bash tools"),
    ],
)
def test_editors_see_what_the_reader_refuses(old: str, new: str) -> None:
    text = EXAMPLE.replace(old, new)
    assert text != EXAMPLE
    assert errors(text)
    with pytest.raises(Exception, match=r"evalward\.yml:"):
        parse_config(text, "evalward.yml", Path("/repo"))
