"""What changes a repository through GitHub's API, and what has to be known for it: branches, commits, pull requests.

Nothing here touches a working tree, and nothing is written outside of the one repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

from evalward.github.client import GitHub, OpenPull, PullFile
from evalward.github.errors import GitHubError
from evalward.records.base import Record

MAX_ARTIFACT_BYTES = 50_000_000
Reaction = Literal["+1", "-1", "eyes"]

_HEADS = "refs/heads/"
_COMMIT = """mutation($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid url } }
}"""
_WRITE = "Give the job `permissions: {contents: write}`."
_PULLS = (
    "Give the job `permissions: {pull-requests: write}`, and allow Actions to create pull requests "
    "(Settings → Actions → General); or pass an App's token."
)


class StaleError(GitHubError):
    """The branch is not at the commit that was expected."""


class _ApiMessage(Record):
    type: str = ""
    message: str = ""


class _GraphQL(Record):
    data: dict[str, Any] | None = None
    errors: list[_ApiMessage] = []


class _ApiObject(Record):
    sha: str


class _Ref(Record):
    object: _ApiObject


class NewCommit(Record):
    """A commit that was made: its id and its page."""

    oid: str
    url: str = ""


class _CommitText(Record):
    message: str = ""


class Commit(Record):
    """A commit: its message, its parents, the files that it changes against the first of them."""

    sha: str
    commit: _CommitText
    parents: list[_ApiObject] = []
    files: list[PullFile] = []


class WrittenPage(Record):
    """A pull request or comment that was written: its number and its page."""

    number: int
    html_url: str = ""


class _Permission(Record):
    permission: str
    role_name: str = ""


class _RepositoryName(Record):
    full_name: str


class WorkflowRun(Record):
    """A run of a workflow, in GitHub's own words."""

    id: int
    event: str
    head_sha: str
    head_repository: _RepositoryName | None = None


class Artifact(Record):
    """An artifact of a run."""

    id: int
    name: str
    size_in_bytes: int = 0
    expired: bool = False


class _Artifacts(Record):
    artifacts: list[Artifact] = []


class RepositoryWriter:
    """One repository, `owner/name`. Every failure is a `GitHubError`."""

    def __init__(self, client: GitHub, name: str) -> None:
        self.client = client
        self.name = name
        self._http = client.http
        self._url = f"/repos/{name}"

    # --- branches and commits ---------------------------------------------------------------------------------------

    def branch_head(self, branch: str) -> str | None:
        """The commit that a branch is at, `None` when there is no such branch."""
        try:
            answer = self._http.request("GET", f"{self._url}/git/ref/heads/{quote(branch)}")
        except GitHubError as error:
            if error.status == 404:
                return None
            raise
        return answer.read(_Ref).object.sha

    def create_branch(self, branch: str, sha: str) -> None:
        """Make a branch at a commit."""
        with _advised(_WRITE):
            self._http.request("POST", f"{self._url}/git/refs", {"ref": _HEADS + branch, "sha": sha})

    def create_root(self, path: str, text: str, message: str) -> str:
        """A commit without parents that holds one file, on no branch yet."""
        entry = {"path": path, "mode": "100644", "type": "blob", "content": text}
        with _advised(_WRITE):
            tree = (
                self._http.request("POST", f"{self._url}/git/trees", {"tree": [entry]}, safe=True).read(_ApiObject).sha
            )
            fields = {"message": message, "tree": tree, "parents": []}
            return self._http.request("POST", f"{self._url}/git/commits", fields, safe=True).read(_ApiObject).sha

    def move_branch(self, branch: str, sha: str) -> None:
        """Put a branch at a commit, whatever it held."""
        with _advised(_WRITE):
            self._http.request("PATCH", f"{self._url}/git/refs/heads/{quote(branch)}", {"sha": sha, "force": True})

    def delete_branch(self, branch: str) -> None:
        """Delete a branch."""
        self._http.request("DELETE", f"{self._url}/git/refs/heads/{quote(branch)}")

    def commit(self, sha: str) -> Commit:
        """A commit with its files."""
        return self._http.request("GET", f"{self._url}/commits/{quote(sha)}").read(Commit)

    def create_commit(self, branch: str, expected: str, message: str, files: Mapping[str, str]) -> NewCommit:
        """A commit on top of a branch, signed by GitHub in the name of the token's owner. `files`: path → base64.

        Raises `StaleError` when the branch is not at `expected` any more. Sent again after an outage: had the first
        one arrived, the second is stale.
        """
        headline, _, body = message.partition("\n")
        variables = {
            "input": {
                "branch": {"repositoryNameWithOwner": self.name, "branchName": branch},
                "expectedHeadOid": expected,
                "message": {"headline": headline, "body": body.strip("\n")},
                "fileChanges": {"additions": [{"path": path, "contents": text} for path, text in files.items()]},
            }
        }
        data = self._graphql(_COMMIT, variables, f"commit to {branch}")
        try:
            return NewCommit.model_validate(data["createCommitOnBranch"]["commit"])
        except (KeyError, TypeError, ValueError):
            raise GitHubError(None, "GitHub's answer is not of the expected form.") from None

    def _graphql(self, query: str, variables: Mapping[str, Any], what: str) -> Mapping[str, Any]:
        # `…/api/v3` is GitHub Enterprise Server's REST API, `…/api/graphql` its GraphQL one.
        url = self._http.api_url.removesuffix("/v3") + "/graphql"
        with _advised(_WRITE):
            answer = self._http.request("POST", url, {"query": query, "variables": variables}, safe=True).read(_GraphQL)
        if answer.errors:
            raise _refusal(answer.errors[0], self.client.hide(answer.errors[0].message), what)
        return answer.data or {}

    # --- pull requests ----------------------------------------------------------------------------------------------

    def pull(self, number: int) -> OpenPull:
        """A pull request as it is now."""
        return self._http.request("GET", f"{self._url}/pulls/{number}").read(OpenPull)

    def create_pull(self, head: str, base: str, title: str, body: str) -> WrittenPage:
        """Open a pull request between two branches of this repository."""
        with _advised(_PULLS):
            fields = {"head": head, "base": base, "title": title, "body": body}
            return self._http.request("POST", f"{self._url}/pulls", fields).read(WrittenPage)

    def update_pull(self, number: int, fields: Mapping[str, str]) -> WrittenPage:
        """Change a pull request's title, body or state."""
        with _advised(_PULLS):
            return self._http.request("PATCH", f"{self._url}/pulls/{number}", fields).read(WrittenPage)

    # --- people -----------------------------------------------------------------------------------------------------

    def may_write(self, login: str) -> bool:
        """True when this person may push to the repository, as GitHub says now."""
        try:
            answer = self._http.request("GET", f"{self._url}/collaborators/{quote(login, safe='')}/permission")
        except GitHubError as error:
            if error.status == 404:
                return False  # GitHub knows nobody of that name here
            raise
        return answer.read(_Permission).permission in {"admin", "maintain", "write"}

    def react(self, comment_id: int, content: Reaction) -> None:
        """React to a comment; a second time changes nothing."""
        url = f"{self._url}/issues/comments/{comment_id}/reactions"
        self._http.request("POST", url, {"content": content}, safe=True)

    # --- runs -------------------------------------------------------------------------------------------------------

    def workflow_run(self, number: int) -> WorkflowRun:
        """A run of a workflow."""
        with _advised("Give the job `permissions: {actions: read}`."):
            return self._http.request("GET", f"{self._url}/actions/runs/{number}").read(WorkflowRun)

    def artifacts(self, run: int, name: str) -> list[Artifact]:
        """The artifacts of this name that a run left, the newest first."""
        answer = self._http.request("GET", f"{self._url}/actions/runs/{run}/artifacts?name={quote(name, safe='')}")
        found = [item for item in answer.read(_Artifacts).artifacts if item.name == name and not item.expired]
        return sorted(found, key=lambda item: item.id, reverse=True)

    def download(self, artifact: Artifact) -> bytes:
        """An artifact's zip file, which may hold anything."""
        url = f"{self._url}/actions/artifacts/{artifact.id}/zip"
        return self._http.request("GET", url, limit=MAX_ARTIFACT_BYTES).body


class _advised:  # noqa: N801 - used like a function
    """Where the token may not do this, the remedy is the one that this endpoint needs."""

    def __init__(self, advice: str) -> None:
        self._advice = advice

    def __enter__(self) -> None:
        """Nothing to do before."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, GitHubError) and error.status in {403, 404}:
            raise type(error)(error.status, error.message, self._advice) from None


_PROTECTED = ("protected branch", "must be made through a pull request", "rule violations", "cannot update this")


def _refusal(error: _ApiMessage, text: str, what: str) -> GitHubError:
    """GitHub's refusal of a mutation, with its remedy."""
    message = f"GitHub refused to {what}: {' '.join(text.split())[:200]}"
    low = text.lower()
    if error.type == "STALE_DATA" or "expected branch to point to" in low:
        return StaleError(None, message)
    if any(words in low for words in _PROTECTED):
        remedy = (
            "The branch is protected: use `baseline-to: pull-request`, or let an App that may bypass the rule commit "
            "(pass its token)."
        )
        return GitHubError(None, message, remedy)
    if error.type in {"FORBIDDEN", "INSUFFICIENT_SCOPES"} or "not accessible by integration" in low:
        return GitHubError(403, message, _WRITE)
    return GitHubError(None, message, "Does the branch exist, and may the token write to it?")
