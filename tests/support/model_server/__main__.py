"""`python -m support.model_server --port 0 --script FILE`: prints its address and serves until it is told to end."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import fields
from pathlib import Path

from support.model_server.process import load_settings
from support.model_server.server import ModelServer, Settings


def main() -> None:
    """Serves until SIGTERM or SIGINT, with `--until-eof` also until stdin ends."""
    parser = argparse.ArgumentParser(prog="python -m support.model_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="settings as JSON, see process.dump_settings")
    parser.add_argument("--until-eof", action="store_true")
    given = parser.parse_args()
    settings = load_settings(given.script.read_bytes()) if given.script else Settings()
    with ModelServer(
        port=given.port, **{field.name: getattr(settings, field.name) for field in fields(settings)}
    ) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        if given.until_eof:
            sys.stdin.read()
        else:
            signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    main()
