"""Answers of judges, kept by content: the same model asked the same question under the same settings.

Only answers that could be used are kept, and what is read is read as strictly as a model's: a file that is broken,
foreign or forged in form is a miss. Whoever can write to the folder can forge a verdict, so the action never takes one
from the checkout that it judges.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from evalward.opening import read_inside
from evalward.records.base import Json, digest
from evalward.records.problem import InputError
from evalward.redaction import NOTHING, Redaction
from evalward.writing import Folder

SCHEMA = "evalward.judge-answer/1"
MOST_BYTES = 1_000_000
_KEY = re.compile(r"sha256:[0-9a-f]{64}")


class JudgeCache:
    """A folder with one file per answer."""

    def __init__(self, folder: Path, redaction: Redaction = NOTHING) -> None:
        self.folder = folder
        self._redaction = redaction

    @staticmethod
    def key(*parts: Json) -> str:
        """The digest of everything that an answer depends on."""
        return digest(list(parts))

    @staticmethod
    def _name(key: str) -> str:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is not a key")
        name = key.removeprefix("sha256:")
        return f"{name[:2]}/{name}.json"

    def get(self, key: str) -> str | None:
        """The text of an earlier answer, `None` where there is none that can be read."""
        name = self._name(key)
        try:
            data = json.loads(read_inside(self.folder, name, MOST_BYTES))
        except (InputError, OSError, ValueError, RecursionError):
            return None
        if not isinstance(data, dict) or (data.get("schema"), data.get("key")) != (SCHEMA, key):
            return None
        answer = data.get("answer")
        return answer if isinstance(answer, str) else None

    def put(self, key: str, answer: str) -> None:
        """Keep an answer. A folder that can't be written keeps nothing, which is no reason to lose a verdict."""
        path = self._name(key)
        data = self._redaction.json(json.dumps({"schema": SCHEMA, "key": key, "answer": answer}).encode())
        if len(data) > MOST_BYTES:
            return
        with suppress(OSError, InputError):
            folder = Folder(self.folder)
            if not folder.has(".gitignore"):  # a committed answer would be a forged one some day
                folder.write(".gitignore", b"*\n")
            folder.write(path, data)
