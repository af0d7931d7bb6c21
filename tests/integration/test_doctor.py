"""`evalward doctor` in real repositories: what it says, what it starts, and what it never shows."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path

import pytest

from evalward.commands.doctor import DoctorOptions, doctor
from evalward.records.checkup import Checkup, CheckupItem
from support.cases import task, write_suite
from support.git_repo import commit, git, init
from support.showing import world_of

CANARY = "canary-of-a-value-0123456789"
PLAIN = {"PATH": "/usr/bin:/bin"}
CONFIG = {
    "version": 1,
    "suites": [
        {
            "name": "shell",
            "kind": "bash",
            "cases": "cases.jsonl",
            "targets": ["oracle", "anthropic/claude-haiku-4-5", "openai/gpt-5.5", "replay:gone"],
        },
        {"name": "commands", "kind": "command", "cases": "commands.yaml", "targets": ["program:mine"]},
        {
            "name": "theirs",
            "kind": "external",
            "results": "out.json",
            "run": "no-such-harness --all",
            "env": ["ODD_ONE"],
        },
    ],
    "recordings": {"gone": "recordings/gone.jsonl"},
    "programs": {"mine": {"command": ["./mine", "{prompt}"]}},
    "providers": {"openai": {"key_env": "MY_OWN"}},
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with programs of its own on the PATH, in a home with others."""
    root = tmp_path / "home" / "repo"
    root.mkdir(parents=True)
    write_suite(root, [task()])
    (root / "evalward.yml").write_text(json.dumps(CONFIG), "utf-8")
    write_program(root / "bin" / "codex", f"echo ran > {tmp_path}/mark; echo 1.0")
    write_program(root / "mine", f"echo ran > {tmp_path}/mark")
    write_program(tmp_path / "home" / "bin" / "claude", "printf '2.1.3 (Claude \\033[31mCode)\\nmore\\n'; env >&2")
    init(root)
    commit(root, {"README.md": "hello\n"})
    return root


def write_program(file: Path, script: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    file.chmod(0o755)


def asked(folder: Path, code: int, env: Mapping[str, str], *, network: bool = False, as_json: bool = True) -> str:
    world = world_of(folder, None, **env)
    assert doctor(world, DoctorOptions(network=network, json=as_json)) == code
    assert isinstance(world.out, StringIO)
    return world.out.getvalue()


def found(text: str) -> dict[str, CheckupItem]:
    return {item.name: item for item in Checkup.model_validate_json(text).items}


def search_path(repo: Path) -> str:
    return f"bin:{repo}/bin:{repo.parent}/bin:/usr/bin:/bin"


def test_doctor__names_what_the_configuration_needs_and_shows_no_value(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    env = {"HOME": str(repo.parent), "PATH": search_path(repo), "ANTHROPIC_API_KEY": CANARY, "MY_DATABASE": CANARY}
    text = asked(repo, 1, env)
    items = found(text)
    status = {name: item.status for name, item in items.items()}
    assert (status["oracle"], status["anthropic/claude-haiku-4-5"], status["program:mine"]) == ("ok", "ok", "ok")
    assert items["openai/gpt-5.5"].text == "MY_OWN is not set"
    assert items["replay:gone"].status == "missing"
    assert "recordings/gone.jsonl" in items["replay:gone"].text
    assert status["suite theirs"] == "missing"
    assert "no-such-harness" in text
    assert "ODD_ONE" in text
    assert {name: items[name].text for name in ("ANTHROPIC_API_KEY", "MY_OWN", "OPENAI_API_KEY")} == {
        "ANTHROPIC_API_KEY": "set",
        "MY_OWN": "not set",
        "OPENAI_API_KEY": "not set",
    }
    assert items["claude"].text == "2.1.3 (Claude Code), ~/bin/claude"
    assert "in this repository: not started" in items["codex"].text
    assert items["repository"].text == "~/repo, with its whole history"
    assert items["baseline"].status == "warning"
    assert CANARY not in text
    assert str(tmp_path) not in text
    assert not (tmp_path / "mark").exists()
    assert asked(repo, 1, env) == text


@pytest.mark.parametrize("server", [{"command": ["./mine"]}, {"snapshot": "tools.json"}], ids=["spoken to", "read"])
def test_doctor__names_the_package_that_a_suite_lacks(
    repo: Path, server: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    monkeypatch.setattr("evalward.commands.doctor.project.installed_version", lambda name: None)
    suite = {"name": "tools", "kind": "mcp", "server": server, "cases": "tools.yaml", "targets": ["oracle"]}
    (repo / "evalward.yml").write_text(json.dumps({"version": 1, "suites": [suite]}), "utf-8")
    items = Checkup.model_validate_json(asked(repo, 1 if "command" in server else 0, PLAIN)).items
    lacking = [(item.text, item.remedy) for item in items if item.name == "suite tools" and "package" in item.text]
    expected = ("it needs the package mcp, which is not installed", 'Install it: pip install "evalward[mcp]".')
    assert lacking == ([expected] if "command" in server else [])


@pytest.mark.cold
def test_doctor__as_users_start_it__knows_names_alone(repo: Path) -> None:
    """The process that looks has no value of any variable, and knows whether the one is set that the file names."""
    env = {"HOME": str(repo.parent), "PATH": search_path(repo), "MY_OWN": CANARY, "ODD_ONE": ""}
    words = [str(Path(sys.executable).with_name("evalward")), "doctor", "--format", "json"]
    done = subprocess.run(words, cwd=repo, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    items = found(done.stdout)
    assert (items["MY_OWN"].text, items["ODD_ONE"].text, items["openai/gpt-5.5"].status) == ("set", "not set", "ok")
    assert CANARY not in done.stdout + done.stderr


def test_doctor__a_mistake_in_a_file_is_code_2_and_the_rest_is_there(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    (repo / "evalward.yml").write_text("version: 1\nsuites: 5\n\u202e: x\n", "utf-8")
    shown = asked(repo, 2, PLAIN, as_json=False)
    assert "✗ configuration  evalward.yml:2: suites:" in shown
    assert "\u202e" not in shown
    assert "ANTHROPIC_API_KEY  not set" in shown
    assert shown.endswith("✗ Can't be used as it is: configuration.\n")
    write_suite(repo, [task()])
    (repo / ".evalward").mkdir()
    (repo / ".evalward" / "baseline.json").write_text("{}", "utf-8")
    assert found(asked(repo, 2, PLAIN))["baseline"].status == "wrong"


def test_doctor__without_a_configuration_and_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = asked(tmp_path, 0, {"PATH": "/nowhere", "LC_ALL": "C", "COLUMNS": "60"}, as_json=False)
    lines = [line for line in shown.splitlines() if "/" not in line]
    assert "".join(lines).isascii()
    assert "- configuration  none, here or in a folder above" in shown
    assert "! git" in shown
    assert "x " not in [line[:2] for line in shown.splitlines()]


def test_doctor__says_that_a_clone_is_shallow(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, {"README.md": "hello again\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    item = found(asked(tmp_path / "clone", 1, PLAIN))["repository"]
    assert item.status == "warning"
    assert "shallow" in item.text


class _Provider(BaseHTTPRequestHandler):
    asked: list[tuple[str, str, dict[str, str]]] = []

    def do_HEAD(self) -> None:
        self.asked.append((self.command, self.path, dict(self.headers)))
        self.send_response(302)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[str]:
    """A host that answers, and keeps what it was asked."""
    _Provider.asked.clear()
    server = HTTPServer(("127.0.0.1", 0), _Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_doctor__reaches_hosts_without_a_key(repo: Path, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    monkeypatch.setenv("HOME", str(repo.parent))
    (repo.parent / ".netrc").write_text("machine 127.0.0.1\nlogin me\npassword " + CANARY, "utf-8")
    (repo.parent / ".netrc").chmod(0o600)
    config = {
        **CONFIG,
        "suites": [{**CONFIG["suites"][0], "targets": ["anthropic/a", "openai/b"]}],  # type: ignore[index]
        "providers": {
            "anthropic": {"base_url": f"http://{provider}/v1", "key_env": "MY_OWN"},
            "openai": {"base_url": "http://127.0.0.1:1/v1"},
        },
    }
    (repo / "evalward.yml").write_text(json.dumps(config), "utf-8")
    text = asked(repo, 1, {**PLAIN, "MY_OWN": CANARY}, network=True)
    items = found(text)
    assert items[f"http://{provider}"].text == "anthropic: reached (HTTP 302, no key sent)"
    assert items["http://127.0.0.1:1"].text == "openai: no connection"
    assert items["http://127.0.0.1:1"].status == "missing"
    [(_, path, headers)] = _Provider.asked
    assert path == "/"
    assert CANARY not in text + repr(headers)
    assert "Authorization" not in headers
