"""axe-core, which finds what people with assistive technology can't use.

npm brings it; it is licensed under the MPL-2.0, and no copy of it is kept here.
"""

from __future__ import annotations

from support.browser.chromium import Visit
from support.needs import missing
from support.npm import UnavailableError, file_of

PACKAGE, VERSION = "axe-core", "4.14.1"

_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.flatMap((violation) => violation.nodes.map((node) =>
    `${violation.id}: ${node.target.join(" ")} | ${node.html.slice(0, 160)} | ${node.failureSummary}`));
}"""


def source() -> str:
    """The program's text. A test that needs it ends here where npm can't bring it."""
    try:
        return file_of(PACKAGE, VERSION, "axe.min.js").read_text("utf-8")
    except UnavailableError as error:
        missing("npm", error)


def violations(visit: Visit) -> list[str]:
    """What axe has against the page as it stands, by all of its rules. The visit has to be `lenient`."""
    visit.page.add_script_tag(content=source())
    found: list[str] = visit.ask(_RUN)
    return found
