"""A folder of a stranger, full of modules with the names of ours: whoever works in it loads none of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cold

NAMES = re.findall(
    r"\S+",
    "base64 bashkit bisect contextvars ctypes encodings evalward fcntl json posixpath resource select selectors signal "
    "site sitecustomize socket struct threading usercustomize",
)
POISON = "import os\nopen({mark!r} + '.' + __name__, 'w').close()\nraise SystemExit(3)\n"

USE = """
import asyncio
from evalward.sandbox.virtual import VirtualShell
shell = VirtualShell({}, 20)
print(asyncio.run(shell.run("echo worked")).stdout)
"""


def poisoned(folder: Path, mark: Path) -> None:
    """Every name as a module and as a package, also below a folder for modules."""
    for place in (folder, folder / "lib", folder / ".local/lib/python3.11/site-packages"):
        place.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (place / f"{name}.py").write_text(POISON.format(mark=str(mark)))
        (place / "x.pth").write_text(f"import os; open({str(mark)!r} + '.pth', 'w').close()\n")
    for name in ("evalward", "bashkit"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(POISON.format(mark=str(mark)))


def test_the_virtual_shell_loads_nothing_from_where_it_is_started(tmp_path: Path) -> None:
    folder, marks = tmp_path / "checkout", tmp_path / "marks"
    marks.mkdir()
    marks.chmod(0o777)
    poisoned(folder, marks / "loaded")
    entries = [entry for entry in sys.path if entry]
    done = subprocess.run(
        # -P: our own start is the command's business, and held elsewhere. Here it is what we start.
        [sys.executable, "-P", "-s", "-c", USE],
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(entries)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr, done.returncode) == (["worked"], "", 0)
    assert sorted(marks.iterdir()) == []


def test_even_where_the_folder_is_on_our_path(tmp_path: Path) -> None:
    """`python -m` puts the working directory first: the launcher gets neither it nor an empty or relative entry."""
    folder = tmp_path / "checkout"
    (folder / "bashkit").mkdir(parents=True)
    (folder / "bashkit" / "__init__.py").touch()
    say = (
        "import sys; from evalward.sandbox.process.launching import module_folders; print(*module_folders(), sep='\\n')"
    )
    before = [str(folder), "", "."]
    done = subprocess.run(
        [sys.executable, "-P", "-s", "-c", f"import sys; sys.path[:0] = {before!r}\n{say}"],
        cwd=folder,
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    found = done.stdout.splitlines()
    assert all(Path(entry).is_absolute() for entry in found)
    assert str(folder) not in found
    assert any((Path(entry) / "bashkit").is_dir() for entry in found)
