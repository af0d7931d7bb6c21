"""A tiny task whose times are what its code says, measured for real: in workspaces, by its own commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.config.load import load_config
from evalward.decide.statistics.timing import FEWEST_SAMPLES
from evalward.records.result import Result, Status
from evalward.sandbox.base import SandboxError
from evalward.suites.base import TrialBrokenError
from evalward.suites.speedup import trial as measuring
from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.kind import SPEEDUP
from evalward.suites.speedup.measure.evidence import AGENT, NOP
from evalward.suites.speedup.measure.session import run_session
from evalward.targets import make_target
from evalward.targets.base import TrialSkippedError
from support.git_repo import write_files
from support.speedup_tasks import CODE, FAST, ORACLE, SLOW, Changing, patch, prepared, write_suite, write_task
from support.speedups import log

GOOD = patch("speed", SLOW, "0.2")


async def trial(
    folder: Path, target: Any = "patch:mine", patches: Mapping[str, str] | None = None, rounds: int = 1, **changes: Any
) -> tuple[Result, SpeedupDetails]:
    """One trial of the tiny task. Its times are the same in every round: one tells what many do."""
    if not (folder / "tiny.yaml").exists():
        write_task(folder, **changes)
    named = {"mine": GOOD} if patches is None else patches
    loaded = write_suite(folder, ["oracle", "nop", *(f"patch:{name}" for name in named)], named, rounds=rounds)
    suite, case = prepared(loaded)
    chosen = make_target(target, loaded, {}) if isinstance(target, str) else target
    result = (await SPEEDUP.run_trial(suite, case, chosen, 1)).result
    assert isinstance(result.details, SpeedupDetails)
    return result, result.details


async def test_a_change_that_wins(tmp_path: Path) -> None:
    result, details = await trial(tmp_path, rounds=7)
    assert (result.status, result.score, result.max_score) == (Status.PASSED, 2.0, 2.0)
    speeds = {each.name: (each.agent, each.oracle) for each in details.benchmarks}
    assert speeds == {"m.S.time_a": (2.0, 4.0), "m.S.time_b": (1.0, 1.0)}
    assert details.task_speedup == pytest.approx(2**0.5)
    assert details.agent_advantage == pytest.approx(2**0.5 - 2)
    samples = details.benchmarks[0].samples
    assert samples is not None
    assert [len(samples.nop), len(samples.oracle), len(samples.agent)] == [7, 7, 7]
    assert details.notes[-1].startswith("MEASURED: ")
    assert result.usage.cost_usd is None  # what a patch has cost nobody knows


async def test_the_oracle_is_its_own_measure_and_nop_changes_nothing(tmp_path: Path) -> None:
    result, details = await trial(tmp_path, "oracle")
    assert (result.status, details.role, details.task_speedup, details.agent_advantage) == (
        "passed",
        "oracle",
        2.0,
        0.0,
    )
    result, details = await trial(tmp_path, "nop")
    assert (result.status, details.role, details.task_speedup, details.agent_advantage) == ("passed", "nop", 1.0, -1.0)
    assert result.usage.cost_usd == 0.0


async def test_a_change_that_breaks_a_test_counts_as_none(tmp_path: Path) -> None:
    broken = GOOD + patch("answer", "right", "right but broken")
    result, details = await trial(tmp_path, patches={"mine": broken})
    assert (result.status, result.reason) == (Status.FAILED, "tests_failed")
    assert (details.pytest_summary.failed, details.fallback_to_baseline, details.task_speedup) == (1, True, 1.0)
    assert details.benchmarks[0].raw_agent == 2.0
    assert any(note.startswith("TESTS: the command ended with exit code 1") for note in details.notes)


async def test_a_change_of_results_counts_as_none(tmp_path: Path) -> None:
    result, details = await trial(tmp_path, patches={"mine": GOOD + patch("answer", "right", "wrong")})
    assert (result.status, result.reason) == (Status.FAILED, "snapshot_failed")
    assert (details.snapshot_summary.pass_to_fail, details.snapshot_summary.failed) == (1, 2)
    assert "SNAPSHOT: no longer the same: out" in details.notes


async def test_what_the_oracle_fails_an_agent_may_fail(tmp_path: Path) -> None:
    broken = patch("answer", "right", "right but broken")
    write_task(tmp_path, human=ORACLE + broken)
    result, details = await trial(tmp_path, patches={"mine": GOOD + broken})
    assert (result.status, details.oracle_failed) == (Status.PASSED, True)


@pytest.mark.parametrize("counts", [(1, 0), (1, 2)])
async def test_a_change_that_leaves_tests_out_has_failed(tmp_path: Path, counts: tuple[int, int]) -> None:
    passed, skipped = counts
    told = f'{{"passed": {passed}, "failed": 0, "error": 0, "skipped": {skipped}}}'
    code = {**CODE, "tests/run.sh": "cp counts tests.json\n", "counts": '{"passed": 3, "failed": 0, "error": 0}\n'}
    write_task(tmp_path, code=code)
    fewer = GOOD + patch("counts", code["counts"].strip(), told)
    result, details = await trial(tmp_path, patches={"mine": fewer})
    assert (result.status, result.reason, details.task_speedup) == (Status.FAILED, "tests_failed", 1.0)
    assert (details.pytest_summary.passed, details.pytest_summary.error) == (1, 2)
    assert result.message is not None
    assert "TESTS: 2 fewer ran than on the untouched code" in result.message


async def test_a_result_too_large_to_read_is_the_changes_failure(tmp_path: Path) -> None:
    huge = "test -e huge && truncate -s 65M times.json && exit 0\n" + CODE["bench/run.sh"]
    write_task(tmp_path, code={**CODE, "bench/run.sh": huge})
    change = GOOD + "--- /dev/null\n+++ b/huge\n@@ -0,0 +1 @@\n+now\n"
    result, details = await trial(tmp_path, patches={"mine": change})
    assert (result.status, result.reason, details.task_speedup) == (Status.FAILED, "tests_failed", 1.0)
    assert result.message is not None
    assert "times.json: the file is larger than 64 MiB" in result.message


async def test_a_change_that_stops_the_benchmarks_has_failed(tmp_path: Path) -> None:
    crash = GOOD + "--- /dev/null\n+++ b/crash\n@@ -0,0 +1 @@\n+now\n"
    result, details = await trial(tmp_path, patches={"mine": crash})
    assert (result.status, result.reason, details.task_speedup) == (Status.FAILED, "tests_failed", 1.0)
    assert details.pytest_summary.error == 1
    assert all(each.resurrected for each in details.benchmarks)
    assert "BENCHMARKS: none gave a time" in details.notes


ODD_TIMES = ("1e-300", "NaN", "-1", "0", '"fast"', "true", "[]", "Infinity")


async def test_a_time_that_nothing_can_have_is_none(tmp_path: Path) -> None:
    """Each is the time of a benchmark of its own, beside one whose time is as before."""
    names = [f"odd_{number}" for number in range(len(ODD_TIMES))]
    asked = ", ".join(f'"{name}": %s' for name in names)
    values = " ".join(f'"$(cat {name})"' for name in names)
    bench = f'printf \'{{"same": 0.2, "m.time": %s, {asked}}}\' "$(cat speed)" {values} > times.json\n'
    write_task(tmp_path, code={**CODE, **dict.fromkeys(names, SLOW + "\n"), "bench/run.sh": bench})
    change = "".join(patch(name, SLOW, odd) for name, odd in zip(names, ODD_TIMES, strict=True))
    result, details = await trial(tmp_path, patches={"mine": change}, rounds=2)
    assert {each.name: each.valid for each in details.benchmarks} == {
        **dict.fromkeys(names, False),
        "same": True,
        "m.time": True,
    }
    assert (result.status, details.task_speedup) == (Status.PASSED, 1.0)


async def test_a_change_that_breaks_the_setup_has_failed(tmp_path: Path) -> None:
    crash = GOOD + "--- /dev/null\n+++ b/crash\n@@ -0,0 +1 @@\n+now\n"
    result, details = await trial(tmp_path, patches={"mine": crash}, setup=["test ! -e crash"])
    assert (result.status, result.reason, details.task_speedup) == (Status.FAILED, "tests_failed", 1.0)
    assert "SETUP: setup ended with exit code 1" in details.notes


async def test_a_patch_that_cannot_be_taken_has_failed(tmp_path: Path) -> None:
    refused = {
        "other-code": patch("speed", "0.5", "0.2"),
        "no-file": patch("gone", "a", "b"),
        "outside": patch("../outside", "a", "b"),
        "no-patch": "no patch at all\n",
        "empty": " \n",
    }
    write_files(tmp_path, {"outside": "a\n"})
    write_task(tmp_path)
    loaded = write_suite(tmp_path, ["oracle", "nop", *(f"patch:{name}" for name in refused)], refused, rounds=1)
    suite, case = prepared(loaded)
    for name in refused:
        result = (await SPEEDUP.run_trial(suite, case, make_target(f"patch:{name}", loaded, {}), 1)).result
        assert (result.status, result.reason) == (Status.FAILED, "change_refused"), name
        assert result.message is not None
        assert result.message.startswith("the patch ")
        assert isinstance(result.details, SpeedupDetails)
        assert (result.details.task_speedup, result.details.num_benchmarks) == (1.0, 2)
        assert (tmp_path / "outside").read_text() == "a\n"


async def test_who_is_measured_does_not_hold_the_clock(tmp_path: Path) -> None:
    cheat = "--- a/tests/run.sh\n+++ /dev/null\n@@ -1,3 +0,0 @@\n"
    cheat += "".join(f"-{line}\n" for line in CODE["tests/run.sh"].splitlines())
    result, details = await trial(tmp_path, patches={"mine": GOOD + cheat})
    assert result.status is Status.PASSED
    assert "PROTECTED: put back as they were: tests/run.sh" in details.notes


async def test_a_patch_that_is_not_there_is_no_trial(tmp_path: Path) -> None:
    write_task(tmp_path)
    loaded = write_suite(tmp_path, ["patch:mine"], {"mine": GOOD})
    (tmp_path / "patches" / "mine" / "tiny.patch").unlink()
    suite, case = prepared(loaded)
    with pytest.raises(TrialSkippedError, match=r"there is no patches/mine/tiny\.patch"):
        await SPEEDUP.run_trial(suite, case, make_target("patch:mine", loaded, {}), 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"benchmarks": {"command": "exit 4", "format": "json", "output": "t"}}, "exit code 4"),
        ({"benchmarks": {"command": "echo x > t", "format": "json", "output": "t"}}, "can't be read as json"),
        ({"setup": ["echo no luck >&2; exit 9"]}, "setup ended with exit code 9: no luck"),
        (
            {"benchmarks": {"command": "sleep 60", "format": "json", "output": "t"}, "timeout_s": 0.2},
            "took longer than",
        ),
    ],
)
async def test_a_task_that_cannot_be_measured_is_nobodys_failure(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(TrialBrokenError) as caught:
        await trial(tmp_path, "oracle", **changes)
    assert caught.value.reason == "task_broken"
    assert said in caught.value.message


async def test_an_agent_works_in_a_copy_and_is_measured(tmp_path: Path) -> None:
    agent = Changing(lambda folder: (folder / "speed").write_text(FAST))
    write_task(tmp_path, setup=["echo ready > prepared"])
    result, details = await trial(tmp_path, agent)
    assert (result.status, details.task_speedup, details.agent_advantage) == (Status.PASSED, 2.0, 0.0)
    assert (agent.jobs[0].prompt, result.usage.cost_usd) == ("Make it faster.", 0.25)
    assert (tmp_path / "code" / "speed").read_text() == SLOW + "\n"


async def test_what_an_agent_leaves_that_cant_be_copied_is_its_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(workspace: object, target: Path) -> None:
        raise SandboxError("the workspace could not be copied: Permission denied")

    monkeypatch.setattr(measuring, "take", closed)
    agent = Changing(lambda folder: (folder / "speed").write_text(FAST))
    result, details = await trial(tmp_path, agent)
    assert (result.status, result.reason, result.score) == (Status.FAILED, "unreadable_result", 0.0)
    assert "Permission denied" in str(result.message)
    assert (details.task_speedup, result.usage.cost_usd) == (1.0, 0.25)


async def test_a_change_that_breaks_the_measuring_of_itself_alone_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = run_session

    async def broken(task: Any, folders: Mapping[str, Path], *others: Any) -> Any:
        if AGENT in folders:
            raise ValueError("no such status")
        return await session(task, folders, *others)

    monkeypatch.setattr(measuring, "run_session", broken)
    agent = Changing(lambda folder: (folder / "speed").write_text(FAST))
    result, details = await trial(tmp_path, agent)
    assert (result.status, result.reason, details.task_speedup) == (Status.FAILED, "unreadable_result", 1.0)
    assert "ValueError: no such status" in str(result.message)


async def test_what_an_agent_does_to_tests_and_links_is_undone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_files(outside, {"run.sh": "mine"})

    def cheat(folder: Path) -> None:
        for file in (folder / "bench").iterdir():
            file.unlink()
        (folder / "bench").rmdir()
        (folder / "bench").symlink_to(outside)

    result, details = await trial(tmp_path, Changing(cheat))
    assert (result.status, details.task_speedup) == (Status.PASSED, 1.0)
    assert (outside / "run.sh").read_text() == "mine"
    assert any(note.startswith("PROTECTED: ") for note in details.notes)


async def test_what_was_checked_is_kept_and_what_was_timed_is_not(tmp_path: Path) -> None:
    write_task(tmp_path)
    loaded = write_suite(tmp_path, ["oracle", "nop", "patch:mine"], {"mine": GOOD}, rounds=1)
    suite, case = prepared(loaded)
    for target in ("oracle", "nop", "patch:mine"):
        await SPEEDUP.run_trial(suite, case, make_target(target, loaded, {}), 1)
    equipment = suite.settings.equipment
    assert {name for _, name in equipment.checked} == {"nop", "oracle"}
    assert list(equipment.sessions) == [case.definition]


async def test_outputs_are_captured_where_a_task_has_no_comparison(tmp_path: Path) -> None:
    code = {**CODE, "lib.py": "def answer(n):\n    return n / 3\n"}
    auto = {"functions": {"lib:answer": [[1], [2]]}}
    close = patch("lib.py", "", "").replace(
        "@@ -1 +1 @@\n-\n+\n", "@@ -1,2 +1,2 @@\n def answer(n):\n-    return n / 3\n+    return n * NEW\n"
    )
    write_task(tmp_path, code, snapshots=None, auto=auto)
    result, details = await trial(tmp_path, patches={"mine": close.replace("NEW", "0.3333333")})
    assert (result.status, details.snapshot_summary.passed) == (Status.PASSED, 2)
    result, details = await trial(tmp_path, patches={"mine": close.replace("NEW", "0.33")})
    assert (result.reason, details.snapshot_summary.pass_to_fail) == ("snapshot_failed", 2)


async def test_a_log_is_read_instead_of_measuring(tmp_path: Path) -> None:
    write_task(tmp_path)
    write_files(tmp_path, {"logs/tiny.log": log()})
    (tmp_path / "evalward.yml").write_text(
        "{version: 1, logs: {old: logs}, suites: [{name: a, kind: speedup, cases: '*.yaml', targets: ['log:old']}]}"
    )
    loaded = load_config(tmp_path / "evalward.yml")
    suite, case = prepared(loaded)
    result = (await SPEEDUP.run_trial(suite, case, make_target("log:old", loaded, {}), 1)).result
    assert isinstance(result.details, SpeedupDetails)
    assert result.status is Status.PASSED
    assert result.details.task_speedup == pytest.approx(1.0954451150)


async def proof(folder: Path, patches: Mapping[str, str] | None = None, **changes: Any) -> list[str]:
    write_task(folder, **changes)
    named = patches or {}
    asked = ["oracle", *(f"patch:{name}" for name in named)]
    suite, _ = prepared(write_suite(folder, asked, named, rounds=FEWEST_SAMPLES))
    return [problem.message for problem in (await SPEEDUP.prove(suite)).problems]


JITTER = CODE | {
    # ties can't be ranked: a little of the clock in every time
    "bench/run.sh": 'printf \'{"m.time_a": %s00%s}\' "$(cat speed)" "$(date +%N | cut -c 4-9)" > times.json\n'
}


async def test_a_sound_task_is_proved(tmp_path: Path) -> None:
    assert await proof(tmp_path, {"mine": GOOD}, code=JITTER) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"human": patch("speed", SLOW, "0.39"), "rounds": 1}, "the human patch is not faster: its speedup is 1.02"),
        ({"human": ORACLE + patch("answer", "right", "broken"), "rounds": 1}, "the human patch fails its tests"),
        ({"human": patch("speed", "9", "1")}, "oracle.patch: the patch doesn't apply"),
        ({"code": {**JITTER, "answer": "broken\n"}, "rounds": 1}, "the untouched code fails its tests"),
        ({"rounds": 3}, "no benchmark shows beyond chance that the human patch is faster"),
        (
            {"patches": {"bad": patch("speed", "9", "1")}, "rounds": 1},
            "patches/bad/tiny.patch: the patch doesn't apply",
        ),
        (
            {"patches": {"bad": "--- /dev/null\n+++ b/tests/x\n@@ -0,0 +1 @@\n+x\n"}, "rounds": 1},
            "patches/bad/tiny.patch changes tests/x",
        ),
    ],
)
async def test_what_is_wrong_with_a_task_is_told(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    found = await proof(tmp_path, **{"code": JITTER, **changes})
    assert any(message.startswith(said) for message in found), found


@pytest.mark.parametrize(("slow_sessions", "noise"), [(0, False), (1, False), (2, True)])
async def test_an_unchanged_copy_that_seems_faster_is_measured_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_sessions: int, noise: bool
) -> None:
    """A busy machine may slow the untouched code in all rounds of a session by chance: once is not evidence."""
    session, sessions = run_session, []

    async def busy(*asked: Any) -> Any:
        sides = await session(*asked)
        sessions.append(sides)
        if len(sessions) <= slow_sessions:
            samples = sides[NOP].measured.samples
            samples.update({name: [2 * each for each in times] for name, times in samples.items()})
        return sides

    monkeypatch.setattr(measuring, "run_session", busy)
    found = await proof(tmp_path, code=JITTER)
    assert found == ["an unchanged copy is faster in m.time_a, in two sessions: what is measured is noise"] * noise
    assert len(sessions) == min(2, 1 + slow_sessions)
