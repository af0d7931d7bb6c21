"""The release report: Markdown to attach to a release."""

from __future__ import annotations

from evalward.records.release import ReleaseReport
from evalward.records.verdict import Judgement, Outcome
from evalward.render.context import PageContext
from evalward.render.escape import md_cell, md_code, md_prose
from evalward.render.markdown import comment
from evalward.render.sentences import headline, warnings

_MOST = 50
_SYMBOLS = {Outcome.PASS: "✅", Outcome.FAIL: "❌", Outcome.INCONCLUSIVE: "❔", Outcome.ERROR: "🛑"}


def release_markdown(found: ReleaseReport, context: PageContext) -> str:
    """Both verdicts in a table, what was accepted since the last release, and both comparisons in full."""
    tag = f"the release {md_code(found.tag)}" if found.tag else "the last release"
    branch = f"the baseline of {md_code(found.branch)}" if found.branch else "the committed baseline"
    blocked = found.exit_code != 0
    profile = f" Profile: {md_code(found.profile)}." if found.profile else ""
    more = len(found.accepted) - _MOST
    parts = [
        f"# Release report: {'blocked' if blocked else 'may be released'}",
        f"Commit {md_code((found.commit or 'unknown')[:12])}.{profile}",
        "| Compared with | Verdict | Why |\n|---|---|---|\n"
        + "\n".join([_row(branch, found.against_branch), _row(tag, found.against_tag, found.note)]),
        *_warnings(found),
        "## Accepted since the last release",
        "\n".join(f"- {md_prose(line, 600)}" for line in found.accepted[:_MOST]) or "Nothing.",
        *([f"{more} more {'is' if more == 1 else 'are'} in the baseline."] if more > 0 else []),
        f"## Against {branch}",
        comment(found.against_branch, context).rstrip(),
    ]
    if found.against_tag is not None:
        parts += [f"## Against {tag}", comment(found.against_tag, context).rstrip()]
    return "\n\n".join(parts) + "\n"


def _row(name: str, judgement: Judgement | None, note: str = "") -> str:
    if judgement is None:
        return f"| {name} | not compared | {md_cell(note, 300)} |"
    verdict = judgement.verdict
    return f"| {name} | {_SYMBOLS[verdict.outcome]} {verdict.outcome} | {md_cell(headline(verdict), 300)} |"


def _warnings(found: ReleaseReport) -> list[str]:
    """What is below its goal: nobody is stopped by it, and everybody should know."""
    both = [found.against_branch, *([found.against_tag] if found.against_tag else [])]
    goals = [
        found for item in both for rule in item.verdict.rules if rule.status == "warn" for found in rule.statements
    ]
    lines = warnings([*goals, *(notice for item in both for notice in item.verdict.notices)])
    return ["## Warnings", "\n".join(f"- {md_prose(line)}" for line in lines[:_MOST])] if lines else []
