"""The files that a SKILL.md or a file of evals names: what a commit's suite needs beside its own files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from evalward.config.suite import FilesNamed
from evalward.config.yaml_positions import YamlError, read_yaml
from evalward.opening import path_from
from evalward.records.json_text import NoJsonError, read_json
from evalward.suites.skill.json_items import LISTS, LONGEST
from evalward.suites.skill.skill_file import EVALS, SKILL_FILE
from evalward.suites.yaml_list import MOST_VALUES, is_yaml


def files_named(path: str, content: bytes) -> FilesNamed:
    """Of a SKILL.md its folder; of evals the files that they bring. None where it can't be read."""
    if posixpath.basename(path) == SKILL_FILE:
        return FilesNamed(folders=[posixpath.dirname(path) or "."])
    items = [item for item in _items(path, content) if isinstance(item, dict)]
    if path.lower().endswith(".json"):
        return FilesNamed(folders=[found for item in items for found in _of_eval(path, item.get("files"))])
    named = (name for item in items for name in _values(item.get("files")))
    checks = [gate for item in items for gate in _list(item.get("checks")) if isinstance(gate, dict)]
    graders = [gate["check"] for gate in checks if gate.get("type") == "grader" and isinstance(gate.get("check"), str)]
    return FilesNamed(folders=[found for name in named if (found := path_from("", name))], graders=graders)


def _of_eval(path: str, files: Any) -> Iterator[str]:
    """Where the files of an eval may lie: they count from the folder that has `evals/`."""
    folder = posixpath.dirname(path)
    above = posixpath.dirname(folder) if posixpath.basename(folder) == EVALS else folder
    for name in _list(files):
        for between in ("", EVALS, f"{EVALS}/files") if isinstance(name, str) else ():
            found = path_from(posixpath.join(above, between), name)
            if found:
                yield found


def _items(path: str, content: bytes) -> list[Any]:
    if len(content) > LONGEST:
        return []
    try:
        text = content.decode("utf-8-sig")
        if is_yaml(path):
            return _list(read_yaml(text, MOST_VALUES).value)
        if path.lower().endswith(".json"):
            value = read_json(text)
            found = next((value[key] for key in LISTS if key in value), None) if isinstance(value, dict) else value
            return _list(found)
        return [read_json(line) for line in text.splitlines() if line.lstrip().startswith("{")]
    except (UnicodeDecodeError, NoJsonError, YamlError):
        return []


def _values(value: Any) -> list[str]:
    return [each for each in value.values() if isinstance(each, str)] if isinstance(value, Mapping) else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
