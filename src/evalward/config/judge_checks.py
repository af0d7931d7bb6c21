"""What has to fit in `judge:`: a model's name is one that can be asked, and paths stay in the repository."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.config.judge import JUDGE_FORMS, RECORDED
from evalward.config.provider_checks import model_name_problem
from evalward.config.reading import get, texts
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake
from evalward.records.target_id import target_id
from evalward.records.words import near_or_known, shown


def check_judge(config: Value) -> Iterator[Mistake]:
    """Every mistake in the judge's name."""
    model = get(get(config, "judge"), "model")
    problem = judge_name_problem(model) if isinstance(model, str) and model else None
    if problem is not None:
        message, remedy = problem
        yield Mistake(("judge", "model"), f"the judge {shown(str(model))} {message}", remedy)


def judge_name_problem(model: str) -> tuple[str, str] | None:
    """Why this can't be the name of a judge, and what to write; `None` when it can."""
    if model.startswith(RECORDED):
        return None if model != RECORDED else ("names no file", "Write recorded:PATH with the path of its answers.")
    parsed = target_id(model)
    if parsed.form != "model":
        return "is unknown", near_or_known(model, JUDGE_FORMS, "Known")
    problem = model_name_problem(parsed.model)
    return None if problem is None else (problem, f"Write {parsed.provider}/NAME.")


def judge_paths(config: Value) -> Iterator[tuple[KeyPath, str]]:
    """The paths in it."""
    judge = get(config, "judge")
    yield from texts(get(judge, "cache"), "judge", "cache")
    model = get(judge, "model")
    if isinstance(model, str) and model.startswith(RECORDED):
        yield ("judge", "model"), model.removeprefix(RECORDED)
