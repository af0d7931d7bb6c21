"""Four shards as four processes, judged as one: the same as one run, and never a verdict of a part."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support import warm
from support.git_repo import commit, init
from support.live_runs import CLAUDE, Repo, model_of, task, timeless
from support.model_server import Answer, Conversation, ModelServer, Script, Tokens, bash
from support.moody import moody_model

NAMES = ("one", "two", "three", "four", "five", "six", "seven")
TASKS = [task(name) for name in NAMES]
SHARDS = 4
EXAMPLE = Path(__file__).parents[2] / "examples" / "bash-tools"
ALL = tuple(f"part-{number}" for number in range(1, SHARDS + 1))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """A repository with the report of a whole run and a baseline, and the parts of all shards."""
    with ModelServer(model_of(TASKS)) as server:
        repo = Repo(tmp_path_factory.mktemp("measured"), server)
        repo.write((CLAUDE, "oracle"), TASKS, suite={"trials": 2})
        assert repo.run("run", "--output", "whole").code == 0
        assert repo.run("baseline", "update", "--report", "whole/report.json").code == 0
        for number in range(1, SHARDS + 1):
            shard(repo, number)
        yield repo


@pytest.fixture
def repo(measured: Repo, tmp_path: Path) -> Repo:
    """The same, to be changed."""
    measured.server.settings = replace(measured.server.settings, script=model_of(TASKS))
    return measured.copied(tmp_path / "repo")


def shard(repo: Repo, number: int, *words: str) -> None:
    done = repo.run("run", "--shard", f"{number}/{SHARDS}", "--output", f"part-{number}", *words)
    assert done.code == 0, done.err


def sorted_cases(report: dict[str, Any]) -> dict[str, Any]:
    found = dict(timeless(report))
    for run in found["runs"]:
        run["cases"].sort(key=lambda case: (case["id"], case["trial"]))
    return found


def test_four_shards__give_the_report_of_one_run__and_its_verdict(repo: Repo) -> None:
    whole = repo.report("whole")
    assert sum(len(run["cases"]) for part in ALL for run in repo.report(part)["runs"]) == 2 * 2 * len(NAMES)
    merged = repo.run("merge", *ALL, "--output", "merged/report.json")
    assert (merged.code, "4 parts, 28 trials: merged/report.json" in merged.err + merged.out) == (0, True)
    assert sorted_cases(repo.report("merged")) == sorted_cases(whole)
    assert len(repo.trials("merged")) == 28

    asked = len(repo.server.requests)
    checked = repo.run("check", "--parts", *ALL)
    assert checked.code == 0, checked.err
    assert len(repo.server.requests) == asked  # nothing is measured again
    found = repo.report()
    assert timeless(found["runs"]) == timeless(whole["runs"])  # in the order of the plan
    assert len(repo.trials()) == 28
    shown = repo.run("show", "one", "--target", CLAUDE)
    assert (shown.code, "Print the word one." in shown.out) == (0, True)


def test_four_shards_of_a_recording__give_the_report_of_one_run(tmp_path: Path) -> None:
    folder = init(tmp_path / "tools")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    commit(folder, {"README.md": "An example.\n"})

    def run(*words: str) -> None:
        done = warm.evalward(*words, cwd=folder, env={"PATH": os.environ["PATH"]})
        assert done.returncode == 0, done.stderr

    run("run", "--output", "whole")
    for number in range(1, SHARDS + 1):
        run("run", "--shard", f"{number}/{SHARDS}", "--output", f"part-{number}")
    run("merge", *ALL, "--output", "merged/report.json")

    merged, whole = (json.loads((folder / each / "report.json").read_text("utf-8")) for each in ("merged", "whole"))
    assert {run["target"] for run in whole["runs"]} == {"oracle", "replay:agent"}
    assert sorted_cases(merged) == sorted_cases(whole)


def test_the_confirm_stage__is_the_merging_jobs(repo: Repo) -> None:
    repo.server.settings = replace(repo.server.settings, script=moody_model(TASKS, {"three": 2}))
    for number in range(1, SHARDS + 1):
        shard(repo, number)
    checked = repo.run("check", "--parts", *ALL)
    assert checked.code == 0, checked.err
    assert "retrials of 1 case that failed" in checked.err
    live = next(run for run in repo.report()["runs"] if run["target"] == CLAUDE)
    assert {(trial["id"], trial["status"]) for trial in live["confirmation"]} == {("three", "passed")}


def answers(name: str) -> Conversation:
    """A conversation of two requests, 6,000 tokens each, whose first prints this word."""
    tokens = Tokens(input=5900, output=100)
    return Conversation(f"the word {name}.", (bash(f"echo {name}", tokens=tokens), Answer("Done.", tokens=tokens)))


def test_a_budget_holds_over_the_parts_and_the_confirm_stage(tmp_path: Path) -> None:
    """The parts use 24,000 tokens: one fresh trial more, and the first request of the next, that is all."""
    right = tuple(answers(name) for name in NAMES[:2])
    wrong = tuple(replace(each, answers=(replace(answers("no").answers[0]), each.answers[1])) for each in right)
    more = {"policy": [{"metric": "pass_rate", "max_drop": 0.01}], "budget_tokens": 39_000}
    with ModelServer(Script(right)) as server:
        repo = Repo(tmp_path, server)
        repo.write([CLAUDE], TASKS[:2], suite={"max_turns": 2}, more=more, concurrency=1)
        assert repo.run("run").code == 0
        assert repo.run("baseline", "update").code == 0
        server.settings = replace(server.settings, script=Script(wrong))
        for number in (1, 2):
            done = repo.run("run", "--shard", f"{number}/2", "--output", f"part-{number}")
            assert (done.code, len(repo.report(f"part-{number}")["runs"][0]["cases"])) == (0, 1), done.err
        asked = len(server.requests)
        checked = repo.run("check", "--parts", "part-1", "part-2")
        assert "of 2 cases that failed" in checked.err
        assert len(server.requests) - asked == 3, checked.out


def test_a_missing_shard__is_no_verdict__and_running_it_again_is_enough(repo: Repo) -> None:
    assert repo.run("check", "--parts", *ALL).code == 0  # whose verdict may not stay
    shutil.rmtree(repo.root / "part-3")
    gone = repo.run("check", "--parts", "part-1", "part-2", "part-4")
    said = gone.out + gone.err
    assert (gone.code, "could not be judged — there is no part of 1 shard of 4: 3" in said) == (3, True)
    assert not repo.path("judgement.json").exists()
    assert "could not be judged" in repo.path("comment.md").read_text("utf-8")
    assert repo.run("merge", "part-1", "part-2", "part-4", "--output", "merged/report.json").code == 3
    shard(repo, 3)
    assert repo.run("check", "--parts", *ALL).code == 0


def test_a_later_attempt__takes_the_place_of_the_one_before(repo: Repo) -> None:
    again = repo.run("run", "--shard", "2/4", "--output", "again", env={"GITHUB_RUN_ATTEMPT": "2"})
    assert (again.code, repo.report("again")["part"]["attempt"]) == (0, 2)
    checked = repo.run("check", "--parts", *ALL, "again")
    assert (checked.code, "shard 2/4: there are 2 parts of it; the newest counts (again)" in checked.err) == (0, True)


def test_parts_of_another_configuration__are_refused(repo: Repo) -> None:
    config = repo.root / "evalward.yml"
    config.write_text(config.read_text("utf-8") + "\n", "utf-8")
    refused = repo.run("check", "--parts", *ALL)
    assert (refused.code, "the parts were measured with another evalward.yml" in refused.err) == (2, True)


def test_parts_of_a_selection__are_judged_with_the_same_selection(repo: Repo) -> None:
    for number in range(1, SHARDS + 1):
        shard(repo, number, "--case", "t*")
    refused = repo.run("check", "--parts", *ALL)
    assert (refused.code, "the parts were measured of something else" in refused.err) == (2, True)
    assert repo.run("check", "--case", "t*", "--parts", *ALL).code == 0


@pytest.mark.parametrize("words", [["--resume"], ["--failed"], ["--plan"]])
def test_parts_go_with_no_option_that_runs_a_part(repo: Repo, words: list[str]) -> None:
    refused = repo.run("check", *words, "--parts", *ALL)
    assert (refused.code, "--parts" in refused.err) == (2, True)


@pytest.mark.parametrize("path", ["../../secret.json", "/etc/passwd", "trials/link.json"])
def test_a_part_names_only_files_of_its_own(repo: Repo, path: str) -> None:
    (repo.root / "secret.json").write_text("secret", "utf-8")
    (repo.root / "part-1" / "trials" / "link.json").symlink_to(repo.root / "secret.json")
    file = repo.path(folder="part-1")
    report = json.loads(file.read_text("utf-8"))
    run = next(run for run in report["runs"] if run["cases"])
    run["cases"][0]["trace"] = path
    file.write_text(json.dumps(report), "utf-8")
    refused = repo.run("check", "--parts", *ALL)
    assert refused.code == 2, refused.err
    assert "secret" not in "".join(each.read_text("utf-8") for each in repo.root.glob("evalward-out/**/*.json"))


@pytest.mark.parametrize(
    "words", [("check", "--parts", *ALL, "--output", "part-1"), ("merge", *ALL, "--output", "part-1/report.json")]
)
def test_a_part_is_no_output_folder(repo: Repo, words: tuple[str, ...]) -> None:
    before = sorted(path.name for path in (repo.root / "part-1").rglob("*"))
    refused = repo.run(*words)
    assert (refused.code, "part-1: the output folder would replace the part part-1" in refused.err) == (2, True)
    assert sorted(path.name for path in (repo.root / "part-1").rglob("*")) == before


def test_a_folder_of_parts__stands_for_them(repo: Repo) -> None:
    (repo.root / "parts").mkdir()
    for name in ALL:
        (repo.root / name).rename(repo.root / "parts" / name)
    assert repo.run("check", "--parts", "parts").code == 0


def test_a_report_stands_for_its_folder(repo: Repo) -> None:
    files = [f"{name}/report.json" for name in ALL]
    assert repo.run("check", "--parts", *files).code == 0
    assert repo.run("merge", *files, "--output", "merged/report.json").code == 0


NAME_THEM = "Name the output folders of all shards, or the folder that they were downloaded to."


@pytest.mark.parametrize("command", [("check", "--parts"), ("merge", "--output", "merged/report.json")])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", f"nothing: there is no such folder. {NAME_THEM}"),
        ("empty", f"empty: it holds no part. {NAME_THEM}"),
        ("evalward.yml", f"evalward.yml: it is not a folder. {NAME_THEM}"),
        ("link", "link: is a symbolic link, which is not followed. Name a folder of its own."),
        ("whole", "whole: its report is of a whole run, not of a shard. "),
    ],
)
def test_what_is_no_part__is_one_message__and_nothing_is_made(
    repo: Repo, command: tuple[str, ...], name: str, why: str
) -> None:
    (repo.root / "empty").mkdir()
    (repo.root / "link").symlink_to("part-1")
    words = (command[0], name, *command[1:]) if command[0] == "merge" else (*command, name)
    done = repo.run(*words)
    assert (done.code, len(done.err.splitlines())) == (2, 1), done.err
    assert done.err.startswith(f"error: {why}")
    assert not (repo.root / "nothing").exists()
    assert not (repo.root / "merged").exists()


@pytest.mark.parametrize(("name", "instead"), [("merged", "merged/report.json"), ("new/r.json", "new/report.json")])
def test_a_merged_report_has_its_own_name(repo: Repo, name: str, instead: str) -> None:
    done = repo.run("merge", *ALL, "--output", name)
    said = f"error: {name}: the file must be called report.json. Name it {instead}."
    assert (done.code, done.err.splitlines()) == (2, [said])


def test_suites_that_the_shards_were_not_asked_for__are_not_measured_in_their_place(repo: Repo) -> None:
    for number in (1, 2):
        words = ("--target", "oracle", "--shard", f"{number}/2", "--output", f"half-{number}")
        assert repo.run("run", *words).code == 0
    asked = len(repo.server.requests)
    refused = repo.run("check", "--parts", "half-1", "half-2")
    said = f"error: live × {CLAUDE}: the parts were measured of something else: no shard measured it. "
    assert (refused.code, said in refused.err, len(repo.server.requests) - asked) == (2, True, 0), refused.err
    assert repo.run("check", "--target", "oracle", "--parts", "half-1", "half-2").code == 0


def test_a_shard_without_a_case__has_done_all_that_it_had_to(repo: Repo) -> None:
    done = repo.run("run", "--case", "one", "--shard", "3/3", "--output", "empty")
    assert (done.code, [run["cases"] for run in repo.report("empty")["runs"]]) == (0, [[], []])


def test_suites_that_no_shard_measures__are_named_by_merge(repo: Repo) -> None:
    config = json.loads((repo.root / "evalward.yml").read_text("utf-8"))
    config["suites"].append({"name": "bot", "kind": "external", "results": "rows.jsonl"})
    (repo.root / "evalward.yml").write_text(json.dumps(config), "utf-8")
    (repo.root / "rows.jsonl").write_text(json.dumps({"case": "a", "status": "passed"}) + "\n", "utf-8")
    for number in (1, 2):
        assert repo.run("run", "--shard", f"{number}/2", "--output", f"half-{number}").code == 0
    merged = repo.run("merge", "half-1", "half-2", "--output", "merged/report.json")
    assert "no shard measured bot: `evalward check --parts` does" in merged.err
    assert repo.report("merged")["partial"]["suites"] == ["live"]
    assert repo.run("check", "--parts", "half-1", "half-2").code == 0
    assert [run["suite"] for run in repo.report()["runs"]] == ["live", "live", "bot"]
