"""The server as a process of its own, for benchmarks: it shares no interpreter lock with its client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from support.model_server.server import LOG_PATH, Settings
from support.patience import PATIENCE_S

TESTS = Path(__file__).parents[2]


@dataclass(frozen=True)
class Remote:
    """A server in another process."""

    url: str

    @property
    def messages_url(self) -> str:
        """The Anthropic SDK's `base_url`."""
        return self.url

    @property
    def openai_url(self) -> str:
        """The OpenAI SDK's `base_url`."""
        return f"{self.url}/v1"

    def log(self) -> dict[str, Any]:
        """`ModelServer.summary()`."""
        with urllib.request.urlopen(f"{self.url}{LOG_PATH}", timeout=PATIENCE_S) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


def dump_settings(settings: Settings) -> bytes:
    """The file that `--script` takes."""
    return TypeAdapter(Settings).dump_json(settings, indent=1)


def load_settings(data: bytes) -> Settings:
    """The settings in such a file. Raises pydantic's `ValidationError`."""
    return TypeAdapter(Settings).validate_json(data)


@contextmanager
def spawned(settings: Settings) -> Iterator[Remote]:
    """Starts `python -m support.model_server` and ends it with the block (or with this process)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "script.json")
        file.write_bytes(dump_settings(settings))
        command = [sys.executable, "-m", "support.model_server", "--script", str(file), "--until-eof"]
        environment = {**os.environ, "PYTHONPATH": str(TESTS)}
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            try:
                yield Remote(child.stdout.readline().strip())
            finally:
                child.stdin.close()
                child.wait(timeout=PATIENCE_S)
