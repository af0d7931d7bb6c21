"""A repository of two skills with evals of each, of which a change touches one."""

from __future__ import annotations

import json
from typing import Any

from support.live_runs import OUTPUT

RUN = "skills × oracle"


def query(skill: str, prompt: str, should: bool = True) -> dict[str, Any]:
    return {"skill": skill, "prompt": prompt, "should_trigger": should}


def written(skill: str, command: str) -> dict[str, Any]:
    checks = [{"type": "file_contains", "path": "out.txt", "substring": "done"}]
    return {"skill": skill, "prompt": "Do it.", "checks": checks, "solution": [f"{command} > out.txt"]}


ASKED = {
    "csv-query": query("csv", "How many columns has table.csv?"),
    "csv-near": query("csv", "What is a comma?", should=False),
    "csv-task": written("csv", "sh .agents/skills/csv/scripts/columns.sh"),
    "notes-query": query("notes", "Sum up my notes."),
    "notes-task": written("notes", "echo done"),
}
CASES = json.dumps([{"id": name, **case} for name, case in ASKED.items()])
CONFIG = """\
version: 1
policy: [{metric: pass_rate, floor: 0.75, max_drop: 0.25}]
suites:
  - name: skills
    kind: skill
    skills: skills/*/SKILL.md
    cases: evals/cases.yaml
    targets: [oracle]
    paths: ["skills/**"]
"""
CSV = "---\nname: csv\ndescription: Reads tables.\n---\nCount columns with scripts/columns.sh.\n"
NOTES = "---\nname: notes\ndescription: Sums up notes.\n---\nRead first, then write.\n"
FILES = {
    "evalward.yml": CONFIG,
    "evals/cases.yaml": CASES,
    "skills/csv/SKILL.md": CSV,
    "skills/csv/scripts/columns.sh": "echo done\n",
    "skills/csv/evals/notes.md": "Not read.\n",
    "skills/notes/SKILL.md": NOTES,
    "README.md": "Skills.\n",
    ".gitignore": f"{OUTPUT}\npart-*\n",
}
OF_CSV = ["csv-near", "csv-query", "csv-task"]
QUERIES = ["csv-near", "csv-query", "notes-query"]
ALL = sorted([*OF_CSV, "notes-query", "notes-task"])
