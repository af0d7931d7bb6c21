"""`evalward guidance` as users have it: the example, another commit's guidance, two reports; no key is needed."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evalward.records.guidance import GuidanceComparison, GuidanceReport
from support import warm
from support.git_repo import commit, git, init
from support.patience import wait_until

EXAMPLE = Path(__file__).parents[2] / "examples" / "guidance"
ONE_STAYS = """
    while any("passport" in note["text"] for note in notes):
        subprocess.run(["sleep", "60"])
"""
TRIALS = 4  # the fewest by which something shows beyond chance, when all trials of a guidance go alike


@dataclass(frozen=True)
class Ran:
    """Exit code and outputs of a command."""

    code: int
    out: str
    err: str


def evalward(*arguments: str | Path, cwd: Path | None = None) -> Ran:
    """The command, run without any key."""
    done = warm.evalward(*arguments, cwd=cwd, env={"PATH": os.environ["PATH"], "COLUMNS": "140"})
    return Ran(done.returncode, done.stdout, done.stderr)


def loaded_dice(folder: Path) -> Path:
    """The example with an agent whose dice fall the same in each trial: nothing here hangs on luck."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("evalward-out"))
    reader = folder / "reader.py"
    text = reader.read_text("utf-8")
    assert text.count("random.SystemRandom()") == 1
    reader.write_text(text.replace("random.SystemRandom()", "random.Random(1)"), "utf-8")
    return folder


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of the example: three guidances, four trials of each scenario."""
    folder = tmp_path_factory.mktemp("example")
    output, config = folder / "out", loaded_dice(folder / "guidance") / "evalward.yml"
    ran = evalward("guidance", "--config", config, "--trials", str(TRIALS), "--output", output)
    assert ran.code == 0, ran.err
    assert "clear against current: better on error_rate, help_seeking" in " ".join(ran.out.split())
    return output


def comparison(output: Path) -> GuidanceComparison:
    (found,) = GuidanceReport.model_validate_json((output / "guidance.json").read_bytes()).comparisons
    return found


def test_the_example__tells_which_guidance_is_better_and_on_what(example: Path) -> None:
    found = comparison(example)
    assert [column.name for column in found.columns] == ["current", "clear", "none"]
    assert found.cases == ["note-the-day", "pack-for-the-trip"]
    standing = {d.name: d.standing for d in found.of("clear")}
    assert {standing[name] for name in ("error_rate", "help_seeking", "commands")} == {"better"}
    assert standing["completion"] == "same"


def test_the_example__says_what_the_guidance_should_say(example: Path) -> None:
    current, clear, none = comparison(example).columns
    assert current.advice[0].startswith('`jot add --text "buy milk" --label shop` failed in 8 of 8 trials')
    assert "Show an example that works: `jot add " in current.advice[0], current.advice
    assert [finding.id for finding in clear.findings] == ["clear_docs"]
    assert "docs_too_short" in [finding.id for finding in none.findings]


def test_the_example__judge_scores_each_guidance(example: Path) -> None:
    scores = [
        number.value.value
        for column in comparison(example).columns
        for number in column.numbers
        if number.name == "judge"
    ]
    assert scores == pytest.approx([0.4, 0.925, 0.6])
    text = (example / "guidance.md").read_text("utf-8")
    assert "is a recording: it doesn't read what it judges" in text


def names_below(folder: Path) -> list[str]:
    """The files in a folder that is changed meanwhile: `rglob` fails where a folder goes as it looks."""
    return [name for _, _, names in os.walk(folder) for name in names]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal__ends_every_guidance(tmp_path: Path, number: signal.Signals) -> None:
    """What was not begun isn't begun, nothing passes for a comparison, and nothing of ours is left."""
    folder = loaded_dice(tmp_path / "guidance")
    reader, config = folder / "reader.py", folder / "evalward.yml"
    text, notes = reader.read_text("utf-8"), "    notes = list(NOTE.finditer(sys.stdin.read()))\n"
    assert text.count(notes) == 1
    reader.write_text(text.replace(notes, notes + ONE_STAYS), "utf-8")
    config.write_text(config.read_text("utf-8").replace("timeout_s: 120", "timeout_s: 3600"), "utf-8")
    output, left = tmp_path / "out", tmp_path / "tmp"
    left.mkdir()
    words: list[str | Path] = ["guidance", "--config", config, "--output", output]
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(left)}
    process = warm.start_evalward(*words, cwd=tmp_path, env=env)
    wait_until(lambda: any(name.startswith("note-the-day.") for name in names_below(output)))
    process.send_signal(number)
    done = warm.ended(process, *words)
    assert done.returncode == 3
    assert f"interrupted by {number.name}: not everything was run; `--resume` keeps what is done" in done.stderr
    assert "Guidance clear" not in done.stderr
    assert [path.name for path in (output / "guidance").iterdir()] == ["current"]
    (found,) = GuidanceReport.model_validate_json((output / "guidance.json").read_bytes()).comparisons
    assert found.not_measured == f"the run ended early: interrupted by {number.name}"
    assert list(left.iterdir()) == []


def test_the_example__is_valid() -> None:
    assert evalward("validate", EXAMPLE / "evalward.yml").code == 0


def test_another_commits_guidance__and_the_checkout_stays_as_it_is(tmp_path: Path) -> None:
    repo = init(tmp_path / "repo")
    loaded_dice(repo / "evals")
    scenario = repo / "evals" / "cases" / "note-the-day.yaml"
    unjudged = scenario.read_text("utf-8").replace("{enabled: true, ", "{enabled: false, ")  # nobody recorded v1
    commit(repo, {"evals/cases/note-the-day.yaml": unjudged})
    git(repo, "tag", "v1")
    guide = (EXAMPLE / "cases" / "guides" / "clear.md").read_text("utf-8")
    commit(repo, {"evals/cases/jot/AGENTS.md": guide})
    words = ("guidance", "--config", "evals/evalward.yml", "--trials", str(TRIALS))
    ran = evalward(*words, "--against", "v1", "--format", "json", cwd=repo)
    assert ran.code == 0, ran.err
    (found,) = json.loads(ran.out)["comparisons"]
    assert [column["name"] for column in found["columns"]] == ["v1", "current"]
    assert found["cases"] == ["note-the-day", "pack-for-the-trip"]
    standing = {d["name"]: d["standing"] for d in found["differences"]}
    assert standing["error_rate"] == "better"
    assert git(repo, "status", "--porcelain", "--", "evals") == ""
    assert (repo / "evals/cases/jot/AGENTS.md").read_text("utf-8") == guide

    same = evalward(*words, "--against", "HEAD", cwd=repo)
    assert same.code == 2
    assert "there is nothing to compare. The guidance of HEAD is the same" in same.err
    gone = evalward(*words, "--against", "--upload-pack=x", cwd=repo)
    assert (gone.code, "--against: a value is missing" in gone.err) == (2, True)
    unknown = evalward(*words, "--against", "nowhere", cwd=repo)
    assert (unknown.code, "there is no commit 'nowhere' here" in unknown.err) == (2, True)


def result(trial: int, errors: int) -> dict[str, Any]:
    interaction = {"total_commands": 10, "unique_commands": 3, "error_count": errors, "first_try_count": 3}
    details = {"kind": "scenario", "interaction": interaction, "gates_passed": 1, "gates_total": 1, "completed": True}
    named = {"id": "a", "category": "c", "definition": "sha256:d", "trial": trial, "status": "passed"}
    return {**named, "details": details}


def report(path: Path, errors: int, kind: str = "scenario") -> Path:
    cases = [result(trial, errors) for trial in range(1, 9)]
    run = {"suite": "s", "kind": kind, "target": "t", "trials": 8, "random": True, "subject": {"hash": "sha256:s"}}
    record = {
        "schema": "evalward.report/1",
        "tool": {"version": "1"},
        "created_at": "2026-11-21T08:00:00Z",
        "runs": [{**run, "cases": cases}],
    }
    path.write_text(json.dumps(record), "utf-8")
    return path


def test_two_reports_side_by_side(tmp_path: Path) -> None:
    before, after = report(tmp_path / "v1.json", 4), report(tmp_path / "v2.json", 1)
    ran = evalward("guidance", before, after, "--format", "markdown")
    assert ran.code == 0, ran.err
    assert "**`v2` against `v1`\\: better on `error_rate`, by more than chance.**" in ran.out
    assert "40.0 % (32/80) | 10.0 % (8/80)" in ran.out


def test_what_can_not_be_compared_is_told(tmp_path: Path) -> None:
    one, other = report(tmp_path / "v1.json", 4), report(tmp_path / "v2.json", 4, kind="bash")
    assert "one report has nothing to be compared with" in evalward("guidance", one).err
    assert "the report has no run of scenarios" in evalward("guidance", other, one).err
    assert "not every report has this run" in evalward("guidance", one, other).out
