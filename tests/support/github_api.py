"""A GitHub that runs here: the endpoints that Evalward uses, with state, paging, a request log and faults."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "ghs_0123456789abcdefTOKEN"
REPOSITORY = "octo-org/octo-repo"
BOT = "github-actions[bot]"
HEAD = "a" * 40
MAX_BODY = 65_536


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """One answer."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class Fault:
    """An answer in place of the real one for the next `times` requests of `method` whose path matches.

    `after`: the request is carried out first, and only its answer is lost. `status` 0 closes the connection, 200 is
    only slow. `body` replaces the JSON with the `message`.
    """

    method: str
    pattern: str
    status: int
    times: int = 1
    message: str = "fault"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    after: bool = False
    body: object = None


@dataclass(frozen=True)
class Pull:
    """An open pull request in a list: branch `ref` of `repository` (`None`: gone) into `base_ref`."""

    number: int
    sha: str
    ref: str
    repository: str | None
    base_sha: str
    base_ref: str = "main"


@dataclass
class Comment:
    """A stored comment."""

    id: int
    body: str
    login: str
    updated_at: str = "2026-11-21T08:00:00Z"


class FakeGitHub:
    """The server, as a context manager; `url` is its API's address.

    `user_login` is what GET /user says (`None`: 403, as for installation tokens), `viewer` what GraphQL says.
    `can_write`, `can_read`: the token's permissions. `files` maps (sha, path) to content; `commits` are the known ones.
    """

    def __init__(self) -> None:
        self.user_login: str | None = None
        self.viewer = BOT
        self.can_write = True
        self.can_read = True
        self.heads: dict[int, str] = {7: HEAD}
        self.comments: dict[int, list[Comment]] = {7: []}
        self.files: dict[tuple[str, str], bytes] = {}
        self.commits: set[str] = set()
        self.pulls: list[Pull] = []
        self.pull_files: list[dict[str, str]] = []
        self.opaque: dict[str, str] = {}  # path → mode, in every tree
        self.truncated = False
        self.statuses: list[tuple[str, dict[str, str]]] = []
        self.requests: list[Request] = []
        self.exchanges: list[tuple[Request, Answer]] = []  # without those that a fault answered
        self._faults: list[Fault] = []
        self._next_id = 1001
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def add_comment(self, body: str, login: str = BOT, number: int = 7) -> int:
        """Stores a comment as if it had been written earlier; returns its id."""
        comment = Comment(self._next_id, body, login)
        self._next_id += 1
        self.comments[number].append(comment)
        return comment.id

    def add_file(self, sha: str, path: str, content: bytes) -> None:
        """Stores a commit's file."""
        self.commits.add(sha)
        self.files[sha, path] = content

    def fail(
        self,
        method: str,
        pattern: str,
        status: int,
        times: int = 1,
        *,
        message: str = "fault",
        headers: Mapping[str, str] | None = None,
        delay: float = 0.0,
        after: bool = False,
        body: object = None,
    ) -> None:
        """Adds a fault; see `Fault`."""
        self._faults.append(Fault(method, pattern, status, times, message, headers or {}, delay, after, body))

    def log(self) -> list[str]:
        """`METHOD path` of all requests so far."""
        return [f"{request.method} {request.path}" for request in self.requests]

    def bodies(self, number: int = 7) -> list[str]:
        """The comments' texts."""
        return [comment.body for comment in self.comments[number]]

    def handle(self, request: Request) -> tuple[Answer | None, float]:
        """The answer (`None`: close the connection) and the seconds to wait before it."""
        with self._lock:
            self.requests.append(request)
            fault = self._fault(request)
            if fault is None:
                answer = self._route(request)
                self.exchanges.append((request, answer))
                return answer, 0.0
            if fault.after:
                self._route(request)
            if fault.status == 0:
                return None, fault.delay
            if fault.status == 200:  # only slow
                return self._route(request), fault.delay
            body = {"message": fault.message} if fault.body is None else fault.body
            return Answer(fault.status, body, fault.headers), fault.delay

    def _fault(self, request: Request) -> Fault | None:
        for fault in self._faults:
            if fault.times > 0 and fault.method == request.method and re.search(fault.pattern, request.path):
                fault.times -= 1
                return fault
        return None

    def _route(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return Answer(401, {"message": "Bad credentials"})
        for method, pattern, view in self._routes():
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return view(request, *match.groups())
        return Answer(404, {"message": "Not Found"})

    def _routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        repository = f"/repos/{re.escape(REPOSITORY)}"
        return [
            ("GET", "/user", self._get_user),
            ("POST", "/graphql", self._post_graphql),
            ("GET", rf"{repository}/issues/(\d+)/comments", self._get_comments),
            ("POST", rf"{repository}/issues/(\d+)/comments", self._post_comment),
            ("PATCH", rf"{repository}/issues/comments/(\d+)", self._patch_comment),
            ("DELETE", rf"{repository}/issues/comments/(\d+)", self._delete_comment),
            ("GET", rf"{repository}/pulls", self._get_pulls),
            ("GET", rf"{repository}/pulls/(\d+)", self._get_pull),
            ("GET", rf"{repository}/pulls/(\d+)/files", self._get_pull_files),
            ("POST", rf"{repository}/statuses/([0-9a-f]{{40}})", self._post_status),
            ("GET", rf"{repository}/contents/(.+)", self._get_contents),
            ("GET", rf"{repository}/git/commits/([0-9a-f]+)", self._get_commit),
            ("GET", rf"{repository}/git/trees/([0-9a-f]+)", self._get_tree),
        ]

    def _get_user(self, request: Request) -> Answer:
        if self.user_login is None:
            return Answer(403, {"message": "Resource not accessible by integration"}, {"x-ratelimit-remaining": "900"})
        return Answer(200, {"login": self.user_login, "id": 1})

    def _post_graphql(self, request: Request) -> Answer:
        if "viewer" not in request.body["query"]:
            return Answer(200, {"errors": [{"message": "unknown"}]})
        return Answer(200, {"data": {"viewer": {"login": self.viewer}}})

    def _get_comments(self, request: Request, number: str) -> Answer:
        size = min(int(request.query.get("per_page", "30")), 100)
        page = int(request.query.get("page", "1"))
        every = self.comments.get(int(number))
        if every is None:
            return Answer(404, {"message": "Not Found"})
        part = every[(page - 1) * size : page * size]
        last = max(1, -(-len(every) // size))
        address = f"{self.url}{request.path}?per_page={size}&page="
        link = f'<{address}{page + 1}>; rel="next", <{address}{last}>; rel="last"' if page < last else ""
        return Answer(200, [self._shown(comment) for comment in part], {"Link": link} if link else {})

    def _post_comment(self, request: Request, number: str) -> Answer:
        refusal = self._refusal(request)
        if refusal:
            return refusal
        identity = self.add_comment(request.body["body"], self.user_login or self.viewer, int(number))
        return Answer(201, self._shown(self._by_id(str(identity))))

    def _patch_comment(self, request: Request, identity: str) -> Answer:
        refusal = self._refusal(request)
        if refusal:
            return refusal
        comment = self._by_id(identity)
        if comment is None:
            return Answer(404, {"message": "Not Found"})
        comment.body = request.body["body"]
        return Answer(200, self._shown(comment))

    def _delete_comment(self, request: Request, identity: str) -> Answer:
        comment = self._by_id(identity)
        if comment is None:
            return Answer(404, {"message": "Not Found"})
        for comments in self.comments.values():
            if comment in comments:
                comments.remove(comment)
        return Answer(204)

    def _get_pull(self, request: Request, number: str) -> Answer:
        head = self.heads.get(int(number))
        if head is None:
            return Answer(404, {"message": "Not Found"})
        return Answer(200, {"number": int(number), "head": {"sha": head}, "state": "open"})

    def _get_pulls(self, request: Request) -> Answer:
        owner, _, branch = request.query.get("head", "").partition(":")
        found = [pull for pull in self.pulls if pull.ref == branch and (pull.repository or "").startswith(f"{owner}/")]
        return Answer(200, [self._listed(pull) for pull in found])

    def _listed(self, pull: Pull) -> dict[str, object]:
        repository = {"full_name": pull.repository, "id": 1} if pull.repository else None
        return {
            "number": pull.number,
            "state": "open",
            "head": {"sha": pull.sha, "ref": pull.ref, "label": f"x:{pull.ref}", "repo": repository},
            "base": {"sha": pull.base_sha, "ref": pull.base_ref, "repo": {"full_name": REPOSITORY, "id": 2}},
        }

    def _get_pull_files(self, request: Request, number: str) -> Answer:
        if int(number) not in self.heads or not self.can_read:
            return Answer(404, {"message": "Not Found"})
        return Answer(200, self.pull_files)

    def _post_status(self, request: Request, sha: str) -> Answer:
        if not self.can_write:
            return Answer(403, {"message": "Resource not accessible by integration"}, {"x-ratelimit-remaining": "900"})
        if len(request.body["description"]) > 140 or request.body["state"] not in {"success", "failure", "error"}:
            return Answer(422, {"message": "Validation Failed"})
        self.statuses.append((sha, request.body))
        return Answer(201, {"id": 1, **request.body})

    def _get_contents(self, request: Request, path: str) -> Answer:
        sha = request.query.get("ref", "")
        content = self.files.get((sha, unquote(path)))
        if any(known == sha and name.startswith(f"{unquote(path)}/") for known, name in self.files):
            return Answer(200, [{"type": "file"}])
        if content is None or not self.can_read:
            return Answer(404, {"message": "Not Found"})
        kind = "application/vnd.github.raw+json; charset=utf-8"
        if not request.headers.get("accept", "").startswith("application/vnd.github.raw"):
            return Answer(200, {"type": "file", "size": len(content)})
        return Answer(200, headers={"Content-Type": kind}, raw=content)

    def _get_commit(self, request: Request, sha: str) -> Answer:
        if sha not in self.commits or not self.can_read:
            return Answer(404, {"message": "Not Found"})
        return Answer(200, {"sha": sha})

    def _get_tree(self, request: Request, sha: str) -> Answer:
        if not self.can_read:
            return Answer(404, {"message": "Not Found"})
        files = [(path, "100644") for known, path in self.files if known == sha]
        entries = [{"path": path, "mode": mode} for path, mode in [*files, *self.opaque.items()]]
        return Answer(200, {"sha": sha, "tree": entries, "truncated": self.truncated})

    def _refusal(self, request: Request) -> Answer | None:
        if not self.can_write:
            return Answer(403, {"message": "Resource not accessible by integration"}, {"x-ratelimit-remaining": "900"})
        if len(request.body["body"]) > MAX_BODY:
            return Answer(422, {"message": "Validation Failed: body is too long (maximum is 65536 characters)"})
        return None

    def _by_id(self, identity: str) -> Comment | None:
        every = (comment for comments in self.comments.values() for comment in comments)
        return next((comment for comment in every if comment.id == int(identity)), None)

    def _shown(self, comment: Comment | None) -> dict[str, object]:
        assert comment is not None
        return {
            "id": comment.id,
            "body": comment.body,
            "user": {"login": comment.login, "type": "Bot"},
            "updated_at": comment.updated_at,
            "html_url": f"https://github.com/{REPOSITORY}/pull/7#issuecomment-{comment.id}",
        }


def _handler(github: FakeGitHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            data = self.rfile.read(length)
            request = Request(
                method=self.command,
                path=parts.path,
                query={name: values[0] for name, values in parse_qs(parts.query).items()},
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(data) if data else None,
            )
            answer, delay = github.handle(request)
            time.sleep(delay)
            if answer is not None:
                self._answer(answer)

        def _answer(self, answer: Answer) -> None:
            body = json.dumps(answer.body).encode() if answer.raw is None else answer.raw
            if answer.status == 204:
                body = b""
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json; charset=utf-8", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client gave up, which is what some tests are about

        def log_message(self, format: str, *args: object) -> None:
            """The request log is `FakeGitHub.requests`."""

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - what http.server looks for

    return Handler
