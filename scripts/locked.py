"""Picks what one installation needs from `constraints.txt`, as a list that `pip install --require-hashes` takes.

    python scripts/locked.py [--extra NAME]... [--extras-alone] > requirements.txt
    pip install --no-deps --no-build-isolation --require-hashes --requirement requirements.txt

`constraints.txt` has every package that any installation of ours gets (the image, the tests, the documentation), with
the hashes of all its files. `make lock` writes it with `uv pip compile`, whose comments say which packages ask for
which: from there on no version is chosen again. It needs the standard library alone, as nothing is installed yet.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class LockError(Exception):
    """`constraints.txt` does not fit `pyproject.toml`, or has another form."""


@dataclass(frozen=True)
class Pin:
    """One package of the lock: its exact version and hashes, as pip reads them, and who asks for it."""

    name: str
    requirement: str
    asked_by: frozenset[str]


def normal(name: str) -> str:
    """A package's name in the one form that compares equal (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> list[Pin]:
    """The packages of `constraints.txt`. Raises `LockError` for one without a hash."""
    pins = []
    for block in re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"\A(?:#.*\n)+", "", text)):
        lines = block.rstrip().splitlines()
        required = [line for line in lines if not line.lstrip().startswith("#")]
        comments = [line.strip(" #") for line in lines if line.lstrip().startswith("#")]
        found = re.match(r"([A-Za-z0-9._-]+)==[0-9]", required[0])
        if found is None or "--hash=sha256:" not in block:
            raise LockError(f"constraints.txt: no exact version with hashes: {required[0]!r}. Run `make lock`.")
        asked_by = frozenset(
            normal(line.removeprefix("via ").split()[0]) for line in comments if line not in {"", "via"}
        )
        pins.append(Pin(normal(found[1]), "\n".join(required), asked_by))
    return pins


def wanted(project: dict[str, Any], extras: Iterable[str], *, extras_alone: bool = False) -> set[str]:
    """Names of the packages that `[project]` asks for directly, with these extras and the extras that they contain."""
    optional: dict[str, list[str]] = project["optional-dependencies"]
    lines: list[str] = [] if extras_alone else list(project["dependencies"])
    todo = list(extras)
    for extra in todo:  # it grows on the way
        if extra not in optional:
            raise LockError(f"pyproject.toml has no extra {extra!r}; it has {', '.join(sorted(optional))}.")
        lines += optional[extra]
        inner = [found[1] for line in optional[extra] if (found := re.match(rf"{project['name']}\[([\w-]+)\]", line))]
        todo += [each for each in inner if each not in todo]
    return {_name(line) for line in lines} - {normal(project["name"])}


def select(pins: Iterable[Pin], roots: set[str]) -> list[Pin]:
    """The packages of these names with all that they need. Raises `LockError` where one is missing."""
    by_name = {pin.name: pin for pin in pins}
    if missing := roots - set(by_name):
        raise LockError(f"constraints.txt lacks {', '.join(sorted(missing))}. Run `make lock`.")
    chosen = set(roots)
    while more := {name for name, pin in by_name.items() if name not in chosen and pin.asked_by & chosen}:
        chosen |= more
    return [pin for pin in by_name.values() if pin.name in chosen]


def _name(requirement: str) -> str:
    return normal(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])


def main() -> None:
    """Writes the list to standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extra", action="append", default=[], metavar="NAME", help="an extra of pyproject.toml")
    parser.add_argument("--extras-alone", action="store_true", help="leave out what Evalward itself needs")
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    try:
        pins = read_pins((ROOT / "constraints.txt").read_text("utf-8"))
        chosen = select(pins, wanted(project, options.extra, extras_alone=options.extras_alone))
    except LockError as error:
        sys.exit(str(error))
    print(*(pin.requirement for pin in chosen), sep="\n")


if __name__ == "__main__":
    main()
