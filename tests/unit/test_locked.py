"""`constraints.txt`: exact versions with hashes of everything that is installed, and the host of no registry."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from locked import LockError, normal, read_pins, select, wanted

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "constraints.txt").read_text("utf-8")
PINS = read_pins(LOCK)
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SMALL = """\
# written by a program
a==1.0 ; python_version < '4' \\
    --hash=sha256:aa \\
    --hash=sha256:ab
    # via evalward (pyproject.toml)
b-c==2.0 \\
    --hash=sha256:bb
    # via
    #   a
    #   evalward (pyproject.toml)
d==3 \\
    --hash=sha256:dd
    # via B_C
e==4 \\
    --hash=sha256:ee
    # via evalward (pyproject.toml)
"""


def names(extra: str) -> set[str]:
    return {pin.name for pin in select(PINS, wanted(PROJECT, [extra]))}


def test_lock__has_exact_versions_with_hashes_and_names_no_host() -> None:
    lines = [line for line in LOCK.splitlines() if not line.lstrip().startswith("#")]
    package = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.]*(?: ; [^\\]+)? \\")
    assert all(
        package.fullmatch(line) or re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?", line) for line in lines
    )
    assert "://" not in LOCK
    assert len({pin.name for pin in PINS}) == len(PINS) > 80


def test_lock__fits_what_the_project_asks_for() -> None:
    versions = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", LOCK, re.MULTILINE))
    lines = PROJECT["dependencies"] + [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    asked = [Requirement(line) for line in lines if not line.startswith("evalward[")]
    assert len(asked) > 40
    assert [str(each) for each in asked if not each.specifier.contains(versions[normal(each.name)])] == []


def test_selection__has_all_that_the_installed_packages_ask_for() -> None:
    """The comments of the lock against the metadata of what is installed: one edge lost would break an image."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    todo: list[tuple[str, tuple[str, ...]]] = [("evalward", ("dev", "mcp", "docs", "build"))]
    while todo:
        name, extras = todo.pop()
        for line in importlib.metadata.requires(name) or []:
            need = Requirement(line)
            if need.marker is not None and not any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                continue
            found = (normal(need.name), tuple(sorted(need.extras)))
            if found[0] != "evalward" and found not in seen:
                seen.add(found)
                todo.append(found)
    assert len(seen) > 60
    assert {name for name, _ in seen} - names("dev") == set()


def test_selection__is_no_more_than_asked_for() -> None:
    image, everything = names("mcp"), {pin.name for pin in PINS}
    assert {"anthropic", "mcp", "bashkit"} <= image
    assert image.isdisjoint({"pytest", "ray", "uv", "hatchling", "scipy", "playwright"})
    assert image < names("dev") < everything


def test_select__follows_who_asks() -> None:
    pins = read_pins(SMALL)
    assert [pin.name for pin in select(pins, {"a"})] == ["a", "b-c", "d"]
    assert select(pins, {"d"})[0].requirement == "d==3 \\\n    --hash=sha256:dd"
    with pytest.raises(LockError, match=r"lacks zz\. Run `make lock`"):
        select(pins, {"zz"})


@pytest.mark.parametrize("wrong", ["a>=1.0 \\\n    --hash=sha256:aa\n", "a==1.0\n    # via b\n"])
def test_read_pins__refuses_what_is_not_locked(wrong: str) -> None:
    with pytest.raises(LockError, match="no exact version with hashes"):
        read_pins(SMALL + wrong)


def test_wanted__knows_extras_within_extras_and_says_which_there_are() -> None:
    alone = wanted(PROJECT, ["dev"], extras_alone=True)
    assert {"hatchling", "mcp", "zensical", "pytest"} <= alone
    assert alone.isdisjoint({"anthropic", "evalward"})
    with pytest.raises(LockError, match="no extra 'nope'; it has browser, build, dev"):
        wanted(PROJECT, ["nope"])
