"""Sorts mail for teams. In place of a model that costs money, a scripted one follows the prompt.

python sort_mail.py FILE [--repeat N] [--only CASE,CASE]    writes the report to FILE
"""

import argparse
from pathlib import Path

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext
from pydantic_evals.reporting import EvaluationReportAdapter

RULES = dict(line.split(": ", 1) for line in Path(__file__).with_name("prompt.md").read_text("utf-8").splitlines()[1:])


def sort_mail(mail: str) -> dict[str, object]:
    """The team and the urgency, by the words in the prompt."""

    def about(key: str) -> bool:
        return any(word in mail.lower() for word in RULES[key].split(", "))

    team = next((team for team in ("billing", "delivery", "account") if about(team)), "nobody")
    return {"team": team, "urgent": about("urgent")}


class RightTeam(Evaluator):
    """Passes or fails."""

    def evaluate(self, ctx: EvaluatorContext) -> bool:
        return ctx.output["team"] == ctx.expected_output["team"]


class Fields(Evaluator):
    """A score: the share of fields that are right."""

    def evaluate(self, ctx: EvaluatorContext) -> float:
        return sum(ctx.output[key] == value for key, value in ctx.expected_output.items()) / len(ctx.expected_output)


MAILS = {
    "invoice-copy": ("Please send me my invoice once more.", "billing", False),
    "charged-twice": ("I was charged twice for one lamp.", "billing", False),
    "late-parcel": ("My parcel should be here today!", "delivery", True),
    "broken-glass": ("It arrived in pieces.", "delivery", False),
    "locked-out": ("My password doesn't work any more.", "account", False),
    "smoking-lamp": ("There is smoke coming from the lamp, I want a refund.", "billing", True),
}
CASES = [
    Case(name=name, inputs=mail, expected_output={"team": team, "urgent": urgent})
    for name, (mail, team, urgent) in MAILS.items()
]

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    cases = [case for case in CASES if not chosen.only or case.name in chosen.only.split(",")]
    dataset = Dataset(name="mail", cases=cases, evaluators=[RightTeam(), Fields()])
    report = dataset.evaluate_sync(sort_mail, repeat=chosen.repeat, progress=False)
    chosen.file.write_bytes(EvaluationReportAdapter.dump_json(report))
