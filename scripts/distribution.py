"""Builds sdist and wheel from a commit, always to the same bytes, and tries the wheel in an environment of its own.

    python scripts/distribution.py build [--commit HEAD] [--output dist]
    python scripts/distribution.py try dist/evalward-*.whl

What is built is the commit, not the folder: the tracked files are exported, the sdist is built from them, and the wheel
from the unpacked sdist, which therefore has all that a build needs. Dates are the commit's (`SOURCE_DATE_EPOCH`).
Nothing is installed for it: hatchling is called in the environment that runs this, whose versions are locked.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class BuildError(Exception):
    """A step that failed, with what it printed."""


def build(commit: str, output: Path) -> tuple[Path, Path]:
    """The sdist and the wheel of a commit, written to this folder. Raises `BuildError`."""
    output = output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    epoch = _run(["git", "show", "--no-patch", "--format=%ct", f"{commit}^{{commit}}"], ROOT).decode().strip()
    with tempfile.TemporaryDirectory() as made:
        tree, unpacked = Path(made, "tree"), Path(made, "unpacked")
        _unpack(_run(["git", "archive", "--format=tar", f"{commit}^{{commit}}"], ROOT), tree)
        sdist = _hatchling("sdist", tree, output, epoch)
        _unpack(sdist.read_bytes(), unpacked)
        [folder] = unpacked.iterdir()
        return sdist, _hatchling("wheel", folder, output, epoch)


def try_wheel(wheel: Path) -> str:
    """Installs a wheel with its locked dependencies alone, and runs it as its first users do; its version.

    Raises `BuildError` where a command fails or leaves out what it should write.
    """
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        venv.create(place / "venv", with_pip=True)
        python, program = str(place / "venv/bin/python"), str(place / "venv/bin/evalward")
        locked = place / "locked.txt"
        locked.write_bytes(_run([sys.executable, str(ROOT / "scripts" / "locked.py")], ROOT))
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        hashed = ["--no-deps", "--require-hashes", "--requirement", str(locked)]
        _run([*pip, "install", *hashed], place)
        _run([*pip, "install", "--no-deps", str(wheel.resolve())], place)
        _run([*pip, "check"], place)
        version = _run([program, "--version"], place).decode().split()[-1]
        _run([program, "demo", "--output", str(place / "demo")], place)
        project = place / "project"
        project.mkdir()
        _run(["git", "init", "--quiet", str(project)], place)
        _run([program, "init", "--yes"], project)
        _run([program, "validate"], project)
        wanted = [
            place / "demo" / "evalward-out" / "report.html",
            project / "evalward.yml",
            project / ".github" / "workflows",
        ]
        if missing := [path.relative_to(place).as_posix() for path in wanted if not path.exists()]:
            raise BuildError(f"the installed wheel did not write {', '.join(missing)}")
        return version


def _hatchling(target: str, source: Path, output: Path, epoch: str) -> Path:
    """Builds one target; the file that it wrote."""
    with tempfile.TemporaryDirectory(dir=output) as made:
        command = [sys.executable, "-I", "-m", "hatchling", "build", "--target", target, "--directory", made]
        _run(command, source, {"SOURCE_DATE_EPOCH": epoch})
        [file] = Path(made).iterdir()
        return file.replace(output / file.name)


def _unpack(archive: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


def _run(command: Sequence[str], folder: Path, more: dict[str, str] | None = None) -> bytes:
    """Standard output of a command that must work; none of our Python's settings reach it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=folder, env=env | (more or {}), capture_output=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}: exit code {done.returncode}\n{(done.stdout + done.stderr).decode()}")
    return done.stdout


def main() -> None:
    """Builds, or tries what was built."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="sdist and wheel of a commit")
    building.add_argument("--commit", default="HEAD")
    building.add_argument("--output", type=Path, default=Path("dist"))
    trying = commands.add_parser("try", help="install a wheel into a new environment, and run it")
    trying.add_argument("wheel", type=Path)
    options = parser.parse_args()
    try:
        if options.command == "build":
            print(*build(options.commit, options.output), sep="\n")
        else:
            print(f"evalward {try_wheel(options.wheel)}: demo, init and validate work")
    except BuildError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
