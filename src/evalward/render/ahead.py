"""What renders, loaded or compiled before somebody waits for it: Markdown and the page."""

from __future__ import annotations

from threading import Thread

from evalward.render import templates


def load_ahead() -> None:
    """Load what renders in a thread, while somebody else measures."""
    Thread(target=_load, daemon=True).start()


def _load() -> None:
    from evalward.render.html import document, page  # noqa: F401, PLC0415 - the page takes longest

    templates.environment()
    document.environment().get_template("report.html.j2")


def compile_templates() -> None:
    """Keep all of them compiled, for an image that nobody can write to later."""
    from evalward.render.html import document  # noqa: PLC0415 - an image is built with both

    for environment, suffix in (
        (templates.environment(), templates.MARKDOWN_SUFFIX),
        (document.environment(), document.SUFFIX),
    ):
        for name in environment.list_templates():
            if name.endswith(suffix):
                environment.get_template(name)
