"""The command line as users have it: processes, exit codes, what they read. Each exit code once from a `cold` one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support import warm
from support.live_runs import Done

EXAMPLE = Path(__file__).parents[2] / "examples" / "bash-tools"

CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, max_drop: 0.1}
"""


def task(name: str, says: str = "", **more: Any) -> dict[str, Any]:
    checks = [{"check": f"stdout_contains:{name}"}, {"check": "exit_code:0"}]
    return {
        "id": name,
        "category": "echo",
        "prompt": f"Print {name}.",
        "expectations": checks,
        "solution": f"echo {says or name}",
        **more,
    }


def lines(*tasks: dict[str, Any]) -> str:
    return "".join(json.dumps(item) + "\n" for item in tasks)


def small(folder: Path) -> Path:
    """A small repository with a config and two cases."""
    (folder / "evalward.yml").write_text(CONFIG, "utf-8")
    (folder / "cases.jsonl").write_text(lines(task("one"), task("two")), "utf-8")
    return folder


def called(folder: Path, *words: str) -> Done:
    """A command in a folder."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "120"}
    done = warm.evalward(*words, cwd=folder, env=env)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return small(tmp_path)


@pytest.fixture
def evalward(repo: Path) -> Callable[..., Done]:
    return partial(called, repo)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small repository with a baseline."""
    folder = small(tmp_path_factory.mktemp("measured"))
    assert called(folder, "run").code == 0
    assert called(folder, "baseline", "update").code == 0
    return folder


@pytest.fixture
def based(measured: Path, repo: Path) -> Path:
    """The same, for one test."""
    return shutil.copytree(measured, repo, dirs_exist_ok=True)


@pytest.mark.cold
def test_help__names_every_command(evalward: Callable[..., Done]) -> None:
    done = evalward("--help")
    assert done.code == 0
    for command in ("run", "check", "compare", "report", "import", "export", "baseline", "validate", "action"):
        assert f"\n    {command} " in done.out


def test_help__loads_nothing_heavy() -> None:
    code = "import sys, evalward.cli as c; c.build_parser().format_help(); print(*sys.modules, sep='\\n')"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {
        "pydantic",
        "msgspec",
        "jinja2",
        "requests",
        "yaml",
        "tabulate",
        "bashkit",
        "anthropic",
        "openai",
        "re2",
        "asyncio",
    }
    assert not heavy & set(modules)


STARTS = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
for name, module in list(sys.modules.items()):
    if name.startswith("evalward"):
        for each in vars(module).values():
            if isinstance(each, type) and each.__module__ == name and "__dataclass_fields__" in vars(each):
                print(f"{name}.{each.__name__}")
"""


def test_check__defines_few_dataclasses() -> None:
    """A millisecond each on a slow machine, per process: see docs/architecture.md for what is none."""
    names = ("commands.check", "render.outputs.html", "render.outputs.terminal", "runner.service")
    words = [sys.executable, "-c", STARTS, *(f"evalward.{name}" for name in names)]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert len(found) <= 30, found


@pytest.mark.parametrize("line", ["schema", "help check", "completion bash", "safety ls"])
def test_what_needs_no_report__loads_no_structs(line: str) -> None:
    code = f"""
import sys, evalward.cli as c
try:
    c.main({line.split()})
except SystemExit as done:
    assert done.code == 0
assert "msgspec" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_check__without_a_baseline_compares_nothing_and_says_so(evalward: Callable[..., Done]) -> None:
    done = evalward("check")
    assert done.code == 0
    assert "nothing was compared" in done.out


@pytest.mark.cold
def test_check__pass(based: Path, evalward: Callable[..., Done]) -> None:
    done = evalward("check")
    assert (done.code, "Evalward" in done.err) == (0, False)
    first, *_, last, files = done.out.splitlines()
    assert first == last == "✓ Evalward: passed — nothing got worse"
    assert files.startswith("  Written to evalward-out: report.html, report.json, judgement.json, comment.md")


@pytest.mark.cold
def test_check__fail_names_rule_numbers_case_and_command(based: Path, evalward: Callable[..., Done]) -> None:
    (based / "cases.jsonl").write_text(lines(task("one"), task("two", says="other")), "utf-8")
    done = evalward("check")
    assert done.code == 1
    assert "pass_rate fell 50.0 pp (100.0 % → 50.0 %), more than the 10 pp allowed" in done.out
    assert "two (echo" in done.out
    assert "$ echo other" in done.out
    comment = (based / "evalward-out" / "comment.md").read_text("utf-8")
    assert comment.splitlines()[0].startswith("### ❌ Evalward: failed")


def test_check__fail_on_never_and_profile(based: Path, evalward: Callable[..., Done]) -> None:
    (based / "cases.jsonl").write_text(lines(task("one"), task("two", says="other")), "utf-8")
    assert evalward("check", "--fail-on", "never").code == 0


def test_check__a_missing_case_fails_until_it_is_waived(based: Path, evalward: Callable[..., Done]) -> None:
    (based / "cases.jsonl").write_text(lines(task("one")), "utf-8")
    done = evalward("check")
    assert done.code == 1
    assert "the case two of the baseline is missing" in done.out
    waived = CONFIG + "waive: [{id: two, reason: replaced by three}]\n"
    (based / "evalward.yml").write_text(waived, "utf-8")
    done = evalward("check")
    assert done.code == 0
    assert "replaced by three" in done.out


def test_check__part_is_compared_in_that_part_only(based: Path, evalward: Callable[..., Done]) -> None:
    done = evalward("check", "--case", "one")
    assert done.code == 0
    assert "partial" in done.out.lower()
    refused = evalward("baseline", "update")
    assert refused.code == 2
    assert "restricted to a part" in refused.err


def test_check__a_part_of_one_suite_leaves_the_others_and_the_floors_of_the_whole_alone(
    repo: Path, evalward: Callable[..., Done]
) -> None:
    (repo / "evalward.yml").write_text(
        CONFIG.replace(
            "policy:", "  - {name: more, kind: bash, cases: more.jsonl, targets: [oracle, nop]}\npolicy:"
        ).replace("max_drop: 0.1", "floor: 0.9"),
        "utf-8",
    )
    (repo / "cases.jsonl").write_text(lines(task("one"), task("two", "three")), "utf-8")
    (repo / "more.jsonl").write_text(lines(task("other")), "utf-8")
    done = evalward("check", "--case", "two")
    assert done.code == 0
    assert "1 of 2 cases was run" in done.out
    assert "more" not in done.out
    assert evalward("check", "--suite", "tools").code == 1


def test_check__what_failed_last_time_is_run_again(tmp_path: Path) -> None:
    """In the example: two cases of one target, until they pass."""
    evalward = partial(called, shutil.copytree(EXAMPLE, tmp_path / "example"))

    def measured() -> list[tuple[str, str, list[str]]]:
        report = json.loads((tmp_path / "example/evalward-out/report.json").read_text("utf-8"))
        return [(run["suite"], run["target"], [case["id"] for case in run["cases"]]) for run in report["runs"]]

    first = evalward("check", "--failed")
    assert (first.code, "there is no earlier report" in first.err) == (2, True)
    whole = evalward("check", "--suite", "bash-tools", "--target", "replay:agent")
    assert (
        "How to run again what failed\n"
        "  evalward check --config evalward.yml --failed --suite bash-tools --target replay:agent\n" in whole.out
    )
    again = evalward("check", "--failed")
    ((suite, target, cases),) = measured()
    assert (again.code, suite, target, len(cases)) == (0, "bash-tools", "replay:agent", 2)
    page = (tmp_path / "example/evalward-out/comment.md").read_text("utf-8")
    assert "Partial run" in page
    assert f"--suite {suite} --target {target} --case {cases[0]} --case {cases[1]}" in page
    assert evalward("run", "--failed", "--case", cases[0]).code == 0
    assert measured() == [(suite, target, [cases[0]])]
    assert evalward("check", "--failed", "--target", "oracle").code == 2
    assert evalward("check", "--failed", "--resume").code == 2
    last = tmp_path / "example/evalward-out/report.json"
    last.rename(tmp_path / "elsewhere.json")
    last.symlink_to(tmp_path / "elsewhere.json")
    linked = evalward("check", "--failed")
    assert (linked.code, "report.json" in linked.err) == (2, True)


def test_check__a_case_that_no_solution_can_run_is_missing(based: Path, evalward: Callable[..., Done]) -> None:
    unsolved = {key: value for key, value in task("two").items() if key != "solution"}
    (based / "cases.jsonl").write_text(lines(task("one"), unsolved), "utf-8")
    done = evalward("check")
    assert done.code == 1
    assert "the case has no reference solution" in done.out


@pytest.mark.cold
def test_run__nothing_valid_is_exit_3(repo: Path, evalward: Callable[..., Done]) -> None:
    unsolved = {key: value for key, value in task("two").items() if key != "solution"}
    (repo / "cases.jsonl").write_text(lines(unsolved), "utf-8")
    assert evalward("run").code == 3


def test_compare__formats(based: Path, evalward: Callable[..., Done]) -> None:
    files = ("--report", "evalward-out/report.json", "--baseline", ".evalward/baseline.json")
    terminal, markdown = evalward("compare", *files), evalward("compare", *files, "--format", "markdown")
    judgement = evalward("compare", *files, "--format", "json", "--policy", "evalward.yml")
    assert {terminal.code, markdown.code, judgement.code} == {0}
    assert "passed" in terminal.out
    assert markdown.out.startswith("### ✅ Evalward: passed")
    data = json.loads(judgement.out)
    assert (data["schema"], data["verdict"]["outcome"]) == ("evalward.judgement/2", "pass")


def test_report__one_and_several(based: Path, evalward: Callable[..., Done]) -> None:
    shutil.copytree(based / "evalward-out", based / "second")
    one = evalward("report", "evalward-out/report.json", "--verbose")
    assert "stdout_contains:one" in one.out
    assert (based / "evalward-out" / "report.md").read_text("utf-8").startswith("### Evalward report")
    several = evalward("report", "evalward-out/report.json", "second/report.json")
    assert several.out.count("pass_rate") == 1
    assert "\x1b" not in one.out + several.out


def test_baseline__update_without_news_writes_nothing(based: Path, evalward: Callable[..., Done]) -> None:
    path = based / ".evalward" / "baseline.json"
    before = path.stat().st_mtime_ns
    assert evalward("run").code == 0
    done = evalward("baseline", "update")
    assert (done.code, "no change" in done.out) == (0, True)
    assert path.stat().st_mtime_ns == before
    assert "pass_rate" in evalward("baseline", "show").out


def test_replay__of_a_run_measures_the_same(based: Path, evalward: Callable[..., Done]) -> None:
    config = CONFIG.replace("[oracle]", '["replay:mine"]') + "recordings: {mine: recorded}\n"
    shutil.copytree(based / "evalward-out", based / "recorded")
    (based / "evalward.yml").write_text(config, "utf-8")
    done = evalward("run", "--output", "again")
    assert done.code == 0
    run = json.loads((based / "again" / "report.json").read_text("utf-8"))["runs"][0]
    assert run["metrics"]["pass_rate"]["value"] == 1.0
    details = [case["details"] for case in run["cases"]]
    assert [(d["replayed"], d["deterministic"], d["diverged_at"]) for d in details] == [(True, True, None)] * 2


def test_example__proves_itself(evalward: Callable[..., Done]) -> None:
    done = evalward("validate", str(EXAMPLE / "evalward.yml"))
    assert done.code == 0
    assert "37 of 37 solutions run" in done.out


def test_example__oracle_passes_all_and_its_baseline_holds(tmp_path: Path, evalward: Callable[..., Done]) -> None:
    done = evalward("check", "--config", str(EXAMPLE / "evalward.yml"))
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "evalward-out" / "report.json").read_text("utf-8"))
    oracle = report["runs"][0]
    assert (oracle["target"], oracle["metrics"]["pass_rate"]["numerator"]) == ("oracle", 37)


def test_example__nop_passes_nothing(tmp_path: Path, evalward: Callable[..., Done]) -> None:
    shutil.copytree(EXAMPLE / "cases", tmp_path / "cases")
    config = CONFIG.replace("cases.jsonl", "cases/*.jsonl").replace("oracle", "nop")
    (tmp_path / "evalward.yml").write_text(config, "utf-8")
    assert evalward("run").code == 0
    run = json.loads((tmp_path / "evalward-out" / "report.json").read_text("utf-8"))["runs"][0]
    assert run["metrics"]["pass_rate"] == {
        "value": 0.0,
        "numerator": 0.0,
        "denominator": 37.0,
        "unit": "ratio",
        "better": "higher",
        "reason": None,
    }


# --- ten ways to break it, ten explanations in one line -------------------------------------------------------------

Breaker = Callable[[Path], None]


def writes(name: str, text: str) -> Breaker:
    def do(repo: Path) -> None:
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text, "utf-8")

    return do


def removes(name: str) -> Breaker:
    return lambda repo: (repo / name).unlink()


BREAKS: dict[str, tuple[Breaker, str]] = {
    "no config": (removes("evalward.yml"), "error: evalward.yml: there is no such file."),
    "misspelled key": (
        writes("evalward.yml", CONFIG.replace("policy:", "polcy:")),
        'error: evalward.yml:4: polcy: unknown key "polcy". Did you mean policy?',
    ),
    "rule that nothing feeds": (
        writes("evalward.yml", CONFIG.replace("pass_rate", "pas_rate")),
        "error: evalward.yml:5: policy[0].metric: no suite that this rule holds for has the metric 'pas_rate'.",
    ),
    "unknown target": (writes("evalward.yml", CONFIG.replace("oracle", "orakel")), "error: evalward.yml:3: "),
    "no such cases": (
        writes("evalward.yml", CONFIG.replace("cases.jsonl", "none.jsonl")),
        "error: evalward.yml:3: suites[0].cases: no file matches 'none.jsonl'.",
    ),
    "case is not JSON": (
        writes("cases.jsonl", "# mine\n{'id': 1}\n"),
        "error: cases.jsonl:2: not a JSON object: ",
    ),
    "case misses its prompt": (
        writes("cases.jsonl", '{"id": "a", "category": "b", "expectations": [{"check": "exit_code:0"}]}\n'),
        "error: cases.jsonl:1: prompt: the key is missing.",
    ),
    "unknown check": (
        writes("cases.jsonl", lines(task("a", expectations=[{"check": "stdout_contain:x"}]))),
        "error: cases.jsonl:1: expectations[0].check: unknown check 'stdout_contain'. Did you mean stdout_contains?",
    ),
    "id twice": (
        writes("cases.jsonl", lines(task("a"), task("a"))),
        "error: cases.jsonl:2: id: the id 'a' is already used at cases.jsonl:1.",
    ),
    "baseline of another kind": (
        writes(".evalward/baseline.json", '{"schema": "other/1"}'),
        "this is not a baseline: its schema is 'other/1', not evalward.baseline/1.",
    ),
    "baseline cut off": (writes(".evalward/baseline.json", '{"schema": "evalw'), "baseline.json:1: not valid JSON: "),
    "recording that is none": (
        writes("evalward.yml", CONFIG.replace("[oracle]", '["replay:x"]') + "recordings: {x: nowhere}\n"),
        "nowhere: recording 'x' holds no trial.",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_wrong_input__is_told_in_one_line_with_exit_2(name: str, repo: Path, evalward: Callable[..., Done]) -> None:
    breaker, words = BREAKS[name]
    breaker(repo)
    done = evalward("check")
    assert done.code == 2
    errors = done.err.strip().splitlines()
    assert [words in error for error in errors] == [True], errors


@pytest.mark.cold
def test_wrong_input__all_problems_of_all_files_at_once(repo: Path, evalward: Callable[..., Done]) -> None:
    writes("evalward.yml", CONFIG.replace("pass_rate", "pas_rate"))(repo)
    writes("cases.jsonl", lines(task("a", weight=1), task("b", files={"../x": "y"})))(repo)
    done = evalward("validate")
    assert done.code == 2
    assert [line.split(": ")[1] for line in done.err.splitlines()] == [
        "evalward.yml:5",
        "cases.jsonl:1",
        "cases.jsonl:2",
    ]


def test_hostile_ids__reach_neither_paths_nor_the_terminal(repo: Path, evalward: Callable[..., Done]) -> None:
    hostile = task("one", id="../../../../tmp/evil\x1b[31m|@everyone\n::error::x")
    writes("cases.jsonl", lines(hostile, task("two")))(repo)
    done = evalward("check")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert not any(line.startswith("::") for line in done.out.splitlines())
    inside = (repo / "evalward-out").resolve()
    assert all(path.resolve().is_relative_to(inside) for path in inside.rglob("*"))
    assert len(list(inside.rglob("*.1.json"))) == 2


def test_junit__of_check_compare_and_report(repo: Path, evalward: Callable[..., Done]) -> None:
    evalward("check")
    written = (repo / "evalward-out" / "junit.xml").read_text("utf-8")
    assert 'name="policy"' in written
    assert json.loads((repo / "evalward-out" / "badge.json").read_text("utf-8"))["schemaVersion"] == 1
    shown = evalward("report", "evalward-out/report.json", "--format", "junit")
    assert shown.code == 0
    assert shown.out.startswith("<?xml")
    assert 'name="policy"' not in shown.out
    assert 'file="cases.jsonl" line="1"' in shown.out
