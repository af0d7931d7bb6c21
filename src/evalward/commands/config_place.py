"""Where the configuration is: here, or in a folder above within the same repository, under either of its names."""

from __future__ import annotations

import os
from pathlib import Path

CONFIG_NAMES = ("evalward.yml", "evalward.yaml")
OUTPUT = "evalward-out"
REPORT = "report.json"  # as in records.report, which is too slow to load for --help


def find_config(cwd: Path) -> Path | None:
    """The nearest configuration, by its path from `cwd`; `None` where there is none.

    Folders above are looked at up to the top of the repository that `cwd` lies in, and not at all outside of one:
    what another user left in `/tmp` is not ours. Raises `InputError` where a folder has both names.
    """
    for folder in _folders(cwd.absolute()):
        found = [folder / name for name in CONFIG_NAMES if os.path.lexists(folder / name)]
        if len(found) > 1:
            raise _both(Path(os.path.relpath(folder, cwd)))
        if found:
            return Path(os.path.relpath(found[0], cwd))
    return None


def config_file(cwd: Path, named: Path | None) -> Path:
    """The file that was named, else the nearest one, else the usual name, where its reader will miss it."""
    return named or find_config(cwd) or Path(CONFIG_NAMES[0])


def output_folder(cwd: Path, named: Path | None, config: Path | None = None) -> Path:
    """Where results go, by its path from `cwd`: the folder that was named, else the usual one next to the config that
    is found. Where the `config` was named, it is the usual one in `cwd`.

    Raises `InputError` where a folder has two configs.
    """
    if named is not None:
        return named
    found = find_config(cwd) if config is None else None
    return (found.parent if found else Path()) / OUTPUT


def usual_report(cwd: Path, named: Path | None, config: Path | None = None) -> Path:
    """The report that was named, else the one in the folder where results go."""
    return named if named is not None else output_folder(cwd, None, config) / REPORT


def _folders(cwd: Path) -> list[Path]:
    """This folder and those above it, up to the repository's top."""
    folders = [cwd, *cwd.parents]
    top = next((number for number, folder in enumerate(folders) if os.path.lexists(folder / ".git")), 0)
    return folders[: top + 1]


def _both(folder: Path) -> Exception:
    from evalward.records.problem import wrong  # noqa: PLC0415 - only a mistake pays for it

    where = str(folder / CONFIG_NAMES[0])
    message = f"{CONFIG_NAMES[1]} exists too, and only one can be used"
    return wrong(where, message, "Remove one, or choose one with --config.")
