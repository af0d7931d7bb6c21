"""The fake GitHub with a real git repository behind it: branches, commits, pull requests, people, artifacts."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from support.git_repo import commit, git, init
from support.github_api import HEAD, REPOSITORY, Answer, FakeGitHub, Request


@dataclass
class StoredPull:
    """A pull request from branch `head` of `repository`; `sha` is a fork's head, else the branch's tip counts."""

    number: int
    head: str
    base: str
    repository: str = REPOSITORY
    title: str = ""
    body: str = ""
    state: str = "open"
    sha: str = HEAD


@dataclass(frozen=True)
class StoredRun:
    """A run of a workflow and the artifacts that it left: name → zip file."""

    head_sha: str
    event: str = "pull_request"
    repository: str = REPOSITORY
    artifacts: Mapping[str, bytes] = field(default_factory=dict)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def server_repository(folder: Path, files: Mapping[str, str | bytes]) -> tuple[Path, Path]:
    """A bare repository with a branch `main`, and a clone of it with `main` checked out."""
    work = init(folder / "seed")
    commit(work, files, "first")
    git(folder, "clone", "--quiet", "--bare", str(work), "server.git")
    git(folder, "clone", "--quiet", str(folder / "server.git"), "workspace")
    return folder / "server.git", folder / "workspace"


class RepositoryGitHub(FakeGitHub):
    """`repo` is a bare repository. `people` maps a login to a permission; `protected` branches take no commit of ours.

    `meet` is called once before a commit is made, with the request's branch: somebody who is faster.
    """

    def __init__(self, repo: Path) -> None:
        super().__init__()
        self.repo = repo
        self.people: dict[str, str] = {}
        self.protected: set[str] = set()
        self.stored: dict[int, StoredPull] = {}
        self.runs: dict[int, StoredRun] = {}
        self.reactions: list[tuple[int, str]] = []
        self.may_open_pulls = True
        self.meet: list[Callable[[str], object]] = []

    def tip(self, branch: str = "main") -> str:
        """The commit that a branch is at, empty when there is none."""
        return self._line("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")

    def text(self, path: str, commit: str = "main") -> str:
        """A file of a commit."""
        return git(self.repo, "show", f"{commit}:{path}") + "\n"

    def branches(self) -> list[str]:
        """All branches."""
        return git(self.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def write(self, branch: str, files: Mapping[str, bytes], message: str, parent: str | None = None) -> str:
        """A commit on a branch, as GitHub makes it: no working tree takes part."""
        parent = parent or self.tip(branch)
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": f"{folder}/index"}
            self._git("read-tree", parent, env=index)
            for path, content in files.items():
                blob = self._git("hash-object", "-w", "--stdin", stdin=content).strip()
                self._git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=index)
            tree = self._git("write-tree", env=index).strip()
        new = self._git("commit-tree", tree, "-p", parent, stdin=message.encode()).strip()
        self._git("update-ref", f"refs/heads/{branch}", new)
        return new

    def _line(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.repo, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def _git(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
        return self._raw(*args, env=env, stdin=stdin).decode()

    def _raw(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> bytes:
        who = {f"GIT_{role}_{name}": "github-actions" for role in ("AUTHOR", "COMMITTER") for name in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", *args], cwd=self.repo, env={"PATH": "/usr/bin:/bin", **who, **(env or {})}, input=stdin,
            capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout

    # --- endpoints --------------------------------------------------------------------------------------------------

    def _routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        repository = f"/repos/{re.escape(REPOSITORY)}"
        return [
            ("GET", rf"{repository}/git/ref/heads/(.+)", self._get_ref),
            ("POST", rf"{repository}/git/refs", self._post_ref),
            ("POST", rf"{repository}/git/trees", self._post_tree),
            ("POST", rf"{repository}/git/commits", self._post_commit),
            ("PATCH", rf"{repository}/git/refs/heads/(.+)", self._patch_ref),
            ("DELETE", rf"{repository}/git/refs/heads/(.+)", self._delete_ref),
            ("GET", rf"{repository}/commits/([0-9a-f]+)", self._get_whole_commit),
            ("POST", rf"{repository}/pulls", self._post_pull),
            ("PATCH", rf"{repository}/pulls/(\d+)", self._patch_pull),
            ("GET", rf"{repository}/collaborators/([^/]+)/permission", self._get_permission),
            ("POST", rf"{repository}/issues/comments/(\d+)/reactions", self._post_reaction),
            ("GET", rf"{repository}/actions/runs/(\d+)", self._get_run),
            ("GET", rf"{repository}/actions/runs/(\d+)/artifacts", self._get_artifacts),
            ("GET", rf"{repository}/actions/artifacts/(\d+)/zip", self._get_zip),
            *super()._routes(),
        ]

    def _denied(self) -> Answer | None:
        if self.can_write:
            return None
        return Answer(403, {"message": "Resource not accessible by integration"}, {"x-ratelimit-remaining": "900"})

    def _ref(self, branch: str) -> dict[str, Any]:
        return {"ref": f"refs/heads/{branch}", "object": {"sha": self.tip(branch), "type": "commit"}}

    def _get_ref(self, request: Request, branch: str) -> Answer:
        found = self.tip(unquote(branch))
        return Answer(200, self._ref(unquote(branch))) if found else Answer(404, {"message": "Not Found"})

    def _post_tree(self, request: Request) -> Answer:
        rows = []
        for entry in request.body["tree"]:
            blob = self._git("hash-object", "-w", "--stdin", stdin=entry["content"].encode()).strip()
            rows.append(f"{entry['mode']} {entry['type']} {blob}\t{entry['path']}\n")
        tree = self._git("mktree", stdin="".join(rows).encode()).strip()
        return self._denied() or Answer(201, {"sha": tree})

    def _post_commit(self, request: Request) -> Answer:
        parents = [word for parent in request.body["parents"] for word in ("-p", parent)]
        new = self._git("commit-tree", request.body["tree"], *parents, stdin=request.body["message"].encode()).strip()
        return self._denied() or Answer(201, {"sha": new})

    def _post_ref(self, request: Request) -> Answer:
        name = request.body["ref"].removeprefix("refs/heads/")
        while self.meet:
            self.meet.pop(0)(name)
        if self.tip(name):
            return Answer(422, {"message": "Reference already exists"})
        self._git("update-ref", f"refs/heads/{name}", request.body["sha"])
        return self._denied() or Answer(201, self._ref(name))

    def _patch_ref(self, request: Request, branch: str) -> Answer:
        if not self.tip(unquote(branch)):
            return Answer(422, {"message": "Reference does not exist"})
        self._git("update-ref", f"refs/heads/{unquote(branch)}", request.body["sha"])
        return Answer(200, self._ref(unquote(branch)))

    def _delete_ref(self, request: Request, branch: str) -> Answer:
        self._git("update-ref", "-d", f"refs/heads/{unquote(branch)}")
        return Answer(204)

    def _get_commit(self, request: Request, sha: str) -> Answer:
        known = self._line("cat-file", "-t", sha) == "commit"
        return Answer(200, {"sha": sha}) if known else super()._get_commit(request, sha)

    def _get_whole_commit(self, request: Request, sha: str) -> Answer:
        if self._line("cat-file", "-t", sha) != "commit":
            return Answer(404, {"message": "Not Found"})
        parents = self._line("log", "-1", "--format=%P", sha).split()
        names = self._line("diff-tree", "-r", "--name-only", "--no-commit-id", parents[0], sha) if parents else ""
        return Answer(
            200,
            {
                "sha": sha,
                "commit": {"message": self._line("log", "-1", "--format=%B", sha)},
                "parents": [{"sha": parent} for parent in parents],
                "files": [{"filename": name, "status": "modified"} for name in names.splitlines()],
            },
        )

    def _get_contents(self, request: Request, path: str) -> Answer:
        blob = f"{request.query.get('ref', '')}:{unquote(path)}"
        if self._line("cat-file", "-t", blob) != "blob":
            return super()._get_contents(request, path)
        kind = "application/vnd.github.raw+json; charset=utf-8"
        return Answer(200, headers={"Content-Type": kind}, raw=self._raw("cat-file", "blob", blob))

    def _post_graphql(self, request: Request) -> Answer:
        if "createCommitOnBranch" not in request.body["query"]:
            return super()._post_graphql(request)
        given = request.body["variables"]["input"]
        assert set(given) == {"branch", "message", "fileChanges", "expectedHeadOid"}
        assert given["branch"]["repositoryNameWithOwner"] == REPOSITORY
        branch = given["branch"]["branchName"]
        while self.meet:
            self.meet.pop(0)(branch)
        if not self.can_write:
            return self._refused("FORBIDDEN", "Resource not accessible by integration")
        if branch in self.protected:
            return self._refused("UNPROCESSABLE", "Repository rule violations found\n\nChanges must be made through a")
        if self.tip(branch) != given["expectedHeadOid"]:
            said = f'Expected branch to point to "{self.tip(branch)}" but it did not. Pull and try again.'
            return self._refused("STALE_DATA", said)
        files = {item["path"]: base64.b64decode(item["contents"]) for item in given["fileChanges"]["additions"]}
        message = f"{given['message']['headline']}\n\n{given['message']['body']}"
        new = self.write(branch, files, message)
        made = {"oid": new, "url": f"https://github.com/{REPOSITORY}/commit/{new}"}
        return Answer(200, {"data": {"createCommitOnBranch": {"commit": made}}})

    def _refused(self, kind: str, message: str) -> Answer:
        return Answer(200, {"data": {"createCommitOnBranch": None}, "errors": [{"type": kind, "message": message}]})

    def _shown_pull(self, pull: StoredPull) -> dict[str, Any]:
        own = pull.repository == REPOSITORY
        head = {"sha": self.tip(pull.head) if own else pull.sha, "ref": pull.head}
        return {
            "number": pull.number,
            "state": pull.state,
            "title": pull.title,
            "html_url": f"https://github.com/{REPOSITORY}/pull/{pull.number}",
            "head": {**head, "repo": {"full_name": pull.repository}},
            "base": {"sha": self.tip(pull.base), "ref": pull.base, "repo": {"full_name": REPOSITORY}},
        }

    def _get_pull(self, request: Request, number: str) -> Answer:
        pull = self.stored.get(int(number))
        return Answer(200, self._shown_pull(pull)) if pull else super()._get_pull(request, number)

    def _get_pulls(self, request: Request) -> Answer:
        owner, _, branch = request.query.get("head", "").partition(":")
        found = [
            pull
            for pull in self.stored.values()
            if pull.state == "open" and pull.head == branch and pull.repository.startswith(f"{owner}/")
        ]
        return Answer(200, [self._shown_pull(pull) for pull in found])

    def _post_pull(self, request: Request) -> Answer:
        if not self.may_open_pulls:
            message = "GitHub Actions is not permitted to create or approve pull requests."
            return Answer(403, {"message": message}, {"x-ratelimit-remaining": "900"})
        number = max([7, *self.stored]) + 1
        body = request.body
        self.stored[number] = StoredPull(number, body["head"], body["base"], title=body["title"], body=body["body"])
        self.comments[number] = []
        return Answer(201, self._shown_pull(self.stored[number]))

    def _patch_pull(self, request: Request, number: str) -> Answer:
        pull = self.stored[int(number)]
        for name, value in request.body.items():
            setattr(pull, name, value)
        return Answer(200, self._shown_pull(pull))

    def _get_permission(self, request: Request, login: str) -> Answer:
        if unquote(login) not in self.people:
            return Answer(404, {"message": f"{unquote(login)} is not a user"})
        permission = self.people[unquote(login)]
        return Answer(200, {"permission": permission, "role_name": permission})

    def _post_reaction(self, request: Request, identity: str) -> Answer:
        self.reactions.append((int(identity), request.body["content"]))
        return Answer(201, {"id": 1, "content": request.body["content"]})

    def _get_run(self, request: Request, number: str) -> Answer:
        run = self.runs.get(int(number))
        if run is None:
            return Answer(404, {"message": "Not Found"})
        head = {"head_sha": run.head_sha, "head_repository": {"full_name": run.repository}}
        return Answer(200, {"id": int(number), "event": run.event, **head})

    def _get_artifacts(self, request: Request, number: str) -> Answer:
        run = self.runs[int(number)]
        names = [name for name in run.artifacts if name == request.query.get("name", name)]
        every = [
            {"id": int(number) * 100 + list(run.artifacts).index(name), "name": name, "expired": False}
            for name in names
        ]
        return Answer(200, {"total_count": len(every), "artifacts": every})

    def _get_zip(self, request: Request, identity: str) -> Answer:
        elsewhere = self.url.replace("127.0.0.1", "localhost")  # GitHub keeps artifacts on other hosts
        return Answer(302, headers={"Location": f"{elsewhere}/blob/{identity}"})

    def _route(self, request: Request) -> Answer:
        if not request.path.startswith("/blob/"):
            return super()._route(request)
        assert "authorization" not in request.headers, "the token is not for other hosts"
        run, index = divmod(int(request.path.removeprefix("/blob/")), 100)
        data = list(self.runs[run].artifacts.values())[index]
        return Answer(200, headers={"Content-Type": "application/zip"}, raw=data)
