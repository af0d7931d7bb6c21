"""Every reader by its name."""

from __future__ import annotations

from support.fuzzing.answers import MODELS
from support.fuzzing.others import OTHERS
from support.fuzzing.projects import PROJECTS
from support.fuzzing.reader import Reader
from support.fuzzing.records import RECORDS

READERS: dict[str, Reader] = {reader.name: reader for reader in (*PROJECTS, *RECORDS, *MODELS, *OTHERS)}
