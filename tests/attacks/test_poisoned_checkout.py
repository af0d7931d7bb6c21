"""Every command of ours, run in a folder that a stranger filled: nothing of it is run that the configuration doesn't
name, and no secret of the environment leaves, whatever its variable is called.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
import yaml

from evalward.cli import build_parser
from evalward.commands.baseline import UpdateOptions, update
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.edge import harmless
from evalward.keeper.process import runner_environment
from support.checkouts import write_checkout
from support.git_repo import git

pytestmark = pytest.mark.cold

SECRETS = {
    name: f"canary-{number}-of-the-environment"
    for number, name in enumerate(
        ("OPENAI_API_KEY", "MY_DATABASE", "EVALWARD_ODD", "LLM_TOOL_TEST_ODD", "LC_ODD_1", "GITHUB_PAT", "odd", "_")
    )
}
MODULES = (
    *("sitecustomize", "usercustomize", "conftest", "evalward", "encodings", "json", "re", "socket", "ssl", "typing"),
    *("yaml", "pydantic", "bashkit", "openai", "anthropic", "httpx2", "requests", "jinja2", "tabulate", "h11", "re2"),
    "backports",
)
CONFIG = """
[core]
\tfsmonitor = {run}
\thooksPath = {hooks}
\tpager = {run}
\tsshCommand = {run}
\teditor = {run}
\tattributesFile = .gitattributes
[diff]
\texternal = {run}
[filter "x"]
\tclean = {run}
\tsmudge = {run}
\tprocess = {run}
\trequired = true
[diff "x"]
\ttextconv = {run}
\tcommand = {run}
[credential]
\thelper = "!{run}"
[uploadpack]
\tpackObjectsHook = {run}
[gpg]
\tprogram = {run}
[alias]
\tls-files = "!{run}"
\trev-parse = "!{run}"
"""
COMMANDS = (
    ("demo", "--output", "bare/demo"),
    ("init", "--yes"),
    ("doctor",),
    ("run", "--output", "bare/out"),
    ("check", "--output", "bare/out"),
    ("check", "--changed-since", "HEAD", "--output", "bare/out"),
    ("safety", "ls"),
    ("schema", "trial"),
    ("validate",),
    ("compare", "--report", "made/report.json", "--baseline", "made/baseline.json"),
    ("report", "made/report.json"),
    ("merge", "made", "--output", "bare/out/report.json"),
    ("export", "caro", "made/report.json", "--output", "out.json"),
    ("import", "caro", "made/report.json", "--output", "out.json"),
    ("baseline", "show", "--baseline", "made/baseline.json"),
    ("baseline", "update", "--report", "made/report.json"),
    ("baseline", "diff", "made/baseline.json", "made/baseline.json"),
    ("baseline", "commit", "--report", "made/report.json", "--to", "push"),
    ("history", "show"),
    ("history", "append", "--report", "made/report.json"),
    ("history", "page", "--output", "pages"),
    ("show", "--report", "made/report.json"),
    ("view", "--report", "made/report.json"),
    ("guidance", "--against", "HEAD", "--output", "bare/out"),
    ("judge", "check", "made/report.json", "made/report.json"),
    ("mcp", "snapshot"),
    ("publish", "made"),
    ("accept",),
    ("release", "--report", "made/report.json", "--output", "bare/out"),
    ("action",),
    ("help", "baseline", "update"),
    ("completion", "bash"),
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a report and a baseline, and whatever a stranger could leave in it."""
    root = write_checkout(tmp_path_factory.mktemp("poisoned") / "checkout", "command")
    config = yaml.safe_load((root / "evalward.yml").read_text("utf-8"))
    config["suites"][0]["targets"] = ["oracle", "program:p"]
    (root / "evalward.yml").write_text(yaml.safe_dump(config), "utf-8")
    made = root / "made"
    quiet = World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env={"PATH": os.environ["PATH"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert run(quiet, RunOptions(Path("evalward.yml"), made)) == 0
        assert update(quiet, made / "report.json", made / "baseline.json", UpdateOptions()) == 0
    poison(root)
    return root


def poison(root: Path) -> None:
    marks = root.parent / "marks"
    marks.mkdir()
    marks.chmod(0o777)
    program = root / "bin" / "run"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $0 > {marks}/program.$$\n")
    program.chmod(0o755)
    for name in ("git", "python3", "python", "bwrap", "sh", "bash", "env", "ssh", "diff"):
        (root / name).write_text(program.read_text())
        (root / name).chmod(0o755)
    text = f"open({str(marks)!r} + '/' + __name__, 'w').close()\n"
    for folder in (root, root / "src", root / ".local/lib/python3.11/site-packages"):
        folder.mkdir(parents=True, exist_ok=True)
        for name in MODULES:
            (folder / f"{name}.py").write_text(text)
        (folder / "x.pth").write_text(f"import os; open({str(marks)!r} + '/pth', 'w').close()\n")
    (root / "pyvenv.cfg").write_text("home = .\ninclude-system-site-packages = true\n")
    (root / ".env").write_text("".join(f"{name}=of-the-stranger\n" for name in SECRETS))
    (root / ".netrc").write_text("default login stranger password of-the-stranger\n")
    (root / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/\n")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-p conftest'\n")
    (root / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "all")
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    config = CONFIG.format(run=program, hooks=hooks)
    with (root / ".git" / "config").open("a") as file:
        file.write(config)
    bare = root / "bare"  # commands write below a bare repository
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text("[core]\n\tbare = true\n" + config.split("[core]\n", 1)[1])


def start(root: Path, *words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "evalward", *words],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def left(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_of_it_runs_and_no_secret_leaves(words: tuple[str, ...], checkout: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"action": "opened"}))
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(checkout),
        "PYTHONPATH": "",
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "GITHUB_WORKSPACE": str(checkout),
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_SHA": git(checkout, "rev-parse", "HEAD"),
        "INPUT_GITHUB-TOKEN": "canary-of-the-token",
        "INPUT_OUTPUT-DIR": "bare/out",
        "TMPDIR": str(tmp_path),
        **SECRETS,
    }
    done = start(checkout, *words, env=env)
    assert done.returncode in {0, 1, 2, 3}
    assert "Traceback" not in done.stderr + done.stdout
    assert "usage:" not in done.stderr, done.stderr
    if words[0] in {"run", "check", "compare", "report", "action"}:
        assert done.returncode in {0, 1}, done.stdout + done.stderr  # it did its work, and was not only refused
    assert sorted(path.name for path in (checkout.parent / "marks").iterdir()) == []
    assert "canary-" not in done.stdout + done.stderr
    assert [path for path in (*left(checkout), *left(tmp_path)) if b"canary-" in path.read_bytes()] == []


def test_every_command_is_tried() -> None:
    listed = {name for action in build_parser()._actions if isinstance(action.choices, dict) for name in action.choices}
    assert {words[0] for words in COMMANDS} == listed


def test_a_secret_is_none_the_less_for_a_name_like_ours() -> None:
    """`key_env` may name any variable; what is called like one of ours is passed on only where it is one of ours."""
    known = ["EVALWARD_JUDGE", "LC_ALL", "PATH"]
    env = {**SECRETS, **dict.fromkeys(known, "x")}
    assert sorted(runner_environment(env)) == sorted(known)
    assert sorted(harmless(env)) == sorted(known)
