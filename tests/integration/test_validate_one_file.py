"""`evalward validate FILE` with a file that is no config: it is checked as what it is."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser, guarded
from support.cases import task, write_suite
from support.fuzzing.folders import write_files
from support.showing import world_of
from support.skills import PDF, as_bytes
from support.skills import suite as skill_suite

TAKES = "`validate` takes configs, baselines, and files that a config's suites name, such as their cases."


def said(folder: Path, *files: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit code and all that is said, without the proofs."""
    monkeypatch.chdir(folder)
    args = build_parser().parse_args(["validate", "--no-prove", *files])
    world = world_of(folder)
    code = guarded(world, lambda world: args.handler(world, args))
    assert isinstance(world.out, StringIO)
    assert isinstance(world.err, StringIO)
    return code, world.out.getvalue() + world.err.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A config with two suites, of which each has cases of its own."""
    write_suite(tmp_path, [task(), task(id="b")])
    config = json.loads((tmp_path / "evalward.yml").read_text("utf-8"))
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "more.jsonl").write_text(json.dumps(task()) + "\n", "utf-8")
    (tmp_path / "evals" / "prompt.md").write_text("You are a shell.\n", "utf-8")
    more = {"name": "more", "cases": "evals/*.jsonl", "system": "evals/prompt.md"}
    config["suites"].append({**config["suites"][0], **more})
    (tmp_path / "evalward.yml").write_text(json.dumps(config), "utf-8")
    return tmp_path


def test_cases_are_checked_as_the_suite_that_names_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = said(folder, "cases.jsonl", "evals/more.jsonl", monkeypatch=monkeypatch)
    assert found == (
        0,
        "cases.jsonl: 2 cases, suite shell of evalward.yml, no problem\n"
        "evals/more.jsonl: 1 case, suite more of evalward.yml, no problem\n",
    )
    prompt = said(folder, "evals/prompt.md", monkeypatch=monkeypatch)
    assert prompt == (0, "evals/prompt.md: suite more of evalward.yml, no problem\n")


RULES = (
    "bash: overall_rate (goal 0.9, max_drop 0.05), pass_rate (max_drop 0.05), "
    "tool_call_success_rate (goal 0.8, max_drop 0.05)"
)


def test_without_a_policy__one_line_says_which_rules_decide(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = said(folder, "evalward.yml", monkeypatch=monkeypatch)
    assert code == 0
    assert text.splitlines()[1:] == [f"  no policy: the default rules decide: {RULES}"]


def test_with_a_policy__nothing_is_said_of_other_rules(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = json.loads((folder / "evalward.yml").read_text("utf-8"))
    config["policy"] = [{"metric": "pass_rate", "floor": 0.5}]
    (folder / "evalward.yml").write_text(json.dumps(config), "utf-8")
    code, text = said(folder, "evalward.yml", monkeypatch=monkeypatch)
    assert (code, len(text.splitlines())) == (0, 1)


def test_the_config_is_found_from_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = said(folder / "evals", "../cases.jsonl", monkeypatch=monkeypatch)
    assert (code, text) == (0, "../cases.jsonl: 2 cases, suite shell of ../evalward.yml, no problem\n")


def test_a_mistake_has_its_line_and_other_suites_are_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / "cases.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"id": "c",}\n')
    code, text = said(folder, "cases.jsonl", monkeypatch=monkeypatch)
    assert (code, text.count("error: ")) == (2, 1)
    assert "cases.jsonl:3: " in text
    assert said(folder, "evals/more.jsonl", monkeypatch=monkeypatch)[0] == 0


def test_a_baseline_is_checked_as_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provenance = {"created_at": "2026-11-23T08:00:00Z", "evalward": "1"}
    baseline = {"schema": "evalward.baseline/1", "provenance": provenance, "runs": []}
    (folder / "known.json").write_text(json.dumps(baseline), "utf-8")
    assert said(folder, "known.json", monkeypatch=monkeypatch) == (
        0,
        "known.json: a baseline of 0 runs, 0 cases, no problem\n",
    )
    (folder / "known.json").write_text(json.dumps({**baseline, "runs": 3}), "utf-8")
    code, text = said(folder, "known.json", monkeypatch=monkeypatch)
    assert (code, text.count("error: ")) == (2, 1)
    assert "known.json: runs: " in text


def test_what_it_does_not_take_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "report.json").write_text('{"schema": "evalward.report/1", "version": 1, "runs": []}', "utf-8")
    assert said(folder, "report.json", monkeypatch=monkeypatch) == (
        2,
        f"error: report.json: this is not a config or a baseline, and no suite of evalward.yml names it. {TAKES}\n",
    )
    (folder / "evalward.yml").unlink()
    assert said(folder, "cases.jsonl", monkeypatch=monkeypatch) == (
        2,
        f"error: cases.jsonl: this is not a config or a baseline, and there is no evalward.yml near it. {TAKES}\n",
    )


def test_a_skills_own_evals_are_checked_with_its_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evals = [{"query": "Merge two PDF files", "should_trigger": True}]
    write_files(tmp_path, {"skills/pdf/SKILL.md": PDF.encode(), "skills/pdf/evals/triggers.json": as_bytes(evals)})
    config = {"version": 1, "suites": [{**skill_suite(), "name": "skills"}]}
    write_files(tmp_path, {"evalward.yml": as_bytes(config), "skills/other.json": b"[]"})
    code, words = said(tmp_path, "skills/pdf/evals/triggers.json", monkeypatch=monkeypatch)
    assert (code, words.splitlines()[0]) == (
        0,
        "skills/pdf/evals/triggers.json: 1 case, suite skills of evalward.yml, no problem",
    )
    code, words = said(tmp_path, "skills/other.json", monkeypatch=monkeypatch)
    assert code == 2
    assert "no suite of evalward.yml names it" in words
