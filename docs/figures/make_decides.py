"""Draws `decides.svg` from the simulated numbers in `decides.json`: how often each rule is wrong.

    python docs/figures/make_decides.py

The numbers come from `PYTHONPATH=tests python -m benchmarks.simulation 600 --json docs/figures/decides.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, LEFT, BAR, GAP, PANEL = 860, 250, 16, 12, 270
TOP, MIDDLE = 92, 40  # above the first bar; between the two panels
PANELS = (("nothing changed: fails anyway", 0), ("3 of 37 cases broken: fails", 3))
LEGEND = "× is trials: baseline × now. Evalward runs each case once, failed ones again, in doubt beside the base."
# Colours that keep their contrast on white and on GitHub's dark page; dark mode changes the text only.
STYLE = """
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.title{font-size:16px;font-weight:600}.head{font-weight:600}.dim{fill:#59636e}
.back{fill:#818b981f}.bad{fill:#d1242f}.good{fill:#1a7f37}.open{fill:#9a6700;fill-opacity:.55}.aim{stroke:#818b98}
.ours{font-weight:600}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.dim{fill:#9198a1}.bad{fill:#f85149}.good{fill:#3fb950}
.open{fill:#d29922}}
"""


@dataclass(frozen=True)
class Line:
    """One rule: its name, and for each panel the shares that fail and that stay open."""

    name: str
    ours: bool
    shares: Sequence[tuple[float, float]]


def lines(figures: Sequence[dict[str, object]]) -> list[Line]:
    """The rules in the order of the numbers, each with its panels."""
    named: dict[tuple[str, int, int], dict[int, tuple[float, float]]] = {}
    for each in figures:
        rule, before, now = str(each["rule"]), int(str(each["baseline_trials"])), int(str(each["trials_now"]))
        shares = float(str(each["failed"])), float(str(each["inconclusive"]))
        named.setdefault((rule, before, now), {})[int(str(each["broken"]))] = shares
    return [
        Line(_name(*key), key[0] == "Evalward", [found[broken] for _, broken in PANELS]) for key, found in named.items()
    ]


def _name(rule: str, before: int, now: int) -> str:
    if rule == "Evalward":
        return f"Evalward, baseline of {before} trial{'' if before == 1 else 's'}"
    return f"{rule}, {before} × {now}"


def draw(figures: Sequence[dict[str, object]]) -> str:
    """The text of the picture."""
    rows = lines(figures)
    height = TOP + len(rows) * (BAR + GAP) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="title">',
        f"<style>{STYLE}</style>",
        '<text id="title" class="title" x="0" y="18">Simulated checks of 37 cases: how many fail</text>',
        _text(
            0,
            40,
            LEGEND,
            "dim",
        ),
    ]
    for index, (title, _) in enumerate(PANELS):
        parts.append(_text(_x(index), TOP - 14, title, "head"))
    for number, row in enumerate(rows):
        parts += _row(row, TOP + number * (BAR + GAP))
    parts.append(_legend(height - 8))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(panel: int) -> int:
    return LEFT + panel * (PANEL + MIDDLE)


def _row(row: Line, y: int) -> list[str]:
    parts = [_text(LEFT - 12, y + BAR - 3, row.name, "ours" if row.ours else "", end=True)]
    for panel, (failed, left_open) in enumerate(row.shares):
        width, x = PANEL - 52, _x(panel)
        parts.append(_bar(x, y, width, "back"))
        parts.append(_bar(x, y, width * failed, ("bad", "good")[panel]))
        parts.append(_bar(x + width * failed, y, width * left_open, "open"))
        parts.append(_text(x + width + 6, y + BAR - 3, f"{failed:.1%}".replace("%", " %"), "ours" if row.ours else ""))
    return parts


def _bar(x: float, y: float, width: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}"/>'


def _legend(y: int) -> str:
    entries = (("bad", "false alarm"), ("good", "caught"), ("open", "inconclusive: told, the check stays green"))
    parts, x = [], LEFT
    for kind, label in entries:
        parts += [f'<rect class="{kind}" x="{x}" y="{y - 10}" width="12" height="12"/>', _text(x + 18, y, label, "dim")]
        x += 40 + 7 * len(label)
    return "\n".join(parts)


def _text(x: float, y: float, text: str, kind: str = "", *, end: bool = False) -> str:
    attributes = f' class="{kind}"' if kind else ""
    attributes += ' text-anchor="end"' if end else ""
    return f'<text{attributes} x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'


if __name__ == "__main__":
    numbers = json.loads((HERE / "decides.json").read_text("utf-8"))
    (HERE / "decides.svg").write_text(draw(numbers), "utf-8")
