"""How a process ends. Nothing else is loaded here: `--help` needs these, too."""

from __future__ import annotations

EXIT_OK, EXIT_FAILED, EXIT_INPUT, EXIT_UNJUDGED = 0, 1, 2, 3
