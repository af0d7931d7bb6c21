"""The published JSON Schemas: today's, valid, and of one mind with every file of the examples."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from evalward.cli import build_parser, guarded
from evalward.commands.schema import PUBLISHED, schema_of, schema_text
from evalward.commands.world import World
from evalward.decide.history_file import entries_of
from evalward.records.base import json_text
from evalward.registry import SCHEMAS, ours
from support import example_reports, judgements
from support.results import passes, report, run

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "src" / "evalward" / "schemas"
EXAMPLES = ROOT / "examples"

WRITTEN = {  # pattern below examples/ → what its files are
    "*/evalward.yml": "evalward",
    "[!w]*/pull-request.yml": "evalward",
    "*/.evalward/baseline.json": "baseline",
    "*/recordings/*.jsonl": "trial",
    "bash-tools/cases/*.jsonl": "bash-case",
    "bash-tools/smoke/*.jsonl": "bash-case",
    "commands/cases/*.yaml": "command-cases",
    "commands/worked-examples.yaml": "command-cases",
    "scenarios/cases/*.yaml": "scenario",
    "guidance/cases/*.yaml": "scenario",
    "speedup/tasks/*.yaml": "speedup-task",
    "prompt-files/prompts/*.prompt.yml": "prompt-file",
    "mcp/cases/*.yaml": "mcp-cases",
    "mcp/run-cases/*.yaml": "mcp-cases",
}
FILES = [(path, name) for pattern, name in WRITTEN.items() for path in sorted(EXAMPLES.glob(pattern))]


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")))


def problems(name: str, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}"[:300] for error in validator(name).iter_errors(value)]


def values(path: Path) -> Iterator[Any]:
    """What a file holds: a value, or one a line."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        yield from (json.loads(line) for line in text.splitlines() if line.strip() and not line.startswith(("#", "//")))
    else:
        yield json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


@cache
def printed() -> dict[str, str]:
    """The schemas as a process of their own gives them, as `make schemas` has it: which records of ours a process has
    built before decides whether pydantic names a record in a schema, or writes it out.
    """
    program = (
        "import json; from evalward.commands.schema import schema_text; from evalward.registry import SCHEMAS, ours; "
        "print(json.dumps({name: schema_text(name) for name in ours(SCHEMAS)}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ours(SCHEMAS))
def test_the_published_schema_is_todays(name: str) -> None:
    assert (FOLDER / f"{name}.schema.json").read_text("utf-8") == printed()[name], "Run `make schemas`."


def test_nothing_else_is_published() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.schema.json" for name in ours(SCHEMAS)}


@pytest.mark.parametrize("name", ours(SCHEMAS))
def test_it_is_a_valid_schema_that_says_where_it_is(name: str) -> None:
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"{PUBLISHED}/{name}.schema.json"
    assert (ROOT / PUBLISHED.partition("/main/")[2]).samefile(FOLDER)


@pytest.mark.parametrize(("path", "name"), FILES, ids=[str(path.relative_to(EXAMPLES)) for path, _ in FILES])
def test_every_file_of_the_examples_is_valid(path: Path, name: str) -> None:
    found = list(values(path))
    assert found
    assert [problem for value in found for problem in problems(name, value)] == []


def test_every_pattern_has_files() -> None:
    assert [pattern for pattern in WRITTEN if not list(EXAMPLES.glob(pattern))] == []


def test_what_is_measured_and_decided_is_valid() -> None:
    measured = [example_reports.report("one"), report(run(passes("a", "b")))]
    decided = [judgements.failed(), judgements.several(), judgements.inconclusive(), judgements.unjudged()]
    assert [problem for one in measured for problem in problems("report", json.loads(json_text(one)))] == []
    assert [problem for one in decided for problem in problems("judgement", json.loads(json_text(one)))] == []
    lines = entries_of(measured[1], None, "main")
    assert lines
    assert [
        problem for one in lines for problem in problems("history", json.loads(one.model_dump_json(by_alias=True)))
    ] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("report", {"schema": "evalward.report/1", "created_at": "2026-11-21T08:00:00Z"}),
        ("report", {"schema": "evalward.trial/1", "tool": {"version": "1"}, "created_at": "2026-11-21T08:00:00Z"}),
        ("history", {"schema": "evalward.history/1"}),
        ("bash-case", {"id": "a", "category": "c", "prompt": "p", "expectations": []}),
        ("bash-case", {"id": "a", "category": "c", "prompt": "p", "expectations": [{"check": "exit_code:0"}], "x": 1}),
        ("command-cases", [{"id": "a", "prompt": "p", "category": "c", "match": "nearly"}]),
        ("scenario", {"name": "n", "template_folder": "f", "target": {"binary": "./x"}}),
        ("speedup-task", {"id": "a"}),
        ("external-row", {"case": "a", "status": "green"}),
        ("external-row", {"case": "a", "status": "passed", "tokens": 1}),
    ],
)
def test_what_a_reader_refuses_is_not_valid(name: str, value: Any) -> None:
    assert problems(name, value)


def test_the_command_prints_one_or_lists_the_names(tmp_path: Path) -> None:
    def called(*words: str) -> tuple[int, str, str]:
        args = build_parser().parse_args(["schema", *words])
        out, err = StringIO(), StringIO()
        world = World(out=out, err=err, now=lambda: "2026-11-22T08:00:00Z", env={}, cwd=tmp_path)
        return guarded(world, lambda world: args.handler(world, args)), out.getvalue(), err.getvalue()

    assert called("history") == (0, schema_text("history"), "")
    assert called()[1].split() == list(ours(SCHEMAS))
    assert called("trial", "--output", "t.json")[0] == 0
    assert (tmp_path / "t.json").read_text("utf-8") == schema_text("trial")
    code, _, err = called("reprot")
    assert (code, "Did you mean" in err and "report" in err) == (2, True)
