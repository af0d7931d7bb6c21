"""Runs beside a task's code: calls its functions and writes down what they gave. Python's own library only.

Read as text and started with `python -c`, by whatever Python the task has: it must not import anything of ours.
"""

import dataclasses
import importlib
import itertools
import json
import sys
from typing import Any

MOST_ITEMS = 100_000


def encode(value: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - one return per type
    """A value as JSON that tells types apart."""
    if depth > 50:
        return ["deep"]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, complex):
        return ["list", [encode(value.real), encode(value.imag)]]
    if isinstance(value, (bytes, bytearray)):
        return ["bytes", bytes(value).hex()]
    if isinstance(value, dict):
        pairs = [[encode(key, depth + 1), encode(each, depth + 1)] for key, each in value.items()]
        return ["dict", sorted(pairs, key=json.dumps)]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted((encode(each, depth + 1) for each in value), key=json.dumps)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [encode(each, depth + 1) for each in value]]
    return encode_other(value, depth)


def encode_other(value: Any, depth: int) -> Any:
    """Arrays, records, iterators; of everything else how it shows itself."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, encode(vars(value) if hasattr(value, "__dict__") else repr(value), depth + 1)]
    if hasattr(value, "tolist"):
        return ["array", encode(value.tolist(), depth + 1)]
    if hasattr(value, "__next__"):
        return ["iterator", encode(list(itertools.islice(value, MOST_ITEMS)), depth + 1)]
    return [type(value).__name__, repr(value)]


def call(name: str, arguments: list) -> dict:  # type: ignore[type-arg]
    """One call: its value, with the arguments as it left them; or what it raised."""
    try:
        module, _, attribute = name.partition(":")
        function: Any = importlib.import_module(module)
        for part in attribute.split("."):
            function = getattr(function, part)
        value = encode(function(*arguments))
        return {"value": ["list", [value, encode(arguments)]]}
    except BaseException as error:
        return {"raised": type(error).__name__}


def main() -> None:
    """Read what to call from standard input, write what came of it to the file that is named there."""
    asked = json.load(sys.stdin)
    sys.path[:0] = asked["path"]
    found = {
        f"{name}#{number}": call(name, arguments)
        for name, calls in asked["functions"].items()
        for number, arguments in enumerate(calls, 1)
    }
    with open(asked["output"], "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(found, file)


if __name__ == "__main__":
    main()
