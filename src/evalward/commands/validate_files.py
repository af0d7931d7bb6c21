"""What a file is that `evalward validate` is given: a baseline, a config, or a file that a config's suites name."""

from __future__ import annotations

import os
import re
from pathlib import Path

from evalward.commands.config_place import CONFIG_NAMES, find_config
from evalward.config import LoadedConfig, Suite
from evalward.config.model import Config
from evalward.config.yaml_positions import MAX_CHARACTERS
from evalward.opening import beginning_inside, glob_inside, name_below
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError, wrong

TAKES = "`validate` takes configs, baselines, and files that a config's suites name, such as their cases."
_BASELINE = b'"evalward.baseline/'
_HEAD = 300  # bytes: our files begin with their schema
_KEY = re.compile(rb"""^["']?([a-z_-]+)["']?[ ]*:""", re.MULTILINE)


def beginning_of(path: Path) -> bytes:
    """What a file begins with, as far as a config can be long; nothing where it can't be read, which its reader says.

    No link is followed.
    """
    try:
        return beginning_inside(path.parent, name_below(path.parent, path), 4 * MAX_CHARACTERS)
    except (OSError, ValueError, InputError):
        return b""


def is_baseline(data: bytes) -> bool:
    """Whether it begins as our baselines do."""
    return _BASELINE in data[:_HEAD]


def is_config(path: Path, data: bytes) -> bool:
    """Whether a file is a config by its name, or by its keys; what can't be read is taken for one."""
    if not data or path.name in CONFIG_NAMES:
        return True
    keys = _keys(data)
    return "suites" in keys or ("version" in keys and bool(keys & _CONFIG_KEYS))


def _keys(data: bytes) -> frozenset[str]:
    """The keys at the top of a file that is YAML or JSON, in so far as it is."""
    if not data.lstrip().startswith(b"{"):
        return frozenset(key.decode() for key in _KEY.findall(data))
    try:
        found = read_json(data)
    except NoJsonError:
        return frozenset()
    return frozenset(found) if isinstance(found, dict) else frozenset()


def config_naming(path: Path, cwd: Path) -> Path:
    """The config that may name a file: the nearest one, seen from the file, else from `cwd`. Raises `InputError`."""
    folder = path.parent
    near = find_config(folder)
    found = near if near is None else Path(os.path.relpath(folder / near, cwd))
    found = found or find_config(cwd)
    if found is None:
        raise wrong(str(path), "this is not a config or a baseline, and there is no evalward.yml near it", TAKES)
    return found


def suites_naming(loaded: LoadedConfig, path: Path) -> list[str]:
    """The suites that name a file. Raises `InputError` where none does."""
    name = os.path.relpath(path, loaded.root)
    found = [
        suite.name
        for suite in loaded.config.suites
        if any(
            _names(suite, key, _files(loaded.root, text), name)
            for key in suite.file_keys
            for text in suite.named_by(key)
        )
    ]
    if not found:
        raise wrong(str(path), f"this is not a config or a baseline, and no suite of {loaded.file} names it", TAKES)
    return found


def _names(suite: Suite, key: str, files: list[str], name: str) -> bool:
    """Whether a file is one of these, or lies in the folder of one that stands for its folder, as a skill's does."""
    if name in files:
        return True
    whole = key in suite.naming_keys and key != "cases"
    return whole and any(name.startswith(f"{folder}/") for file in files if (folder := os.path.dirname(file)))  # noqa: PTH120


def _files(root: Path, pattern: str) -> list[str]:
    try:
        return glob_inside(root, pattern)
    except (InputError, OSError, ValueError):
        return []  # whoever loads the suite says what is wrong with it


_CONFIG_KEYS = frozenset(Config.model_fields) - {"version"}
