"""Reading one prompt file: its record, its rows as texts, and what doesn't fit between them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from evalward.config.words import KeyPath, Value, field_name
from evalward.config.yaml_positions import Mistake, YamlError, YamlTree, read_yaml
from evalward.opening import read_text_inside
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError, Place, Problem
from evalward.records.words import near_or_known
from evalward.suites.bounds import LONGEST_TEXT
from evalward.suites.lines import LIMIT_BYTES, explained
from evalward.suites.prompt.builtin import BUILT_IN
from evalward.suites.prompt.file import LlmEvaluator, PromptEvaluator, PromptFile
from evalward.suites.prompt.prompting import FilePrompting, enforceable
from evalward.suites.prompt.template import ANSWER, longest_filled, names_in

MOST_VALUES = 100_000
OWN_NAME = "id"
_LONGEST_NAME = 100
_KEYS = tuple(to_camel(name) for name in PromptFile.model_fields)


@dataclass(frozen=True)
class PromptRow:
    """A row of the test data: how its case is called in the file, and its values as texts."""

    name: str
    values: Mapping[str, str]
    place: Place


@dataclass
class PromptSource:
    """What a file gave. Without `file` it couldn't be read; `problems` say why."""

    path: str
    file: PromptFile | None = None
    rows: list[PromptRow] = field(default_factory=list)
    schema: Mapping[str, Any] | None = None
    problems: list[Problem] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)

    @property
    def evaluators(self) -> Sequence[PromptEvaluator]:
        """How its answers are looked at."""
        return self.file.evaluators if self.file is not None else ()

    @property
    def prompting(self) -> FilePrompting:
        """What it asks."""
        assert self.file is not None  # noqa: S101 - whoever asks has a file that could be read
        return FilePrompting(self.file.messages, self.file.model_parameters, self.file.response_format, self.schema)

    def wrong(self, mistake: Mistake, tree: YamlTree | None = None) -> None:
        """Note a problem at the line of its key."""
        line = mistake.line or (tree.line(mistake.path) if tree is not None else None)
        place = Place(file=self.path, line=line)
        name = field_name(mistake.path)
        self.problems.append(Problem(place=place, field=name, message=mistake.message, remedy=mistake.remedy))


def read_source(root: Path, path: str) -> PromptSource:
    """The prompt file at a path below `root`."""
    source = PromptSource(path)
    tree = _tree(root, source)
    if tree is None:
        return source
    try:
        file = PromptFile.model_validate(_as_written(tree, tree.value, ()), strict=True)
    except ValidationError as error:
        for item in error.errors():
            place = Place(file=path, line=tree.line(tuple(item["loc"])))
            source.problems.append(explained(place, item, PromptFile))
        return source
    source.file = file
    source.odd += _passed_over(tree.value, file)
    source.rows = [*_rows(source, tree)]
    for mistake in _mistakes(file, source.rows):
        source.wrong(mistake, tree)
    _read_schema(source, tree)
    return source


def _tree(root: Path, source: PromptSource) -> YamlTree | None:
    """The file's values; `None` where they can't be read, and the source says why."""
    try:
        tree = read_yaml(read_text_inside(root, source.path, LIMIT_BYTES, "utf-8-sig"), MOST_VALUES)
    except InputError as error:
        source.problems += error.problems
        return None
    except YamlError as error:
        source.wrong(error.mistake)
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        source.wrong(Mistake((), f"the file can't be read: {why}", "Check its name and content."))
        return None
    for mistake in tree.mistakes:
        source.wrong(mistake, tree)
    if not isinstance(tree.value, dict):
        source.wrong(
            Mistake((), "this is not a prompt file", "Write keys and values: messages, testData, evaluators.", 1)
        )
    return None if source.problems else tree


def _as_written(tree: YamlTree, value: Value, path: KeyPath) -> Any:
    """The values with texts where texts are meant: `expected: 4` and `contains: yes` are what is written there."""
    if path and (path[0] == "modelParameters" or (path[0] == "evaluators" and path[-1] == "score")):
        return value
    if isinstance(value, dict):
        return {key: _as_written(tree, item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_written(tree, item, (*path, index)) for index, item in enumerate(value)]
    return value if value is None else tree.written.get(path, value)


def _passed_over(value: Value, file: PromptFile) -> Iterator[str]:
    """What of the file isn't looked at."""
    unknown = [key for key in value if key not in _KEYS] if isinstance(value, dict) else []
    if unknown:
        yield f"keys that are passed over: {', '.join(unknown[:10])}"
    if not file.test_data:
        yield "it has no testData, so nothing of it is run"
    elif not file.evaluators:
        yield "it has no evaluators, so nothing of it is run"


# ------------------------------------------------------------------------------------------- rows


def _rows(source: PromptSource, tree: YamlTree) -> Iterator[PromptRow]:
    file = source.file
    assert file is not None  # noqa: S101
    used = OWN_NAME in {name for _, text in _templates(file) for name in names_in(text)}
    seen: dict[str, int] = {}
    for number, row in enumerate(file.test_data, 1):
        path: KeyPath = ("testData", number - 1)
        values = {key: _text(value) for key, value in row.items()}
        own = values.get(OWN_NAME, "").strip()
        name = own or str(number)
        if len(name) > _LONGEST_NAME or not name.isprintable():
            source.wrong(Mistake((*path, OWN_NAME), "this can't name a case", "Write some printable characters."), tree)
        if name in seen:
            message = f"row {seen[name]} has this name already"
            source.wrong(Mistake((*path, OWN_NAME), message, "Give each row its own `id`."), tree)
        seen.setdefault(name, number)
        kept = values if used else {key: value for key, value in values.items() if key != OWN_NAME}
        yield PromptRow(name, kept, Place(file=source.path, line=tree.line(path)))


def _text(value: Any) -> str:
    """A value of a row: a text as it is, lists and mappings as JSON, nothing as nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------------------------------- what doesn't fit


def _mistakes(file: PromptFile, rows: Sequence[PromptRow]) -> Iterator[Mistake]:
    if rows and file.evaluators:
        for path, text in _templates(file):
            yield from _unfilled(path, text, rows)
            yield from _too_long(path, text, rows)
    seen: set[str] = set()
    for index, evaluator in enumerate(file.evaluators):
        place: KeyPath = ("evaluators", index)
        if evaluator.name in seen:
            yield Mistake((*place, "name"), "an evaluator of this name is already defined above", "Give each its own.")
        seen.add(evaluator.name)
        yield from _unusable(place, evaluator)


def _unusable(path: KeyPath, evaluator: PromptEvaluator) -> Iterator[Mistake]:
    if evaluator.uses is not None and evaluator.uses not in BUILT_IN:
        remedy = f"{near_or_known(evaluator.uses, BUILT_IN, 'Known')} Or write it as llm: with a prompt and choices."
        yield Mistake((*path, "uses"), f"there is no evaluator {evaluator.uses!r} here", remedy)
    if evaluator.llm is not None and not any(ANSWER in names_in(text) for text in _asked(evaluator.llm)):
        message = f"the judge wouldn't see the answer: {{{{{ANSWER}}}}} stands for it"
        yield Mistake((*path, "llm", "prompt"), message, "Write it where the answer belongs.")


def _asked(llm: LlmEvaluator) -> tuple[str, str]:
    return llm.prompt, llm.system_prompt


def _templates(file: PromptFile) -> Iterator[tuple[KeyPath, str]]:
    """Every text with placeholders, and where it stands."""
    for index, message in enumerate(file.messages):
        yield ("messages", index, "content"), message.content
    for index, evaluator in enumerate(file.evaluators):
        path: KeyPath = ("evaluators", index)
        if evaluator.string is not None:
            yield from (((*path, "string", key), text) for key, text in evaluator.string.wanted)
        if evaluator.llm is not None:
            yield (*path, "llm", "prompt"), evaluator.llm.prompt
            yield (*path, "llm", "systemPrompt"), evaluator.llm.system_prompt
        if evaluator.uses is not None and evaluator.uses in BUILT_IN:
            yield (*path, "uses"), BUILT_IN[evaluator.uses].prompt


def _unfilled(path: KeyPath, text: str, rows: Sequence[PromptRow]) -> Iterator[Mistake]:
    """Placeholders that no row fills, or not every one."""
    answer = path[0] == "evaluators" and path[2] != "string"
    for name in names_in(text):
        lacking = [number for number, row in enumerate(rows, 1) if name not in row.values]
        if not lacking or (answer and name == ANSWER):
            continue
        if len(lacking) < len(rows):
            message = f"the row has no `{name}`, which {field_name(path)} wants"
            yield Mistake(("testData", lacking[0] - 1), message, f"Add {name}: to it.")
            continue
        known = dict.fromkeys(key for row in rows for key in row.values)
        message = f"no row of testData has a value for the placeholder {{{{{name}}}}}"
        yield Mistake(path, message, near_or_known(name, known, "Its values") if known else "Add it to each row.")


def _too_long(path: KeyPath, text: str, rows: Sequence[PromptRow]) -> Iterator[Mistake]:
    """A text that becomes too long with the values of a row: a short one can name a long value thousands of times."""
    row, length = longest_filled(text, [each.values for each in rows])
    if length > LONGEST_TEXT:
        message = f"with its values, {field_name(path)} is longer than {LONGEST_TEXT:,} characters"
        yield Mistake(("testData", row), message, "Make them shorter.")


def _read_schema(source: PromptSource, tree: YamlTree) -> None:
    """The schema of answers, where there is one that providers enforce."""
    file = source.file
    assert file is not None  # noqa: S101
    if file.response_format != "json_schema":
        return
    path: KeyPath = ("jsonSchema",)
    if file.json_schema is None:
        source.wrong(Mistake(("responseFormat",), "json_schema needs the key jsonSchema", "Add it."), tree)
        return
    try:
        given = read_json(file.json_schema, once=True)
    except NoJsonError as error:
        source.wrong(Mistake(path, f"it is not JSON: {error}", "Write one JSON object."), tree)
        return
    if not isinstance(given, dict) or not isinstance(given.get("schema"), dict) or "name" not in given:
        source.wrong(Mistake(path, "it has no name or no schema", 'Write {"name": …, "schema": {…}}.'), tree)
        return
    source.schema = given["schema"] if enforceable(given["schema"]) else None
