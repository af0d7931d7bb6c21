"""Git repositories that a stranger made: nothing that their configuration names is started, nothing of `.git` given."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from evalward.git import GitTree, find_tree, repository_top, write_tree
from evalward.records.problem import InputError
from evalward.sandbox.process.places import Copier
from evalward.suites.scenario.load import Defaults, load_scenarios
from support.checkouts import CANARY, Checkout, secret_file, write_checkout
from support.git_repo import commit, git, init, write_files
from support.scenarios import TEXT, write_scenario
from support.speedup_tasks import CODE, prepared, task, write_suite, write_task

ATTRIBUTES = "* filter=x diff=x merge=x text eol=crlf ident export-subst\n"
DEFAULTS = Defaults(timeout_s=300)


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    (tmp_path / "elsewhere").mkdir()
    return Checkout(tmp_path / "checkout", tmp_path / "elsewhere", capsys, monkeypatch)


def arm(repository: Path, marker: Path) -> None:
    """Every key of a configuration that names a program which reading a commit could start."""
    act = f"touch {marker}; cat"
    hooks = repository / "hooks-of-mine"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        write_files(hooks, {name: f"#!/bin/sh\ntouch {marker}\n"})
        (hooks / name).chmod(0o755)
    keys = {
        "filter.x.smudge": act,
        "filter.x.clean": act,
        "filter.x.process": f"sh -c '{act}'",
        "filter.x.required": "true",
        "diff.x.textconv": act,
        "diff.external": act,
        "core.hooksPath": str(hooks),
        "core.fsmonitor": act,
        "core.pager": act,
        "core.sshCommand": act,
        "core.askPass": act,
        "core.editor": act,
        "credential.helper": f"!{act}",
        "tar.tar.command": act,
        "uploadpack.packObjectsHook": act,
        "alias.cat-file": f"!{act}",
    }
    for key, value in keys.items():
        git(repository, "config", "--file", str(_config(repository)), key, value)


def _config(repository: Path) -> Path:
    return repository / ".git" / "config" if (repository / ".git").is_dir() else repository / "config"


def bare_of_ordinary_files(folder: Path, made: Path) -> None:
    """`folder` becomes a bare repository with a commit: `HEAD`, `config`, `objects` and `refs`, which git can carry."""
    init(made)
    commit(made, {".gitattributes": ATTRIBUTES, **CODE})
    git(made, "clone", "--quiet", "--bare", "--no-hardlinks", str(made), str(folder / "bare"))
    for path in sorted((folder / "bare").iterdir()):
        path.rename(folder / path.name)


def revision(root: Path, path: str = "") -> None:
    """The checkout's task is code of a commit."""
    text = yaml.safe_dump(task(folder=None, revision={"commit": "main", "path": path}, oracle="human/oracle.patch"))
    (root / "speedup" / "tiny.yaml").write_text(text, "utf-8")


@pytest.mark.parametrize("within", [False, True])
def test_a_bare_repository_of_ordinary_files_is_none(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, within: bool
) -> None:
    """Neither alone nor inside of a repository; and git trusts nobody because of `sudo`."""
    monkeypatch.setenv("SUDO_UID", str(os.getuid()))
    write_checkout(checkout.root, "speedup")
    bare_of_ordinary_files(checkout.root / "speedup", tmp_path / "made")
    arm(checkout.root / "speedup", tmp_path / "sprung")
    if within:
        init(checkout.root)
    revision(checkout.root)
    done = checkout.run()
    assert done.code == 2
    assert "revision" in done.said
    assert not (tmp_path / "sprung").exists()


def test_the_outer_repository_is_asked_from_inside_of_such_a_folder(tmp_path: Path) -> None:
    outer = init(tmp_path / "outer")
    sha = commit(outer, {"a/x": "outer\n"})
    bare_of_ordinary_files(outer / "a", tmp_path / "made")
    arm(outer / "a", tmp_path / "sprung")
    tree = GitTree(outer / "a", search_path=os.environ["PATH"])
    assert (tree.head(), tree.prefix()) == (sha, "a/")
    assert repository_top(outer / "a") == outer
    assert not (tmp_path / "sprung").exists()


def test_code_of_a_commit_is_what_was_committed(tmp_path: Path) -> None:
    """No filter, no conversion of line ends, no keyword, no exported substitution."""
    root = init(tmp_path / "repo")
    write_task(root, {**CODE, "id.txt": "$Id$ $Format:%H$\n"}, folder=None, revision={"commit": "main", "path": "code"})
    commit(root, {"code/.gitattributes": ATTRIBUTES})
    arm(root, tmp_path / "sprung")
    _, case = prepared(write_suite(root, ["oracle"]))
    case.fixture.copy_to(tmp_path / "copy")
    assert (tmp_path / "copy" / "id.txt").read_text("utf-8") == "$Id$ $Format:%H$\n"
    assert (tmp_path / "copy" / "bench" / "run.sh").read_text("utf-8") == CODE["bench/run.sh"]
    assert not (tmp_path / "sprung").exists()


def test_a_repository_of_another_user(tmp_path: Path) -> None:
    """As in a container, where the workspace belongs to the runner's user."""
    if os.geteuid() != 0:
        pytest.skip("only root can make somebody else's files")
    root = init(tmp_path / "repo")
    write_task(root, folder=None, revision={"commit": "main", "path": "code"})
    commit(root, {})
    for path in [root, *root.rglob("*")]:
        os.chown(path, 1001, 1001, follow_symlinks=False)
    _, case = prepared(write_suite(root, ["oracle"]))
    case.fixture.copy_to(tmp_path / "copy")
    assert (tmp_path / "copy" / "speed").read_text("utf-8") == CODE["speed"]


def test_links_and_submodules_of_a_commit(tmp_path: Path) -> None:
    root = init(tmp_path / "repo")
    write_files(root, {"code/a/run.sh": "x\n", "code/b.txt": "b\n"})
    (root / "code" / "a" / "run.sh").chmod(0o755)
    (root / "code" / "a" / "link").symlink_to("../b.txt")
    sha = commit(root, {})
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{sha},code/module")
    git(root, "commit", "--quiet", "--message", "a submodule")
    write_tree(root, find_tree(root, "main", "code"), tmp_path / "copy")
    copy = tmp_path / "copy"
    assert (copy / "a" / "link").is_symlink()
    assert (copy / "a" / "link").read_text("utf-8") == "b\n"
    assert (copy / "a" / "run.sh").stat().st_mode & 0o100
    assert not (copy / "b.txt").stat().st_mode & 0o100
    assert not (copy / "module").exists()


@pytest.mark.parametrize("target", ["../../../etc/passwd", "/etc/passwd", "../x"])
def test_a_link_of_a_commit_that_leads_out(tmp_path: Path, target: str) -> None:
    root = init(tmp_path / "repo")
    write_files(root, {"code/a": "a"})
    (root / "code" / "out").symlink_to(target)
    commit(root, {})
    with pytest.raises(ValueError, match="leads out of the folder"):
        find_tree(root, "main", "code")


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_a_commit_with_names_that_no_checkout_has(tmp_path: Path, name: str) -> None:
    root = init(tmp_path / "repo")
    commit(root, {"a": "a\n"})
    blob = git(root, "rev-parse", "HEAD:a")
    made = _object(root, "tree", _entry("100644", "x", blob))
    tree = _object(root, "tree", _entry("40000", name, made))
    found = _object(root, "tree", _entry("40000", "code", tree))
    sha = git(root, "commit-tree", "-m", "hostile", found)
    with pytest.raises(ValueError, match="a name that no folder can hold"):
        find_tree(root, sha, "code")


def test_a_commit_in_which_a_link_and_a_folder_have_one_name(tmp_path: Path) -> None:
    root = init(tmp_path / "repo")
    commit(root, {"a": "a\n", "target": "d"})
    blob, link = git(root, "rev-parse", "HEAD:a"), git(root, "rev-parse", "HEAD:target")
    inner = _object(root, "tree", _entry("100644", "x", blob))
    tree = _object(root, "tree", _entry("120000", "c", link) + _entry("40000", "c", inner))
    with pytest.raises(OSError, match="exists"):
        write_tree(root, tree, tmp_path / "copy")


def test_trees_that_unfold_without_end(tmp_path: Path) -> None:
    """Ten trees of ten entries, each of which is the next tree: a gigabyte of names in a few hundred bytes."""
    root = init(tmp_path / "repo")
    commit(root, {"a": "a\n"})
    tree = _object(root, "tree", _entry("100644", "x", git(root, "rev-parse", "HEAD:a")))
    for _ in range(10):
        tree = _object(root, "tree", b"".join(_entry("40000", f"f{number}", tree) for number in range(10)))
    sha = git(root, "commit-tree", "-m", "unfolds", tree)
    with pytest.raises(ValueError, match="more than 100,000 files"):
        find_tree(root, sha, "")


def _entry(mode: str, name: str, oid: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(oid)


def _object(root: Path, kind: str, content: bytes) -> str:
    words = ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
    done = subprocess.run(words, cwd=root, input=content, capture_output=True, check=True)
    return done.stdout.decode().strip()


# ------------------------------------------------------------------------------------------- git's own folder


@pytest.mark.parametrize("folder", [".git", "code/.git", ".GIT"])
def test_git_s_own_folder_is_no_code(tmp_path: Path, folder: str) -> None:
    write_task(tmp_path, folder=folder)
    secret_file(tmp_path / folder / "config")
    with pytest.raises(InputError, match=r"leads into \.git") as caught:
        prepared(write_suite(tmp_path, ["oracle"]))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("../.git", r"leads into \.git"),
        ("../.git/hooks", r"leads into \.git"),
        ("..", "is a git repository"),
        ("../clone", "is a git repository"),
    ],
)
def test_git_s_own_folder_is_no_fixture(tmp_path: Path, folder: str, told: str) -> None:
    text = TEXT.replace("template_folder: add_task", f"template_folder: {folder}")
    file = write_scenario(tmp_path / "evals", text)
    for place in (tmp_path, tmp_path / "clone"):
        secret_file(place / ".git" / "config")
        secret_file(place / ".git" / "hooks" / "post-commit")
    with pytest.raises(InputError, match=told) as caught:
        load_scenarios([file], tmp_path, DEFAULTS)
    assert CANARY not in str(caught.value)


def test_no_copy_holds_git_s_own_folder(tmp_path: Path) -> None:
    fixture = tmp_path / "fixture"
    write_files(fixture, {"a.txt": "a", "deep/b.txt": "b", "module/.git": f"gitdir: {CANARY}\n", ".gitignore": "x"})
    for place in (fixture / ".git", fixture / "deep" / ".git"):
        secret_file(place / "config")
    Copier(1 << 30).copy(fixture, tmp_path / "copy")
    found = sorted(path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*"))
    assert found == [".gitignore", "a.txt", "deep", "deep/b.txt", "module"]


SEEKER = """\
name: look
description: an agent looks for credentials
template_folder: fixture
target: {binary: sh}
task: {prompt: Look around.}
evaluation:
  gates:
    - {type: command_succeeds, command: 'test -z "$(find . -name .git)"'}
    - {type: file_exists, path: deep/b.txt}
"""


def test_no_agent_finds_it(checkout: Checkout) -> None:
    root = checkout.root
    write_files(
        root,
        {
            "look.yaml": SEEKER,
            "fixture/deep/b.txt": "b",
            "seek.yaml": "- cat deep/.git/config; find . -name .git; grep -r canary . || true\n",
            "evalward.yml": yaml.safe_dump(
                {
                    "version": 1,
                    "scripts": {"seek": "seek.yaml"},
                    "suites": [
                        {"name": "s", "kind": "scenario", "cases": "look.yaml", "targets": ["scripted:seek"]},
                    ],
                }
            ),
        },
    )
    secret_file(root / "fixture" / "deep" / ".git" / "config")
    done = checkout.run()
    assert done.code == 0, done.said
    assert CANARY not in done.said
    assert CANARY.encode() not in done.left


def test_what_is_told_not_to_be_left_out_is_copied(tmp_path: Path) -> None:
    """Such as the repository that an agent itself made in its workspace."""
    write_files(tmp_path / "work", {".git/HEAD": "ref: refs/heads/main\n"})
    Copier(1 << 30, left_out=()).copy(tmp_path / "work", tmp_path / "copy")
    assert (tmp_path / "copy" / ".git" / "HEAD").is_file()


def test_code_that_is_a_clone_is_measured_without_its_repository(tmp_path: Path) -> None:
    write_task(tmp_path)
    secret_file(tmp_path / "code" / ".git" / "config")
    _, case = prepared(write_suite(tmp_path, ["oracle"]))
    case.fixture.copy_to(tmp_path / "copy")
    assert not (tmp_path / "copy" / ".git").exists()
