"""Scripts of agents that no YAML reader likes: one message with the file, never an exception of a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.records.problem import InputError
from evalward.targets.agents import scripted
from evalward.targets.agents.scripted import load_scripts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- " * 5_000 + "ls", "nested more than"),
        ("&a [*a]", "nested more than"),
        ("case: &a {b: *a}", "nested more than"),
        ("case: [sleep: " + "9" * 5_000 + "]", "sleep"),
        ("case: !!python/object/apply:os.system [id]", "is not supported"),
        ("case: !!timestamp x", "is not supported"),
        ("case: 2026-13-45", "are not a list"),
        ('case: ["\\UFFFFFFFF"]', "not valid YAML"),
        ("%YAML 99999999999999.1\n--- []", "YAML"),
        ("[" + "x," * 20_000 + "x]", "more than 20,000 values"),
        ("case: [ls]\ncase: [ls]", "already in line 1"),
    ],
    ids=lambda value: value[:20],
)
def test_a_script_that_is_none_is_told(tmp_path: Path, text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "MOST_VALUES", 20_000)
    (tmp_path / "steps.yaml").write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        load_scripts("s", tmp_path / "steps.yaml", "steps.yaml")
    assert words in str(caught.value)
    assert str(caught.value.problems[0]).startswith("steps.yaml")
