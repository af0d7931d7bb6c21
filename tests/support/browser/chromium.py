"""Chromium, driven by Playwright: the system's program, offline, with a record of all that a page did.

Playwright is in the extra `browser` and not among what every developer installs: with a Node of its own it has 165 MB.
`make browser-test` installs it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

VARIABLE = "EVALWARD_CHROMIUM"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
Scheme = Literal["light", "dark"]
PATIENCE_S = 30
WIDTHS = (360, 1400)
"""Pixels: a telephone, and the screen of who reviews."""

_REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`POLICY ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
});
"""


class NoBrowserError(Exception):
    """There is no Chromium here, or nothing that drives it; the message says how to get it."""


def program() -> Path:
    """Chromium on this machine. Raises `NoBrowserError`."""
    names = (os.environ.get(VARIABLE) or "", *PROGRAMS)
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        raise NoBrowserError(f"no Chromium: `apt-get install chromium`, or {VARIABLE} names the program")
    return Path(found)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser, as Playwright drives it, until the end of the block. Raises `NoBrowserError`."""
    executable = program()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoBrowserError("Playwright is not installed: `make browser-test` installs it") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that was opened from a file, and what it did meanwhile.

    `requests` are all but those that the page's policy forbade before they left the browser. `complaints` is everything
    in the console that is no plain message, errors of scripts and violations of the page's policy among them; `dialogs`
    what it asked the reader.
    """

    page: Any
    url: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Write down from now on what happens. The file itself is no request; the same file again is one."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", self._failed)
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("popup", lambda other: self.requests.append(f"popup {other.url}"))
        self.page.on("download", lambda download: self.requests.append(f"download {download.url}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", self._asked)

    def open(self, fragment: str = "") -> None:
        """Open the file, or its place of this fragment."""
        self.page.goto(self.url + fragment)

    def beyond_the_file(self) -> list[str]:
        """What was requested beside the page itself."""
        return [url for url in self.requests if url.partition("#")[0] != self.url]

    def one(self, selector: str) -> Any:
        """The element; there has to be exactly one."""
        found = self.page.locator(selector)
        assert found.count() == 1, f"{selector}: {found.count()}"
        return found

    def ask(self, script: str, argument: object = None) -> Any:
        """What a JavaScript expression gives in the page."""
        return self.page.evaluate(script, argument)

    def until(self, script: str, argument: object = None) -> None:
        """Wait until a JavaScript expression is true in the page.

        Playwright's own `wait_for_function` asks a second time from within the page, by `eval`, which the page's policy
        forbids: it fails whenever the first answer is not yet the right one.
        """
        end = time.monotonic() + PATIENCE_S
        while not self.ask(script, argument):
            assert time.monotonic() < end, f"not true within {PATIENCE_S} s: {script}"
            self.page.wait_for_timeout(20)

    def _failed(self, request: Any) -> None:
        if request.failure == "csp":
            self.requests.remove(request.url)

    def _heard(self, message: Any) -> None:
        if message.type in {"error", "warning", "assert"}:
            self.complaints.append(message.text)

    def _asked(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@contextmanager
def visit(
    browser: Any,
    file: Path,
    *,
    fragment: str = "",
    scheme: Scheme = "light",
    width: int = WIDTHS[1],
    height: int = 1000,
    scale: float = 1,
    scripts: bool = True,
    still: bool = True,
    lenient: bool = False,
) -> Iterator[Visit]:
    """The file in a window of its own. At the end nothing may have been requested beside it.

    `still`: the reader wants no motion. `lenient`: the page's policy doesn't hold, for tools that bring scripts.
    """
    context = browser.new_context(
        offline=True,
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme=scheme,
        reduced_motion="reduce" if still else "no-preference",
        java_script_enabled=scripts,
        bypass_csp=lenient,
        accept_downloads=False,
    )
    try:
        context.add_init_script(_REPORT_VIOLATIONS)
        found = Visit(context.new_page(), file.resolve().as_uri())
        found.watch()
        found.open(fragment)
        yield found
        assert found.beyond_the_file() == []
    finally:
        context.close()
