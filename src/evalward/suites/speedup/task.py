"""An optimisation task: its code, how it is tested and measured, and the human patch."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from evalward.records.base import StrictRecord, digest, short_fingerprint
from evalward.records.case import Case
from evalward.records.problem import Place
from evalward.suites.bounds import MOST_ENTRIES, CaseName, CaseText
from evalward.suites.speedup.fixture import CodeFixture

Text = Annotated[CaseText, Field(min_length=1)]
Format = Literal["json", "pytest-benchmark", "asv", "pyperf", "hyperfine"]

PROTECTED = (
    "tests",
    "test",
    "benchmarks",
    "bench",
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "asv.conf.json",
)
"""What is put back before anything is measured, where a task doesn't say: who is measured doesn't hold the clock."""


def _words(value: Any) -> Any:
    """A text is a line of shell."""
    return ["bash", "-c", value] if isinstance(value, str) else value


_Words = Annotated[list[Text], Field(min_length=1, max_length=MOST_ENTRIES)]
Command = Annotated[_Words, BeforeValidator(_words, json_schema_input_type=Text | _Words)]


def _inside(path: str) -> str:
    parts = path.split("/")
    if path.startswith(("/", "~")) or ".." in parts or "\\" in path or "\0" in path:
        raise ValueError("a path inside of the task's folder is needed")
    return path


InsidePath = Annotated[Text, Field(max_length=500), BeforeValidator(lambda v: _inside(v) if isinstance(v, str) else v)]


class TestRun(StrictRecord):
    """How the code is tested, and where the outcome is: JUnit XML, or JSON with passed, failed, error, skipped."""

    __test__ = False  # it is no test of ours

    command: Command
    junit: InsidePath | None = None
    counts: InsidePath | None = Field(default=None, alias="json")

    @model_validator(mode="after")
    def _one_file(self) -> TestRun:
        if (self.junit is None) == (self.counts is None):
            raise ValueError("tests need either junit or json: the file that their command writes")
        return self


class Benchmarks(StrictRecord):
    """How the code is measured, and which file then has the times."""

    command: Command
    format: Format
    output: InsidePath


class SnapshotRun(StrictRecord):
    """The task's own comparison of outputs: its command writes JSON, name → passed, failed or skipped."""

    command: Command
    statuses: InsidePath = Field(alias="json")


class AutoSnapshots(StrictRecord):
    """Outputs of functions, `module:function` → lists of arguments, compared before and after the change."""

    functions: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")], list[list[Any]]] = Field(
        min_length=1
    )
    path: list[InsidePath] = Field(default=["."], max_length=MOST_ENTRIES)
    python: Text = "python"
    rtol: float = Field(default=1e-5, ge=0, allow_inf_nan=False)
    atol: float = Field(default=1e-8, ge=0, allow_inf_nan=False)


class Revision(StrictRecord):
    """A commit of the repository that the task file is in, and the folder in it that is the code."""

    commit: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w./-]{0,199}$")]
    path: Annotated[str, Field(max_length=500), BeforeValidator(lambda v: _inside(v) if isinstance(v, str) else v)] = ""


class SpeedupTask(StrictRecord):
    """A task as its file has it. Paths count from the file's folder, those of commands from the code's folder."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    category: CaseName = "speedup"
    prompt: Text
    folder: InsidePath | None = None
    revision: Revision | None = None
    setup: list[Command] = Field(default=[], max_length=MOST_ENTRIES)
    tests: TestRun
    benchmarks: Benchmarks
    snapshots: SnapshotRun | None = None
    auto: AutoSnapshots | None = None
    oracle: InsidePath
    protect: list[InsidePath] = Field(default=list(PROTECTED), max_length=MOST_ENTRIES)
    rounds: int | None = Field(default=None, ge=1, le=1000)
    min_effect: float = Field(default=0.05, ge=0, le=100, allow_inf_nan=False)
    timeout_s: float | None = Field(default=None, gt=0, le=14_400, allow_inf_nan=False)

    @model_validator(mode="after")
    def _either(self) -> SpeedupTask:
        if (self.folder is None) == (self.revision is None):
            raise ValueError("a task needs either folder or revision: where its code is")
        if (self.snapshots is None) == (self.auto is None):
            raise ValueError("a task needs either snapshots or auto: a faster wrong answer doesn't count")
        return self

    def asked(self, code: str) -> dict[str, Any]:
        """What is asked and how it is judged; the human patch is part of it, as the measure of all others."""
        kept = self.model_dump(mode="json", exclude={"id", "category", "folder", "revision", "rounds", "timeout_s"})
        return {**kept, "code": code}


class SpeedupCase(Case):
    """A task with its code and its patch at hand."""

    task: SpeedupTask
    fixture: CodeFixture
    oracle: bytes

    @property
    def solved(self) -> bool:
        """Always: the human patch is no conversation, and every task has one."""
        return True

    def written(self) -> dict[str, Any]:
        """The task, without what is at its default."""
        return self.task.model_dump(mode="json", exclude_defaults=True, by_alias=True)

    def taken_from_elsewhere(self) -> dict[str, Any]:
        """The fingerprints of its code and of the human patch."""
        oracle = digest(self.oracle.decode("utf-8", "surrogateescape"))
        return {"code": short_fingerprint(self.fixture.digest), "oracle": short_fingerprint(oracle)}


def make_case(task: SpeedupTask, place: Place, root: Path, folder: str, oracle: bytes) -> SpeedupCase:
    """The case of a task whose file is in `folder`, a path below `root`.

    Raises `ValueError`, `InputError` and `OSError` when its code isn't there.
    """
    if task.revision is not None:
        fixture = CodeFixture.of_revision(root / folder, task.revision.commit, task.revision.path)
    else:
        fixture = CodeFixture.of_folder(root, posixpath.normpath(posixpath.join(folder, task.folder or ".")))
    asked = {**task.asked(fixture.digest), "oracle": digest(oracle.decode("utf-8", "surrogateescape"))}
    return SpeedupCase(
        id=task.id,
        category=task.category,
        definition=digest(asked),
        place=place,
        task=task,
        fixture=fixture,
        oracle=oracle,
    )
