"""Folders with skills and their evals, and what loading them says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.suites.skill.load import LoadedSkills, load_skills
from evalward.suites.skill.spec import SkillSuite
from support.fuzzing.folders import write_files

PDF = "---\nname: pdf\ndescription: Merges, splits and fills PDF files.\n---\nUse pdftk.\n"
XLSX = "---\nname: xlsx\ndescription: Reads and writes spreadsheets.\n---\nUse openpyxl.\n"
QUERIES = [
    {"query": "Merge these two PDF files", "should_trigger": True},
    {"query": "Which spreadsheet opens PDF files?", "should_trigger": False},
]
EVALS = "skills/pdf/evals/evals.json"
TRIGGERS = "skills/pdf/evals/trigger-evals.json"


def suite(**keys: Any) -> dict[str, Any]:
    return {"name": "s", "kind": "skill", "skills": "skills/*/SKILL.md", "targets": ["nop"], **keys}


def loaded(root: Path, files: Mapping[str, Any], **keys: Any) -> LoadedSkills:
    """What a suite of these files is; a value that is no text or bytes is written as JSON. Raises `InputError`."""
    write_files(root, {"skills/pdf/SKILL.md": PDF.encode(), **{name: as_bytes(value) for name, value in files.items()}})
    config = parse_config(json.dumps({"version": 1, "suites": [suite(**keys)]}), "evalward.yml", root)
    (spec,) = config.config.suites
    assert isinstance(spec, SkillSuite)
    return load_skills(spec, config)


def as_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def refused(root: Path, files: Mapping[str, Any], **keys: Any) -> str:
    """All problems of loading it, line by line."""
    try:
        loaded(root, files, **keys)
    except InputError as error:
        return "\n".join(map(str, error.problems))
    raise AssertionError("nothing was wrong")


def warned(root: Path, files: Mapping[str, Any], **keys: Any) -> str:
    """All warnings of loading it, line by line."""
    return "\n".join(loaded(root, files, **keys).warnings)
