"""YAML text to plain values, with the line of every key and with plain words for what is wrong.

The node tree is composed once, within limits on depth and size, and turned into values by our own walk: that
walk knows each node's line, sees duplicate keys, and counts nodes as aliases expand.
"""

from __future__ import annotations

import re

import yaml
from msgspec import Struct, field
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import Resolver
from yaml.scanner import Scanner

from evalward.config.words import KeyPath, Value, nearest_line
from evalward.records.base import clean_text
from evalward.records.words import one_line, shown

MAX_CHARACTERS = 1_000_000
MAX_NODES = 20_000
MAX_DEPTH = 50

_TAG = "tag:yaml.org,2002:"
_LONGEST_NUMBER = 300  # digits beyond are no number that anybody means, and slow to convert
_FLOAT_1_2 = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+")


class Mistake(Struct, frozen=True):
    """Something wrong at a key path: a problem before it has a file. `line` where the path can't give it."""

    path: KeyPath
    message: str
    remedy: str = ""
    line: int | None = None


class YamlError(Exception):
    """The text can't be read as YAML at all."""

    def __init__(self, message: str, remedy: str, line: int | None) -> None:
        super().__init__(message)
        self.mistake = Mistake((), message, remedy, line)


class YamlTree(Struct):
    """The values, the line of each key path, scalars as written where YAML reads them as something other than text."""

    value: Value = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    written: dict[KeyPath, str] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def line(self, path: KeyPath) -> int | None:
        """The line of a key path, or of its nearest known ancestor."""
        return nearest_line(self.lines, path)


def read_yaml(text: str, most_nodes: int = MAX_NODES) -> YamlTree:
    """The tree of a YAML text; `value` is `None` for an empty one. Raises `YamlError` when it is no YAML.

    `most_nodes`: values that it may have, aliases expanded; files of cases may be larger than a configuration.
    """
    most_characters = MAX_CHARACTERS * (most_nodes // MAX_NODES)
    if len(text) > most_characters:
        size = f"the file is larger than {most_characters // 1_000_000} MB"
        small = most_nodes <= MAX_NODES
        remedy = "A configuration has a few kilobytes; is this the right file?" if small else "Split it into several."
        raise YamlError(size, remedy, 1)
    node = _compose(text, most_nodes)
    builder = _Builder(most_nodes)
    if node is not None:
        builder.tree.lines[()] = _line(node)
        builder.tree.value = builder.build(node, ())
    return builder.tree


# ---------------------------------------------------------------------------------------------- text to nodes


class _Loader(Reader, Scanner, Parser, Composer, Resolver):
    """PyYAML's own steps up to the node tree, with limits that hold while it is composed."""

    def __init__(self, stream: str) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        Resolver.__init__(self)
        self.depth = 0
        self.nodes = 0
        self.most_nodes = MAX_NODES

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """One node with all below it."""
        self.depth += 1
        self.nodes += 1
        _within_limits(self.depth, self.nodes, self.line + 1, self.most_nodes)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _within_limits(depth: int, nodes: int, line: int, most_nodes: int) -> None:
    if depth > MAX_DEPTH:
        raise YamlError(f"values are nested more than {MAX_DEPTH} levels deep", "A configuration needs about 5.", line)
    if nodes > most_nodes:
        raise YamlError(f"the file has more than {most_nodes:,} values, aliases expanded", "Make it smaller.", line)


def _compose(text: str, most_nodes: int) -> yaml.Node | None:
    line = 1
    try:
        loader = _Loader(text)
        loader.most_nodes = most_nodes
        try:
            return loader.get_single_node()
        finally:
            line = loader.line + 1
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        conflict = conflict_line(text)
        raise YamlError(*CONFLICT, conflict) if conflict else _in_words(error, text, line) from None


CONFLICT = (
    "the file has a git conflict marker",
    "Resolve the conflict, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.",
)
"""What is wrong with a file that a merge left half done, and what to do."""
_MARKER = re.compile(r"^(<{7}|>{7}) \S", re.MULTILINE)


def conflict_line(text: str) -> int | None:
    """The line of the first marker that a merge of git left in a text, `None` where it has none."""
    found = _MARKER.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else None


def _in_words(error: Exception, text: str, line: int) -> YamlError:
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        message = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML"
        return YamlError(message, "Remove it.", line)
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        message, remedy = _yaml_words(error)
        return YamlError(message, remedy, mark.line + 1 if mark else line)
    # PyYAML converts escapes such as "\UFFFFFFFF" and %YAML versions without looking
    return YamlError("this is not valid YAML: an escape or a number is out of range", "Correct it.", line)


_QUOTES = "Put quotes around text that begins with * & ! % @ ` [ { or has a colon in it."
_COLON = (
    "unquoted text with a colon in a [list] or {mapping}",
    'Put quotes around it: {prompt: "Files: all of them"}.',
)
_NO_TAGS = ("tags (!…) are not supported", "Remove the tag.")
_YAML_WORDS = {  # part of PyYAML's message: what it means, what to do
    "found character '\\t'": ("a tab where YAML allows only spaces", "Indent with spaces."),
    "found undefined alias": (
        "an unquoted * begins an alias, and there is no such anchor",
        'Quote patterns: "*.jsonl".',
    ),
    "expected alphabetic or numeric": ("an unquoted * or & begins an alias or anchor", 'Quote patterns: "*".'),
    "cannot start any token": ("an unquoted text can't begin with this character", _QUOTES),
    "mapping values are not allowed": (
        "a key and a colon where no key is expected",
        "Check the indentation; put quotes around text with a colon.",
    ),
    "could not find expected ':'": ("a key without its colon", 'Write "key: value", with a space after the colon.'),
    "but found another document": (
        "the file holds more than one YAML document",
        "Remove the second, starting at its ---.",
    ),
    "but found the tag": _NO_TAGS,
    "found undefined tag handle": _NO_TAGS,
    "found unexpected end of stream": ("a quote is opened and never closed", "Close it."),
    "expected <block end>": (
        "the indentation doesn't match the lines above, or a list item or key is misplaced",
        "Indent the items of one list or mapping equally.",
    ),
    "expected ',' or": (
        "a [list] or {mapping} is not closed, or lacks a comma",
        "Separate items by commas and close it.",
    ),
}


def _yaml_words(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    problem = error.problem or error.context or "it can't be read"
    begun, ended = error.context_mark, error.problem_mark
    if "but got ':'" in problem and begun and ended and begun.line == ended.line:
        return _COLON  # on further lines it is rather the bracket that isn't closed
    unknown = (f"this is not valid YAML: {one_line(problem, 100)}", _QUOTES)
    return next((words for part, words in _YAML_WORDS.items() if part in problem), unknown)


# ---------------------------------------------------------------------------------------------- nodes to values


class _Builder:
    """The walk over the nodes. Small mistakes are collected, so that all are told; limits end it."""

    def __init__(self, most_nodes: int) -> None:
        self.tree = YamlTree()
        self._most_nodes = most_nodes
        self._nodes = 0
        self._scalars = SafeConstructor()
        self._resolver = Resolver()

    def build(self, node: yaml.Node, path: KeyPath) -> Value:
        self._nodes += 1
        _within_limits(len(path), self._nodes, _line(node), self._most_nodes)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        expected = "seq" if isinstance(node, yaml.SequenceNode) else "map"
        if node.tag != _TAG + expected:
            self._no_tag(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._entry(item, (*path, index), _line(item)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _entry(self, node: yaml.Node, path: KeyPath, line: int) -> Value:
        self.tree.lines[path] = line
        return self.build(node, path)

    def _mapping(self, node: yaml.Node, path: KeyPath) -> dict[str, Value]:
        result: dict[str, Value] = {}
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                merged.append(value_node)
            elif not isinstance(key_node, yaml.ScalarNode):
                message = "a list or mapping can't be a key"
                self._wrong(path, message, "Put quotes around text that begins with { or [.", _line(key_node))
            else:
                self._add(result, path, key_node, value_node)
        for source in merged:
            self._merge(result, source, path)
        return result

    def _add(self, result: dict[str, Value], path: KeyPath, key: yaml.ScalarNode, value: yaml.Node) -> None:
        # the key as written: `on:` and `1:` are the texts "on" and "1", whatever YAML 1.1 makes of them
        name = clean_text(key.value)
        here = (*path, name)
        if name in result:
            message = f"this key is already in line {self.tree.lines[here]}"
            self._wrong(here, message, "Remove one of the two.", _line(key))
            return
        result[name] = self._entry(value, here, _line(key))

    def _merge(self, result: dict[str, Value], source: yaml.Node, path: KeyPath) -> None:
        """`<<: *other`: what the other mapping has and this one hasn't."""
        parts = source.value if isinstance(source, yaml.SequenceNode) else [source]
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                self._wrong(path, "<< needs a mapping", "Write << with an alias of a mapping.", _line(source))
                continue
            for key, value in part.value:
                self._nodes += 1
                _within_limits(len(path), self._nodes, _line(key), self._most_nodes)
                if key.tag == _TAG + "merge":
                    self._wrong(path, "a merged mapping has a << of its own", "Merge one level only.", _line(key))
                elif isinstance(key, yaml.ScalarNode) and clean_text(key.value) not in result:
                    self._add(result, path, key, value)

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Value:
        text = clean_text(node.value)
        implicit = self._resolver.resolve(yaml.ScalarNode, node.value, (node.style is None, node.style is not None))  # type: ignore[no-untyped-call]
        if node.tag not in {implicit, _TAG + "str"}:
            self._no_tag(node, path)
            return text
        value = self._plain(node, text) if node.tag != _TAG + "str" else _float_1_2(node, text, implicit)
        if not isinstance(value, str):
            self.tree.written[path] = text
        return value

    def _plain(self, node: yaml.ScalarNode, text: str) -> Value:
        readers = {
            "null": lambda _: None,
            "bool": self._scalars.construct_yaml_bool,
            "int": self._scalars.construct_yaml_int,
            "float": self._scalars.construct_yaml_float,
        }
        reader = readers.get(node.tag.removeprefix(_TAG))
        if reader is None or len(text) > _LONGEST_NUMBER:
            return text  # dates and the like are text here
        try:
            value: Value = reader(node)
        except ValueError:  # 0b_ looks like a number to the resolver and is none
            return text
        return value

    def _no_tag(self, node: yaml.Node, path: KeyPath) -> None:
        name = node.tag.replace(_TAG, "!!")
        self._wrong(path, f"the tag {shown(name, 30)} is not supported", "Remove the tag.", _line(node))

    def _wrong(self, path: KeyPath, message: str, remedy: str, line: int) -> None:
        self.tree.mistakes.append(Mistake(path, message, remedy, line))


def _float_1_2(node: yaml.ScalarNode, text: str, implicit: str) -> Value:
    """`1e-3` is a number to everybody but YAML 1.1, which wants a point in it."""
    unquoted = node.style is None and implicit == _TAG + "str" and len(text) <= _LONGEST_NUMBER
    return float(text) if unquoted and _FLOAT_1_2.fullmatch(text) else text


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
