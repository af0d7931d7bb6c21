"""GitHub's own description of its API and webhooks, cut to what Evalward uses, and checks against it.

It comes from the npm package `@octokit/openapi`, once; a small JSON stays in the user's cache folder. What it asks for
as `required` is asked of our requests; the answers of the fake server and the event fixtures are parts of GitHub's, so
there every field that is given is checked, not that all are.
"""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from support.github_api import Answer, Request
from support.npm import cache_folder, pack

PACKAGE, VERSION = "@octokit/openapi", "23.0.2"
PATHS = (
    "/user",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/repos/{owner}/{repo}/pulls",
    "/repos/{owner}/{repo}/pulls/{pull_number}",
    "/repos/{owner}/{repo}/pulls/{pull_number}/files",
    "/repos/{owner}/{repo}/contents/{path}",
    "/repos/{owner}/{repo}/git/commits/{commit_sha}",
    "/repos/{owner}/{repo}/git/commits",
    "/repos/{owner}/{repo}/git/trees",
    "/repos/{owner}/{repo}/git/trees/{tree_sha}",
    "/repos/{owner}/{repo}/statuses/{sha}",
    "/repos/{owner}/{repo}/git/ref/{ref}",
    "/repos/{owner}/{repo}/git/refs",
    "/repos/{owner}/{repo}/git/refs/{ref}",
    "/repos/{owner}/{repo}/commits/{ref}",
    "/repos/{owner}/{repo}/collaborators/{username}/permission",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
    "/repos/{owner}/{repo}/actions/runs/{run_id}",
    "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts",
    "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}",
)
EVENTS = (
    "pull-request-synchronize",
    "pull-request-closed",
    "pull-request-labeled",
    "issue-comment-created",
    "push",
    "merge-group-checks-requested",
    "merge-group-destroyed",
    "workflow-run-completed",
    "workflow-dispatch",
    "release-published",
    "release-deleted",
)


def cache_file() -> Path:
    """Where the cut description stays."""
    wanted = f"{VERSION}-{abs(hash_of((*PATHS, *EVENTS))):x}"
    return cache_folder() / f"github-openapi-{wanted}.json"


def hash_of(names: tuple[str, ...]) -> int:
    """A number that differs when what is cut out differs."""
    import zlib

    return zlib.crc32("\n".join(names).encode())


def description() -> dict[str, Any]:
    """`paths`, `webhooks` and the `components` that they need. Raises `UnavailableError`."""
    path = cache_file()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            small = Path(folder) / "small.json"
            small.write_text(json.dumps(_cut(_download(Path(folder)))), "utf-8")
            small.replace(path)
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _download(folder: Path) -> dict[str, Any]:
    with tarfile.open(pack(PACKAGE, VERSION, folder)) as archive:
        file = archive.extractfile("package/generated/api.github.com.json")
        assert file is not None
        whole: dict[str, Any] = json.load(file)
    return whole


def _cut(whole: dict[str, Any]) -> dict[str, Any]:
    small: dict[str, Any] = {
        "paths": {path: whole["paths"][path] for path in PATHS},
        "webhooks": {name: whole["x-webhooks"][name] for name in EVENTS},
        "components": {},
    }
    waiting = [*_references(small)]
    while waiting:
        reference = waiting.pop()
        _, _, section, name = reference.split("/")
        if section != "examples" and name not in small["components"].setdefault(section, {}):
            small["components"][section][name] = part = whole["components"][section][name]
            waiting += _references(part)
    return small


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


class Api:
    """Checks of requests, answers and event payloads; each gives the mistakes found."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self._strict = _as_json_schema(found["components"], partial=False)
        self._partial = _as_json_schema(found["components"], partial=True)

    def request_mistakes(self, request: Request) -> list[str]:
        """What GitHub's description has against a request: path, method, parameters, body."""
        place = self._operation(request)
        if place is None:
            return [f"{request.method} {request.path}: there is no such endpoint"]
        operation, parameters, values = place
        mistakes = []
        for name, text in request.query.items():
            if ("query", name) not in parameters:
                mistakes.append(f"{request.method} {request.path}: no query parameter {name!r}")
            else:
                mistakes += self._value_mistakes(parameters["query", name], text)
        for name, text in values.items():
            mistakes += self._value_mistakes(parameters["path", name], text)
        needed = {name for (where, name), item in parameters.items() if where == "query" and item.get("required")}
        mistakes += [f"{request.path}: query parameter {name!r} is missing" for name in needed - set(request.query)]
        return mistakes + self._body_mistakes(operation, request)

    def answer_mistakes(self, request: Request, answer: Answer) -> list[str]:
        """What the description has against an answer of status 2xx, and statuses that it doesn't know."""
        place = self._operation(request)
        if place is None:
            return []
        responses = place[0]["responses"]
        if str(answer.status) not in responses:
            known = {401, 403, 404, 410, 422, 429}  # of every endpoint, whether or not each names them
            return [] if answer.status in known or answer.status >= 500 else [f"no status {answer.status}"]
        content = self._resolved(responses[str(answer.status)]).get("content", {})
        if answer.status >= 300 or answer.raw is not None or "application/json" not in content:
            return [] if content or not answer.body else [f"status {answer.status} has no body"]
        return self._errors(content["application/json"]["schema"], answer.body, self._partial, partial=True)

    def event_mistakes(self, name: str, payload: Mapping[str, Any]) -> list[str]:
        """What the description of a webhook has against the fields of a payload."""
        schema = self._found["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"]
        return self._errors(schema, payload, self._partial, partial=True)

    def _operation(
        self, request: Request
    ) -> tuple[dict[str, Any], dict[tuple[str, str], dict[str, Any]], dict[str, str]] | None:
        for template, item in self._found["paths"].items():
            pattern = re.sub(r"\\{(\w+)\\}", _segment, re.escape(template))
            match = re.fullmatch(pattern, request.path)
            operation = item.get(request.method.lower())
            if match and operation:
                every = [self._resolved(entry) for entry in operation.get("parameters", [])]
                values = {name: unquote(text) for name, text in match.groupdict().items()}
                return operation, {(entry["in"], entry["name"]): entry for entry in every}, values
        return None

    def _value_mistakes(self, parameter: Mapping[str, Any], text: str) -> list[str]:
        kind = self._resolved(parameter["schema"]).get("type")
        value: Any = int(text) if kind == "integer" and re.fullmatch(r"-?\d+", text) else text
        return self._errors(parameter["schema"], value, self._strict, partial=False)

    def _body_mistakes(self, operation: Mapping[str, Any], request: Request) -> list[str]:
        body = operation.get("requestBody")
        if body is None:
            return [f"{request.method} {request.path}: takes no body"] if request.body is not None else []
        schema = self._resolved(body)["content"]["application/json"]["schema"]
        mistakes = self._errors(schema, request.body, self._strict, partial=False)
        known = self._resolved(schema).get("properties", {})
        return mistakes + [f"no field {name!r} in the body" for name in request.body or {} if name not in known]

    def _resolved(self, item: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in item:
            return item
        _, _, section, name = item["$ref"].split("/")
        found: dict[str, Any] = self._found["components"][section][name]
        return found

    def _errors(self, schema: Any, value: Any, components: Any, *, partial: bool) -> list[str]:
        whole = {**_as_json_schema(schema, partial=partial), "components": components}
        errors = Draft202012Validator(whole).iter_errors(value)
        return [f"{error.json_path}: {error.message[:300]}" for error in errors]


def _segment(match: re.Match[str]) -> str:
    """A path parameter; a file's path may have several parts."""
    return f"(?P<{match[1]}>{'.+' if match[1] in {'path', 'ref'} else '[^/]+'})"


def _as_json_schema(value: Any, *, partial: bool) -> Any:
    """OpenAPI 3.0's dialect as JSON Schema; `partial` asks for no field."""
    if isinstance(value, list):
        return [_as_json_schema(item, partial=partial) for item in value]
    if not isinstance(value, dict):
        return value
    skipped = {"nullable", "example", "examples", "discriminator", "externalDocs", "xml"}
    if partial and isinstance(value.get("required"), list):
        skipped.add("required")
    schema = {name: _as_json_schema(item, partial=partial) for name, item in value.items() if name not in skipped}
    if partial and "oneOf" in schema:
        schema["anyOf"] = schema.pop("oneOf")  # without required fields several of them may fit
    return {"anyOf": [{"type": "null"}, schema]} if value.get("nullable") is True else schema
