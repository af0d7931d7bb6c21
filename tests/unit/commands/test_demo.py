"""What `evalward demo` does beyond a check: which files come with it, who gets a browser, and what isn't asked."""

from __future__ import annotations

import re
import tomllib
import webbrowser
from collections.abc import Callable
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalward.commands import demo
from evalward.records.verdict import Judgement
from support import judgements
from support.showing import Terminal, world_of

ROOT = Path(__file__).parents[3]


def test_folders_that_come_with_the_package_get_into_every_build() -> None:
    """The wheel takes them from where the image and the source distribution have them, too."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    taken = build["wheel"]["force-include"]
    assert taken == {name: f"evalward/{name}" for name in ("templates", "examples/bash-tools")}
    image = re.findall(r"^COPY (\S+) (\S+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    seen = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert build["sdist"]["exclude"] == ["/.ci"]  # all else that is tracked
    for name in taken:
        assert (name, name) in image
        assert f"!{name}" in seen


@pytest.mark.parametrize(
    ("terminal", "display", "opens"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_a_browser_is_for_people_in_front_of_a_screen(
    terminal: bool, display: bool, opens: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def shows(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", shows)
    monkeypatch.setattr("sys.platform", "linux")
    world = world_of(tmp_path, Terminal() if terminal else None, **({"DISPLAY": ":0"} if display else {}))
    assert demo._opened(world, Path("out/report.html")) is opens
    assert opened == ([(tmp_path / "out/report.html").as_uri()] if opens else [])


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (judgements.passed, "passed: nothing got worse"),
        (judgements.inconclusive, "inconclusive: pass_rate fell"),
        (judgements.unjudged, "could not be judged: bash-tools"),
    ],
)
def test_a_check_that_does_not_fail_is_no_demo(
    ended: Callable[[], Judgement], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "runner_of", lambda world: nullcontext())
    monkeypatch.setattr(demo, "checked", lambda *_: SimpleNamespace(judgement=ended()))
    world = world_of(tmp_path)
    assert demo.demo(world, Path("demo")) == 3
    assert isinstance(world.err, StringIO)
    (line,) = world.err.getvalue().splitlines()
    assert line.startswith("error: the check of the demo's pull request has to fail, and did not. It ended as ")
    assert said in line
    assert isinstance(world.out, StringIO)
    assert world.out.getvalue() == ""
