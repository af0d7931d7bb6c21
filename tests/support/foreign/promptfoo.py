"""Results as promptfoo 0.123 writes them: `-o x.json` and `-o x.jsonl`, with its fields in its order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_ZEROS = {"reasoning": 0, "acceptedPrediction": 0, "rejectedPrediction": 0}
_NO_CACHE = {"cacheReadInputTokens": 0, "cacheCreationInputTokens": 0}


def tokens(prompt: int = 100, completion: int = 20, judge: tuple[int, int] = (0, 0), **details: int) -> dict[str, Any]:
    """What a row used. `details` are those of `completionDetails`."""
    return {
        "prompt": prompt,
        "completion": completion,
        "cached": 0,
        "total": prompt + completion,
        "numRequests": 1,
        "completionDetails": {**_ZEROS, **_NO_CACHE, **details},
        "assertions": {
            "total": sum(judge),
            "prompt": judge[0],
            "completion": judge[1],
            "cached": 0,
            "numRequests": 1 if any(judge) else 0,
            "completionDetails": {**_ZEROS, **_NO_CACHE},
        },
    }


def component(kind: str = "contains", value: Any = "42", *, passed: bool = True, **changed: Any) -> dict[str, Any]:
    """What one assertion said. `metric` and `weight` go where the configuration has them."""
    of_assertion = {key: changed.pop(key) for key in ("metric", "weight") if key in changed}
    return {
        "pass": passed,
        "score": 1 if passed else 0,
        "reason": "Assertion passed" if passed else f"Expected output to contain {json.dumps(value)}",
        "assertion": {"type": kind, "value": value, **of_assertion},
        **changed,
    }


def threw(words: str = "Cannot read properties of undefined") -> dict[str, Any]:
    """An assertion whose function threw."""
    stack = "\nStack Trace: TypeError\n    at eval (/home/runner/project/check.js:1:8)"
    return component("javascript", "x.y.z", passed=False, reason=f"Custom function threw error: {words}{stack}")


def judge_failed(kind: str = "llm-rubric") -> dict[str, Any]:
    """An assertion whose grader answered with an error."""
    return component(kind, "is polite", passed=False, reason="judge: 529", metadata={"graderError": True})


def assertion_set(threshold: float | None, *parts: Mapping[str, Any], passed: bool) -> list[dict[str, Any]]:
    """A set of assertions as promptfoo lists it: itself, with its parts in it, and the parts once more behind it."""
    told: dict[str, Any] = {"type": "assert-set", "assertionCount": len(parts)}
    told |= {} if threshold is None else {"threshold": threshold}
    itself = {
        "pass": passed,
        "score": sum(part["score"] for part in parts) / len(parts),
        "reason": "Aggregate score",
        "componentResults": list(parts),
        "metadata": {"assertionSet": told},
    }
    return [itself, *map(dict, parts)]


def row(
    test: int = 0,
    description: str | None = "count-lines",
    *,
    checks: Sequence[Mapping[str, Any]] | None = None,
    success: bool = True,
    provider: tuple[str, str] = ("file://agent.js", "scripted"),
    prompt: tuple[int, str] = (0, "{{question}}"),
    variables: Mapping[str, Any] | None = None,
    case: Mapping[str, Any] | None = None,
    **changed: Any,
) -> dict[str, Any]:
    """A row. `prompt` is promptIdx and label, `case` more keys of `testCase`, `changed` keys of the row itself."""
    found = [component()] if checks is None else list(checks)
    given = {"question": "How many lines?"} if variables is None else dict(variables)
    asked = [dict(check["assertion"]) for check in found if "assertion" in check]
    named = {"description": description} if description is not None else {}
    good = sum(check["score"] or 0 for check in found) / len(found) if found else 1
    return {
        "cost": 0.0002,
        "gradingResult": {
            "pass": success,
            "score": good,
            "reason": "All assertions passed" if success else "Expected output to contain",
            "namedScores": {},
            "componentResults": found,
        },
        "id": f"row-{test}-{prompt[0]}",
        "latencyMs": 15,
        "namedScores": {},
        "prompt": {"raw": str(given.get("question", "Hello")), "label": prompt[1], "config": {}},
        "promptId": f"{prompt[0]:064}",
        "promptIdx": prompt[0],
        "provider": {"id": provider[0], "label": provider[1]},
        "response": {"output": "The answer is 42.", "tokenUsage": tokens(), "cost": 0.0002, "metadata": {}},
        "score": good,
        "success": success,
        "testCase": {**named, "vars": given, "assert": asked, "options": {}, **(case or {})},
        "testIdx": test,
        "tokenUsage": tokens(),
        "vars": given,
        "metadata": {"_promptfooFileMetadata": {}},
        "failureReason": 0 if success else 1,
        **changed,
    }


def broken(
    test: int = 0, description: str = "count-lines", error: str = "API error: 529", **more: Any
) -> dict[str, Any]:
    """A row without an answer, or with a grader that threw."""
    nothing: dict[str, Any] = {"gradingResult": None, "tokenUsage": tokens(0, 0), "cost": 0, "score": 0, "latencyMs": 0}
    found = row(test, description, success=False, error=error, failureReason=2, **nothing, **more)
    del found["response"]
    return found


def document(rows: Sequence[Mapping[str, Any]], *, counted: int | None = None, **changed: Any) -> str:
    """The text of a JSON file. `counted`: how many results the statistics have, where not those of the file."""
    passed = sum(bool(one.get("success")) for one in rows)
    errors = sum(one.get("failureReason") == 2 for one in rows)
    more = 0 if counted is None else counted - len(rows)
    arms = sorted({(one["promptIdx"], one["prompt"]["label"]) for one in rows if "promptIdx" in one})
    return json.dumps(
        {
            "evalId": "eval-83D-2026-11-22T03:39:12",
            "results": {
                "version": 3,
                "timestamp": "2026-11-22T03:39:12.415Z",
                "prompts": [_prompt(rows, index, label, more) for index, label in arms],
                "results": list(rows),
                "stats": {
                    "successes": passed + more,
                    "failures": len(rows) - passed - errors,
                    "errors": errors,
                    "tokenUsage": tokens(),
                    "durationMs": 1365,
                },
            },
            "config": {"prompts": ["{{question}}"], "providers": [{"id": "file://agent.js"}], "tests": [{"vars": {}}]},
            "shareableUrl": None,
            "metadata": {
                "promptfooVersion": "0.123.1",
                "nodeVersion": "v22.23.3",
                "exportedAt": "2026-11-22T03:39:13.997Z",
                "evaluationCreatedAt": "2026-11-22T03:39:12.415Z",
            },
            "vars": ["question"],
            "runtimeOptions": {"repeat": 1, "maxConcurrency": 4, "cache": False},
            **changed,
        },
        indent=2,
    )


def _prompt(rows: Sequence[Mapping[str, Any]], index: int, label: str, more: int) -> dict[str, Any]:
    """What stands of a prompt with a provider in the head; what is missing in the file is the first one's."""
    mine = [one for one in rows if one.get("promptIdx") == index]
    passed = sum(bool(one.get("success")) for one in mine) + (more if index == 0 else 0)
    failed = sum(not one.get("success") for one in mine)
    counts = {"testPassCount": passed, "testFailCount": failed, "testErrorCount": 0}
    return {"id": f"{index:064}", "raw": label, "label": label, "provider": "scripted", "metrics": counts}


def lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """The text of a file of JSON lines."""
    return "".join(json.dumps(one) + "\n" for one in rows)
