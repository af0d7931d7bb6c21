"""What a judgement's renderer has to know besides the judgement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from evalward.render.escape import one_line

MAX_BASE = 60  # characters of a branch's name


class Accepting(Struct, frozen=True):
    """How to accept what changed: `text` in sentences, `command` for a shell, `comment` for a maintainer to write.

    `…` in backticks becomes code. All are empty where nothing can be accepted. `first` says what helps, where the check
    would fail with the new baseline, too.
    """

    text: str = ""
    command: str = ""
    comment: str = ""
    first: str = ""

    def __bool__(self) -> bool:
        return bool(self.text)


class Closing(Struct, frozen=True):
    """What a judgement's text ends with, beside the verdict: how to run what failed `again`, and a line of `files`."""

    again: str = ""
    files: str = ""


NO_CLOSING = Closing()


ShowCommand = Callable[[str, str | None, str | None], str]
"""The command that shows a case, from its id, and suite and target where these have to be named; empty: none does."""


CasesCommand = Callable[[Sequence[str]], str]
"""The command that runs these cases alone, from their ids."""


class PageContext(Struct, frozen=True):
    """Where the judgement comes from and what its reader can do next. Plain text; the renderers escape it.

    `command` reproduces the run, `cases` spells the one that runs some cases alone; `accept` says how to accept what
    changed. `marker` is the hidden HTML comment that the comment starts with. `unprotected`: the base has no
    configuration, so the pull request was judged by its own policy. `notes` are sentences that belong near the top.
    `base_ref` is the branch that a pull request was judged against, `base_sha` its commit. `show` spells the command
    that shows a case, `download` the one that fetches what it reads, where that isn't here. `edits` says what the pull
    request changes in what judges it, and comes first; `edit_lines` lists it.
    """

    title: str = "Evalward"
    head_sha: str | None = None
    base_ref: str | None = None
    base_sha: str | None = None
    run_url: str | None = None
    report_path: str | None = None
    command: str = ""
    cases: CasesCommand | None = None
    accept: Accepting = Accepting()
    repository: str | None = None
    marker: str = ""
    unprotected: bool = False
    notes: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    edit_lines: tuple[str, ...] = ()
    show: ShowCommand | None = None
    download: str = ""

    @property
    def base(self) -> str:
        """The base that judged, as in `main@abc1234`; empty where no branch did."""
        ref = one_line(self.base_ref or "", MAX_BASE)
        return f"{ref}@{self.base_sha[:7]}" if ref and self.base_sha else ref
