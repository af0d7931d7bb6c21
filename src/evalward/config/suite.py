"""What every suite may say, whatever its kind, and what several kinds let it say.

The rest stands in the kind's own record, a subclass of `Suite` in the kind's folder; see `config.kinds`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from evalward.config.fields import Name, SomeTexts, Text, TextList
from evalward.config.reading import get, texts
from evalward.config.targets import SomeTargets, TargetForms, ids_of
from evalward.config.words import KeyPath, Value
from evalward.records.base import StrictRecord
from evalward.records.deprecation import Deprecation
from evalward.records.target_id import target_id
from evalward.records.words import shown

if TYPE_CHECKING:
    from evalward.config.yaml_positions import Mistake

Network = Literal["open", "loopback", "none"]
"""What a process reaches: everything, this machine only, nothing."""

_NOT_OF_A_COMMIT = ("replay", "program", "agent", "scripted")


class Suite(StrictRecord):
    """One suite, as far as all kinds have it in common.

    `takes` says which targets its kind takes, and `file_keys` which keys name files of the repository; `a.b` is the
    key `b` of the key `a`, `a.*` every key of `a`. `separate_keys` name files of which a change touches only some of
    the cases: see `parts_touched`. `deprecated` are old spellings of keys, which are still read. `naming_keys` are
    those whose files name further ones.
    """

    takes: ClassVar[TargetForms] = TargetForms()
    file_keys: ClassVar[Sequence[str]] = ("cases", "system")
    separate_keys: ClassVar[Sequence[str]] = ()
    naming_keys: ClassVar[Sequence[str]] = ("cases",)
    deprecated: ClassVar[Mapping[str, Deprecation]] = MappingProxyType({})

    name: Name = Field(description="Name of the suite, unique in the file")
    kind: str = Field(description="The family of evaluation")
    cases: SomeTexts = Field(description="Files with the cases; patterns such as evals/*.jsonl")
    listed: SomeTargets = Field(alias="targets")
    replaces: Name | None = Field(
        default=None, description="The suite that it replaces, and whose baseline it is compared with"
    )
    system: Text | None = Field(default=None, description="File with the system prompt")
    trials: int = Field(default=1, ge=1, le=100, description="Executions of each case by each target")
    always: bool = Field(
        default=False, description="Measure it on every pull request, even if nothing that it depends on changed"
    )
    paths: TextList = Field(
        default=[],
        description="Files whose change has the suite measured, besides its own; patterns such as src/**, and !docs/** "
        "for what doesn't matter. Default: all but a short list such as README.md",
    )

    @property
    def targets(self) -> list[str]:
        """The targets' ids."""
        return ids_of(self.listed)

    @property
    def extra(self) -> str | None:
        """The optional package that has to be installed for it, `evalward[NAME]`; `None` for none."""
        return None

    def named_by(self, key: str) -> list[str]:
        """The files, or patterns of files, that one of `file_keys` names."""
        value: Any = self
        for part in key.removesuffix(".*").split("."):
            value = getattr(value, part, None)
        inner = [*value.values()] if key.endswith(".*") and isinstance(value, dict) else value
        return [name for _, name in texts(inner)]

    def parts_touched(self, path: str) -> Collection[str] | None:  # noqa: ARG002 - most suites are one piece
        """The parts that a change of this file touches, of what `separate_keys` name; `None`: all of the suite.

        The path counts from the configuration's folder. The names are those of `Case.file_parts`. What a case is said
        not to depend on may have no way into its trials.
        """
        return None

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:  # noqa: ARG003 - nothing holds for all
        """What doesn't fit between the keys of a suite at `path`, which may be wrong in any other way, too."""
        yield from ()

    @classmethod
    def falling(cls, suite: Value) -> Sequence[str]:  # noqa: ARG003 - most suites say it of none
        """The metrics of which a suite's own keys say that less is better."""
        return ()

    @classmethod
    def contrasted(cls, suite: Value) -> Sequence[str]:  # noqa: ARG003 - most suites have one arm
        """The metrics that a rule's `must_beat` can hold: those that compare arms of the same trials."""
        return ()

    @classmethod
    def files_named_in(cls, path: str, content: bytes) -> FilesNamed:  # noqa: ARG003 - most cases name none
        """Which further files a file of `naming_keys` needs, so that the suite can be run from a commit."""
        return FilesNamed()

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema with the forms of the kind's targets."""
        found = handler(schema)
        targets = handler.resolve_ref_schema(found)["properties"]["targets"]
        one, several = targets["anyOf"]
        for text in (one, several["items"]["oneOf"][0]):
            text["pattern"] = cls.takes.pattern
        targets["description"] = "What is evaluated: " + ", ".join(cls.takes.forms)
        return found


class FilesNamed(StrictRecord):
    """What a case file names, by paths from the configuration's folder: files, and folders that it needs as a whole.

    `graders` are its checks that name one, as they are written.
    """

    files: list[str] = []
    folders: list[str] = []
    graders: list[str] = []


class ComparedSuite(Suite):
    """A suite whose cases can be measured on both sides now, because what is evaluated lies in the commit's files."""

    compare_with: Literal["baseline", "base"] = Field(
        default="baseline",
        description="baseline: the committed baseline; base: the base commit, all of whose trials are made now, in "
        "turns with these",
    )

    @property
    def elsewhere(self) -> str | None:
        """Why what is evaluated does not lie in the commit's files after all; `None` where it does."""
        return None

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """Where both sides are measured now, all that is evaluated has to lie in the commit's files."""
        from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

        yield from super().mistakes(suite, path)
        if get(suite, "compare_with") != "base":
            return
        for place, target in texts(get(suite, "targets"), *path, "targets"):
            if target_id(target).form in _NOT_OF_A_COMMIT:
                message = (
                    f"{shown(target)} can't be compared with the base commit: it isn't made of that commit's files"
                )
                yield Mistake(place, message, "Put it into a separate suite, without compare_with: base.")
        if get(suite, "sandbox") == "process":
            message = "programs of this machine can't be compared with the base commit: both sides would use the same"
            yield Mistake((*path, "compare_with"), message, "Remove the key, or leave sandbox: virtual.")


class SandboxedSuite(Suite):
    """A suite whose cases run commands in a shell of ours; `evalward.suites.shells` makes it."""

    sandbox: Literal["virtual", "process"] = Field(
        default="virtual", description="Where commands run: in a virtual interpreter, or as isolated processes"
    )
    shell: list[Text] | None = Field(
        default=None,
        min_length=1,
        description="With sandbox: process, the program whose last argument is each script; else bash -c",
    )

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """Only a real process has a shell of one's own."""
        from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

        yield from super().mistakes(suite, path)
        if get(suite, "shell") is not None and get(suite, "sandbox") != "process":
            message = "only real processes have a shell that can be chosen"
            yield Mistake((*path, "shell"), message, "Add sandbox: process, or remove the key.")


Memory = Annotated[int, Field(ge=64, le=1_000_000, description="Memory in MB")]
Processes = Annotated[int, Field(ge=8, le=100_000, description="Processes at once")]
Disk = Annotated[int, Field(ge=1, le=1_000_000, description="Disk in MB")]


class WorkspaceLimits(StrictRecord):
    """What a workspace may use of the machine; how much that is by default, each kind says."""

    memory_mb: Memory
    processes: Processes
    disk_mb: Disk


class IsolatedSuite(Suite):
    """A suite whose cases start programs of the repository, isolated from this machine as far as it allows.

    In a workflow only the base's configuration may say that they run with less.
    """

    network: Network = Field(
        default="none", description="What programs can reach: everything, only this machine, or nothing"
    )
    allow_unisolated: bool = Field(default=False, description="In a workflow, run programs even without full isolation")
