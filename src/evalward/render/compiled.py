"""Templates that are compiled already, beside our modules' bytecode: as Python keeps it, and as far to be trusted."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, FileSystemBytecodeCache


class Compiled(FileSystemBytecodeCache):
    """Compiled templates in one folder; where it can't be written to, there are none.

    Compiling takes longer than all the rest of a page. Whoever may write to the folder may write to
    Python's bytecode in it, too.
    """

    def __init__(self, folder: Path, modules: Sequence[Path]) -> None:
        """`modules` are ours whose filters and escaping a compiled template has applied to its constants."""
        self._modules = tuple(modules)
        super().__init__(str(folder), f"%s.{sys.implementation.cache_tag}.jinja")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002 - an image is built elsewhere
        """The template's name: its folder has no other of that name."""
        return name

    def get_source_checksum(self, source: str) -> str:
        """Of all that the compiled template depends on: its source, Jinja, and our filters."""
        return sha256(f"{self._filters}\n{jinja2.__version__}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take it if it is there."""
        with contextlib.suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it if that can be done."""
        if sys.dont_write_bytecode:
            return
        with contextlib.suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)

    @cached_property
    def _filters(self) -> str:
        return sha256(b"".join(module.read_bytes() for module in self._modules)).hexdigest()
