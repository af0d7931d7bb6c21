"""axe-core, which finds what people with assistive technology can't use. npm brings it; it is MPL-2.0 and stays out of here."""

from __future__ import annotations

import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path

from support.browser.chromium import Visit
from support.needs import missing
from support.npm import UnavailableError, cache_folder, pack

PACKAGE, VERSION = "axe-core", "4.14.1"
_MEMBER = "package/axe.min.js"

_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.flatMap((violation) => violation.nodes.map((node) =>
    `${violation.id}: ${node.target.join(" ")} | ${node.html.slice(0, 160)} | ${node.failureSummary}`));
}"""


@lru_cache(maxsize=1)
def source() -> str:
    """The program's text. A test that needs it ends here where npm can't bring it."""
    kept = cache_folder() / f"{PACKAGE}-{VERSION}.js"
    if not kept.exists():
        try:
            _fetch(kept)
        except UnavailableError as error:
            missing("npm", error)
    return kept.read_text("utf-8")


def _fetch(kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        with tarfile.open(pack(PACKAGE, VERSION, Path(folder))) as archive:
            file = archive.extractfile(_MEMBER)
            assert file is not None
            found = Path(folder) / "axe.js"
            found.write_bytes(file.read())
        found.replace(kept)


def violations(visit: Visit) -> list[str]:
    """What axe has against the page as it stands, by all of its rules. The visit has to be `lenient`."""
    visit.page.add_script_tag(content=source())
    found: list[str] = visit.ask(_RUN)
    return found
