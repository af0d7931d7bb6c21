"""Untrusted text stays text, wherever it is put."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable

import markupsafe
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalward.render import escape
from support.hostile import EVERYTHING, SNIPPETS
from support.markdown import rendered, tags

Escape = Callable[[str], str]

ANY = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=4)), max_size=8).map("".join),
    st.lists(st.sampled_from(SNIPPETS), max_size=8).map(" ".join),
)
PUNCTUATION = st.text(st.sampled_from("`|\\*_[]<>#-+=~!()@:.& \na1"), max_size=14)
HOSTILE = st.one_of(ANY, PUNCTUATION)

HARMLESS_CONTEXTS = {
    "paragraph": ("{}\n", ["p", "/p"]),
    "heading": ("### {}\n", ["h3", "/h3"]),
    "item": ("- {}\n", ["ul", "li", "/li", "/ul"]),
    "alert": ("> {}\n", ["blockquote", "p", "/p", "/blockquote"]),
    "second line": ("x<br>\n{}\n", ["p", "br", "/p"]),
}


@pytest.mark.parametrize("place", HARMLESS_CONTEXTS)
@pytest.mark.parametrize("function", [escape.md_cell, escape.md_prose, escape.md_code])
@given(text=HOSTILE)
def test_sentence__nothing_but_text(function: Escape, place: str, text: str) -> None:
    pattern, expected = HARMLESS_CONTEXTS[place]

    document = rendered(pattern.format("x " + function(text)))

    assert document.elements == expected
    assert document.links() == []
    assert set(document.comments) <= {" "}


@pytest.mark.parametrize("function", [escape.md_cell, escape.md_prose])
@given(text=HOSTILE)
def test_line_of_its_own__opens_no_block(function: Escape, text: str) -> None:
    document = rendered(f"text\n\n{function(text)}\n\ntext\n")

    assert set(document.elements) <= {"p", "/p"}
    assert document.links() == []


@pytest.mark.parametrize("function", [escape.md_cell, escape.md_prose, escape.md_code])
@given(text=HOSTILE)
def test_table_cell__stays_one_cell(function: Escape, text: str) -> None:
    document = rendered(f"| a | b |\n|---|---|\n| {function(text)} | end |\n")

    assert tags(document, ["td"]) == ["td", "/td", "td", "/td"]
    assert set(document.elements) <= {
        f"{end}{tag}" for tag in ("table", "thead", "tbody", "tr", "th", "td") for end in ("", "/")
    }
    assert document.text.rstrip().endswith("end")
    assert document.links() == []


@given(text=HOSTILE)
def test_cell__shows_every_character(text: str) -> None:
    document = rendered(escape.md_cell(text, 10_000))

    assert document.text.strip("\n") == escape.one_line(text)


@given(text=HOSTILE)
def test_code__shows_every_character(text: str) -> None:
    document = rendered("x " + escape.md_code(text, 10_000))
    shown = document.text.removeprefix("x ").rstrip("\n").replace("\xa0", " ")

    plain = re.sub(r"\n+", " ↵ ", escape.plain(text).strip("\n")).replace("\t", " ").replace("\xa0", " ")
    assert shown.strip() == (plain.strip() or ("" if plain else "(empty)"))


@given(text=HOSTILE)
def test_block__is_one_block(text: str) -> None:
    document = rendered(f"- item\n\n  {escape.md_block(text, 200, 'bash').replace(chr(10), chr(10) + '  ')}\n\nend\n")

    assert tags(document, ["pre"]) == ["pre", "/pre"]
    assert document.elements[-2:] == ["p", "/p"]
    assert document.outside[-1].strip() == "end" or document.text.rstrip().endswith("end")
    assert len(document.codes) == 1


@given(text=HOSTILE)
def test_html__is_text(text: str) -> None:
    document = rendered(f"<details><summary>{escape.html_code(text)}</summary>\n\nbody\n\n</details>\n")

    assert document.elements == ["details", "summary", "/summary", "p", "/p", "/details"]
    assert document.links() == []
    assert html.unescape(escape.html_text(text)) == escape.plain(text)


@given(text=HOSTILE)
@example("\x1b[31mred\x1b[0m")
@example("\x9b31m")
@example("\x1b]0;title\x07")
def test_plain__only_visible_characters(text: str) -> None:
    shown = escape.plain(text)

    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]", shown
    )
    assert escape.plain(shown) == shown


@given(text=HOSTILE)
def test_workflow_command__is_one_line(text: str) -> None:
    assert "\n" not in escape.workflow_data(text)
    assert not set("\r\n:,") & set(escape.workflow_property(text))


@given(text=HOSTILE)
def test_log__holds_no_workflow_command(text: str) -> None:
    log = escape.log_text(escape.plain(text))

    assert not re.search(r"^\s*::", log, re.MULTILINE)
    assert "##[" not in log


def test_workflow_data__escapes_as_the_runner_expects() -> None:
    assert escape.workflow_data("50 %\nnext") == "50 %25%0Anext"
    assert escape.workflow_property("a:b,c") == "a%3Ab%2Cc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tool_call_success_rate fell", "tool_call_success_rate fell"),
        ("8.3 pp (81.2 % → 72.9 %)", "8.3 pp (81.2 % → 72.9 %)"),
        ("thanks (@octocat), see #1.", "thanks (`@octocat`), see `#1`."),
        ("it cost $0.50; not $x", "it cost &#36;0.50; not `$x`"),
        ("a|b <b> & *c*", r"a&#124;b &lt;b&gt; &amp; \*c\*"),
        ("[^1] [x](y)", r"\[\^1\] \[x\](y)"),
        ("1. first", r"1\. first"),
        ("- first", r"\- first"),
        ("_private and __init__", r"\_private and \_\_init\_\_"),
        ("two\n\nlines", "two lines"),
        ("case-12 of gpt-5", "case-12 of gpt-5"),
    ],
)
def test_cell__is_readable(text: str, shown: str) -> None:
    assert escape.md_cell(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la", "`ls -la`"),
        ("echo `date`", "`` echo `date` ``"),
        ("`x", "`` `x ``"),
        ("a\nb", "`a ↵ b`"),
        ("", "(empty)"),
        ("  ", "<code>&#160;&#160;</code>"),
        ("a|b", "<code>a&#124;b</code>"),
    ],
)
def test_code__is_readable(text: str, shown: str) -> None:
    assert escape.md_code(text) == shown


def test_prose__sets_backticks_as_code() -> None:
    assert escape.md_prose("Run `evalward run --suite a|b` now.") == (
        "Run <code>evalward run &#45;&#45;suite a&#124;b</code> now."
    )
    assert escape.md_prose("an odd ` stays") == r"an odd \` stays"
    assert escape.md_prose("`a`@bob") == "`a` `@bob`"


def test_limits__cut_with_an_ellipsis() -> None:
    assert escape.md_cell("z" * 200, 10) == "z" * 9 + "…"
    assert escape.md_code("a" * 200, 10) == "`" + "a" * 9 + "…`"
    assert escape.plain("abcdef", 3) == "ab…"


def test_limits__cut_between_words_unless_a_word_is_long() -> None:
    words = "the last call printed something else than what was expected"
    assert [escape.md_cell(words, limit) for limit in (22, 23, 31)] == [
        "the last call printed…",
        "the last call printed…",
        "the last call printed…",
    ]
    assert escape.one_line(words, 35) == "the last call printed something…"
    assert escape.one_line("printed " + "x" * 100, 60) == "printed " + "x" * 51 + "…"
    assert escape.plain("one two\nthree four", 13) == "one two…"


@given(st.text(max_size=60), st.integers(1, 30))
def test_limits__what_is_left_is_a_beginning(text: str, limit: int) -> None:
    whole, cut = escape.one_line(text), escape.one_line(text, limit)
    assert len(cut) <= limit
    assert cut == whole or whole.startswith(cut.removesuffix("…"))


def test_limits__hold_for_very_long_texts() -> None:
    text = "\u200b" * 5000 + "x" * 100_000

    assert escape.md_cell(text, 10) == "…"
    assert len(escape.md_cell("x" * 10_000_000)) == 120
    assert "more characters)" in escape.md_block(text, 10)


def test_block__says_what_it_cut() -> None:
    assert escape.md_block("a" * 30, 10) == "```\n" + "a" * 10 + "\n… (20 more characters)\n```"
    assert len(escape.md_block("\n".join("abc"[:1] for _ in range(500))).split("\n")) == 40 + 3


def test_block__fence_is_longer_than_any_inside() -> None:
    assert escape.md_block("````", language="ba`sh\n").startswith("`````bash\n")


def test_plain__keeps_emoji_and_drops_piles_of_marks() -> None:
    assert escape.plain("⚠️ ok") == "⚠️ ok"
    assert escape.plain("e" + "\u0301" * 9) == "e" + "\u0301" * 3
    assert escape.plain("a\x00b\tc\r\nd") == "a\ufffdb\tc\nd"


@pytest.mark.parametrize("snippet", [*SNIPPETS, EVERYTHING])
def test_html_shown__leaves_nothing_that_cannot_be_seen(snippet: str) -> None:
    shown = escape.html_shown(snippet)

    assert all(char in "\n\t\ufe0f" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co"} for char in shown)
    assert shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain <b>", "plain <b>"),
        ("é漢字🎉 ⚠️", "é漢字🎉 ⚠️"),
        ("two\r\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m\x00\x7f", "␛[31mred␛[0m␀␡"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("a\u200bb\x9b", "a⟨U+200B⟩b⟨U+009B⟩"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "⟨U+0301⟩" * 2),
    ],
)
def test_html_shown__shows_what_would_not_be_seen(text: str, shown: str) -> None:
    assert escape.html_shown(text) == shown


@pytest.mark.parametrize("char", [chr(code) for code in (*range(0xC0, 0x250), ord("·"), ord("…"), ord("–"), ord("—"))])
def test_html_shown__letters_that_are_not_looked_at_can_be_seen(char: str) -> None:
    assert unicodedata.category(char) in {"Lu", "Ll", "Lo", "Lt", "Sm", "Po", "Pd"}  # no mark, and nothing unseen
    assert escape.html_shown(f"a{char}\u0301\u202e") == f"a{char}\u0301⟨U+202E⟩"


@given(text=ANY)
def test_html_element__is_what_jinja_makes_of_shown_text(text: str) -> None:
    assert escape.html_element(text) == str(markupsafe.escape(escape.html_shown(text)))


@pytest.mark.parametrize("text", ["<script>alert('x')</script>", '"><img onerror=x>', "&amp;", *SNIPPETS, EVERYTHING])
def test_html_element__is_no_markup(text: str) -> None:
    made = escape.html_element(text)

    assert not set("<>\"'") & set(made)
    assert html.unescape(made) == escape.html_shown(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "'2030-11-03,NO-118,\"Transfer from 220\"\\n' isn't in it; it reads 'a b', 'GH-1 c'.",
            "`'2030-11-03,NO-118,\"Transfer from 220\"\\n'` isn't in it; it reads 'a b', `'GH-1 c'`.",
        ),
        ("('a@b c')", "(`'a@b c'`)"),
        ("it isn't a@b's", "it isn't `a@b's`"),
        ("'never ended a@b", "'never ended `a@b`"),
    ],
)
def test_cell__what_is_quoted_stays_together(text: str, shown: str) -> None:
    assert escape.md_cell(text) == shown
