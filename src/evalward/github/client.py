"""The parts of GitHub's API that we use, as typed calls."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from urllib.parse import quote

from evalward.git import LINK_MODE, SUBMODULE_MODE, OpaqueEntries
from evalward.github.errors import GitHubError
from evalward.github.transport import CONNECT_S, READ_S, TooLargeError, Transport
from evalward.records.base import Record
from evalward.records.problem import wrong

API_URL = "https://api.github.com"
MAX_PULL_FILES = 3_000
ACTIONS_LOGIN = "github-actions[bot]"


class User(Record):
    """Who wrote something."""

    login: str


class IssueComment(Record):
    """A comment of an issue or pull request. `user` is `None` when the account is gone."""

    id: int
    body: str | None = None
    user: User | None = None
    html_url: str | None = None
    updated_at: str | None = None


class RepositoryReader(Record):
    """A repository, `owner/name`."""

    full_name: str


class PullSide(Record):
    """One side of a pull request. `repo` is `None` when the fork is gone."""

    sha: str
    ref: str
    repo: RepositoryReader | None = None


class OpenPull(Record):
    """A pull request, open where open ones were asked for.

    `base.sha` is the tip of its target branch as GitHub last looked.
    """

    number: int
    head: PullSide
    base: PullSide
    state: str = "open"


class PullFile(Record):
    """A file that a pull request changes. `previous_filename` is there for renamed ones, `patch` for most files."""

    filename: str
    status: str
    previous_filename: str | None = None
    patch: str | None = None

    @property
    def may_be_submodule(self) -> bool:
        """Whether it may be one: GitHub shows its commits as a patch. Of one that was there, the base's tree tells."""
        if self.patch is None:
            return self.status not in {"modified", "removed"}
        return "Subproject commit" in self.patch


class _TreeEntry(Record):
    path: str
    mode: str


class _WholeTree(Record):
    tree: list[_TreeEntry]
    truncated: bool


class _BranchHead(Record):
    sha: str


class _ClientPull(Record):
    head: _BranchHead


class _Viewer(Record):
    viewer: User


class _ViewerAnswer(Record):
    data: _Viewer


class GitHub:
    """A client of one API with one token. Every failure is a `GitHubError`; the token is in none of them.

    `sleep`, `jitter`, `now`, `clock` and `timeouts` (connect, read; seconds) are those of `Transport`. Use it as a
    context manager, or `close` it.
    """

    def __init__(
        self,
        token: str,
        api_url: str = API_URL,
        *,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        timeouts: tuple[float, float] = (CONNECT_S, READ_S),
    ) -> None:
        self._http = Transport(token, api_url, sleep=sleep, jitter=jitter, now=now, clock=clock, timeouts=timeouts)
        self._known_commits: set[tuple[str, str]] = set()

    def __repr__(self) -> str:
        return f"GitHub({self._http.api_url!r})"

    def __enter__(self) -> GitHub:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    @property
    def http(self) -> Transport:
        """What sends the requests, for endpoints that stand elsewhere."""
        return self._http

    def hide(self, text: str) -> str:
        """The text without the token, should it hold it: GitHub masks logs, not what is posted."""
        return self._http.hide(text)

    def pause(self, attempt: int) -> None:
        """Waits as before a retry, for callers that look before they try again; `attempt` counts from 0."""
        self._http.pause(attempt)

    def login(self) -> str:
        """The login under which this token's comments appear.

        GET /user is not for installation tokens (403): those are asked for by GraphQL, and where that is no help
        either it is taken for the workflow's own token.
        """
        try:
            return self._http.request("GET", "/user").read(User).login
        except GitHubError as error:
            if error.status != 403:
                raise
        # `…/api/v3` is GitHub Enterprise Server's REST API, `…/api/graphql` its GraphQL one.
        graphql = self._http.api_url.removesuffix("/v3") + "/graphql"
        try:
            answer = self._http.request("POST", graphql, {"query": "query { viewer { login } }"}, safe=True)
            return answer.read(_ViewerAnswer).data.viewer.login
        except GitHubError:
            return ACTIONS_LOGIN

    def comments(self, repository: str, number: int) -> list[IssueComment]:
        """All comments of a pull request, oldest first."""
        pages = self._http.pages(f"/repos/{repository}/issues/{number}/comments")
        return [comment for page in pages for comment in page.read(list[IssueComment])]

    def create_comment(self, repository: str, number: int, body: str) -> IssueComment:
        """Adds a comment. Not repeated after an answer that leaves open whether it was added."""
        answer = self._http.request("POST", f"/repos/{repository}/issues/{number}/comments", {"body": body})
        return answer.read(IssueComment)

    def update_comment(self, repository: str, comment_id: int, body: str) -> IssueComment:
        """Replaces a comment's text."""
        answer = self._http.request("PATCH", f"/repos/{repository}/issues/comments/{comment_id}", {"body": body})
        return answer.read(IssueComment)

    def delete_comment(self, repository: str, comment_id: int) -> None:
        """Deletes a comment."""
        self._http.request("DELETE", f"/repos/{repository}/issues/comments/{comment_id}")

    def create_status(self, repository: str, sha: str, status: Mapping[str, str]) -> None:
        """Adds a commit status. The latest of one context counts, so it may be repeated."""
        self._http.request("POST", f"/repos/{repository}/statuses/{quote(sha)}", status, safe=True)

    def pull_files(self, repository: str, number: int) -> list[PullFile]:
        """The files that a pull request changes: GitHub lists at most `MAX_PULL_FILES`."""
        pages = self._http.pages(f"/repos/{repository}/pulls/{number}/files")
        return [file for page in pages for file in page.read(list[PullFile])]

    def opaque_entries(self, repository: str, sha: str) -> OpaqueEntries | None:
        """The submodules and symbolic links of a commit; where these lead isn't asked. `None`: GitHub lists not all."""
        found = self._http.request("GET", f"/repos/{repository}/git/trees/{quote(sha)}?recursive=1").read(_WholeTree)
        if found.truncated:
            return None
        return OpaqueEntries(
            frozenset(entry.path for entry in found.tree if entry.mode == SUBMODULE_MODE),
            {entry.path: "" for entry in found.tree if entry.mode == LINK_MODE},
        )

    def pull_head(self, repository: str, number: int) -> str:
        """The sha of the pull request's head as it is now."""
        return self._http.request("GET", f"/repos/{repository}/pulls/{number}").read(_ClientPull).head.sha

    def open_pulls(self, repository: str, head_owner: str, head_branch: str) -> list[OpenPull]:
        """The open pull requests from a branch of an owner's fork (or of the repository itself)."""
        head = quote(f"{head_owner}:{head_branch}", safe="")
        pages = self._http.pages(f"/repos/{repository}/pulls?state=open&head={head}")
        return [pull for page in pages for pull in page.read(list[OpenPull])]

    def read_file(self, repository: str, sha: str, path: str, limit: int) -> bytes | None:
        """A file of a commit, `None` only when the commit is there and has no such file.

        Raises `InputError` when it is a folder or has more than `limit` bytes (GitHub gives up to 100 MB).
        """
        url = f"/repos/{repository}/contents/{quote(path)}?ref={quote(sha)}"
        try:
            answer = self._http.request("GET", url, accept="application/vnd.github.raw+json", limit=limit)
        except TooLargeError:
            message = f"has more than {limit:,} bytes in the base commit; no larger file is read"
            raise wrong(path, message, "Make it smaller.") from None
        except GitHubError as error:
            if error.status != 404:
                raise
            self._check_commit(repository, sha)
            return None
        if answer.headers.get("content-type", "").startswith("application/json"):  # a folder's listing
            raise wrong(path, "is not a file in the base commit", "Name a file.")
        return answer.body

    def _check_commit(self, repository: str, sha: str) -> None:
        """Raises `GitHubError` when the commit can't be seen: then 404 says nothing about its files."""
        if (repository, sha) not in self._known_commits:
            self._http.request("GET", f"/repos/{repository}/git/commits/{quote(sha)}")
            self._known_commits.add((repository, sha))
