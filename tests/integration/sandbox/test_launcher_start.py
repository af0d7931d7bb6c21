"""What a launcher loads: one is started for every workspace, and whatever it loads is loaded each time."""

from __future__ import annotations

import subprocess
import sys

from evalward.edge import SOURCE

LOADED = f"import sys; sys.path.append({SOURCE!r}); import evalward.sandbox.launcher.program; print(*sys.modules)"


def test_a_launcher_loads_no_module_that_reads_code() -> None:
    """`dataclasses` does, by `inspect`, `ast` and `tokenize`: that was half of a launcher's start."""
    words = [sys.executable, "-I", "-S", "-X", "utf8", "-c", LOADED]
    loaded = set(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())
    assert "evalward.sandbox.launcher.serve" in loaded
    assert loaded.isdisjoint({"dataclasses", "inspect", "ast", "tokenize", "msgspec", "pydantic", "asyncio"})
