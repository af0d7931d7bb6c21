"""The document: what it may load, and how texts and data get into it."""

import base64
import json
import re
from hashlib import sha256

import pytest
from markupsafe import Markup

from evalward.render.html.document import SCRIPTS, STYLES, DataBlock, document, environment, prose
from evalward.render.outputs import ShownJudgement, text_of
from support.hostile import EVERYTHING, SNIPPETS
from support.judgements import context, failed


def test_the_policy__allows_the_style_and_the_scripts_of_the_document_and_nothing_else() -> None:
    text = text_of("html", ShownJudgement(failed(), context()))
    policy = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)

    def hashes(texts: list[str]) -> str:
        found = [base64.b64encode(sha256(each.encode()).digest()).decode() for each in texts]
        return " ".join(f"&#39;sha256-{each}&#39;" for each in found)

    assert (len(styles), len(scripts)) == (len(STYLES), len(SCRIPTS))
    assert policy == [
        f"default-src &#39;none&#39;; style-src {hashes(styles)}; script-src {hashes(scripts)}; "
        "require-trusted-types-for &#39;script&#39;; trusted-types &#39;none&#39;; "
        "base-uri &#39;none&#39;; form-action &#39;none&#39;"
    ]


@pytest.mark.parametrize("text", [EVERYTHING, *SNIPPETS])
def test_data__is_what_scripts_read_and_can_end_no_element(text: str) -> None:
    block = DataBlock("trials", {text: [text]})

    assert json.loads(block.json) == {text: [text]}
    assert not set(block.json) & set("<>&\u2028\u2029\ud800")


@pytest.mark.parametrize("text", [EVERYTHING, *SNIPPETS])
def test_a_text__is_a_text_wherever_a_template_puts_it(text: str) -> None:
    made = environment().from_string('<p title="{{ text }}">{{ text }}</p>{{ text | prose }}').render(text=text)

    assert not re.search(r"<(?!/?p\b|/?code>)", made)
    assert made.count('"') == 2
    assert not set(made) & set("\x00\x07\x1b\x9b\u202e\u202c\u2066\u2069\u200b\u200d\ufeff\u2028\ud800")


def test_a_sentence__sets_what_is_in_backticks_as_code() -> None:
    assert prose("`a<b` fell & `c`; an odd ` is one") == Markup(
        "<code>a&lt;b</code> fell &amp; <code>c</code>; an odd ` is one"
    )


def test_a_document__is_the_same_for_the_same_arguments() -> None:
    shown = ShownJudgement(failed(), context())

    assert text_of("html", shown) == text_of("html", shown)


def test_a_document_without_scripts__allows_none() -> None:
    text = document("document.html.j2", scripts=False)

    assert "script-src &#39;none&#39;" in text
    assert "<script" not in text
