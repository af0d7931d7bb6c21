"""The words that start another harness: an id gets in as a part of one argument, or not at all."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.config.harness_words import (
    Filling,
    UnfitWordsError,
    filled,
    in_single_quotes,
    marks_in,
    split_words,
    unnameable,
)

INSPECT = "inspect eval bot.py --log-dir {dir} --sample-id {ids} --epochs {trials}"
ASSIGNED = "inspect eval bot.py --log-dir {dir} --sample-id={ids}"
PYTEST = ["pytest", "--junitxml={dir}/r.xml", "{id}"]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


def test_a_text_is_split_at_its_spaces__quotes_kept_together() -> None:
    assert split_words("run 'a b' c\\ d") == ["run", "a b", "c d"]
    assert split_words(["run", "a b", ""]) == ["run", "a b", ""]
    assert split_words("a | b > c", shell=True) == ["sh", "-c", "a | b > c"]
    with pytest.raises(ValueError, match="No closing quotation"):
        split_words("run 'a")


def test_placeholders_are_names_in_braces__and_neither_variables_nor_templates() -> None:
    assert marks_in("a {ids} b={dir}/x {ids} ${HOME} {{name}} {} {A} {1,2}") == ["ids", "dir"]


def test_ids_are_joined_by_commas__in_one_argument() -> None:
    words, env = filled(INSPECT, Filling(["a b", "c;d", "$(e)"], 3, "/tmp/x"))
    assert words == ["inspect", "eval", "bot.py", "--log-dir", "/tmp/x", "--sample-id", "a b,c;d,$(e)", "--epochs", "3"]
    assert env == {}


@pytest.mark.parametrize(
    ("case", "command", "why"),
    [
        ("-x", INSPECT, "option"),
        ("-x", ASSIGNED, None),
        ("-x", PYTEST, "option"),
        ("a,b", INSPECT, "comma"),
        ("a,b", PYTEST, None),
        ("a\nb", INSPECT, "line break"),
        ("a\nb", PYTEST, None),
        (" a", INSPECT, "outer spaces"),
        ("a b", INSPECT, None),
        ("a*", INSPECT, "are wildcards"),
        ("test.py::test_a[1-2]", INSPECT, "are wildcards"),
        ("test.py::test_a[1-2]", PYTEST, None),
        ("a\0b", PYTEST, "argument"),
        ("\ud800", PYTEST, "argument"),
        ("", PYTEST, "empty"),
        ("a" * 2001, PYTEST, "2000 characters"),
        ("-\0,*", "run --into {dir}", None),
    ],
)
def test_an_id_is_handed_over_where_the_words_allow_it(
    case: str, command: str | Sequence[str], why: str | None
) -> None:
    found = unnameable(case, command)
    assert (found is None) is (why is None)
    assert (why or "") in (found or "")
    if why is not None and "{i" in str(command):
        with pytest.raises(UnfitWordsError, match="the id"):
            filled(command, Filling([case], 1, "/tmp/x"))


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_whatever_ids_are_called__there_are_as_many_arguments_and_no_option_more(ids: list[str]) -> None:
    named = [case for case in ids if unnameable(case, INSPECT) is None]
    if not named:
        return
    words, _ = filled(INSPECT, Filling(named, 1, "/d"))
    plain, _ = filled(INSPECT, Filling(["x"], 1, "/d"))
    at = plain.index("x")
    assert words[:at] + words[at + 1 :] == plain[:at] + plain[at + 1 :]
    assert words[at].split(",") == named
    assert not words[at].startswith("-")


@pytest.mark.parametrize("text", ["printf '<%s>' {id}", 'printf "<%s>" "{id}"', 'printf "<%s>" a"{id}"'])
@given(case=TEXTS)
def test_in_a_shell_an_id_is_one_word_of_the_same_text(text: str, case: str) -> None:
    """Whatever of it a shell would take for something of its own is not handed over."""
    if unnameable(case, text, shell=True) is not None or "\0" in case:
        return
    words, env = filled(text, Filling([case]), shell=True)
    assert words == ["sh", "-c", text.replace("{id}", "${EVALWARD_ID}")]
    assert env == {"EVALWARD_ID": case}


@pytest.mark.parametrize("case", ["a@b", "#a", "a=b", "é/ü", "a:b.c", "a%+b"])
def test_a_shell_takes_nothing_of_an_id_for_its_own(case: str) -> None:
    words, env = filled("printf '<%s>' {id} x", Filling([case]), shell=True)
    done = subprocess.run(words, env=dict(env), capture_output=True, check=True)
    assert done.stdout.decode() == f"<{case}><x>"


@pytest.mark.parametrize(
    "case",
    [
        "a b",
        "a\tb",
        "-a",
        "a*",
        "a?",
        "[a]",
        "a\nb",
        "a$(b)",
        "a`b`",
        "a;b",
        "a&b",
        "a|b",
        "a>b",
        "'a'",
        '"a"',
        "a\\b",
        "~",
        "{a}",
        "!a",
    ],
)
def test_what_any_shell_would_take_for_its_own_is_not_handed_to_one(case: str) -> None:
    assert unnameable(case, "run {id}", shell=True) is not None


def test_in_single_quotes_nothing_is_replaced() -> None:
    assert in_single_quotes("a '{ids}' \"{dir}\" \"it's {id}\" \\' {trials} 'x' ''{id}") == ["ids"]


@pytest.mark.parametrize("folder", ["", "relative", "/a b", "/a/../b", "/a;b", "/a\nb", "/-x y", "/a/*"])
def test_a_folder_is_an_ordinary_absolute_path(folder: str) -> None:
    for shell in (False, True):
        with pytest.raises(UnfitWordsError, match="folder"):
            filled("run {dir}", Filling([], 1, folder), shell=shell)


@pytest.mark.parametrize(
    ("command", "filling", "why"),
    [
        ("run {id}", Filling(["a", "b"]), "one case"),
        ("run {ids}", Filling(), "no case"),
        ("run {idz}", Filling(["a"]), "is not a placeholder"),
    ],
)
def test_placeholders_without_a_value_are_refused(command: str, filling: Filling, why: str) -> None:
    with pytest.raises(UnfitWordsError, match=why):
        filled(command, filling)
