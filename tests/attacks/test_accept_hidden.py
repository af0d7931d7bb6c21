"""A command to accept that a maintainer pastes without seeing it, or that they only quote: it asks for nothing."""

from __future__ import annotations

import pytest

from evalward.github.accept import read_comment
from evalward.github.spoken import find_command
from support.github_events import issue_comment

ORDER = "/evalward accept it is fine"
HIDDEN = {
    "a comment": f"Looks good.\n\n<!--\n{ORDER}\n-->\n",
    "a comment with blank lines": f"<!-- a template\n\n{ORDER}\n\n-->\nThanks.",
    "a comment that is never closed": f"Thanks. <!--\n\n{ORDER}",
    "a comment in a comment": f"<!-- <!--\n{ORDER}\n-->",
    "a comment behind a closed one": f"<!-- a --> <!--\n{ORDER}\n-->",
    "a comment behind text in code": f"`<!--`\n\n```\n-->\n\n{ORDER}\n```",
    "a comment in a list": f"- <!--\n\n{ORDER}\n\n-->",
    "a comment whose end is a fence's": f"<!--\n```\n-->\n```\n{ORDER}\n```",
    "a question mark's block": f"<?\n\n{ORDER}\n\n?>",
    "a declaration": f"<!X\n\n{ORDER}\n>",
    "details": f"<details><summary>log</summary>\n\n{ORDER}\n\n</details>",
    "details in capitals": f"<DETAILS>\n\n{ORDER}\n",
    "details over two lines": f"<details\n>\n\n{ORDER}\n</details>",
    "details that code seems to close": f"<details>\n\n`</details>`\n\n{ORDER}\n",
    "a hidden paragraph": f"<p hidden>\n\n{ORDER}\n",
    "a picture's text": f"![\n{ORDER}\n](https://example.org/x.png)",
    "a link's title": f'[a](https://example.org "\n{ORDER}\n")',
    "a link's definition": f"[a]: https://example.org '\n{ORDER}\n'",
    "a footnote that nobody names": f"[^1]: see\n{ORDER}",
    "a code block": f"```\n{ORDER}\n```",
    "a code block of waves": f"~~~ sh\n{ORDER}\n~~~",
    "a code block, indented": f"  ```\n{ORDER}\n  ```",
    "a code block behind a list's": f"- a\n  ```\n```\n{ORDER}\n```",
    "a code block behind what is none": f"``` a`b\n```\n{ORDER}\n```",
    "a code block with an indented end": f"```\n    ```\n{ORDER}\n```",
    "a code block behind another line end": f"a\r```\n{ORDER}\n```",
    "code over several lines": f"`a\n{ORDER}\nb`",
    "a quote": f"> {ORDER}",
    "a quote that goes on": f"> they wrote\n{ORDER}",
    "a quote in a list that goes on": f"- > they wrote\n{ORDER}",
    "an indented line": f"    {ORDER}",
    "a formula": f"$$\n{ORDER}\n$$",
}
SEEN = {
    "alone": ORDER,
    "behind a sentence": f"Thank you!\n{ORDER}",
    "behind a template's comment": f"<!-- Say why. -->\n{ORDER}",
    "behind a comment of several lines": f"<!--\nSay why.\n-->\n{ORDER}",
    "behind a code block": f"```\nx\n```\n{ORDER}",
    "behind a quote and a blank line": f"> they wrote\n\n{ORDER}",
    "behind a list": f"- a\n- b\n\n{ORDER}",
    "with line ends of another kind": f"Thanks.\r\n\r\n{ORDER}\r\n",
    "before a quote": f"{ORDER}\n\n> they wrote",
    "before details": f"{ORDER}\n<details>",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden__asks_for_nothing(name: str) -> None:
    assert read_comment(issue_comment(HIDDEN[name])) is None


@pytest.mark.parametrize("name", SEEN)
def test_seen__counts(name: str) -> None:
    assert find_command(SEEN[name]) == "it is fine"
