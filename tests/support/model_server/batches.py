"""Batches: Anthropic's Message Batches, OpenAI's Batch API with its files. Each line is answered as if asked live."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, Literal

from support.model_server.api import Api, HttpRequest, RejectedError
from support.model_server.reply import Reply, error_reply
from support.model_server.wire import digest, json_bytes

Fate = Literal["expired", "cancelled"]
AnswerLine = Callable[[Api, HttpRequest, dict[str, Any]], Reply]
"""Answers one line's body as the live path would."""

CREATED, EXPIRES = "2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"
CREATED_S = 1_795_000_000
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ENDPOINTS = {"/v1/chat/completions", "/v1/responses"}


@dataclass(frozen=True)
class BatchRules:
    """How batches go. `looks`: how often one has to be looked at before it has ended, `None` never by itself; with 0 it
    has ended when it is made, as none does in reality. `fates` are of requests whose first words fit, by pattern.
    `refused`: error code and message with which OpenAI's batches fail as a whole. `served`: there is such an API.
    `broken_looks`: so many looks, from the first, end in a server's error.
    """

    looks: int | None = 0
    fates: Mapping[str, Fate] = field(default_factory=dict)
    refused: tuple[str, str] | None = None
    served: bool = True
    broken_looks: int = 0

    def fate(self, body: object) -> Fate | None:
        """What becomes of a request instead of an answer."""
        text = json.dumps(body, ensure_ascii=False)
        return next((fate for pattern, fate in self.fates.items() if re.search(pattern, text)), None)


@dataclass
class BatchMade:
    """A batch that was sent. `lines` are custom ids and bodies; `looks` how often it was looked at."""

    id: str
    api: Api
    request: HttpRequest
    lines: Sequence[tuple[str, dict[str, Any]]]
    endpoint: str = ""
    input_file: str = ""
    looks: int = 0
    cancelled: bool = False
    results: bytes | None = None
    errors: bytes = b""


class Batches:
    """All batches and files of a server. `spoiled` changes the answers of a batch, `named` its id."""

    def __init__(self, rules: BatchRules, answer: AnswerLine) -> None:
        self.rules = rules
        self.made: dict[str, BatchMade] = {}
        self.files: dict[str, bytes] = {}
        self.spoiled: Callable[[bytes], bytes] = lambda answers: answers
        self.named: Callable[[str], str] = lambda identity: identity
        self._answer = answer
        self._by_path: dict[str, Api] = {}

    def handle(self, apis: Sequence[Api], request: HttpRequest, key: str) -> Reply | None:
        """The reply to a request for a batch or a file; `None` for every other."""
        messages, chat, _ = apis
        self._by_path = {api.path: api for api in apis}
        for pattern, api, handler in (
            (r"POST /v1/messages/batches", messages, self._create),
            (r"GET /v1/messages/batches/([^/]+)", messages, self._look),
            (r"POST /v1/messages/batches/([^/]+)/cancel", messages, self._cancel),
            (r"GET /v1/messages/batches/([^/]+)/results", messages, self._results),
            (r"POST /v1/files", chat, self._upload),
            (r"GET /v1/files/([^/]+)/content", chat, self._content),
            (r"POST /v1/batches", chat, self._create_of_file),
            (r"GET /v1/batches/([^/]+)", chat, self._look),
            (r"POST /v1/batches/([^/]+)/cancel", chat, self._cancel),
        ):
            found = re.fullmatch(pattern, f"{request.method} {request.path}")
            if found and self.rules.served:
                try:
                    api.authenticate(request, key)
                    return handler(api, request, *found.groups())
                except RejectedError as error:
                    return error_reply(api, error)
        return None

    # --- both -------------------------------------------------------------------------------------------------------

    def _look(self, api: Api, request: HttpRequest, identity: str) -> Reply:
        batch = self._found(identity)
        batch.looks += 1
        if batch.looks <= self.rules.broken_looks:
            raise RejectedError(500, "api_error", "Internal server error")
        return self._shown(batch)

    def _cancel(self, api: Api, request: HttpRequest, identity: str) -> Reply:
        batch = self._found(identity)
        if batch.results is None:
            batch.cancelled = True
        return self._shown(batch)

    def _found(self, identity: str) -> BatchMade:
        if identity not in self.made:
            raise RejectedError(404, "not_found_error", f"No batch found with id '{identity}'.")
        return self.made[identity]

    def _ended(self, batch: BatchMade) -> bool:
        looks = self.rules.looks
        if batch.results is None and (batch.cancelled or (looks is not None and batch.looks >= looks)):
            self._end(batch)
        return batch.results is not None

    def _end(self, batch: BatchMade) -> None:
        done: list[bytes] = []
        failed: list[bytes] = []
        for custom_id, body in reversed(batch.lines):  # in no order that anybody may rely on
            fate: Fate | None = self.rules.fate(body) or ("cancelled" if batch.cancelled else None)
            reply = None if fate else self._answer(batch.api, batch.request, body)
            line, well = (_of_messages if not batch.endpoint else _of_openai)(custom_id, reply, fate)
            (done if well else failed).append(json_bytes(line) + b"\n")
        if not batch.endpoint:
            done, failed = [*done, *failed], []
        batch.results, batch.errors = self.spoiled(b"".join(done)), b"".join(failed)
        if batch.endpoint:
            self.files[f"file-out-{batch.id}"], self.files[f"file-err-{batch.id}"] = batch.results, batch.errors

    def _shown(self, batch: BatchMade) -> Reply:
        ended = self._ended(batch)
        shown = self._of_file(batch, ended) if batch.endpoint else self._of_messages(batch, ended)
        return Reply(200, json_bytes(shown), {"content-type": "application/json"})

    # --- Anthropic --------------------------------------------------------------------------------------------------

    def _create(self, api: Api, request: HttpRequest) -> Reply:
        requests = _object(request).get("requests")
        if not isinstance(requests, list) or not requests:
            raise RejectedError(400, "invalid_request_error", "requests: Field required")
        lines = []
        for number, each in enumerate(requests):
            if set(each) != {"custom_id", "params"} or not CUSTOM_ID.fullmatch(each["custom_id"]):
                raise RejectedError(400, "invalid_request_error", f"requests.{number}.custom_id: invalid")
            if "stream" in each["params"]:
                raise RejectedError(400, "invalid_request_error", f"requests.{number}.params.stream: not supported")
            lines.append((each["custom_id"], each["params"]))
        _refuse_twice([custom_id for custom_id, _ in lines])
        return self._shown(self._keep("msgbatch", api, request, lines))

    def _keep(
        self, prefix: str, api: Api, request: HttpRequest, lines: Sequence[tuple[str, dict[str, Any]]], **more: Any
    ) -> BatchMade:
        identity = self.named(f"{prefix}_{digest(len(self.made), *(custom_id for custom_id, _ in lines))}")
        self.made[identity] = batch = BatchMade(identity, api, request, lines, **more)
        return batch

    def _of_messages(self, batch: BatchMade, ended: bool) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if batch.results is None:
            counts["processing"] = len(batch.lines)
        else:
            for line in batch.results.splitlines():
                kind = re.search(rb'"result":\{"type":"(\w+)"', line)
                if kind:
                    counts[kind[1].decode()] += 1
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if batch.cancelled else "in_progress",
            "request_counts": counts,
            "ended_at": CREATED if ended else None,
            "created_at": CREATED,
            "expires_at": EXPIRES,
            "archived_at": None,
            "cancel_initiated_at": CREATED if batch.cancelled else None,
            "results_url": f"http://127.0.0.1:9/v1/messages/batches/{batch.id}/results" if ended else None,
        }

    def _results(self, api: Api, request: HttpRequest, identity: str) -> Reply:
        batch = self._found(identity)
        if batch.results is None:
            raise RejectedError(404, "not_found_error", "The batch has not ended.")
        return Reply(200, batch.results, {"content-type": "application/x-jsonl"})

    # --- OpenAI -----------------------------------------------------------------------------------------------------

    def _upload(self, api: Api, request: HttpRequest) -> Reply:
        parts = _multipart(request)
        if parts.get("purpose") != b"batch" or "file" not in parts:
            raise RejectedError(400, "invalid_request_error", "'purpose' and 'file' are required properties")
        identity = f"file-{digest(len(self.files), parts['file'])}"
        self.files[identity] = parts["file"]
        shown = {
            "id": identity,
            "object": "file",
            "bytes": len(parts["file"]),
            "created_at": CREATED_S,
            "expires_at": CREATED_S + 2_592_000,
            "filename": "batch.jsonl",
            "purpose": "batch",
            "status": "processed",
        }
        return Reply(200, json_bytes(shown), {"content-type": "application/json"})

    def _content(self, api: Api, request: HttpRequest, identity: str) -> Reply:
        if identity not in self.files:
            raise RejectedError(404, "invalid_request_error", f"No such File object: {identity}", "id")
        return Reply(200, self.files[identity], {"content-type": "application/octet-stream"})

    def _create_of_file(self, api: Api, request: HttpRequest) -> Reply:
        body = _object(request)
        endpoint, file = body.get("endpoint"), body.get("input_file_id")
        if body.get("completion_window") != "24h" or endpoint not in ENDPOINTS or file not in self.files:
            raise RejectedError(400, "invalid_request_error", "Invalid batch", "endpoint")
        lines = []
        for each in map(json.loads, self.files[file].splitlines()):
            if set(each) != {"custom_id", "method", "url", "body"} or (each["method"], each["url"]) != (
                "POST",
                endpoint,
            ):
                raise RejectedError(400, "invalid_request_error", "Invalid line", "input_file_id")
            lines.append((each["custom_id"], each["body"]))
        _refuse_twice([custom_id for custom_id, _ in lines])
        if len({each["model"] for _, each in lines}) != 1:
            raise RejectedError(400, "invalid_request_error", "A batch has one model", "input_file_id")
        made = self._keep("batch", self._by_path[endpoint], request, lines, endpoint=endpoint, input_file=file)
        return self._shown(made)

    def _of_file(self, batch: BatchMade, ended: bool) -> dict[str, Any]:
        refused = self.rules.refused
        status = "completed" if ended else "cancelling" if batch.cancelled else "in_progress"
        if ended and batch.cancelled:
            status = "cancelled"
        if ended and "expired" in self.rules.fates.values():
            status = "expired"
        if refused:
            status = "failed"
        done, failed = (batch.results or b"").count(b"\n"), batch.errors.count(b"\n")
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "errors": {"object": "list", "data": [{"code": refused[0], "message": refused[1], "param": None}]}
            if refused
            else None,
            "input_file_id": batch.input_file,
            "completion_window": "24h",
            "status": status,
            "output_file_id": f"file-out-{batch.id}" if ended and done and not refused else None,
            "error_file_id": f"file-err-{batch.id}" if ended and failed and not refused else None,
            "created_at": CREATED_S,
            "request_counts": {"total": len(batch.lines), "completed": done, "failed": failed},
            "metadata": None,
        }


def _of_messages(custom_id: str, reply: Reply | None, fate: Fate | None) -> tuple[dict[str, Any], bool]:
    if reply is None:
        return {"custom_id": custom_id, "result": {"type": "canceled" if fate == "cancelled" else fate}}, False
    if reply.status == 200:
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": json.loads(reply.body)}}, True
    return {"custom_id": custom_id, "result": {"type": "errored", "error": json.loads(reply.body)}}, False


def _of_openai(custom_id: str, reply: Reply | None, fate: Fate | None) -> tuple[dict[str, Any], bool]:
    head = {"id": f"batch_req_{digest(custom_id)}", "custom_id": custom_id}
    if reply is None:
        error = {"code": f"batch_{fate}", "message": f"This request was not executed: the batch was {fate}."}
        return {**head, "response": None, "error": error}, False
    answer = {"status_code": reply.status, "request_id": "req_1", "body": json.loads(reply.body)}
    return {**head, "response": answer, "error": None}, reply.status == 200


def _object(request: HttpRequest) -> dict[str, Any]:
    body = json.loads(request.body)
    if not isinstance(body, dict):
        raise RejectedError(400, "invalid_request_error", "the body is no object")
    return body


def _refuse_twice(ids: Sequence[str]) -> None:
    if len(set(ids)) < len(ids):
        raise RejectedError(400, "invalid_request_error", "custom_id: must be unique")


def _multipart(request: HttpRequest) -> dict[str, bytes]:
    head = f"Content-Type: {request.headers.get('content-type', '')}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.body)
    found: dict[str, bytes] = {}
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[str(part.get_param("name", header="content-disposition"))] = content
    return found
