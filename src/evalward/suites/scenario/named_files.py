"""The files that a scenario names: what a commit's scenario needs beside its own file."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from evalward.config.suite import FilesNamed
from evalward.config.yaml_positions import YamlError, read_yaml
from evalward.opening import path_from
from evalward.suites.scenario.tolerance import adapt


def files_named(path: str, content: bytes) -> FilesNamed:
    """The fixture's folder, and files; none where the scenario can't be read: the loader says why."""
    try:
        tree = read_yaml(content.decode("utf-8-sig"))
    except (YamlError, UnicodeDecodeError):
        return FilesNamed()
    adapt(tree, PurePosixPath(path).stem)
    scenario = _mapping(tree.value)
    rubric = _mapping(_mapping(scenario.get("evaluation")).get("judge")).get("rubric")
    variants = [_mapping(one) for one in _mapping(scenario.get("variants")).values()]
    written = [file for one in variants for file in (one.get("system"), *_mapping(one.get("files")).values())]
    gates = [_mapping(gate) for gate in _items(_mapping(scenario.get("evaluation")).get("gates"))]
    checks = [gate.get("check") for gate in gates if gate.get("type") == "grader"]
    return FilesNamed(
        files=_inside(path, rubric, *written),
        folders=_inside(path, scenario.get("template_folder")),
        graders=[check for check in checks if isinstance(check, str)],
    )


def _inside(path: str, *names: Any) -> list[str]:
    """Those that lie in the configuration's folder, counted from it."""
    found = [path_from(posixpath.dirname(path), name) for name in names if isinstance(name, str)]
    return [name for name in found if name]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}
