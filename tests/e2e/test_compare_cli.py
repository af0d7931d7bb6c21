"""`evalward compare` judges as `check` does; results and configs are found where they lie."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support import warm
from support.git_repo import init

CONFIG = """\
version: 1
suites:
  - {{name: tools, kind: bash, cases: cases.jsonl, targets: [oracle]}}
policy:
  - {{metric: pass_rate, floor: {floor}}}
"""
Call = Callable[..., tuple[int, str, str]]


def case(name: str, solution: str) -> str:
    expectations = [{"check": f"stdout_contains:{name}"}]
    return json.dumps({"id": name, "category": "c", "prompt": "p", "expectations": expectations, "solution": solution})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which one case of two fails, and a floor that this breaks; its baseline allows it; checked."""
    repo = init(tmp_path_factory.mktemp("made"))
    (repo / "evalward.yml").write_text(CONFIG.format(floor=0.9), "utf-8")
    lines = [case("one", "echo one"), case("two", "echo wrong")]
    (repo / "cases.jsonl").write_text("\n".join(lines), "utf-8")
    (repo / "sub").mkdir()
    assert called(repo, "run")[0] == 0
    assert called(repo, "baseline", "update")[0] == 0
    assert called(repo, "check")[0] == 1
    return repo


def called(folder: Path, *words: str) -> tuple[int, str, str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "120"}
    done = warm.evalward(*words, cwd=folder, env=env)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def checked(made: Path, tmp_path: Path) -> Path:
    """The same, for one test."""
    return shutil.copytree(made, tmp_path / "checked", symlinks=True)


def verdict(folder: Path, *words: str) -> tuple[int, dict[str, object]]:
    code, out, err = called(folder, "compare", *words, "--format", "json")
    assert out, err
    found = json.loads(out)["verdict"]
    assert isinstance(found, dict)
    return code, found


def test_same_report__same_verdict_as_check(checked: Path) -> None:
    judged = json.loads((checked / "evalward-out/judgement.json").read_text("utf-8"))["verdict"]
    assert verdict(checked) == (1, judged)
    assert verdict(checked, "--report", "evalward-out", "--config", "evalward.yml") == (1, judged)
    assert verdict(checked, "--report", "evalward-out/report.json", "--policy", "evalward.yml") == (1, judged)


def test_from_a_folder_below__the_config_s_paths_are_its_own(checked: Path) -> None:
    code, found = verdict(checked / "sub", "--report", "../evalward-out")
    assert (code, found["outcome"]) == (1, "fail")


def test_without_a_config__it_says_which_rules_decide(checked: Path) -> None:
    report, baseline = checked / "evalward-out/report.json", checked / ".evalward/baseline.json"
    (checked / "evalward.yml").unlink()
    code, _, err = called(checked, "compare", "--report", str(report), "--baseline", str(baseline))
    assert code == 0
    assert err == (
        "note: no evalward.yml in this folder or above; the default rules decide: bash: "
        "overall_rate (goal 0.9, max_drop 0.05), pass_rate (max_drop 0.05), "
        "tool_call_success_rate (goal 0.8, max_drop 0.05)\n"
    )
    code, _, err = called(checked, "compare")
    assert code == 2
    assert err == (
        "error: --baseline: no baseline is named, and no evalward.yml in this folder or above names one. "
        "Name the file: --baseline FILE.\n"
    )


def test_before_the_first_baseline__nothing_is_compared(checked: Path) -> None:
    (checked / ".evalward/baseline.json").unlink()
    code, found = verdict(checked)
    assert (code, found["outcome"]) == (1, "fail"), "the floor is broken all the same"


def test_named_baseline_that_is_missing__is_an_error(checked: Path) -> None:
    code, _, err = called(checked, "compare", "--baseline", "nope.json")
    assert code == 2
    assert err.startswith("error: nope.json: there is no such baseline")


@pytest.mark.parametrize(
    "words",
    [
        ("report", "evalward-out"),
        ("show", "--report", "evalward-out"),
        ("view", "--report", "evalward-out"),
        ("history", "append", "--report", "evalward-out", "--judgement", "evalward-out"),
        ("baseline", "update", "--report", "evalward-out", "--dry-run", "--accept", "so"),
        ("export", "bashkit-eval", "evalward-out", "--output", "out.json"),
        ("release", "--report", "evalward-out", "--fail-on", "never"),
    ],
)
def test_folder_of_a_report__stands_for_it(checked: Path, words: tuple[str, ...]) -> None:
    code, _, err = called(checked, *words)
    assert code == 0, err


def test_folder_of_a_report__is_the_same_to_guidance(checked: Path) -> None:
    assert called(checked, "guidance", "evalward-out", "evalward-out/report.json") == (
        2,
        "",
        "error: evalward-out/report.json: the same report is named twice. Compare it with another one.\n",
    )


def test_folder_without_a_report__names_the_file_that_is_missed(checked: Path) -> None:
    assert called(checked, "compare", "--report", "sub") == (
        2,
        "",
        "error: sub/report.json: there is no such report. Make one with `evalward run`.\n",
    )


def test_missing_judgement__says_where_it_lies(checked: Path) -> None:
    code, _, err = called(checked, "history", "append", "--judgement", "judgement.json")
    assert (code, err) == (
        2,
        "error: judgement.json: there is no such judgement. It is evalward-out/judgement.json, next to the report.\n",
    )


def test_validate__takes_a_config_as_every_command(checked: Path) -> None:
    (checked / "evalward.yml").rename(checked / "other.yml")
    assert called(checked, "validate", "--config", "other.yml")[0] == called(checked, "validate", "other.yml")[0]
    code, _, err = called(checked, "validate")
    assert (code, err.split(": ")[1]) == (2, "evalward.yml")


def test_check__finds_the_config_above(checked: Path) -> None:
    (checked / "evalward.yml").rename(checked / "evalward.yaml")
    code, _, _ = called(checked / "sub", "check", "--output-dir", "out", "--suite", "tools,others*")
    assert code == 1
    assert (checked / "sub/out/report.json").is_file()
