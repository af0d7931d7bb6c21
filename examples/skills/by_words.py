#!/usr/bin/env python3
"""A stand-in for a coding agent: it loads the skill whose description shares most words with what it is asked.

It is no model and understands nothing. It counts words, so that what it loads depends on the descriptions alone, which
is all that the example needs. Of a skill that it has loaded it runs the commands (indented lines), with the file that
the request names.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

SKILLS = Path(".agents/skills")
LEAST = 2  # words that a request and a description share
COMMON = {
    "and",
    "any",
    "are",
    "for",
    "from",
    "have",
    "how",
    "its",
    "such",
    "the",
    "them",
    "they",
    "this",
    "use",
    "what",
}
COMMON |= {"when", "whenever", "with"}
DESCRIPTION = re.compile(r"^description: (.*)$", re.MULTILINE)
COMMAND = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
FILE = re.compile(r"[\w./-]+\.(?:csv|txt)\b")


def words(text: str) -> set[str]:
    """The words of a text that say what it is about, without the s at their end."""
    return {word.rstrip("s") for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in COMMON}


def tell(**event: object) -> None:
    """One event, as the configuration's `output: events` reads them."""
    print(json.dumps(event), flush=True)


def run(command: str) -> str:
    """Run a command, tell of it, and give what it printed."""
    tell(event="tool_call", tool="bash", command=command)
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    tell(event="tool_result", output=ended.stdout + ended.stderr, exit_code=ended.returncode)
    return ended.stdout


def chosen(request: str) -> Path | None:
    """The skill with most words of the request in its description; the first of several."""
    asked = words(request)
    shared: dict[Path, int] = {}
    for file in sorted(SKILLS.glob("*/SKILL.md")):
        described = DESCRIPTION.search(file.read_text("utf-8"))
        shared[file.parent] = len(asked & words(described[1])) if described else 0
    best = max(shared, key=lambda skill: shared[skill], default=None)
    return best if best is not None and shared[best] >= LEAST else None


def main() -> None:
    """Load a skill, or none, and do as it says."""
    request = sys.stdin.read()
    skill, file = chosen(request), FILE.search(request)
    if skill is not None:
        text = run(f"cat {skill}/SKILL.md")
        if file is not None and Path(file[0]).is_file():
            for command in COMMAND.findall(text):
                run(command.replace("SKILL/", f"{skill}/").replace("FILE", file[0]))
    tell(event="output", text=f"Done with {skill.name}." if skill is not None else "Done without a skill.")
    tell(event="complete", exit_code=0)


if __name__ == "__main__":
    main()
