"""Who answers: models, programs, and the three that need nobody: oracle, nop and replay."""

from __future__ import annotations

from evalward.config import LoadedConfig
from evalward.records.problem import wrong
from evalward.targets.base import Target

REPLAY = "replay:"


def make_target(name: str, loaded: LoadedConfig) -> Target:
    """The target of this id. Raises `InputError` when there is none, or when its recording can't be read."""
    if name == "oracle":
        from evalward.targets.scripted import Oracle  # noqa: PLC0415 - each target costs only who uses it

        return Oracle()
    if name == "nop":
        from evalward.targets.scripted import Nop  # noqa: PLC0415

        return Nop()
    if name.startswith(REPLAY):
        from evalward.targets.replay import load_recording  # noqa: PLC0415

        recording = name.removeprefix(REPLAY)
        return load_recording(recording, loaded.root / loaded.config.recordings[recording])
    raise wrong(loaded.file, f"there is no target {name!r}", "Known: oracle, nop, replay:NAME.", field="targets")
