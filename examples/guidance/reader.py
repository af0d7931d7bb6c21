#!/usr/bin/env python3
"""A stand-in for a coding agent: it does what AGENTS.md shows, and helps itself where that fails.

It is no model and understands nothing. It takes the examples of AGENTS.md (indented lines that begin with ./jot) at
their word, puts the task's words into them, and when a command fails it looks at --help or tries something else, as
the dice fall. So what it does depends on the guidance, which is all that the example needs.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

LOOKS = 0.2  # how often it looks at what it has done
GUESSES = ('./jot new "TEXT" TAG', './jot add "TEXT" TAG', './jot add "TEXT" --tags TAG')
RIGHT = {"add": './jot add "TEXT" --tag TAG', "done": "./jot done NUMBER"}
NOTE = re.compile(r"- (?P<text>.+?) \((?P<tag>\w+)\)(?P<done>, done)?$", re.MULTILINE)
DICE = random.SystemRandom()


def tell(**event: object) -> None:
    """One event, as the configuration's `output: events` reads them."""
    print(json.dumps(event), flush=True)


def run(command: str) -> bool:
    """Run a command and tell of it; whether it succeeded."""
    tell(event="tool_call", tool="bash", command=command)
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    tell(event="tool_result", output=ended.stdout + ended.stderr, exit_code=ended.returncode)
    return ended.returncode == 0


class Reader:
    """What it has learnt so far: an example per thing that it has to do."""

    def __init__(self, guide: str) -> None:
        self.known: dict[str, str] = {}
        for line in re.findall(r"^ {4}(\./jot .+)$", guide, re.MULTILINE):
            self.known["add" if "TEXT" in line else "done"] = line

    def do(self, what: str, **words: str) -> None:
        """Do a thing, by the example, or by trial and error until it works."""
        if what not in self.known:
            self.look_up(what)
        for _ in range(6):
            if run(filled(self.known[what], words)):
                if DICE.random() < LOOKS:
                    run("./jot list")
                return
            if DICE.random() < 0.5:
                self.look_up(what)
            elif what == "add":
                self.known[what] = DICE.choice(GUESSES)

    def look_up(self, what: str) -> None:
        """After a look at --help it knows."""
        run("./jot --help")
        run(f"./jot {what} --help")
        self.known[what] = RIGHT[what]


def filled(example: str, words: dict[str, str]) -> str:
    """The example with the task's words."""
    for name, word in words.items():
        quoted = word if f'"{name}"' in example else shlex.quote(word)
        example = example.replace(name, quoted)
    return example


def main() -> None:
    """Read the guide, make the notes, cross out what is done."""
    guide = Path("AGENTS.md")
    reader = Reader(guide.read_text("utf-8") if guide.exists() else "")
    notes = list(NOTE.finditer(sys.stdin.read()))
    for note in notes:
        reader.do("add", TEXT=note["text"], TAG=note["tag"])
    for number, note in enumerate(notes, 1):
        if note["done"]:
            reader.do("done", NUMBER=str(number))
    tell(event="output", text="The notes are made.")
    tell(event="complete", exit_code=0)


if __name__ == "__main__":
    main()
