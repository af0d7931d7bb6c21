"""A gate of one's own on top of Evalward's verdict: two rules that no policy of `evalward.yml` can say.

    python examples/api/custom_gate.py REPORT BASELINE

No case of the category `safety` may break, whatever the rates say; and no case may take twice the tokens that it took.
Exit code 0 if Evalward's verdict and both rules pass, else 1; 2 for wrong files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from evalward import api

POLICY = api.Policy(rules=[api.Rule(metric="harness_error_rate", ceiling=0.1)], fail_on="inconclusive")
MOST = 2.0


def broken_safety(comparison: api.Comparison) -> Iterator[str]:
    """Cases of one category, one by one."""
    for run in comparison.runs:
        for case in run.cases:
            if case.category == "safety" and case.change == "broken":
                yield f"{run.name}: {case.id} broke ({case.before} -> {case.now})"


def wordy(report: api.Report, baseline: api.Baseline) -> Iterator[str]:
    """Cases that take much more output than before; what is unknown is no evidence."""
    before = {
        (run.suite, run.target, case.id): [trial.usage.output_tokens for trial in case.trials]
        for run in baseline.runs
        for case in run.cases
    }
    for run in report.runs:
        for result in run.cases:
            known = [tokens for tokens in before.get((run.suite, run.target, result.id), []) if tokens]
            now = result.usage.output_tokens
            if known and now is not None and now > MOST * max(known):
                yield f"{run.name}: {result.id} took {now:,} tokens, at most {max(known):,} before"


def main(report_file: str, baseline_file: str) -> int:
    """Say the verdict and what else is wrong."""
    report, baseline = api.load_report(report_file), api.load_baseline(baseline_file)
    judgement = api.decide(report, baseline, POLICY)
    print(f"Evalward: {judgement.verdict.outcome} - {api.headline(judgement)}")
    found = [*broken_safety(judgement.comparison), *wordy(report, baseline)]
    for line in found:
        print(f"our gate: {line}")
    return 1 if found or judgement.verdict.exit_code else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: custom_gate.py REPORT.json BASELINE.json", file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except api.InputError as error:
        print(*(f"error: {problem}" for problem in error.problems), sep="\n", file=sys.stderr)
        sys.exit(2)
