"""Reading case files: which layout one has, its raw cases with their lines, and where its description is wrong."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from evalward.opening import read_text_inside
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError, Place, Problem
from evalward.suites.command.case import Layout
from evalward.suites.lines import LIMIT_BYTES, MOST_PROBLEMS
from evalward.suites.yaml_list import ListEntry, entries_of, read_tree

_JSONL_REMEDY = "Write one JSON object per line."
_TABLE = re.compile(r"^[ \t]*\[\[\s*test_cases\s*\]\]", re.MULTILINE)
_KEYS_026 = {"input_request", "validation_rule", "expected_behavior", "validation_pattern"}
_COUNTED = {"categories": "category", "risk_distribution": "risk_level"}


@dataclass(frozen=True)
class RawCase:
    """One entry as it stands in its file. `lines`: the line of each of its keys, where that is known."""

    value: Any
    line: int | None
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass
class CaseFile:
    """What a file gave: its entries, what is wrong with the others, what is odd."""

    shown_as: str
    layout: Layout
    entries: list[RawCase] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def wrong(self, message: str, remedy: str = "", line: int | None = None) -> None:
        """Note a problem."""
        self.problems.append(Problem(place=Place(file=self.shown_as, line=line), message=message, remedy=remedy))


def read_case_file(root: Path, name: str) -> CaseFile:
    """Read the file `name` below `root` by its suffix: .jsonl and .yaml hold ours, .yaml also 026, .toml WP06, .json
    022 or ours.
    """
    read = CaseFile(name, "evalward")
    readers: dict[str, Callable[[str, CaseFile], None]] = {
        ".jsonl": _read_lines,
        ".yaml": _read_yaml,
        ".yml": _read_yaml,
        ".toml": _read_toml,
        ".json": _read_json,
    }
    reader = readers.get(PurePosixPath(name).suffix.lower())
    if reader is None:
        read.wrong("this file name is not a case file's", f"Known: {', '.join(readers)}.")
        return read
    text = _text(root, read)
    if text is not None:
        reader(text, read)
        if not read.entries and not read.problems:
            read.wrong("the file has no case", "Add one, or remove it.")
    return read


def _text(root: Path, read: CaseFile) -> str | None:
    try:
        return read_text_inside(root, read.shown_as, LIMIT_BYTES, "utf-8-sig")
    except InputError as error:
        read.problems += error.problems
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else f"it isn't UTF-8: {error}"
        read.wrong(f"the file can't be read: {why}", "Check its name and content.")
        return None


def _read_lines(text: str, read: CaseFile) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if len(read.problems) >= MOST_PROBLEMS:
            break
        if not line.strip() or line.lstrip().startswith(("#", "//")):
            continue
        try:
            read.entries.append(RawCase(read_json(line, once=True), number))
        except NoJsonError as error:
            read.wrong(f"not a JSON object: {error}", _JSONL_REMEDY, number)


def _read_yaml(text: str, read: CaseFile) -> None:
    tree = read_tree(text, read.wrong)
    if tree is None:
        return
    if isinstance(tree.value, dict) and "test_cases" in tree.value:
        remedy = "Write the cases alone, as a list: - id, prompt, expected_command, category."
        read.wrong("its cases are below `test_cases`, a layout that isn't read", remedy, tree.line(("test_cases",)))
        return
    entries = entries_of(tree, read.wrong)
    if any(isinstance(entry.value, dict) and _KEYS_026 & set(entry.value) for entry in entries):
        read.layout = "026"
    read.entries += [_raw(entry) for entry in entries]


def _raw(entry: ListEntry) -> RawCase:
    keys = list(entry.value) if isinstance(entry.value, dict) else []
    return RawCase(entry.value, entry.line(), {key: line for key in keys if (line := entry.line(key)) is not None})


def _read_toml(text: str, read: CaseFile) -> None:
    read.layout = "wp06"
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        read.wrong(f"not valid TOML: {error}", "Fix the file.", int(found[1]) if found else None)
        return
    except (ValueError, RecursionError):
        read.wrong("not valid TOML: a number is too long, or values are nested too deeply", "Fix the file.")
        return
    cases = data.get("test_cases", [])
    if not isinstance(cases, list):
        read.wrong("`test_cases` is not a list", "Write each case as a table: [[test_cases]].")
        return
    lines = list(_lines_of(text, (found.start() for found in _TABLE.finditer(text))))
    known = len(lines) == len(cases)  # not so where cases stand in brackets
    read.entries += [RawCase(case, lines[index] if known else None) for index, case in enumerate(cases)]
    _check_counts(data, read)


def _read_json(text: str, read: CaseFile) -> None:
    try:
        data = read_json(text, once=True)
    except NoJsonError as error:
        read.wrong(f"not valid JSON: {error}", "Fix the file.", error.line)
        return
    cases = data
    if isinstance(data, dict):
        read.layout, cases = "022", data.get("test_cases")
    if not isinstance(cases, list):
        read.wrong(
            "there is no list `test_cases`",
            "Give the data set of caro's harness, or a list of cases in Evalward's format.",
        )
        return
    lines = list(_lines_of(text, _items(text, None if isinstance(data, list) else "test_cases")))
    known = len(lines) == len(cases)
    read.entries += [RawCase(case, lines[index] if known else None) for index, case in enumerate(cases)]
    if isinstance(data, dict):
        _check_counts(data, read)


def _items(text: str, key: str | None) -> Iterator[int]:
    """Where the items of a list begin: the whole text's, or that at a key of it."""
    decoder = json.JSONDecoder()
    blank = re.compile(r"[\s,:]*")

    def skip(at: int) -> int:
        found = blank.match(text, at)
        return found.end() if found else at

    at = skip(0)
    if key is not None:
        at = skip(at + 1)
        while text[at] != "}":
            name, at = decoder.raw_decode(text, at)
            at = skip(at)
            if name == key:
                break
            at = skip(decoder.raw_decode(text, at)[1])
    at = skip(at + 1)
    while at < len(text) and text[at] != "]":
        yield at
        at = skip(decoder.raw_decode(text, at)[1])


def _lines_of(text: str, places: Iterable[int]) -> Iterator[int]:
    """The lines of places in a text, one after the other."""
    line, counted = 1, 0
    for at in places:
        line, counted = line + text.count("\n", counted, at), at
        yield line


def _check_counts(data: Mapping[str, Any], read: CaseFile) -> None:
    """A description that disagrees with the data: the data is right, and people are told."""
    metadata = data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else data
    cases: Sequence[Any] = [entry.value for entry in read.entries if isinstance(entry.value, dict)]
    claimed = metadata.get("total_cases")
    if claimed is not None and claimed != len(read.entries):
        read.warnings.append(f"{read.shown_as}: total_cases says {claimed!r}, and there are {len(read.entries)}")
    for key, of in _COUNTED.items():
        counts = metadata.get(key)
        if isinstance(counts, dict):
            found = Counter(str(case.get(of)) for case in cases)
            wrong = [
                f"{name} {counts.get(name, 0)!r}, not {found[name]}"
                for name in {**counts, **found}
                if counts.get(name, 0) != found[name]
            ]
            read.warnings += [f"{read.shown_as}: {key} says {', '.join(wrong)}"] if wrong else []
    _check_coverage(metadata.get("posix_coverage"), cases, read)


def _check_coverage(claimed: Any, cases: Sequence[Any], read: CaseFile) -> None:
    """`posix_coverage` is a count or a share of the cases, by who wrote it."""
    if isinstance(claimed, bool) or not isinstance(claimed, int | float) or not cases:
        return
    count = sum(case.get("posix_compliant") is True for case in cases)
    rights = (count, count / len(cases), 100 * count / len(cases))
    close = 0 <= claimed <= 100 * len(cases)  # larger numbers may be too large to be subtracted
    if not (close and any(abs(claimed - right) < 0.01 for right in rights)):
        are = "is" if count == 1 else "are"
        read.warnings.append(
            f"{read.shown_as}: posix_coverage says {claimed!r}, and {count} of {len(cases)} {are} compliant"
        )
