"""Values and texts made odd, by seed: what a generator of files, a broken disk or somebody malicious may hand in."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Literal

import yaml

Form = Literal["json", "jsonl", "yaml", "text"]
HUGE = 10**400


def nested(depth: int) -> Any:
    """A value of so many levels."""
    value: Any = "deep"
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    return value


PLAIN: tuple[Any, ...] = (None, True, False, "", "x", [], {}, ["a"], {"a": 1}, [None], -1, 0, 0.5)
NUMBERS = (HUGE, -HUGE, 2**63, 10**16, 1.7e308, 5e-324, float("nan"), float("-inf"))
ODD: tuple[Callable[[], Any], ...] = (
    *(partial(deepcopy, value) for value in (*PLAIN, *NUMBERS)),
    lambda: "\ud800",
    lambda: {"\udfff": "\ud800"},
    lambda: "a\x00b\x1b[2J\u2028\u202e",
    lambda: "x" * 100_000,
    lambda: nested(120),
    lambda: nested(400),
    lambda: list(range(500)),
)
TEXTS = (
    *(
        "../../etc/passwd",
        "/etc/passwd",
        "a/../..",
        ".",
        "..",
        "*",
        "**",
        "[",
        "(",
        "(?P<a>",
        "{",
        "{prompt}",
        "\\",
        "%s",
    ),
    *("(" * 5_000, "(a|" * 2_000, "a?" * 3_000, "[[]" * 5_000, "((a{1,100}){1,100}){1,100}", "(a+)+$", "é" * 300),
    *("0000-00-00", "2026-13-45T99:99:99Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-11-21"),
    *(
        "anthropic/",
        "openai/x/y",
        "replay:",
        "replay:nothing",
        "scripted:",
        "program:x",
        "agent:",
        "command:",
        "a" * 5_000,
    ),
    *("sha256:", "1e999", "NaN", "-1", "٣", "true", "null", "~", "\n", "\r\n", "\t", "$(touch x)", "<!--", "\ufeff"),
)
# What no JSON writer gives: put into the text in the place of a mark.
RAW = {
    "digits": "9" * 5_000,
    "minus": "-" + "9" * 5_000,
    "small": "0." + "0" * 5_000 + "1",
    "large": "1e999",
    "arrays": "[" * 50_000 + "]" * 50_000,
    "objects": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "open": "[" * 200_000,
    "twice": '{"id": 1, "id": 2}',
    "control": '"a\x01b"',
    "many": "[" + ",".join(["0"] * 20_000) + "]",
}
YAML_RAW = (
    *("&a [*a]", "&a {b: *a}", "!!python/object/apply:os.system [id]", "!!binary x", "!!timestamp x", "!!set {a, b}"),
    *("2026-13-45", "2026-02-30T25:61:61", "0b_", "0x_", "1:99:99", "190:20:30.15", ".nan", "-.inf", "!!int x", "!x y"),
    *(
        '"\\UFFFFFFFF"',
        '"\\ud800"',
        "'",
        '"',
        "|\n",
        ">-\n",
        "? [a, b]\n: c",
        "<<: {a: 1}",
        "<<: *x",
        "*x",
        "%YAML 9.9",
        "---",
        "...",
    ),
    *(
        "9" * 5_000,
        "[" * 5_000,
        "{a: " * 2_000,
        "- " * 5_000,
        "!!omap [a: 1]",
        "!!float 9e",
        "!!bool x",
        "!!null x",
        "=",
        "@",
        "`",
    ),
)
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value that isn't odd already."""
    yield path
    if len(path) > 12:
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def mutated(value: Any, chance: random.Random, odd: Sequence[Callable[[], Any]] = ODD) -> Any:
    """The value with something odd at one or a few of its places."""
    value = deepcopy(value)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        path = chance.choice(list(places(value)))
        strange = chance.choice(odd)()
        if not path:
            return strange
        here = value
        for key in path[:-1]:
            here = here[key]
        _changed(here, path[-1], strange, chance)
    return value


def _changed(here: Any, key: Any, strange: Any, chance: random.Random) -> None:
    dice = chance.random()
    if isinstance(here, dict) and dice < 0.1:
        del here[key]
    elif isinstance(here, dict) and dice < 0.15:
        here[chance.choice(("", "\ud800", "x" * 5_000, "<<", "0", "id"))] = strange
    elif isinstance(here, list) and dice < 0.15:
        here.append(deepcopy(here[key]))
    elif isinstance(here, list) and dice < 0.2:
        here[key:key] = [here[key]] * 300
    elif isinstance(here[key], str) and dice < 0.3:
        here[key] = here[key] + chance.choice(("\0", "\ud800", "\n", "é", " ", "/..", "*", "(", "\\"))
    else:
        here[key] = strange


EVERYTHING: tuple[Callable[[], Any], ...] = (
    *ODD,
    *(partial(str, text) for text in TEXTS),
    *(partial("@raw:{}@".format, name) for name in RAW),
)


def written(value: Any) -> str:
    """The value as JSON, with what no writer gives where it is marked."""
    text = json.dumps(value)
    for name, raw in RAW.items():
        text = text.replace(f'"@raw:{name}@"', raw)
    return text


def mangled(data: bytes, chance: random.Random) -> bytes:
    """Bytes with damage: cut off, overwritten, doubled, with what is no UTF-8."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((0, 1, 1, 2, 10, 200)))
        new = chance.choice(
            (
                b"",
                b"\0",
                b"\xff\xfe",
                b"\xed\xa0\x80",
                b"\xc3",
                b"\n",
                b"\r",
                b'"',
                b"{",
                b"]",
                b"\\",
                b"\xef\xbb\xbf",
                b"\xe2\x80\xa8",
                b"9" * 5_000,
                b"x" * 200_000,
                data[at:to] * 3,
            )
        )
        data = data[:at] if chance.random() < 0.1 else data[:at] + new + data[to:]
    return data


def made_odd(form: Form, good: Any, chance: random.Random) -> bytes:
    """A file of a form, damaged. `good`: a value, the values of the lines, or (for a text) its bytes."""
    if form == "text":
        return mangled(good, chance)
    if form == "yaml":
        return _odd_yaml(good, chance)
    if form == "jsonl":
        lines = [
            written(mutated(line, chance, EVERYTHING)) if chance.random() < 0.5 else written(line) for line in good
        ]
        text = "\n".join(lines)
    else:
        text = written(mutated(good, chance, EVERYTHING))
    data = text.encode("utf-8", "surrogatepass")
    return mangled(data, chance) if chance.random() < 0.1 else data


def _odd_yaml(good: Any, chance: random.Random) -> bytes:
    dice = chance.random()
    value = good if dice < 0.3 else mutated(good, chance, EVERYTHING)
    text = written(value) if dice > 0.8 else _as_yaml(value)
    if dice < 0.4:
        for _ in range(chance.choice((1, 1, 2, 3))):
            lines = text.split("\n")
            at = chance.randrange(len(lines))
            head, colon, _ = lines[at].partition(": ")
            lines[at] = f"{head}{colon}{chance.choice(YAML_RAW)}" if chance.random() < 0.7 else chance.choice(YAML_RAW)
            text = "\n".join(lines)
    if dice < 0.02:
        text = BOMB + text
    data = text.encode("utf-8", "surrogatepass")
    return mangled(data, chance) if chance.random() < 0.1 else data


def _as_yaml(value: Any) -> str:
    try:
        return yaml.safe_dump(value, allow_unicode=True)
    except (ValueError, RecursionError, yaml.YAMLError):  # numbers too long for Python, and what is too deep
        return written(value)
