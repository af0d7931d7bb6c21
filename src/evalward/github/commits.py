"""One file, committed through GitHub's API: signed, attributed, optimistically locked, no working tree touched."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evalward.git import MAX_FILE_BYTES
from evalward.github.errors import GitHubError
from evalward.github.repository import NewCommit, RepositoryWriter, StaleError
from evalward.records.problem import wrong
from evalward.render.escape import one_line

MAX_RETRIES = 5
TRAILER = "Evalward-Baseline"

_ACTED_UPON = str.maketrans({"[": "(", "]": ")", "@": None, "#": None})
_CLOSES = re.compile(r"\b((?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?)\s+https?://", re.IGNORECASE)

MakeText = Callable[[str | None], str | None]
"""From a file's text (`None`: there is none) to its new text; `None`: leave it."""


class MovedHeadError(GitHubError):
    """The branch has moved since what is to be committed was measured."""


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """What became of it. `head` is the commit that was built upon, `sha` the new one. `retries`: meetings with others.

    `old` and `new` are the file's texts; equal ones, or a `new` of `None`, give `unchanged`.
    """

    action: Literal["committed", "unchanged", "would_commit"]
    branch: str
    path: str
    head: str
    old: str | None = None
    new: str | None = None
    sha: str | None = None
    url: str = ""
    retries: int = 0


def commit_file(
    repository: RepositoryWriter,
    branch: str,
    path: str,
    make_text: MakeText,
    message: str,
    *,
    expected_head: str | None = None,
    dry_run: bool = False,
    errors: Literal["strict", "replace"] = "strict",
) -> CommitOutcome:
    """Commit the new text of `path` (from the repository's top) to `branch`.

    When somebody else was faster, the file is read again at the new head and `make_text` asked again, at most
    `MAX_RETRIES` times, with waits in between. With `expected_head` a moved branch is a `MovedHeadError` instead. Every
    other failure is a `GitHubError`. `errors`: what bytes mean that are no UTF-8. `make_text` may raise `InputError`:
    then nothing is committed.
    """
    for attempt in range(MAX_RETRIES + 1):
        head = _head(repository, branch, expected_head)
        old = read_text(repository, head, path, errors)
        new = make_text(old)
        outcome = CommitOutcome("unchanged", branch, path, head, old, new, retries=attempt)
        if new is None or new == old:
            return outcome
        if dry_run:
            return _with(outcome, "would_commit")
        try:
            made = repository.create_commit(branch, head, message, {path: encoded(new)})
        except StaleError as error:
            if expected_head is not None:
                raise _moved(branch, expected_head) from None
            if attempt == MAX_RETRIES:
                advice = "Many runs write to it at once: give the workflow a `concurrency` group."
                raise GitHubError(None, f"{error.message} ({MAX_RETRIES + 1} times)", advice) from None
            repository.client.pause(attempt)
            continue
        return _with(outcome, "committed", made)
    raise AssertionError("the last attempt returns or raises")


def read_text(
    repository: RepositoryWriter, sha: str, path: str, errors: Literal["strict", "replace"] = "strict"
) -> str | None:
    """A file of a commit as text, `None` when there is none. Raises `InputError` when it is no UTF-8 but has to be."""
    data = repository.client.read_file(repository.name, sha, path, MAX_FILE_BYTES)
    if data is None:
        return None
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise wrong(path, f"isn't UTF-8: {error.reason}", "Save it as UTF-8.") from None


def encoded(text: str) -> str:
    """A text as the API takes a file's content."""
    return base64.b64encode(text.encode()).decode("ascii")


def baseline_message(path: str, headline: str, *lines: str) -> str:
    """The message of a commit of ours: a headline, sentences, and the trailer by which it is known again."""
    body = "".join(f"{_without_actions(line)}\n\n" for line in lines if line)
    return f"{headline}\n\n{body}{TRAILER}: {path}\n"


def _without_actions(text: str) -> str:
    """Others' words in a message that GitHub acts upon: no `[skip ci]`, no `fixes #1`, no mention, no trailer."""
    return _CLOSES.sub(r"\1 ", one_line(text).translate(_ACTED_UPON))


def has_trailer(message: str) -> bool:
    """True for messages that `baseline_message` made."""
    return any(line.startswith(f"{TRAILER}: ") for line in message.splitlines())


def only_baseline_pushed(repository: RepositoryWriter, before: str | None, after: str, path: str) -> bool:
    """True when a push brought one commit, and that changes nothing but the baseline.

    That is a commit of ours, the merge of a pull request of ours, or a baseline updated by hand: there is nothing new
    to measure, and measuring would only start the next round.
    """
    commit = repository.commit(after)
    first = commit.parents[0].sha if commit.parents else None
    return first is not None and first == before and [file.filename for file in commit.files] == [path]


def _head(repository: RepositoryWriter, branch: str, expected: str | None) -> str:
    head = repository.branch_head(branch)
    if head is None:
        raise GitHubError(404, f"There is no branch {branch!r} in {repository.name}.", "Name an existing branch.")
    if expected is not None and head != expected:
        raise _moved(branch, expected)
    return head


def _moved(branch: str, expected: str) -> MovedHeadError:
    message = f"The branch {branch!r} has moved on from {expected[:12]}, which was measured."
    return MovedHeadError(None, message, "Wait for the run on the new commit, look at its report, and accept that.")


def _with(
    outcome: CommitOutcome, action: Literal["committed", "would_commit"], made: NewCommit | None = None
) -> CommitOutcome:
    return CommitOutcome(
        action,
        outcome.branch,
        outcome.path,
        outcome.head,
        outcome.old,
        outcome.new,
        made.oid if made else None,
        made.url if made else "",
        outcome.retries,
    )
