"""Where the page may lead: to the repository that it is about, at the host of its own workflow run."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from msgspec import Struct, structs

from evalward.render.context import PageContext

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_HOST = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?")
_IN_PATHS = "/?&=#._-"


class Links(Struct, frozen=True):
    """Links to one repository; where it isn't known all of them are empty, and what they'd lead to is text."""

    site: str = ""
    repository: str = ""
    run: str = ""

    @classmethod
    def of(cls, context: PageContext) -> Links:
        """Those of a page. An address that isn't one of the repository leads nowhere."""
        parts = urlsplit(context.run_url or "")
        found = cls.at(f"{parts.scheme}://{parts.netloc}/{context.repository or ''}")
        if not parts.path.startswith(f"/{found.repository}/"):
            return cls()
        return structs.replace(found, run=found.site + quote(parts.path, safe=_IN_PATHS)) if found.repository else found

    @classmethod
    def at(cls, address: str) -> Links:
        """Those of the repository at a web address, such as `https://github.com/owner/name`; none for anything else."""
        parts = urlsplit(address.removesuffix("/").removesuffix(".git"))
        repository = parts.path.removeprefix("/")
        known = parts.scheme in {"https", "http"} and _HOST.fullmatch(parts.netloc) and not parts.query + parts.fragment
        if not known or not _REPOSITORY.fullmatch(repository):
            return cls()
        return cls(f"{parts.scheme}://{parts.netloc}", repository)

    def commit(self, sha: str | None) -> str:
        """The commit's page."""
        known = self.repository and sha and _COMMIT.fullmatch(sha)
        return f"{self.site}/{self.repository}/commit/{sha}" if known else ""
