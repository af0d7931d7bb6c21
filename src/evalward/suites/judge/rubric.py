"""Rubrics: the criteria by which a judge scores, each with its weight; read from YAML, every mistake with its line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from evalward.config import LoadedConfig
from evalward.config.words import KeyPath, field_name
from evalward.config.yaml_positions import Mistake, YamlError, YamlTree, read_yaml
from evalward.opening import beginning_inside
from evalward.records.base import StrictRecord, digest
from evalward.records.model_words import in_words
from evalward.records.problem import InputError, Place, Problem, wrong

WEIGHT_TOLERANCE = 0.01  # the specification's: weights sum to 1 within it
MOST_BYTES = 100_000
MOST_CRITERIA = 30

_FieldName = Literal["scores", "weighted_score", "confidence", "issues", "highlights"]
FIELDS: tuple[_FieldName, ...] = ("scores", "weighted_score", "confidence", "issues", "highlights")
"""The keys of an answer that the specification names; a rubric may want fewer, but never no `scores`."""

_Id = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class Criterion(StrictRecord):
    """One thing that is scored from 0 to 1, and its share in the whole."""

    id: _Id
    weight: float = Field(gt=0, le=1, allow_inf_nan=False)
    description: str = Field(min_length=1, max_length=2_000)


class JudgeOutput(StrictRecord):
    """What an answer of the judge has to hold."""

    format: Literal["json"] = "json"
    require_fields: list[_FieldName] = Field(default=list(FIELDS), min_length=1)


class Rubric(StrictRecord):
    """Criteria whose weights sum to 1, and what an answer has to hold."""

    criteria: list[Criterion] = Field(min_length=1, max_length=MOST_CRITERIA)
    output: JudgeOutput = JudgeOutput()

    @property
    def digest(self) -> str:
        """Its identity: criteria with weights and words, in their order, and the wanted fields."""
        return digest(self.model_dump(mode="json"))

    @property
    def fields(self) -> tuple[str, ...]:
        """The keys that an answer must have, `scores` among them whatever the rubric says."""
        names = {*self.output.require_fields, "scores"}
        return tuple(name for name in FIELDS if name in names)

    def reversed(self) -> Rubric:
        """The same rubric with its criteria in the opposite order: a sound judge scores alike."""
        return self.model_copy(update={"criteria": self.criteria[::-1]})


def one_criterion(description: str, name: str = "answer") -> Rubric:
    """A rubric of one criterion that is all that counts."""
    return Rubric(criteria=[Criterion(id=name, weight=1.0, description=description)])


@dataclass(frozen=True)
class RubricFile:
    """A rubric and where it was read: `base` is the commit that judges, `head` the files that are judged.

    `edited`: the files here say something else than the base's rubric, which is the one that holds.
    """

    rubric: Rubric
    path: str
    source: Literal["base", "head"]
    edited: bool = False

    @property
    def note(self) -> str | None:
        """What people have to know about it, if anything."""
        if self.edited:
            return f"{self.path} is edited here; the judge uses the base's rubric."
        return None


def load_rubric(path: str, loaded: LoadedConfig) -> RubricFile:
    """The rubric of a file below the config's folder: the base's where one judges and has it, else the one here.

    Raises `InputError` with every problem of the file, or when there is none.
    """
    here = _here(loaded.root, path)
    base = loaded.base_file(path) if loaded.base_file is not None else None
    if base is not None:
        return RubricFile(read_rubric(base, f"{path} (base)"), path, "base", edited=here != base)
    if here is None:
        raise wrong(path, "there is no such rubric", "Write the path from the config's folder.")
    return RubricFile(read_rubric(here, path), path, "head")


def _here(root: Path, path: str) -> bytes | None:
    """The file's content; never one outside of the config's folder, however the path is written."""
    try:
        return beginning_inside(root, path, MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name can't be used"
        raise wrong(path, f"the rubric can't be read: {why}", "Name a YAML file.") from error


def read_rubric(data: bytes, shown: str) -> Rubric:
    """The rubric in a YAML text. Raises `InputError` with every problem of it."""
    if len(data) > MOST_BYTES:
        raise wrong(shown, f"the rubric is larger than {MOST_BYTES // 1000} kB", "A rubric is a page of text.")
    try:
        tree = read_yaml(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise wrong(shown, "the file is not UTF-8 text", "Save it as UTF-8.") from None
    except YamlError as error:
        raise InputError(_problem(error.mistake, shown, None)) from None
    if not isinstance(tree.value, dict):
        raise wrong(shown, "the file is not a mapping of keys to values", "Begin with criteria:.", line=1)
    mistakes = list(tree.mistakes)
    try:
        rubric = Rubric.model_validate_json(json.dumps(tree.value), strict=True)
    except ValidationError as error:
        mistakes += [_explained(item) for item in error.errors(include_url=False)]
    else:
        mistakes += _checked(rubric)
        if not mistakes:
            return rubric
    raise InputError([_problem(mistake, shown, tree) for mistake in mistakes])


def _checked(rubric: Rubric) -> Iterator[Mistake]:
    """What concerns more than one value: ids are unique, weights sum to 1, `scores` can't be left out."""
    seen: set[str] = set()
    for index, criterion in enumerate(rubric.criteria):
        if criterion.id in seen:
            message = f"the id {criterion.id!r} occurs twice"
            yield Mistake(("criteria", index, "id"), message, "Give each criterion its own.")
        seen.add(criterion.id)
    total = math.fsum(criterion.weight for criterion in rubric.criteria)
    if abs(total - 1) > WEIGHT_TOLERANCE + 1e-9:
        yield Mistake(("criteria",), f"the weights sum to {total:.4g}, not to 1", "Change them so that they do.")
    if "scores" not in rubric.output.require_fields:
        message = "an answer without `scores` says nothing"
        yield Mistake(("output", "require_fields"), message, "Add scores.")


def _explained(error: ErrorDetails) -> Mistake:
    path: KeyPath = tuple(error["loc"])
    message, remedy = in_words(error, _known(path))
    known = error["type"] in {"missing", "extra_forbidden"}
    return Mistake(path, message, remedy if known or not path else _REMEDIES.get(path[-1], remedy))


_REMEDIES: dict[Any, str] = {
    "id": "Use letters, digits, _ and -, beginning with a letter, at most 64.",
    "weight": "Write a number above 0, at most 1.",
    "description": "Say in a sentence what earns a 1 and what a 0.",
}


def _known(path: KeyPath) -> list[str]:
    models: dict[str, type[StrictRecord]] = {"criteria": Criterion, "output": JudgeOutput}
    model = models.get(str(path[0]), Rubric) if len(path) > 1 else Rubric
    return list(model.model_fields)


def _problem(mistake: Mistake, file: str, tree: YamlTree | None) -> Problem:
    line = mistake.line if tree is None or mistake.line is not None else tree.line(mistake.path)
    place = Place(file=file, line=line)
    return Problem(place=place, message=mistake.message, remedy=mistake.remedy, field=field_name(mistake.path))
