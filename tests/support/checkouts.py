"""A checkout in which every path that a configuration can name is named, one suite of each kind."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml

from evalward.cli import main
from support.git_repo import write_files
from support.scenarios import FILES, TEXT
from support.speedup_tasks import CODE, ORACLE, task
from support.warm import FIRST_ENVIRONMENT

EXAMPLES = Path(__file__).parents[2] / "examples"
ONE_FILE_OF_CASES = {"commands": "text.yaml", "scenarios": "take-stock.yaml"}
CANARY = "canary-7f3a91-of-somebody-else"
RUBRIC = "criteria: [{id: good, weight: 1.0, description: It is good.}]\n"
SCENARIO = (
    TEXT.replace("tool_matrix:\n  - {tool: claude-code, models: [a, b]}\n  - {tool: codex}\n", "")
    .replace("template_folder: add_task", "template_folder: ../fixtures/todo")
    .replace("  composite:", "  judge: {enabled: true, rubric: ../rubrics/r.yaml, pass_threshold: 0.5}\n  composite:")
    + "variants:\n  v2: {files: {AGENTS.md: ../variants/v2.md}, system: ../variants/system.md}\n"
)
BASH = {
    "id": "one",
    "category": "echo",
    "prompt": "Print one.",
    "expectations": [{"check": "stdout_contains:one"}],
    "solution": "echo one",
}
COMMAND = {"id": "one", "prompt": "list", "category": "correctness", "expected_command": "ls"}


def _suite(kind: str, **more: Any) -> dict[str, Any]:
    return {"name": kind, "kind": kind, "cases": f"{kind}/*.yaml", "targets": ["oracle"], **more}


CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "bash": {
        "suites": [
            _suite(
                "bash",
                cases="bash/*.jsonl",
                system="prompts/bash.md",
                tool="tools/bash.md",
                sandbox="process",
                shell=["./shells/mine", "-c"],
            )
        ],
    },
    "command": {
        "suites": [
            _suite("command", system="prompts/command.md", targets=["oracle", "replay:r", "replay:many", "program:p"])
        ],
        "recordings": {"r": "recordings/r.jsonl", "many": "folders/many"},
        "programs": {"p": {"command": ["./programs/mine", "{prompt}"]}},
    },
    "scenario": {
        "suites": [
            _suite("scenario", system="prompts/scenario.md", targets=["oracle", "scripted:s", "scripted:t", "agent:a"])
        ],
        "scripts": {"s": "scripts/s.yaml", "t": "steps/t"},
        "agents": {"a": {"command": ["./programs/agent", "{prompt}"]}},
        "judge": {"model": "recorded:answers/a.jsonl", "cache": "off"},
    },
    "speedup": {
        "suites": [_suite("speedup", system="prompts/speedup.md", targets=["oracle", "patch:p", "log:l"])],
        "patches": {"p": "patches/p"},
        "logs": {"l": "logs/{id}-l.log"},
    },
}
FILES_OF: Mapping[str, Mapping[str, str]] = {
    "bash": {
        "bash/c.jsonl": json.dumps(BASH) + "\n",
        "prompts/bash.md": "You work.\n",
        "tools/bash.md": "Runs bash.\n",
        "shells/mine": '#!/bin/sh\nexec bash "$@"\n',
    },
    "command": {
        "command/c.yaml": yaml.safe_dump([COMMAND]),
        "prompts/command.md": "Answer.\n",
        "recordings/r.jsonl": "",
        "folders/many/trials/one.json": "",
        "programs/mine": "#!/bin/sh\necho ls\n",
    },
    "scenario": {
        "scenario/add_task.yaml": SCENARIO,
        **{f"fixtures/todo/{name}": text for name, text in FILES.items()},
        "rubrics/r.yaml": RUBRIC,
        "variants/v2.md": "Other words.\n",
        "variants/system.md": "You are careful.\n",
        "prompts/scenario.md": "You work.\n",
        "scripts/s.yaml": "- ./todo add milk\n",
        "steps/t/add_task.sh": "./todo add milk\n",
        "programs/agent": "#!/bin/sh\necho done\n",
        "answers/a.jsonl": json.dumps({"id": "add_task", "answers": ["{}"]}) + "\n",
    },
    "speedup": {
        "speedup/tiny.yaml": yaml.safe_dump(task(folder="code", oracle="human/oracle.patch")),
        **{f"speedup/code/{name}": text for name, text in CODE.items()},
        "speedup/human/oracle.patch": ORACLE,
        "prompts/speedup.md": "Be quick.\n",
        "patches/p/tiny.patch": ORACLE,
        "logs/tiny-l.log": "FORMULACODE_TESTS_START\n{}\nFORMULACODE_TESTS_END\n",
    },
}
BASELINE = ".evalward/baseline.json"
SLOTS: Mapping[str, tuple[str, ...]] = {
    "bash": ("evalward.yml", "bash/c.jsonl", "prompts/bash.md", "tools/bash.md", "shells/mine", BASELINE),
    "command": ("command/c.yaml", "prompts/command.md", "recordings/r.jsonl", "programs/mine"),
    "scenario": (
        "scenario/add_task.yaml",
        "rubrics/r.yaml",
        "variants/v2.md",
        "variants/system.md",
        "prompts/scenario.md",
        "scripts/s.yaml",
        "programs/agent",
        "answers/a.jsonl",
    ),
    "speedup": (
        "speedup/tiny.yaml",
        "speedup/human/oracle.patch",
        "prompts/speedup.md",
        "patches/p/tiny.patch",
        "logs/tiny-l.log",
    ),
}
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "command": ("folders/many",),
    "scenario": ("fixtures/todo", "steps/t"),
    "speedup": ("speedup/code",),
}
EXECUTABLE = {"shells/mine", "programs/mine", "programs/agent", "fixtures/todo/todo", "fixtures/todo/check.sh"}


@dataclass(frozen=True)
class Done:
    """What a command did, and every byte that it left."""

    code: int
    said: str
    left: bytes


def write_checkout(root: Path, kind: str) -> Path:
    """The checkout of one kind of suite."""
    config = {"version": 1, "baseline": BASELINE, **CONFIGS[kind]}
    write_files(root, {**FILES_OF[kind], "evalward.yml": yaml.safe_dump(config, sort_keys=False)})
    if kind == "command":
        trial = EXAMPLES / "commands" / "recordings" / "hand-written-before.jsonl"
        first = trial.read_text("utf-8").splitlines(keepends=True)[0]
        write_files(root, {"recordings/r.jsonl": first, "folders/many/trials/one.json": first})
    for name in EXECUTABLE:
        if (root / name).exists():
            (root / name).chmod(0o755)
    return root


def copy_examples(place: Path) -> Path:
    """Our examples with one file of cases each: whoever looks at what is opened needs each kind once.

    The baselines know more cases, so that their comparison has something to say.
    """
    shutil.copytree(EXAMPLES, place, symlinks=True)
    for name, kept in ONE_FILE_OF_CASES.items():
        for file in (place / name / "cases").glob("*.yaml"):
            if file.name != kept:
                file.unlink()
    return place


@dataclass(frozen=True)
class Checkout:
    """A folder that a stranger filled, and a way to run our commands in it."""

    root: Path
    outside: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def run(self, *words: str) -> Done:
        """A command of ours, `check` if none is named; ended by an alarm should it wait for ever."""
        output = self.root.parent / "output"
        self.monkeypatch.chdir(self.root)
        with _alarm(120), pytest.raises(SystemExit) as ended:
            main(list(words) or ["check", "--output", str(output)])
        told, files = self.capsys.readouterr(), sorted(output.rglob("*"))
        left = b"".join(path.read_bytes() for path in files if path.is_file() and not path.is_symlink())
        code = ended.value.code
        return Done(code if isinstance(code, int) else 1, told.out + told.err, left)

    def edit_config(self, **changes: Any) -> None:
        """Other values of its keys."""
        place = self.root / "evalward.yml"
        place.write_text(yaml.safe_dump({**yaml.safe_load(place.read_text("utf-8")), **changes}), "utf-8")


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def replace_by_link(place: Path, target: Path) -> None:
    """A link where a file or a folder was."""
    clear(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def clear(place: Path) -> None:
    """Nothing where a file or a folder was."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def secret_file(place: Path) -> Path:
    """A file of somebody else's: the canary in it, and no rights for others."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{CANARY}\n", "utf-8")
    place.chmod(0o600)
    return place


def environments_of_the_processes() -> list[str]:
    """Whatever of the first environments, the test's own and those of warm processes, could be told in an output."""
    try:
        words = Path("/proc/self/environ").read_bytes().decode("utf-8", "replace").split("\0")
    except PermissionError:  # a process that has hidden its memory shows it to root alone
        words = [f"{name}={value}" for name, value in os.environ.items()]
    return [word for word in (*words, *FIRST_ENVIRONMENT.values()) if len(word) > 24]


def sparse(place: Path, size: int = 50 << 30) -> None:
    """A huge file that takes no room."""
    clear(place)
    with place.open("wb") as stream:
        os.truncate(stream.fileno(), size)
