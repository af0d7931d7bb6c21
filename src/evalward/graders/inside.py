"""The process of a Python grader: behind walls, it imports the function, calls it once and says what it answered.

Request and answer are JSON on standard input and output. What the grader prints goes to standard error, so that it
can't be taken for an answer.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalward.graders.record import grade_of, graded_of, last_lines

SHOWN_LINES = 3
MOST_DETAIL = 4_000  # characters


class NoFunctionError(Exception):
    """There is no such function: what is wrong."""


def main() -> None:
    """Answer one request: `{"folder", "module", "function", "own", "graded"}`; without `graded` only look it up."""
    request = json.loads(sys.stdin.buffer.read())
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    graded = _graded(request)
    answer.write(json.dumps(graded) + "\n")
    answer.flush()
    sys.stdout.flush()
    os._exit(0)  # no thread, exit handler or child of the grader's holds us up


def _graded(request: dict[str, Any]) -> dict[str, Any]:
    try:
        function = _found(request)
        if "graded" not in request:
            return {"found": True}
        answer = function(graded_of(request["graded"]))
    except NoFunctionError as error:
        return {"broken": str(error)}
    except BaseException as error:  # SystemExit and whatever else a grader raises
        return {"broken": _trace(error)}
    try:
        grade = grade_of(answer)
    except ValueError as error:
        return {"broken": str(error)}
    return {"passed": grade.passed, "score": grade.score, "detail": grade.detail[:MOST_DETAIL]}


def _found(request: dict[str, Any]) -> Callable[[Any], Any]:
    folder, module, name = request["folder"], request["module"], request["function"]
    sys.path.insert(0, folder)
    found = importlib.import_module(module)
    file = getattr(found, "__file__", None)
    if request["own"] and not (file and Path(file).resolve().is_relative_to(Path(folder).resolve())):
        raise NoFunctionError(f"an installed module is called {module}, too: give the repository's another name")
    function = getattr(found, name, None)
    if not callable(function):
        raise NoFunctionError(f"the module {module} has no function {name}")
    return function  # type: ignore[no-any-return]


def _trace(error: BaseException) -> str:
    lines = traceback.format_exception(error, limit=-1)
    return last_lines(lines, SHOWN_LINES)[-MOST_DETAIL:]
