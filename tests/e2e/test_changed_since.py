"""`--changed-since REV`: what no change since a commit can have touched is not measured, and that is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.git_repo import commit, git, init, write_files
from support.live_runs import Done, Repo, model_of, task
from support.model_server import ModelServer

TASKS = [task(name) for name in ("one", "two")]
RUN = "live × openai/gpt-5"
SHELL = {"name": "shell", "kind": "bash", "cases": "shell/cases.jsonl", "targets": ["oracle"]}
PATHS = {"paths": ["src/**"]}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(model_of(TASKS)) as running:
        yield running


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> Mapping[str, str]:
    """A configuration with two suites, and its baseline."""
    repo = Repo(tmp_path_factory.mktemp("committed"), server)
    repo.write(tasks=TASKS, suite=PATHS)
    config = json.loads((repo.root / "evalward.yml").read_text("utf-8"))
    config["suites"].append(SHELL)
    cases = (repo.root / "cases.jsonl").read_text("utf-8")
    write_files(repo.root, {"evalward.yml": json.dumps(config), "shell/cases.jsonl": cases})
    assert repo.run("run").code == 0
    assert repo.run("baseline", "update").code == 0
    names = ("evalward.yml", "cases.jsonl", "shell/cases.jsonl", ".evalward/baseline.json")
    return {name: (repo.root / name).read_text("utf-8") for name in names}


@pytest.fixture
def repo(tmp_path: Path, server: ModelServer, committed: Mapping[str, str]) -> Repo:
    """A branch of a repository with all of that on main; nothing of it changed."""
    init(tmp_path)
    commit(tmp_path, {**committed, "src/tool.py": "print()\n", "docs/a.md": "a\n"})
    git(tmp_path, "checkout", "--quiet", "-b", "topic")
    return Repo(tmp_path, server)


def since(repo: Repo, *words: str, command: str = "check", revision: str = "main") -> tuple[Done, int]:
    """What was said, and how many requests it took."""
    before = len(repo.server.requests)
    done = repo.run(command, "--changed-since", revision, *words)
    return done, len(repo.server.requests) - before


def runs(repo: Repo) -> dict[str, dict[str, Any]]:
    return {run["suite"]: run for run in repo.report()["runs"]}


def test_where_nothing_changed__nothing_is_measured(repo: Repo) -> None:
    done, requests = since(repo)
    assert (done.code, requests) == (0, 0), done.err
    assert "note: not measured, unchanged since main (" in done.err
    assert f"): {RUN}, shell × oracle. The baseline of 20" in done.err
    assert "Nothing to run: all 2 runs stand as measured." in done.err
    assert "0/0" not in done.err
    assert "nothing was measured: the change touches nothing that the suites depend on" in done.out
    assert all(run["unchanged"] and not run["cases"] for run in runs(repo).values())


def test_a_file_that_no_suite_depends_on__costs_nothing__committed_or_not(repo: Repo) -> None:
    commit(repo.root, {"README.md": "# New\n"})
    write_files(repo.root, {"CHANGELOG.md": "# New\n"})
    done, requests = since(repo)
    assert (done.code, requests) == (0, 0), done.err
    again, requests = since(repo)  # the output folder of the first is no change
    assert (again.code, requests) == (0, 0), again.err


@pytest.mark.parametrize("how", ["committed", "uncommitted", "untracked"])
def test_what_changed__is_measured__and_what_it_can_not_touch_is_left(repo: Repo, how: str) -> None:
    match how:
        case "committed":
            commit(repo.root, {"docs/a.md": "b\n"})
        case "uncommitted":
            write_files(repo.root, {"docs/a.md": "b\n"})
        case _:
            write_files(repo.root, {"docs/b.md": "b\n"})
    file = "docs/b.md" if how == "untracked" else "docs/a.md"
    done, requests = since(repo)
    assert (done.code, requests) == (0, 0), done.err
    assert f"): {RUN}. The baseline of" in done.err  # its `paths` leave documents out
    assert f"note: measured, because {file} changed: shell × oracle." in done.err
    assert {name: len(run["cases"]) for name, run in runs(repo).items()} == {"live": 0, "shell": 2}


def test_a_changed_case__has_its_suite_measured(repo: Repo) -> None:
    cases = (repo.root / "cases.jsonl").read_text("utf-8")
    write_files(repo.root, {"cases.jsonl": cases.replace("Print the word one.", "Print the word one. Nothing else.")})
    done, requests = since(repo)
    assert requests > 0, done.err
    assert f"note: measured, because cases.jsonl changed: {RUN}" in done.err


def test_files_that_git_ignores__count_where_a_suite_names_them(repo: Repo) -> None:
    commit(repo.root, {".gitignore": "*.log\nevalward-out/\n"})
    git(repo.root, "branch", "--force", "main")
    write_files(repo.root, {"some.log": "1\n"})
    assert since(repo)[1] == 0
    write_files(repo.root, {"shell/built.log": "1\n"})
    done, _ = since(repo)
    assert "note: measured, because shell/built.log changed: shell × oracle." in done.err


def test_run__leaves_the_same__and_compare_judges_it_with_the_baselines_trials(repo: Repo) -> None:
    done, requests = since(repo, command="run")
    assert (done.code, requests) == (0, 0), done.err + done.out
    judged = repo.run("compare")
    assert (judged.code, "nothing was measured" in judged.out) == (0, True), judged.out


def test_a_plan__leaves_them_out(repo: Repo) -> None:
    done, requests = since(repo, "--plan")
    assert (done.code, requests) == (0, 0)
    assert f"{RUN}: unchanged since the baseline, $0" in " ".join(done.out.split())


def test_shards__leave_them_out__and_so_does_who_judges(repo: Repo) -> None:
    write_files(repo.root, {"docs/a.md": "b\n"})
    for number in (1, 2):
        done, requests = since(repo, "--shard", f"{number}/2", "--output", f"part-{number}", command="run")
        write_files(repo.root, {f"part-{number}/.gitignore": "*\n"})
        assert (done.code, requests) == (0, 0), done.err
    done, requests = since(repo, "--parts", "part-1", "part-2")
    assert (done.code, requests) == (0, 0), done.err
    assert {name: len(run["cases"]) for name, run in runs(repo).items()} == {"live": 0, "shell": 2}
    assert runs(repo)["live"]["unchanged"]
    refused = repo.run("check", "--parts", "part-1", "part-2")
    assert (refused.code, refused.err.splitlines()[-1]) == (
        2,
        f"error: {RUN}: the parts left it out as unchanged since the baseline, and here it is measured. "
        "Give --changed-since to the shards and to --parts alike, or measure all shards again.",
    )
    assert repo.run("merge", "part-1", "part-2", "--output", "merged/report.json").code == 0
    assert repo.report("merged")["runs"][0]["unchanged"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"evalward.yml": None}, "evalward.yml changed in something that its trials may depend on"),
        ({".evalward/baseline.json": None}, "all is measured: the baseline isn't that of the commit."),
    ],
    ids=["config", "baseline"],
)
def test_whatever_is_not_certain__is_measured__and_why_is_said(
    repo: Repo, change: Mapping[str, None], why: str
) -> None:
    (name,) = change
    text = (repo.root / name).read_text("utf-8")
    new = (
        text.replace('"evalward": "', '"evalward": "0')
        if "baseline" in name
        else text.replace("]}]", '], "max_turns": 3}]')
    )
    assert new != text
    write_files(repo.root, {name: new})
    done, _ = since(repo)
    assert why in done.err
    assert all(run["cases"] for run in runs(repo).values() if run["suite"] == "shell")


def test_trials_that_are_asked_for__are_made(repo: Repo) -> None:
    done, requests = since(repo, "--trials", "2")
    assert requests > 0
    assert "note: all is measured: --trials asks for new trials." in done.err


def test_a_commit_without_a_configuration__has_all_measured(repo: Repo) -> None:
    git(repo.root, "checkout", "--quiet", "--orphan", "old")
    git(repo.root, "rm", "--quiet", "-r", "-f", ".")
    commit(repo.root, {"x": "x\n"})
    git(repo.root, "checkout", "--quiet", "topic")
    done, _ = since(repo, revision="old")
    assert "all is measured: old (" in done.err
    assert ") has no evalward.yml." in done.err


@pytest.mark.parametrize("revision", ["nothing", "--output", "HEAD:src", "", "f" * 40])
def test_a_name_that_no_commit_has__is_one_message(repo: Repo, revision: str) -> None:
    done = repo.run("check", f"--changed-since={revision}")
    assert done.code == 2
    assert done.err.splitlines() == [
        f"error: --changed-since: there is no commit {revision!r} here. "
        "Name a branch, a tag or a commit; fetch what this clone doesn't have."
    ]


def test_files_of_no_repository__are_one_message(
    tmp_path: Path, server: ModelServer, committed: Mapping[str, str]
) -> None:
    write_files(tmp_path, committed)
    done = Repo(tmp_path, server).run("run", "--changed-since", "main")
    assert (done.code, done.err.splitlines()) == (
        2,
        ["error: --changed-since: the files here belong to no git repository. Leave it out."],
    )


def test_on_a_cluster__it_is_refused(repo: Repo) -> None:
    done, _ = since(repo, "--on", "ray", command="run")
    assert (done.code, "--changed-since: can't be used with --on ray" in done.err) == (2, True)


def judged_on(repo: Repo, *paths: str) -> None:
    """Main with a suite `shell` to which only these paths matter."""
    config = json.loads((repo.root / "evalward.yml").read_text("utf-8"))
    config["suites"][1]["paths"] = list(paths)
    commit(repo.root, {"evalward.yml": json.dumps(config), "lib/deep/srv.py": "1\n"})
    git(repo.root, "branch", "--force", "main")


@pytest.mark.parametrize("nested", ["submodule", "untracked", "ignored"])
def test_a_repository_in_a_folder__counts_for_patterns_below_it(repo: Repo, tmp_path: Path, nested: str) -> None:
    write_files(repo.root, {".gitignore": "shell/sub/\n" if nested == "ignored" else ""})
    judged_on(repo, "shell/sub/**/*.py")
    inner = init(repo.root / "shell" / "sub")
    commit(inner, {"deep/a.py": "1\n"})
    if nested == "submodule":
        git(repo.root, "add", "shell/sub")
    done, _ = since(repo, "--plan")
    assert "note: measured, because shell/sub changed: shell × oracle." in done.err


@pytest.mark.parametrize("pattern", ["linkdir/deep/*.py", "linksrv.py"])
def test_what_a_link_leads_to__counts_where_the_link_is_named(repo: Repo, pattern: str) -> None:
    (repo.root / "linkdir").symlink_to("lib")
    (repo.root / "linksrv.py").symlink_to("linkdir/deep/srv.py")
    judged_on(repo, pattern)
    done, _ = since(repo, "--plan")
    assert "note: measured" not in done.err
    write_files(repo.root, {"lib/deep/srv.py": "2\n"})
    done, _ = since(repo, "--plan")
    assert "note: measured, because lib/deep/srv.py changed: shell × oracle." in done.err


def test_a_link_that_leads_elsewhere_now__counts_for_patterns_below_it(repo: Repo) -> None:
    (repo.root / "linkdir").symlink_to("lib")
    judged_on(repo, "linkdir/deep/*.py")
    (repo.root / "linkdir").unlink()
    (repo.root / "linkdir").symlink_to("src")
    done, _ = since(repo, "--plan")
    assert "note: measured, because linkdir changed: shell × oracle." in done.err
