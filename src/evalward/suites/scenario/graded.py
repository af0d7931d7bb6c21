"""The gate `grader`: a check of the repository's own, on a copy of the folder as it stands at its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalward.graders.grading import Grader, GraderError, ToGrade, TooMuchLeftError
from evalward.graders.source import Source
from evalward.sandbox.process.places import Copied
from evalward.suites.scenario.gate_models import GraderGate
from evalward.suites.scenario.judging import WHOLE, JudgingRoom


@dataclass(frozen=True)
class RoomLeft:
    """What stands in the workspace where a trial is judged."""

    room: JudgingRoom

    @property
    def home(self) -> str:
        """Its folder."""
        return str(self.room.folder)

    async def copy_out(self, files: Path, elsewhere: Path, most_mb: int) -> Copied:  # noqa: ARG002 - the folder is all
        """Copy the folder, when nothing of an earlier gate runs in it and what judges is as the case has it."""
        await self.room.finished()
        return await asyncio.to_thread(self.room.workspace.copy_to, files, most_mb, WHOLE)


@dataclass
class Grading:
    """The graders of a trial. `faults`: why those gave no answer that broke."""

    sources: Mapping[str, Source]
    answered: ToGrade
    room: JudgingRoom
    allow_unisolated: bool = False
    faults: list[str] = field(default_factory=list)

    async def verdict(self, gate: GraderGate) -> tuple[bool, str]:
        """Whether the gate passes, and the grader's words. Raises `SandboxError`."""
        grader = Grader(self.sources[gate.check], gate.timeout_secs, self.allow_unisolated)
        try:
            grade = await grader.grade(self.answered, RoomLeft(self.room))
        except GraderError as error:
            self.faults.append(str(error))
            return False, str(error)
        except TooMuchLeftError as error:
            return False, str(error)
        score = "" if grade.score is None else f"score {grade.score:.3g}"
        return grade.passed, ": ".join(filter(None, (score, grade.detail)))
