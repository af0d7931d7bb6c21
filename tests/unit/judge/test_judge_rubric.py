"""Rubrics: what they may say, and every mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import Config, LoadedConfig
from evalward.records.problem import InputError
from evalward.suites.judge.rubric import load_rubric, one_criterion, read_rubric
from support.judging import rubric

GOOD = """\
criteria:
  - id: command_correctness
    weight: 0.30
    description: "Uses valid CLI commands with correct syntax"
  - id: task_completion
    weight: 0.40
    description: "Completes all aspects of the assigned task"
  - id: efficiency
    weight: 0.30
    description: "No unnecessary commands"
output:
  format: json
  require_fields: [scores, weighted_score, confidence, issues, highlights]
"""
GUIDANCE = Path(__file__).parents[3] / "examples" / "rubrics" / "guidance.yaml"


def told(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_rubric(text.encode(), "r.yaml")
    return [str(problem) for problem in caught.value.problems]


def loaded(root: Path, base: dict[str, bytes] | None = None) -> LoadedConfig:
    config = Config.model_construct(version=1, suites=[])
    return LoadedConfig(config, "evalward.yml", root, "", base_file=None if base is None else base.get)


def test_the_specifications_example() -> None:
    found = read_rubric(GOOD.encode(), "r.yaml")
    assert [(c.id, c.weight) for c in found.criteria] == [
        ("command_correctness", 0.3),
        ("task_completion", 0.4),
        ("efficiency", 0.3),
    ]
    assert found.fields == ("scores", "weighted_score", "confidence", "issues", "highlights")


def test_the_bundled_rubric_is_one() -> None:
    assert len(read_rubric(GUIDANCE.read_bytes(), "guidance.yaml").criteria) == 5


@pytest.mark.parametrize(("weight", "fine"), [(0.31, True), (0.29, True), (0.315, False), (0.285, False)])
def test_weights_sum_to_1_within_a_hundredth(weight: float, fine: bool) -> None:
    text = GOOD.replace("weight: 0.40", f"weight: {weight + 0.1:.3f}")
    if fine:
        read_rubric(text.encode(), "r.yaml")
    else:
        (problem,) = told(text)
        assert "r.yaml:1: criteria: the weights sum to" in problem


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("id: efficiency", "id: task_completion", "r.yaml:8: criteria[2].id", "occurs twice"),
        ("weight: 0.40", "weight: -1", "r.yaml:6: criteria[1].weight", "must be more than 0, not -1"),
        ("weight: 0.40", 'weight: "0.40"', "r.yaml:6: criteria[1].weight", "number"),
        ("weight: 0.40", "weight: .nan", "r.yaml:6: criteria[1].weight", "number"),
        ("weight: 0.40", "wieght: 0.40", "criteria[1].wieght", "Did you mean weight?"),
        ("id: efficiency", "id: a b", "r.yaml:8: criteria[2].id", "Use letters"),
        ("[scores, weighted_score", "[weighted_score", "r.yaml:13: output.require_fields", "Add scores"),
        ("highlights]", "smells]", "r.yaml:13: output.require_fields[4]", "highlights"),
        ("format: json", "format: xml", "r.yaml:12: output.format", "json"),
        (GOOD, "", "r.yaml:1", "not a mapping"),
        (GOOD, "criteria: []", "r.yaml:1: criteria", "is empty"),
        (GOOD, "a: [", "r.yaml", ""),
    ],
)
def test_every_mistake_has_its_line(old: str, new: str, where: str, what: str) -> None:
    problems = told(GOOD.replace(old, new))
    assert any(where in problem and what in problem for problem in problems), problems


def test_all_mistakes_are_told_at_once() -> None:
    assert len(told(GOOD.replace("weight: 0.40", "weight: 2").replace("id: efficiency", "id: 1"))) == 2


def test_a_huge_or_broken_file_is_refused() -> None:
    assert "larger than" in told(GOOD + "#" * 200_000)[0]
    with pytest.raises(InputError, match="UTF-8"):
        read_rubric(b"criteria: \xff", "r.yaml")


def test_identity_follows_words_weights_and_order() -> None:
    one = rubric(a=0.5, b=0.5)
    assert one.digest == rubric(a=0.5, b=0.5).digest
    assert len({one.digest, one.reversed().digest, rubric(a=0.6, b=0.4).digest, one_criterion("x").digest}) == 4
    assert one.reversed().reversed() == one


def test_the_bases_rubric_holds(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(GOOD.replace("Completes all", "Says that it completes all"))
    found = load_rubric("r.yaml", loaded(tmp_path, {"r.yaml": GOOD.encode()}))
    assert (found.source, found.edited) == ("base", True)
    assert found.rubric == read_rubric(GOOD.encode(), "r.yaml")
    assert found.note == "r.yaml is edited here; the judge uses the base's rubric."


def test_a_rubric_that_the_base_lacks_is_the_heads(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(GOOD)
    bases: tuple[dict[str, bytes] | None, ...] = (None, {})
    for base in bases:
        found = load_rubric("r.yaml", loaded(tmp_path, base))
        assert (found.source, found.edited, found.note) == ("head", False, None)


def test_a_removed_rubric_is_still_the_bases(tmp_path: Path) -> None:
    found = load_rubric("r.yaml", loaded(tmp_path, {"r.yaml": GOOD.encode()}))
    assert (found.source, found.edited) == ("base", True)


@pytest.mark.parametrize("path", ["missing.yaml", "../outside.yaml", "link.yaml", "folder", "a\0b"])
def test_paths_that_lead_nowhere_or_outside(tmp_path: Path, path: str) -> None:
    root = tmp_path / "repo"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "outside.yaml").write_text(GOOD)
    (root / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    with pytest.raises(InputError):
        load_rubric(path, loaded(root))
