"""Skill suites that are run: two small skills, queries and a task, targets of every form, behind real walls."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from msgspec import structs

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.keeper.models import ModelKeeper
from evalward.suites.base import TrialOutcome
from evalward.suites.judge.who import make_judges
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.context import SkillPrepared
from evalward.suites.skill.details import SkillDetails
from evalward.suites.skill.kind import SKILL
from evalward.suites.skill.spec import SkillSuite
from evalward.targets import make_evaluated
from support.model_server import ModelServer
from support.scenario_runs import Bench

CSV_LINE = "Columns are counted with scripts/columns.sh FILE, never by eye."
CSV = f"""\
---
name: csv
description: Counts and sums columns of CSV files. Use it for tables.
---
# Tables

{CSV_LINE}
Then write the number to answer.txt.
"""
XLSX_LINE = "Workbooks are opened with the program sheet, one at a time."
XLSX = f"""\
---
name: xlsx
description: Reads Excel workbooks.
---
# Workbooks

{XLSX_LINE}
"""
COLUMNS = "#!/bin/sh\nhead -n 1 \"$1\" | tr ',' '\\n' | wc -l\n"
QUERY = {"id": "wanted", "skill": "csv", "prompt": "How many columns has table.csv?", "should_trigger": True}
NEAR = {"id": "near", "skill": "csv", "prompt": "What is a comma?", "should_trigger": False}
ROUTED = {
    "id": "routed",
    "prompt": "Open book.xlsx.",
    "should_trigger": "xlsx",
    "should_not_trigger": ["csv"],
}
SOLUTION = "sh .agents/skills/csv/scripts/columns.sh table.csv > answer.txt"
TASK = {
    "id": "count",
    "skill": "csv",
    "prompt": "Count the columns of table.csv.",
    "files": {"table.csv": "evals/table.csv"},
    "checks": [{"type": "file_contains", "path": "answer.txt", "substring": "3"}],
    "solution": [SOLUTION],
}
READ = "cat .agents/skills/{}/SKILL.md"
SUITE = "skills"


@dataclass
class SkillBench:
    """A folder with a suite of skills and whatever its targets need."""

    root: Path
    suite: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    def skill(self, name: str, text: str, **files: str) -> None:
        """A skill's folder; names of files have `__` for a slash and end in what follows the last `_`."""
        folder = self.root / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(text, "utf-8")
        for path, content in files.items():
            file = folder / path.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")

    def write(self, targets: Sequence[str], *cases: Mapping[str, Any]) -> LoadedConfig:
        """Write configuration, skills and cases; the configuration as it is loaded."""
        self.skill("csv", CSV, evals__notes="of the evals")
        script = self.root / "skills" / "csv" / "scripts" / "columns.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text(COLUMNS, "utf-8")
        script.chmod(0o755)
        self.skill("xlsx", XLSX)
        (self.root / "evals").mkdir(exist_ok=True)
        (self.root / "evals" / "table.csv").write_text("a,b,c\n1,2,3\n", "utf-8")
        (self.root / "evals" / "cases.yaml").write_text(yaml.safe_dump([dict(case) for case in cases]), "utf-8")
        suite = {"name": SUITE, "kind": "skill", "skills": "skills/*/SKILL.md", "cases": "evals/cases.yaml"}
        text = json.dumps(
            {
                "version": 1,
                "suites": [{**suite, "targets": list(targets), "timeout_s": 300, **self.suite}],
                **self.more,
            },
            indent=1,
        )
        (self.root / "evalward.yml").write_text(text, "utf-8")
        return parse_config(text, "evalward.yml", self.root)

    def script(self, name: str, *steps: Any) -> str:
        """A script for the target that is returned."""
        (self.root / f"{name}.json").write_text(json.dumps({"default": list(steps)}), "utf-8")
        self.more["scripts"] = {name: f"{name}.json"}
        return f"scripted:{name}"

    def serve(self, server: ModelServer) -> None:
        """Ask this server for every model."""
        served = Bench(self.root)
        served.serve(server)
        openai = served.more["providers"]["openai"]
        served.more["providers"]["openai-responses"] = {**openai, "prices": {"gpt-5": openai["prices"]["gpt-4.1"]}}
        self.more |= served.more
        self.env |= served.env

    def judged(self, **answers: Sequence[Mapping[str, Any]]) -> None:
        """A recorded judge with these answers by the name of what is judged (`__` stands for @)."""
        lines = [json.dumps({"id": name.replace("__", "@"), "answers": list(each)}) for name, each in answers.items()]
        (self.root / "judge.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        self.more["judge"] = {"model": "recorded:judge.jsonl"}

    def prepared(self, loaded: LoadedConfig) -> tuple[SkillPrepared, list[Any]]:
        """The suite with its judges, and its targets."""
        spec = loaded.config.suites[0]
        assert isinstance(spec, SkillSuite)
        asker = ModelKeeper(loaded.config, self.env)
        made = [make_evaluated(spec.takes, name, loaded, self.env, asker) for name in spec.targets]
        prepared = SKILL.prepare(spec, loaded)
        if prepared.judging is not None:
            judges = make_judges(prepared.judging, loaded, self.env, spec.targets, asker)
            prepared = structs.replace(prepared, judges=judges)
        return prepared, made


@dataclass(frozen=True)
class TriedSkill:
    """One trial's outcome. Its artifacts are read and removed."""

    outcome: TrialOutcome
    files: Mapping[str, str]

    @property
    def details(self) -> SkillDetails:
        """What it says of skills and arms."""
        details = self.outcome.result.details
        assert isinstance(details, SkillDetails)
        return details

    @property
    def loaded(self) -> list[tuple[str, str, str]]:
        """Name, origin and how of every skill that was loaded."""
        return [(each.name, each.origin, each.how) for each in self.details.loaded]


async def tried_skill(bench: SkillBench, target: str, *cases: Mapping[str, Any], trial: int = 1) -> TriedSkill:
    """One trial of the first case by this target."""
    prepared, (made,) = bench.prepared(bench.write((target,), *cases))
    made.prepare()
    try:
        outcome = await SKILL.run_trial(prepared, prepared.cases[0], made, trial)
    finally:
        await made.close()
        for judge in prepared.judges.all if prepared.judges is not None else ():
            await judge.target.close()
    files: dict[str, str] = {}
    if outcome.artifacts is not None:
        there = [path for path in sorted(outcome.artifacts.rglob("*")) if path.is_file()]
        files = {str(path.relative_to(outcome.artifacts)): path.read_text("utf-8", "replace") for path in there}
        shutil.rmtree(outcome.artifacts)
    return TriedSkill(outcome, files)


def first_case(bench: SkillBench, *cases: Mapping[str, Any]) -> tuple[SkillPrepared, SkillCase]:
    """The suite as it is prepared, and the first of its cases."""
    prepared, _ = bench.prepared(bench.write(("nop",), *cases))
    return prepared, prepared.cases[0]
