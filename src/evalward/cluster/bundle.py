"""On a node of the cluster: run one shard with the ordinary command, and give back what it left.

Ray loads this module on its workers by name, so Evalward has to be installed there. The command is a process of its own
with the node's environment: keys come from there, and through no argument of a task.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evalward.cluster.packing import REPORT, PackingError, packed
from evalward.edge import SOURCE

PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from evalward.cluster.program import begin; begin(); "
    "from evalward.entry import main; main()"
)
INPUT_IS_WRONG = 2  # as in records.verdict
ENDED = (0, 3)  # 3 with a report: no trial is valid, or a budget is spent; the report says so
_SAID = 4000  # bytes of the end of what it said


class BundleFailedError(Exception):
    """The command left no report: it was ended, or could not begin. Ray tries the bundle again."""


@dataclass(frozen=True)
class BundleOrder:
    """One bundle: the words of `evalward run`, the shard, and the folder to run in, `None` for the worker's own."""

    words: tuple[str, ...]
    index: int
    total: int
    folder: str | None


class BundleDone(NamedTuple):
    """What a bundle came to: the archive of its part, or, as lines in `refused`, what is wrong with its input.

    `seconds` is how long it took, on which `node`.
    """

    archive: bytes
    refused: str
    seconds: float
    node: str


def run_bundle(order: BundleOrder) -> BundleDone:
    """Run it to its end. Raises `BundleFailedError`, also where it was interrupted."""
    began = time.monotonic()
    node = os.uname().nodename
    place = Path(order.folder) if order.folder is not None else Path.cwd()
    if not place.is_dir():
        remedy = "Share it with every node, or submit the run as a job with --working-dir."
        return BundleDone(b"", f"{place}: there is no such folder on {node}. {remedy}", 0.0, node)
    with tempfile.TemporaryDirectory(prefix="evalward-bundle-") as made:
        output = Path(made) / "part"
        code, said = _run(order, place, output)
        if code == INPUT_IS_WRONG:
            return BundleDone(b"", said, 0.0, node)
        if code not in ENDED or not (output / REPORT).is_file():
            raise BundleFailedError(f"exit code {code} on {node}: {said}")
        try:
            archive = packed(output)
        except PackingError as error:
            return BundleDone(b"", str(error), 0.0, node)
    return BundleDone(archive, "", time.monotonic() - began, node)


def _run(order: BundleOrder, place: Path, output: Path) -> tuple[int, str]:
    """The command's exit code, a signal as its negative number, and the last of what it said."""
    shard = ["--shard", f"{order.index}/{order.total}", "--output", str(output)]
    with tempfile.TemporaryFile() as err:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            [
                *(sys.executable, "-I", "-X", "utf8", "-c", PROGRAM, SOURCE, str(os.getpid())),
                *("run", *order.words, *shard),
            ],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            check=False,
        )
        err.seek(max(0, err.seek(0, os.SEEK_END) - _SAID))
        return done.returncode, _last_words(err.read().decode("utf-8", "replace"))


def _last_words(text: str) -> str:
    """Its errors, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return "\n".join(errors or lines[-1:])
