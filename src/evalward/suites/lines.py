"""Case files with one JSON object a line, or a YAML list of them: read, and every problem of a file at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evalward.config import LoadedConfig, Suite
from evalward.config.yaml_positions import CONFLICT, conflict_line
from evalward.opening import read_text_inside
from evalward.records.case import Case
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.model_words import described, in_words
from evalward.records.problem import InputError, Place, Problem
from evalward.records.words import shown
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.yaml_list import ListEntry, entries_of, is_yaml, read_tree

Model = TypeVar("Model", bound=BaseModel)
CaseT = TypeVar("CaseT", bound=Case)
COMMENT_MARKS = ("#", "//")
REMEDY = "Write one JSON object per line."
LIMIT_BYTES = 10 * 1024 * 1024
MOST_PROBLEMS = 1000
"""Of one file; whoever has as many gave another file than they meant."""


@dataclass(frozen=True)
class JsonLine(Generic[Model]):
    """One object and where it stands: at a line of its own, or in a list."""

    place: Place
    value: Model


@dataclass(frozen=True)
class LinesRead(Generic[Model]):
    """What a file gave: its objects, and all that is wrong with the others."""

    lines: list[JsonLine[Model]]
    problems: list[Problem]


Parse: TypeAlias = Callable[[str, str, type[Model]], LinesRead[Model]]
"""What makes objects of a file's text, by the name that messages give the file."""


def read_lines(root: Path, name: str, model: type[Model], shown_as: str = "") -> LinesRead[Model]:
    """Read the JSONL file `name` below `root`. Blank lines and comments (`#`, `//`) are passed over."""
    return _read(root, name, shown_as or name, model, parse_lines)


def read_objects(root: Path, name: str, model: type[Model], shown_as: str = "") -> LinesRead[Model]:
    """Read the file `name` below `root`: a YAML list by its suffix (`.yaml`, `.yml`), else JSONL."""
    return _read(root, name, shown_as or name, model, parse_list if is_yaml(name) else parse_lines)


def _read(root: Path, name: str, shown_as: str, model: type[Model], parse: Parse[Model]) -> LinesRead[Model]:
    try:
        text = read_text_inside(root, name, LIMIT_BYTES, "utf-8-sig")
    except InputError as error:
        place = Place(file=shown_as)
        return LinesRead([], [problem.but(place=place) for problem in error.problems])
    except (OSError, UnicodeDecodeError) as error:
        return LinesRead([], [_unread(shown_as, error)])
    return parse(text, shown_as, model)


def _unread(file: str, error: OSError | UnicodeDecodeError) -> Problem:
    if isinstance(error, OSError):
        return _problem(file, None, f"the file can't be read: {error.strerror}", "Check its name and content.")
    line = bytes(error.object).count(b"\n", 0, error.start) + 1
    return _problem(file, line, "the file is not UTF-8 text", "Save it as UTF-8.")


def read_cases(
    spec: Suite, config: LoadedConfig, model: type[Model], make: Callable[[Model, Place], CaseT], word: str = "case"
) -> list[CaseT]:
    """The cases of a suite whose files are JSONL or YAML lists: `make` gives that of one object and its place.

    Raises `InputError` with every problem of every file, such as ids that two cases have, or what `make` raises. `word`
    is what an object is.
    """
    problems: list[Problem] = []
    lines: list[JsonLine[Model]] = []
    for file in case_files(spec.name, spec.cases, config, problems):
        read = read_objects(config.root, file, model)
        lines += read.lines
        problems += read.problems
        if not read.lines and not read.problems:
            message = f"the file has no {word}"
            problems.append(Problem(place=Place(file=file), message=message, remedy="Add one, or remove it."))
    cases: list[CaseT] = []
    for line in lines:
        try:
            cases.append(make(line.value, line.place))
        except InputError as error:
            problems += error.problems
    problems += repeated_ids(cases)
    if problems:
        raise InputError(problems)
    return cases


def parse_lines(text: str, shown_as: str, model: type[Model]) -> LinesRead[Model]:
    """The objects of a JSONL text."""
    lines: list[JsonLine[Model]] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(problems) >= MOST_PROBLEMS:
            break
        if not line.strip() or line.lstrip().startswith(COMMENT_MARKS):
            continue
        place = Place(file=shown_as, line=number)
        try:
            lines.append(JsonLine(place, model.model_validate(_object(line))))
        except ValidationError as error:
            problems += [explained(place, item, model) for item in error.errors()]
        except NoJsonError as error:
            known = CONFLICT if conflict_line(line) else (f"not a JSON object: {error}", REMEDY)
            problems.append(Problem(place=place, message=known[0], remedy=known[1]))
    return LinesRead(lines, problems)


def parse_list(text: str, shown_as: str, model: type[Model]) -> LinesRead[Model]:
    """The objects of a YAML text that is a list of them; each problem at the line of what it is about."""
    problems: list[Problem] = []

    def wrong(message: str, remedy: str = "", line: int | None = None) -> None:
        problems.append(_problem(shown_as, line, message, remedy))

    tree = read_tree(text, wrong)
    lines: list[JsonLine[Model]] = []
    for entry in entries_of(tree, wrong) if tree is not None else []:
        if len(problems) >= MOST_PROBLEMS:
            break
        place = Place(file=shown_as, line=entry.line())
        try:
            lines.append(JsonLine(place, model.model_validate(entry.value)))
        except ValidationError as error:
            problems += [_in_list(place, item, model, entry) for item in error.errors()]
    return LinesRead(lines, problems)


def _in_list(place: Place, error: ErrorDetails, model: type[BaseModel], entry: ListEntry) -> Problem:
    """One error of pydantic's at its own line; what YAML took for a number or a truth value can be quoted."""
    if not isinstance(entry.value, dict):
        return Problem(
            place=place, message="the case is not a mapping", remedy="Write its keys below the dash: - id: …"
        )
    problem = explained(Place(file=place.file, line=entry.line(*error["loc"])), error, model)
    written = entry.written(*error["loc"])
    if error["type"] != "string_type" or not written:
        return problem
    meant = "a number" if isinstance(error["input"], int | float) and not isinstance(error["input"], bool) else ""
    meant = meant or f"{error['input']}".lower().replace("none", "null")
    message = f"must be text, and YAML reads {shown(written)} as {meant}"
    return problem.but(message=message, remedy="Put quotes around it.")


def _problem(file: str, line: int | None, message: str, remedy: str) -> Problem:
    return Problem(place=Place(file=file, line=line), message=message, remedy=remedy)


def _object(line: str) -> dict[str, Any]:
    value = read_json(line, once=True)
    if not isinstance(value, dict):
        raise NoJsonError(f"it is {described(value)}")
    return value


def explained(place: Place, error: ErrorDetails, model: type[BaseModel]) -> Problem:
    """One error of pydantic's as a problem of a case."""
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    message, remedy = _words(error, model)
    return Problem(place=place, field=field, message=message, remedy=remedy)


def _words(error: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    loc = error["loc"] if error["type"] == "extra_forbidden" else (*error["loc"], "")
    return in_words(error, known_keys(model, loc))


def known_keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> Iterator[str]:
    """The keys that the object around an unknown key may have: of the model, or of a model in one of its fields."""
    inner = model
    for part in loc[:-1]:
        field = inner.model_fields.get(part) if isinstance(part, str) else None
        inner = next(_models_in(field.annotation), inner) if field else inner
    yield from inner.model_fields


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of: itself, what a list of it holds, one of several."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models_in(inner)
