"""`make screenshots`: the pictures in docs/, of the comment and of the page that the example's pull request gets.

The comment is rendered from its Markdown, in colours and sizes like GitHub's: the style is our own. Emoji are drawn
with the font Noto Color Emoji (OFL), which npm brings, so that the picture is the same on every machine.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args

from markdown_it import MarkdownIt

from support import warm
from support.browser.chromium import Scheme, chromium, visit
from support.git_repo import commit, init
from support.npm import file_of

REPOSITORY = Path(__file__).parents[3]
EXAMPLE = Path("examples/bash-tools")
SCENE = "regression"
MOST_BYTES = 300_000
PAGE_SIZE = (1400, 1180)
COMMENT_SIZE = (940, 860)
FONT = ("@fontsource/noto-color-emoji", "5.3.2", "files/noto-color-emoji-emoji-400-normal.woff2")
EMOJI = "U+23E9-23FA, U+26A0, U+2705, U+274C, U+2753-2757, U+1F000-1FAFF, U+FE0F"
"""The font has digits and spaces, too, which would be drawn as wide as faces."""
_ALERT = re.compile(r"<blockquote>\s*<p>\[!(\w+)\]\s*")


def example(folder: Path) -> Path:
    """What `check` writes for the example's pull request, in a repository of its own."""
    init(folder)
    shutil.copytree(REPOSITORY / EXAMPLE, folder / EXAMPLE)
    commit(folder, {"README.md": "An example.\n"})
    words = ["check", "--config", str(EXAMPLE / "pull-request.yml")]
    done = warm.evalward(*words, cwd=folder, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 1, done.stderr
    return folder / "evalward-out"


def random_model(folder: Path) -> Path:
    """The page of a model that is random, of the scene whose cases fail again when they are tried again."""
    folder.mkdir()
    show = [sys.executable, str(REPOSITORY / "examples/decisions/show.py"), SCENE]
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(show, cwd=folder, env=environment, check=True, capture_output=True)
    scene = Path("evalward-out/decisions", SCENE)
    words = ["compare", "--report", f"{scene}.json", "--baseline", f"{scene}-baseline.json", "--format", "html"]
    done = warm.evalward(*words, "--output", "report.html", cwd=folder, env=environment)
    assert done.returncode == 1, done.stderr
    return folder / "report.html"


def comment_page(markdown: str) -> str:
    """The comment as a page: tables, folds and alerts as GitHub has them."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    html = _ALERT.sub(_alert, reader.render(markdown))
    font = base64.b64encode(file_of(*FONT).read_bytes()).decode()
    source = f"src: url(data:font/woff2;base64,{font}); unicode-range: {EMOJI}"
    face = f"@font-face {{ font-family: 'Comment Emoji'; {source}; }}"
    style = Path(__file__).with_name("github.css").read_text("utf-8")
    return (
        f"<!doctype html><meta charset=utf-8><style>{face}{style}</style>"
        f"<div class=comment><div class=who><b>github-actions</b> commented now</div><div class=said>{html}</div></div>"
    )


def _alert(found: re.Match[str]) -> str:
    word = found[1].lower()
    return f'<blockquote class="alert {word}"><b>{word.capitalize()}</b><p>'


def picture(
    browser: Any, page: Path, target: Path, size: tuple[int, int], *, scheme: Scheme = "light", scale: float = 1
) -> None:
    """The top of a page as a PNG of at most `MOST_BYTES`."""
    width, height = size
    with visit(browser, page, scheme=scheme, width=width, height=height, scale=scale) as found:
        found.ask("document.fonts.ready.then(() => true)")
        found.page.screenshot(path=target)
    written = target.stat().st_size
    assert written <= MOST_BYTES, f"{target} has {written:,} bytes"
    print(f"{target.relative_to(REPOSITORY)}: {written:,} bytes")  # noqa: T201 - what `make` shows


def main() -> None:
    """Write all pictures."""
    warm.use()
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        output = example(Path(name) / "tools")
        for scheme in get_args(Scheme):
            picture(browser, output / "report.html", REPOSITORY / f"docs/report-{scheme}.png", PAGE_SIZE, scheme=scheme)
        random = random_model(Path(name) / "random")
        picture(browser, random, REPOSITORY / "docs/report-random.png", PAGE_SIZE, scheme="dark")
        comment = Path(name) / "comment.html"
        comment.write_text(comment_page((output / "comment.md").read_text("utf-8")), "utf-8")
        picture(browser, comment, REPOSITORY / "docs/comment.png", COMMENT_SIZE, scale=1.25)


if __name__ == "__main__":
    main()
