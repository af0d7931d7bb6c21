"""A suite of five commands that print their names, and its configuration: what a gate needs, and little else."""

from __future__ import annotations

import json

CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: evals/*.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, max_drop: 0.1}
"""
NAMES = ("one", "two", "three", "four", "five")


def cases(*broken: str) -> str:
    """Five cases, each solved by its solution but for those named."""

    def line(name: str) -> str:
        checks = [{"check": f"stdout_contains:{name}"}, {"check": "exit_code:0"}]
        solution = "echo wrong" if name in broken else f"echo {name}"
        task = {"id": name, "category": "echo", "prompt": f"Print {name}.", "expectations": checks}
        return json.dumps({**task, "solution": solution}) + "\n"

    return "".join(map(line, NAMES))
