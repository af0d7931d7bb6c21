"""Where the page may lead: to the repository that it is about, at the host of its own workflow run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from evalward.render.context import PageContext

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_IN_PATHS = "/?&=#._-"


@dataclass(frozen=True)
class Links:
    """Links to one repository; where it isn't known all of them are empty, and what they'd lead to is text."""

    site: str = ""
    repository: str = ""
    run: str = ""

    @classmethod
    def of(cls, context: PageContext) -> Links:
        """Those of a page. An address that isn't one of the repository leads nowhere."""
        parts = urlsplit(context.run_url or "")
        repository = context.repository or ""
        known = parts.scheme in {"https", "http"} and parts.netloc and "@" not in parts.netloc
        if not known or not _REPOSITORY.fullmatch(repository) or not parts.path.startswith(f"/{repository}/"):
            return cls()
        site = f"{parts.scheme}://{parts.netloc}"
        return cls(site, repository, site + quote(parts.path, safe=_IN_PATHS))

    def commit(self, sha: str | None) -> str:
        """The commit's page."""
        known = self.repository and sha and _COMMIT.fullmatch(sha)
        return f"{self.site}/{self.repository}/commit/{sha}" if known else ""
