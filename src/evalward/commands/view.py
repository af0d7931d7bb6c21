"""`evalward view`: open the page of the last run in a browser."""

from __future__ import annotations

import sys
from pathlib import Path

from evalward.commands.emitting import emit
from evalward.commands.files import report_in
from evalward.commands.spelling import spelled
from evalward.commands.world import World
from evalward.records.exits import EXIT_OK
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE
from evalward.render.outputs.base import HTML_FILE

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def view(world: World, report: Path) -> int:
    """Open the page that lies beside a report, or that is named itself. Its path is printed in any case.

    Raises `InputError` where there is none.
    """
    report = report_in(world.cwd, report)
    named = report.suffix == ".html"
    page = world.cwd / (report if named else report.parent / HTML_FILE)
    if not page.is_file():
        source, output = (report.with_name(REPORT_FILE), report) if named else (report, report.parent / HTML_FILE)
        command = spelled(["evalward", "report", str(source), "--format", "html", "--output", str(output)])
        remedy = f"`evalward check` writes it; `{command}` makes one."
        raise wrong(str(page), "there is no such page", remedy)
    emit(world, str(page), None)
    if has_display(world) and not open_page(page):
        world.say("No browser could be started: open the file yourself.")
    return EXIT_OK


def has_display(world: World) -> bool:
    """Whether there is a screen on which a browser could show something."""
    if sys.platform in {"darwin", "win32"}:
        return not world.env.get("SSH_CONNECTION")
    return any(world.env.get(name) for name in _DISPLAYS)


def open_page(page: Path) -> bool:
    """Have a browser open a page. False where none could be started."""
    import webbrowser  # noqa: PLC0415 - only who has a display pays for it

    return webbrowser.open(page.absolute().as_uri())
