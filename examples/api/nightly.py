"""A nightly job without a committed baseline: what got worse since the last night that was measured.

    python examples/api/nightly.py [CONFIG] [FOLDER]

The folder keeps one report from night to night. Exit codes are Evalward's: 0 nothing got worse, 1 something did, 2 the
input is wrong, 3 it could not be judged. Live targets take their keys from the environment.
"""

from __future__ import annotations

import sys
from pathlib import Path

from evalward import api

EXAMPLE = Path(__file__).parents[1] / "commands" / "evalward.yml"


def main(config: Path, folder: Path) -> int:
    """Measure, compare with the last night, keep tonight's report."""
    report = api.run(config, folder / "tonight", progress=sys.stderr)
    kept = folder / "last-night.json"
    last = api.update_baseline(api.load_report(kept)) if kept.exists() else None
    judgement = api.decide(report, last)
    (folder / "night.md").write_text(api.render(judgement, "markdown"), encoding="utf-8")
    (folder / "night.xml").write_text(api.render(judgement, "junit"), encoding="utf-8")
    print(api.render(judgement))
    if judgement.verdict.outcome is not api.Outcome.ERROR:  # an outage is nothing to compare the next night with
        kept.write_text(api.render(report, "json"), encoding="utf-8")
    return judgement.verdict.exit_code


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:]]
    config, folder = [*given, *[EXAMPLE, Path("evalward-out/nightly")][len(given) :]]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        sys.exit(main(config, folder))
    except api.InputError as error:
        print(*(f"error: {problem}" for problem in error.problems), sep="\n", file=sys.stderr)
        sys.exit(2)
