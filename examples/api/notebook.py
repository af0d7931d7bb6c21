"""Cell by cell, as in a notebook: two runs of the shell command example, held against each other.

    python examples/api/notebook.py

Needs no key: the answers are recordings, written by hand.
"""

# %% What is measured: the same suites before and after the assistant's instructions were made shorter
from pathlib import Path

from evalward import api

EXAMPLE = Path(__file__).parents[1] / "commands"
OUTPUT = Path("evalward-out/api")

before = api.run(EXAMPLE / "evalward.yml", OUTPUT / "before")
after = api.run(EXAMPLE / "pull-request.yml", OUTPUT / "after")

# %% Both side by side, as `evalward report` shows them
print(api.render([before, after], width=200))

# %% The first as the baseline of the second
judgement = api.decide(after, api.update_baseline(before))
print(judgement.verdict.outcome, "-", api.headline(judgement))

# %% Records, not text: which cases broke, and why
reasons = {(run.name, result.id): result.reason for run in after.runs for result in run.cases}
for run in judgement.comparison.runs:
    for case in run.cases:
        if case.change == "broken":
            print(f"  {case.id:20} {case.before} -> {case.now}  {reasons[run.name, case.id]}")

# %% One metric of the assistant's answers
for report in (before, after):
    for measured in report.runs:
        if measured.target == "replay:assistant":
            csr = measured.metrics["csr"]
            print(f"{measured.name}: {csr.numerator:g} of {csr.denominator:g}")
