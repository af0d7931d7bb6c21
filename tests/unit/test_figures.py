"""Pictures in the docs are what their numbers say."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
NUMBERS = json.loads((FIGURES / "decides.json").read_text("utf-8"))


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_decides", FIGURES / "make_decides.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_picture__is_drawn_from_the_committed_numbers() -> None:
    assert (FIGURES / "decides.svg").read_text("utf-8") == script().draw(NUMBERS)


def test_picture__shows_every_rule_and_share() -> None:
    drawn = ET.fromstring(script().draw(NUMBERS))
    texts = [text.text or "" for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for figure in NUMBERS:
        assert any(text.startswith(figure["rule"]) for text in texts)
        if figure["broken"] in {0, 3}:
            assert f"{figure['failed']:.1%}".replace("%", " %") in texts


def test_numbers__are_what_the_page_promises() -> None:
    """The promises of the page: at most one false alarm in twenty, and three broken cases of 37 caught."""
    ours = [figure for figure in NUMBERS if figure["rule"] == "Evalward"]
    assert len(ours) == 9
    for figure in ours:
        assert figure["failed"] <= 0.05 if figure["broken"] == 0 else figure["failed"] >= 0.95
        assert figure["trials"] <= (2.6 if figure["broken"] == 0 else 6) * 37


def test_page__quotes_the_numbers() -> None:
    page = (FIGURES.parent / "how-evalward-decides.md").read_text("utf-8")
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")]
    rows = {tuple(cell.strip() for cell in line) for line in lines}
    names = {(f["rule"], f["baseline_trials"], f["trials_now"]) for f in NUMBERS}
    for name in names:
        found = {f["broken"]: f for f in NUMBERS if (f["rule"], f["baseline_trials"], f["trials_now"]) == name}
        label = f"{name[0]}, {name[1]} × {name[2]}" if name[0] != "Evalward" else f"**Evalward**, baseline of {name[1]}"
        cells = [f"{found[broken]['failed']:.1%}".replace("%", " %") for broken in (0, 3, 5)]
        used = f"{found[0]['trials']:.0f} / {found[3]['trials']:.0f}"
        assert any((row[0], [*row[1:4]], row[-1]) == (label, cells, used) for row in rows), (label, cells, used)


def test_picture__needs_nothing_from_elsewhere() -> None:
    text = (FIGURES / "decides.svg").read_text("utf-8")
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in text
