"""Reading the configuration: text to a `Config` that knows its lines, or all that is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evalward.config.checks import check
from evalward.config.explain import explain
from evalward.config.kinds import AS_WRITTEN
from evalward.config.loaded import LoadedConfig
from evalward.config.model import Config
from evalward.config.words import field_name
from evalward.config.yaml_positions import MAX_CHARACTERS, Mistake, YamlError, YamlTree, read_yaml
from evalward.opening import beginning_inside, name_below, why
from evalward.records.base import digest_text
from evalward.records.problem import InputError, Place, Problem, wrong

_MOST_PROBLEMS = 100


def load_config(path: Path, shown: str | None = None, below: Path | None = None) -> LoadedConfig:
    """Read the file. Raises `InputError` with all its problems. `shown` is its name for people, else the path.

    The file itself is no link, and no folder on the way to it below `below` is one: without that, below the working
    directory for a relative path, and below the file's own folder for any other.
    """
    file = shown or str(path)
    try:
        top = below or _start(path)
        data = beginning_inside(top, name_below(top, path), 4 * MAX_CHARACTERS + 1)
        root = _root(path)
    except InputError as error:
        raise wrong(file, f"the file can't be read: {why(error)}", error.problems[0].remedy) from None
    except FileNotFoundError:
        raise wrong(file, "there is no such file", _elsewhere(path)) from None
    except IsADirectoryError:
        raise wrong(file, "this is a folder", "Name the file in it: evalward.yml.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name can't be used"
        raise wrong(file, f"the file can't be read: {reason}", "Check its name and permissions.") from None
    return parse_config(_decoded(data, file), file, root)


def _elsewhere(path: Path) -> str:
    """What to do about a file that isn't there: it may have the other suffix."""
    other = path.with_suffix(".yaml" if path.suffix == ".yml" else ".yml")
    if other.is_file():
        return f"There is {other.name} in this folder: rename it, or name it with --config."
    return "Create one with `evalward init`, or name yours with --config."


def _root(path: Path) -> Path:
    """The file's folder; without `..`, so that what lies in it has one name only."""
    folder = path.absolute().parent
    return folder.resolve() if ".." in folder.parts else folder


def _start(path: Path) -> Path:
    return path.parent if path.is_absolute() or ".." in path.parts else Path()


def _decoded(data: bytes, file: str) -> str:
    try:
        return data[: 4 * MAX_CHARACTERS].decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise wrong(file, "the file is not UTF-8 text", "Save it as UTF-8.", line=line) from None


def parse_config(text: str, file: str, root: Path) -> LoadedConfig:
    """The configuration of a text, for example of the base commit's file. Raises `InputError` with all its problems."""
    try:
        tree = read_yaml(text)
    except YamlError as error:
        raise InputError(_problem(error.mistake, file, None)) from None
    if not isinstance(tree.value, dict):
        raise _no_mapping(tree, file)
    config, errors = _validated(tree)
    mistakes = [*tree.mistakes, *_without_repetition(list(check(tree.value)), errors, tree)]
    if mistakes or config is None:
        raise InputError(_in_order(mistakes, file, tree))
    return LoadedConfig(config=config, file=file, root=root, sha256=digest_text(text), lines=tree.lines)


def _no_mapping(tree: YamlTree, file: str) -> InputError:
    what = "the file is empty" if tree.value is None else "the file is not a mapping of keys to values"
    return wrong(file, what, "Begin with version: 1 and suites:.", line=tree.line(()) or 1)


def _validated(tree: YamlTree) -> tuple[Config | None, list[ErrorDetails]]:
    # By way of JSON, where strict reading takes a mapping for a record but neither "5" nor yes for a number.
    try:
        return Config.model_validate_json(json.dumps(tree.value), context=AS_WRITTEN, **AS_WRITTEN), []
    except ValidationError as error:
        return None, error.errors(include_url=False)


def _without_repetition(checked: list[Mistake], errors: list[ErrorDetails], tree: YamlTree) -> Iterator[Mistake]:
    """Both kinds of mistakes; where both speak of one value, our own check knows better.

    Where it looked into a mapping, that is meant to be one, though text could stand there, too.
    """
    yield from checked
    reported = {mistake.path for mistake in checked}
    looked_into = {mistake.path[:-1] for mistake in checked}
    for error in errors:
        mistake = explain(error, tree)
        if mistake.path not in reported and not (error["type"] == "string_type" and mistake.path in looked_into):
            yield mistake


def _in_order(mistakes: list[Mistake], file: str, tree: YamlTree) -> list[Problem]:
    def place(mistake: Mistake) -> tuple[int, list[tuple[int, str]]]:
        parts = [(part, "") if isinstance(part, int) else (-1, part) for part in mistake.path]
        return mistake.line or tree.line(mistake.path) or 0, parts

    problems = [_problem(mistake, file, tree) for mistake in sorted(mistakes, key=place)]
    rest = len(problems) - _MOST_PROBLEMS
    if rest <= 0:
        return problems
    more = Problem(
        place=Place(file=file),
        message=f"{rest:,} more {'problem is' if rest == 1 else 'problems are'} not shown",
        remedy="Begin with these.",
    )
    return [*islice(problems, _MOST_PROBLEMS), more]


def _problem(mistake: Mistake, file: str, tree: YamlTree | None) -> Problem:
    line = mistake.line if tree is None or mistake.line is not None else tree.line(mistake.path)
    place = Place(file=file, line=line)
    return Problem(place=place, message=mistake.message, remedy=mistake.remedy, field=field_name(mistake.path))
