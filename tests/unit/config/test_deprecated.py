"""An old spelling is read as the new one, and reported with its date wherever the configuration is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.commands.validate import validate
from evalward.config.deprecated import deprecated_keys
from evalward.config.load import load_config
from evalward.engine.plan import make_plan
from evalward.engine.selection import Selection
from evalward.records.deprecation import Deprecation
from support.showing import world_of

OLD = (
    "evalward.yml:7: suites[0].target: `target` is deprecated since 2026-11-23: write `tool`. "
    "It works until 2027-06-01; a release after that day may refuse it."
)
CONFIG = """\
version: 1
suites:
  - name: todo
    kind: scenario
    cases: "*.yaml"
    targets: [oracle]
    KEY: {binary: sh}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "AGENTS.md").write_text("Use sh.\n", "utf-8")
    (tmp_path / "one.yaml").write_text(
        "name: one\ntool: from_config\ntemplate_folder: one\ntask: {prompt: hi}\nsolution: [echo a > b]\n"
        "gates: [{type: file_exists, path: b}]\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("key", "said"), [("target", [OLD]), ("tool", [])])
def test_an_old_key__means_the_new_one_and_is_reported(folder: Path, key: str, said: list[str]) -> None:
    Path("evalward.yml").write_text(CONFIG.replace("KEY", key), "utf-8")
    loaded = load_config(Path("evalward.yml"))
    assert loaded.config.suites[0].tool.binary == "sh"  # type: ignore[attr-defined]
    assert list(deprecated_keys(loaded)) == said
    warnings = make_plan(loaded, Selection()).warnings
    assert [each for each in warnings if "deprecated" in each] == said
    world = world_of(folder)
    assert validate(world, [Path("evalward.yml")], prove=False) == 0
    shown = world.out.getvalue()  # type: ignore[attr-defined]
    assert [line for line in shown.splitlines() if "deprecated" in line] == [f"warning: {each}" for each in said]


def test_the_words__name_the_remedy_and_the_date() -> None:
    words = Deprecation(instead="new", since="2026-01-01", until="2026-07-01").words("old")
    assert words == (
        "`old` is deprecated since 2026-01-01: write `new`. "
        "It works until 2026-07-01; a release after that day may refuse it."
    )
