"""`evalward.api`, and the examples of it, as people run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalward import api
from evalward.api import InputError
from evalward.decide.baseline import dump_baseline
from support import warm
from support.results import passes, report, result, run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def script(name: str, *words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    env, example = {"PATH": os.environ["PATH"]}, EXAMPLES / "api" / name
    if warm.in_use():
        return warm.ended(warm.WarmCommand(example, *words, cwd=cwd, env=env, program=warm.SCRIPT), name, *words)
    command = [sys.executable, str(example), *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600)


# --- the examples -----------------------------------------------------------------------------------------------------


@pytest.mark.cold  # an example as people start it, with a runner of its own; the others start warm
def test_notebook__two_runs_side_by_side_and_one_against_the_other(tmp_path: Path) -> None:
    done = script("notebook.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fail - worked-examples × replay:assistant: csr is 60.0 % (9 of 15), below its floor of 90 %" in done.stdout
    broken = [line.split()[0] for line in done.stdout.splitlines() if " passed -> failed " in line]
    assert broken == [
        *(
            "worked-clean-cache",
            "worked-copy",
            "worked-count",
            "worked-newest",
            "worked-refuse-wipe",
            "worked-sequence",
        ),
    ]
    assert done.stdout.endswith(
        "worked-examples × replay:assistant: 14 of 15\nworked-examples × replay:assistant: 9 of 15\n"
    )


def test_nightly__the_second_night_is_compared_with_the_first(tmp_path: Path) -> None:
    first = script("nightly.py", cwd=tmp_path)
    assert (first.returncode, "nothing was compared" in first.stdout) == (0, True), first.stderr
    worse = script("nightly.py", EXAMPLES / "commands" / "pull-request.yml", cwd=tmp_path)
    assert worse.returncode == 1, worse.stderr
    assert "worked-examples × replay:assistant: csr is 60.0 % (9 of 15)" in worse.stdout
    folder = tmp_path / "evalward-out" / "nightly"
    assert "worked-refuse-wipe" in (folder / "night.md").read_text("utf-8")
    assert "<testsuites" in (folder / "night.xml").read_text("utf-8")
    assert json.loads((folder / "last-night.json").read_text("utf-8"))["schema"] == "evalward.report/1"
    wrong = script("nightly.py", "nothing.yml", cwd=tmp_path)
    assert (wrong.returncode, "error: nothing.yml: there is no such file" in wrong.stderr) == (2, True)


def test_custom_gate__a_safety_case_that_broke_fails_it_whatever_the_rates_say(tmp_path: Path) -> None:
    cases = [result(f"c{number}", category="safety" if number == 0 else "basic") for number in range(100)]
    before, after = report(run(cases)), report(run([result("c0", "failed", category="safety"), *cases[1:]]))
    (tmp_path / "b.json").write_text(dump_baseline(api.update_baseline(before)), "utf-8")
    for name, one in (("before", before), ("after", after)):
        (tmp_path / f"{name}.json").write_text(api.render(one, "json"), "utf-8")
    good = script("custom_gate.py", "before.json", "b.json", cwd=tmp_path)
    assert (good.returncode, good.stdout.count("our gate")) == (0, 0), good.stdout + good.stderr
    bad = script("custom_gate.py", "after.json", "b.json", cwd=tmp_path)
    assert bad.returncode == 1
    assert bad.stdout.splitlines()[1] == f"our gate: {before.runs[0].name}: c0 broke (passed -> failed)"
    assert script("custom_gate.py", "nothing.json", "b.json", cwd=tmp_path).returncode == 2
    asked = script("custom_gate.py", cwd=tmp_path)
    assert (asked.returncode, asked.stderr) == (2, "usage: custom_gate.py REPORT.json BASELINE.json\n")


# --- what each function gives -----------------------------------------------------------------------------------------


def test_check_gives_what_the_command_gives(tmp_path: Path) -> None:
    config = str(EXAMPLES / "bash-tools" / "pull-request.yml")
    words = ("check", "--config", config, "--output", str(tmp_path / "cli"))
    done = warm.evalward(*words, env={"PATH": os.environ["PATH"]})
    code = (
        "import sys; from evalward import api\n"
        "found = api.check(sys.argv[1], sys.argv[2])\n"
        "print(api.render(found.judgement, 'json'))\n"
        "sys.exit(found.verdict.exit_code)"
    )
    asked = (config, str(tmp_path / "api"))
    env = {"PATH": os.environ["PATH"]}
    if warm.in_use():
        ours = warm.ended(warm.WarmCommand(*asked, cwd=Path.cwd(), env=env, program=code), *asked)
    else:
        command = [sys.executable, "-c", code, *asked]
        ours = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert ours.returncode == done.returncode == 1, ours.stderr
    judged = json.loads(ours.stdout)
    command_line = json.loads((tmp_path / "cli" / "judgement.json").read_text("utf-8"))
    assert judged["verdict"] == command_line["verdict"]
    assert (tmp_path / "api" / "report.json").exists()


def test_what_is_loaded_is_measured_anew(tmp_path: Path) -> None:
    forged = report(run([result("a", "failed"), result("b")]))
    metrics = {"pass_rate": forged.runs[0].metrics["pass_rate"].model_copy(update={"numerator": 2, "value": 1.0})}
    lying = forged.model_copy(update={"runs": [forged.runs[0].model_copy(update={"metrics": metrics})]})
    (tmp_path / "r.json").write_text(api.render(lying, "json"), "utf-8")
    assert api.load_report(tmp_path / "r.json").runs[0].metrics["pass_rate"].value == 0.5


def test_baseline_and_verdict_without_a_file(tmp_path: Path) -> None:
    good, bad = report(run(passes("a", "b"))), report(run([result("a", "failed"), result("b")]))
    baseline = api.update_baseline(good)
    (tmp_path / "b.json").write_text(api.render(baseline), "utf-8")
    assert api.load_baseline(tmp_path / "b.json") == baseline
    assert [case.change for case in api.compare(bad, baseline).runs[0].cases] == ["broken", "same"]
    policy = api.Policy(rules=[api.Rule(metric="pass_rate", floor=0.9)])
    assert api.decide(bad, baseline, policy).verdict.outcome is api.Outcome.FAIL
    assert api.decide(good, baseline, policy).verdict.outcome is api.Outcome.PASS
    assert "pass_rate" in api.render(api.decide(bad, baseline, policy), "markdown")


def test_a_suite_that_is_not_there() -> None:
    config = api.load_config(EXAMPLES / "commands" / "evalward.yml")

    class Nobody(api.OfflineTarget):
        id = "nobody/1"
        random = False
        subject: dict[str, str] = {}

        def open(self, case: api.Case, trial: int) -> api.Chat:
            raise AssertionError(case.id)

    with pytest.raises(InputError, match="there is no suite 'x'"):
        api.record(config, "x", Nobody())


def test_everything_that_is_named_is_there() -> None:
    assert sorted(api.__all__, key=lambda name: (name[0].islower(), name)) == api.__all__
    assert [name for name in api.__all__ if getattr(api, name, None) is None] == []
    described = (ROOT / "docs" / "api.md").read_text("utf-8")
    functions = [name for name in api.__all__ if name.islower()]
    assert [name for name in functions if f"`{name}" not in described] == []
