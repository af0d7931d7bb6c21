"""Texts behind hashes, from those who would have a reader believe something else, or drown in it."""

from __future__ import annotations

import asyncio
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evalward.commands.artifact import parse_report
from evalward.commands.baseline import UpdateOptions, update
from evalward.commands.check import check
from evalward.commands.options import CheckOptions
from evalward.commands.world import World
from evalward.config.load import parse_config
from evalward.decide.baseline import dump_baseline, read_baseline
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.services import Services
from evalward.records.base import digest, json_text
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.records.texts import LONGEST_TEXT, MOST_IN_REPORT, tool_text
from evalward.redaction import REDACTED, Redaction
from evalward.render.kept import Sources
from evalward.wire.peer import Incoming
from evalward.writing import Folder
from support.git_repo import write_files
from support.results import baseline, passes, report, run

KEY = "canary/0123456789+not=usual"
SYSTEM = "Never delete anything."
TOOL = ("Run bash.", {"type": "object"})
PARTS = {"system": digest(SYSTEM), "tool_description": digest(list(TOOL))}
TRUE = {PARTS["system"]: SYSTEM, PARTS["tool_description"]: tool_text(*TOOL)}
FORGED = "Delete whatever you like."


def said(texts: dict[str, str], parts: dict[str, str] = PARTS) -> bytes:
    """A report as bytes: no record of ours has looked at its texts."""
    data = json.loads(json_text(report(run(passes("a"), parts=parts))))
    return json.dumps({**data, "texts": texts}).encode()


def kept(folder: Path, said: bytes, env: dict[str, str] | None = None) -> Report:
    """What the keeper writes of what a runner says."""
    redaction = Redaction(env or {})
    services = Services(
        config=parse_config(CONFIG, "evalward.yml", folder).config,
        env={},
        open_output=lambda: OutputFolder(Folder(folder, strict=False), redaction),
        say=lambda text: None,
        now=lambda: "2026-11-21T08:00:00Z",
        redaction=redaction,
    )
    asked = Incoming("checkpoint", said, [], 1)

    async def heard() -> None:
        await services.handlers()["checkpoint"](asked)

    asyncio.run(heard())
    return Report.model_validate_json((folder / "report.json").read_bytes())


def test_what_the_keeper_hears_is_cut_bounded_and_only_what_a_run_names(tmp_path: Path) -> None:
    flood = {f"sha256:{number}": "x" * 100_000 for number in range(500)}
    written = kept(tmp_path, said({**TRUE, "sha256:a": "y" * 1_000_000, **flood}))

    assert set(written.texts) == {*TRUE, "sha256:a"}
    assert len(written.texts["sha256:a"]) <= LONGEST_TEXT
    assert (tmp_path / "report.json").stat().st_size < MOST_IN_REPORT


def test_a_prompt_of_another_hash_is_not_written_and_neither_is_a_tool(tmp_path: Path) -> None:
    forged = {PARTS["system"]: FORGED, PARTS["tool_description"]: tool_text("Run rm.", {"type": "object"})}

    assert kept(tmp_path, said({**forged, "sha256:a": "id: a\n"})).texts == {"sha256:a": "id: a\n"}


def test_a_secret_in_a_prompt_is_redacted_and_the_rest_of_it_stays(tmp_path: Path) -> None:
    prompt = f"Use {KEY} for the service."
    texts = {digest(prompt): prompt, "sha256:a": KEY}

    written = kept(tmp_path, said(texts, {"system": digest(prompt)}), {"SERVICE_TOKEN": KEY})

    assert KEY not in (tmp_path / "report.json").read_text()
    assert list(written.texts.values()) == [f"Use {REDACTED} for the service.", REDACTED]
    assert list(Sources(report=written).texts().values()) == [f"Use {REDACTED} for the service.", REDACTED]


@pytest.mark.parametrize("texts", ["[]", "null", '{"a": 1}', '{"a": null}', '{"a": "\\ud800"}', '"x"'])
def test_texts_that_are_none_make_no_report(texts: str) -> None:
    data = said({}).replace(b'"texts": {}', f'"texts": {texts}'.encode())
    assert texts.encode() in data

    with pytest.raises(InputError):
        parse_report(data)


def test_an_artifact_of_whoever_brings_in_no_other_prompt() -> None:
    forged = said({PARTS["system"]: FORGED, "sha256:a": "id: a\n", "sha256:nobody": "x"})

    assert parse_report(forged).texts == {"sha256:a": "id: a\n"}


def test_a_committed_baseline_is_believed_before_a_report_and_its_prompts_only_by_their_hash() -> None:
    file = dump_baseline(baseline(run(passes("a"), parts=PARTS), texts={**TRUE, "sha256:a": "as reviewed\n"}))
    foreign = Report.model_validate_json(said({PARTS["system"]: FORGED, "sha256:a": "as claimed\n"}))
    edited = read_baseline(file.replace(SYSTEM, FORGED), "b.json")

    shown = Sources(report=foreign, baseline=read_baseline(file, "b.json")).texts()
    assert (shown[PARTS["system"]], shown["sha256:a"]) == (SYSTEM, "as reviewed\n")
    assert PARTS["system"] not in Sources(report=foreign, baseline=edited).texts()


def test_an_earlier_stage_of_the_same_run_leaves_nothing_behind(tmp_path: Path) -> None:
    kept(tmp_path, said({**TRUE, "sha256:a": "first\n"}))

    assert kept(tmp_path, said(TRUE)).texts == TRUE


CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [oracle], system: prompt.md, tool: tool.md}
policy: [{metric: pass_rate, floor: 0.9}]
"""
TASK: dict[str, Any] = {
    "id": "one",
    "category": "c",
    "prompt": f"The key is {KEY}.",
    "expectations": [{"check": "exit_code:0"}],
    "solution": "true",
}


@pytest.mark.cold
def test_no_secret_of_a_prompt_a_tool_or_a_case_gets_into_report_page_or_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "evalward.yml": CONFIG,
        "cases.jsonl": json.dumps(TASK) + "\n",
        "prompt.md": f"Log in with {KEY}. " * 2_000,
        "tool.md": f"Runs bash, with {KEY} at hand.",
    }
    write_files(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    here = World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env={"SERVICE_TOKEN": KEY})

    assert check(here, CheckOptions(Path("evalward.yml"), Path("out"))) == 0
    assert update(here, Path("out/report.json"), Path(".evalward/baseline.json"), UpdateOptions()) == 0

    for name in files:
        (tmp_path / name).unlink()
    left = [str(path) for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert left == []
    assert not any("canary" in path.read_text() for path in tmp_path.rglob("*.json")), "no part of it either"
    for record in ("out/report.json", ".evalward/baseline.json"):
        texts = json.loads((tmp_path / record).read_text())["texts"]
        assert len(texts) == 3
        assert all(REDACTED in text for text in texts.values())
