"""`release.yml`: what may do what, in which order, and its commands, run on a real repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from release_tree import Repository, make, verify
from support.git_repo import commit, git, init

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / ".github" / "workflows" / "release.yml"
TEXT = PATH.read_text("utf-8")
WORKFLOW: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
IMAGE = f"ghcr.io/evalward/evalward@sha256:{'5' * 64}"
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-23\n\n- Something.\n"
READ = {"contents": "read"}
PERMISSIONS = {
    "version": READ,
    "test": READ,
    "dist": READ,
    "image": READ | {"packages": "write", "id-token": "write", "attestations": "write"},
    "commit": READ,
    "pypi": {"id-token": "write", "attestations": "write"},
    "release": {"contents": "write", "packages": "write"},
}


def needed(name: str) -> set[str]:
    """All jobs that must have succeeded before this one starts."""
    names = JOBS[name].get("needs", [])
    direct = {names} if isinstance(names, str) else set(names)
    return direct.union(*(needed(each) for each in direct))


def test_jobs__may_do_what_they_do_and_no_more() -> None:
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == PERMISSIONS
    assert "secrets." not in TEXT, "nothing is published with a stored token"
    assert {name: job["environment"] for name, job in JOBS.items() if "environment" in job} == {
        "pypi": "pypi",
        "release": "release",
    }


def test_jobs__come_after_what_they_rely_on() -> None:
    assert needed("release") == set(JOBS) - {"release"}, "the tags move when all else is done"
    assert needed("pypi") == {"version", "test", "dist", "image", "commit"}
    assert {"test", "dist"} <= needed("image")
    assert "release_tags.py move" in JOBS["release"]["steps"][-1]["run"]
    assert not any("always()" in str(job) or "continue-on-error" in str(job) for job in JOBS.values())


def test_by_hand__nothing_is_published() -> None:
    assert set(WORKFLOW[True]) == {"push", "workflow_dispatch"}
    only_on_push = "github.event_name == 'push'"
    assert {name for name, job in JOBS.items() if job.get("if") == only_on_push} == {"pypi", "release"}
    for step in JOBS["image"]["steps"]:
        if re.match("docker/login-action@|actions/attest@", step.get("uses", "")):
            assert step["if"] == only_on_push
    [build] = [step for step in JOBS["image"]["steps"] if step.get("id") == "build"]
    assert build["with"]["outputs"].endswith(
        "push-by-digest=true,name-canonical=true,push=${{ github.event_name == 'push' }}"
    )
    assert not any("push" in step.get("run", "") for name in ("version", "commit") for step in JOBS[name]["steps"])


def test_steps__are_pinned_and_take_no_text_of_others_as_commands() -> None:
    steps = [step for job in JOBS.values() for step in job["steps"]]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert all(
        re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)
        for line in TEXT.splitlines()
        if "uses: " in line and "@%s" not in line
    )
    assert not [step["run"] for step in steps if "${{" in step.get("run", "")]
    checkouts = [step["with"] for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == 6
    assert all(each == {"ref": "${{ github.sha }}", "persist-credentials": False} for each in checkouts)


def test_commands__have_no_mistakes_that_shellcheck_finds(tmp_path: Path) -> None:
    """actionlint without its own shellcheck sees the expressions, not the commands."""
    scripts = []
    for number, step in enumerate(step for job in JOBS.values() for step in job["steps"] if "run" in step):
        scripts.append(tmp_path / f"{number}.sh")
        scripts[-1].write_text(step["run"], "utf-8")
    shellcheck = Path(sys.executable).with_name("shellcheck")
    words = [str(shellcheck), "--norc", "--shell=bash", *map(str, scripts)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(scripts) > 8


@pytest.fixture
def clone(tmp_path: Path) -> Repository:
    """What the runner checks out: a shallow clone of the tagged commit, with the remote that tags are pushed to."""
    work, remote = init(tmp_path / "work"), tmp_path / "remote.git"
    scripts = {
        f"scripts/{name}": (ROOT / "scripts" / name).read_bytes() for name in ("release_tree.py", "release_tags.py")
    }
    files: dict[str, str | bytes] = {
        "action.yml": (ROOT / "action.yml").read_bytes(),
        "CHANGELOG.md": CHANGELOG,
        "src/evalward/__init__.py": '__version__ = "1.2.3"\n',
    }
    commit(work, {"README.md": "first\n"})
    commit(work, files | scripts)
    git(work, "tag", "v1.2.3")
    git(tmp_path, "clone", "--quiet", "--bare", str(work), str(remote))
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=v1.2.3", f"file://{remote}", str(tmp_path / "clone"))
    return Repository(tmp_path / "clone")


def shell(step: dict[str, Any], folder: Path, env: dict[str, str]) -> str:
    """Runs a step's command as the runner does, with programs of ours in place of docker and gh."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, ending in (("docker", ""), ("gh", 'test "$2" != view\n'), ("python3", "")):
        text = f'#!/bin/sh\necho "{name} $*" >> {programs}/log\n{ending}'
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n' if name == "python3" else text)
        (programs / name).chmod(0o755)
    known = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder.parent),
        "GITHUB_OUTPUT": str(folder.parent / "output"),
        "GITHUB_REPOSITORY": "evalward/evalward",
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=known | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_commands__make_a_release_of_a_tag(clone: Repository) -> None:
    source = clone.commit("HEAD")
    [check] = [step for step in JOBS["version"]["steps"] if "run" in step]
    [made] = [step for step in JOBS["commit"]["steps"] if "run" in step]
    env = {"GITHUB_SHA": source, "GITHUB_REF_NAME": "v1.2.3", "IMAGE": IMAGE, "TAG": "v1.2.3"}

    assert shell(check, clone.folder, env) == "1.2.3\n"
    shell(made, clone.folder, env)
    release = (clone.folder.parent / "output").read_text("utf-8").removeprefix("release=").strip()
    for step in JOBS["release"]["steps"]:
        if "run" in step:
            shell(step, clone.folder, env | {"RELEASE": release})

    remote = Repository(clone.folder.parent / "remote.git")
    assert release == make(clone, source, IMAGE)
    assert {remote.commit(tag) for tag in ("v1", "v1.2", "v1.2.3")} == {release}
    assert (verify(remote, "v1"), remote.commit("main")) == (IMAGE, source)
    notes = (clone.folder / "notes.md").read_text("utf-8")
    assert notes.startswith("- Something.\n")
    assert f"`uses: evalward/evalward@{release} # v1.2.3`" in notes
    log = (clone.folder.parent / "bin" / "log").read_text("utf-8").splitlines()
    assert log[0] == f"docker buildx imagetools create --tag ghcr.io/evalward/evalward:1.2.3 {IMAGE}"
    assert log[-1].startswith("gh release create v1.2.3 --verify-tag --title v1.2.3 --notes-file notes.md")
