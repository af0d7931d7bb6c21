"""What is wrong with the input, as a comment: every problem with its place and its remedy."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.problem import Problem
from evalward.render.templates import render

MOST = 50


def problems_markdown(headline: str, problems: Sequence[Problem], *, marker: str = "", run_url: str = "") -> str:
    """A headline and the problems, at most `MOST` of them."""
    return render(
        "problems.md.j2",
        marker=marker,
        headline=headline,
        problems=list(problems[:MOST]),
        more=max(0, len(problems) - MOST),
        run_url=run_url,
    )
