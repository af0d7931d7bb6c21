"""Shows how Evalward decides: turns the hand-written outcomes into reports, and lets `evalward compare` judge them.

    python examples/decisions/show.py [SCENE]...

Needs no key. The reports are left in `evalward-out/decisions/`.
"""

import json
import subprocess
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).parent
OUTPUT = Path("evalward-out/decisions")
TARGET = "anthropic/hand-written"
STATUS = {"P": "passed", "F": "failed", "E": "error"}


def trial(case: str, number: int, letter: str, usd: float | None) -> dict[str, object]:
    """One result, as `report.json` has it. A passed trial has its one check's weight as score."""
    status = STATUS[letter]
    valid = letter in "PF"
    return {
        "id": case,
        "category": "shown",
        "definition": "sha256:hand-written",
        "trial": number,
        "status": status,
        "score": 1.0 if letter == "P" else 0.0,
        "max_score": 1.0 if valid else 0.0,
        "checks": [{"check": "exit_code:0", "passed": False, "detail": "exit code 1"}] if letter == "F" else [],
        "reason": None if letter == "P" else "checks_failed" if letter == "F" else "overloaded",
        "usage": {"cost_usd": usd},
        "details": {"kind": "bash", "tool_calls": 2, "tool_calls_ok": 2, "turns": 3, "natural_stop": True},
    }


def trials(outcomes: dict[str, str], usd: float | None, first: int = 1) -> list[dict[str, object]]:
    """The results of cases, one for each letter."""
    return [
        trial(case, number, letter, usd)
        for case, letters in outcomes.items()
        for number, letter in enumerate(letters, first)
    ]


def report(planned: dict[str, str], fresh: dict[str, str], commit: str, model: dict[str, object]) -> str:
    """The text of a report with one run. Its metrics are computed by whoever reads it.

    `model` may have its `target`, whom it `replaces`, and the `usd` of a trial.
    """
    each = len(next(iter(planned.values())))
    run = {
        "suite": "bash-tools",
        "kind": "bash",
        "target": model.get("target", TARGET),
        "replaces": {"target": model["replaces"]} if "replaces" in model else None,
        "trials": each,
        "random": True,
        "planned": each * len(planned),
        "subject": {"hash": "sha256:hand-written"},
        "cases": trials(planned, model.get("usd")),
        "confirmation": trials(fresh, model.get("usd"), each + 1),
    }
    head = {"schema": "evalward.report/1", "tool": {"version": "0"}, "created_at": "2026-11-21T08:00:00Z"}
    return json.dumps({**head, "provenance": {"commit": commit}, "runs": [run]}, indent=1)


def main(wanted: list[str]) -> int:
    """Judge the scenes that are named, or all of them. Returns 0 when each could be shown."""
    outcomes = yaml.safe_load((HERE / "outcomes-hand-written.yml").read_text(encoding="utf-8"))
    names = [f"case-{number:02}" for number in range(1, outcomes["cases"] + 1)]
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name, scene in outcomes["scenes"].items():
        if wanted and name not in wanted:
            continue
        known = scene.get("baseline_trials", 5)
        before = {case: outcomes["baseline"].get(case, "PPPPP")[:known] for case in names}
        now = {case: scene["now"].get(case, "P") for case in names}
        (OUTPUT / f"{name}-before.json").write_text(report(before, {}, "a" * 40, {"usd": scene.get("usd_before")}))
        (OUTPUT / f"{name}.json").write_text(report(now, scene.get("fresh", {}), "b" * 40, scene.get("model", {})))
        print(f"\n=== {name}: {scene['says']}\n", flush=True)
        baseline = OUTPUT / f"{name}-baseline.json"
        baseline.unlink(missing_ok=True)
        update = [
            "evalward",
            "baseline",
            "update",
            "--report",
            f"{OUTPUT / name}-before.json",
            "--baseline",
            str(baseline),
        ]
        subprocess.run(update, check=True, capture_output=True)
        compare = ["evalward", "compare", "--report", f"{OUTPUT / name}.json", "--baseline", str(baseline)]
        done = subprocess.run([*compare, "--policy", str(HERE / "evalward.yml")], check=False)
        print(f"exit code {done.returncode}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
