"""Every check of the specification, as vectors: what is there, what is asked, does it hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.trace import ToolCall
from evalward.suites.bash.checks import FORMS, ParsedCheck, evaluate, parse_check
from evalward.suites.re2_pattern import compiled
from support.cases import call, evidence
from support.patience import little_work

OK = call("hello\n")
TWO = [call("one: 1\n"), call("two\n", "warn\n", 3)]

CALL_VECTORS: list[tuple[str, list[ToolCall], bool]] = [
    # exit_code: the last call only, −1 without any
    ("exit_code:0", [OK], True),
    ("exit_code:1", [OK], False),
    ("exit_code:3", TWO, True),
    ("exit_code:0", TWO, False),
    ("exit_code:0", [TWO[1], OK], True),
    ("exit_code:0", [], False),
    ("exit_code:-1", [], True),
    ("exit_code:-1", [OK], False),
    ("exit_code:+0", [OK], True),
    ("exit_code:127", [call(exit_code=127)], True),
    # stdout_contains: some call, text as it stands
    ("stdout_contains:hello", [OK], True),
    ("stdout_contains:Hello", [OK], False),
    ("stdout_contains:one", TWO, True),
    ("stdout_contains:two", TWO, True),
    ("stdout_contains:warn", TWO, False),
    ("stdout_contains:one: 1", TWO, True),
    ("stdout_contains:a:b:c", [call("xa:b:cx")], True),
    ("stdout_contains: hello", [OK], False),
    ("stdout_contains:1\ntwo", TWO, False),
    ("stdout_contains:", [OK], True),
    ("stdout_contains:", [call("")], True),
    ("stdout_contains:", [], False),
    ("stdout_contains:.*", [OK], False),
    ("stdout_contains:ü", [call("grün")], True),
    # stdout_regex: some call, RE2, found anywhere
    ("stdout_regex:h.l+o", [OK], True),
    ("stdout_regex:^hello$", [OK], False),
    ("stdout_regex:(?m)^hello$", [OK], True),
    (r"stdout_regex:^one: \d$", TWO, False),
    (r"stdout_regex:^one: \d\n$", TWO, True),
    ("stdout_regex:(?i)HELLO", [OK], True),
    ("stdout_regex:", [call("")], True),
    ("stdout_regex:x", [], False),
    ("stdout_regex:", [], False),
    ("stdout_regex:gr.n", [call("grün")], True),
    ("stdout_regex:a.b", [call("a\0b")], True),
    ("stdout_regex:a:b", [call("a:b")], True),
    # stderr_empty: every call
    ("stderr_empty", [OK], True),
    ("stderr_empty", TWO, False),
    ("stderr_empty", [TWO[1], OK], False),
    ("stderr_empty", [call(stderr=" ")], False),
    ("stderr_empty", [], True),
    # tool_calls_min and tool_calls_max: the boundary holds
    ("tool_calls_min:2", TWO, True),
    ("tool_calls_min:3", TWO, False),
    ("tool_calls_min:0", [], True),
    ("tool_calls_min:1", [], False),
    ("tool_calls_max:2", TWO, True),
    ("tool_calls_max:1", TWO, False),
    ("tool_calls_max:0", [], True),
    # llm_judge: passes unseen
    ("llm_judge:Is it polite?", [OK], True),
    ("llm_judge:", [], True),
]


@pytest.mark.parametrize(("check", "calls", "holds"), CALL_VECTORS, ids=lambda value: repr(value)[:40])
def test_checks_of_calls(check: str, calls: list[ToolCall], holds: bool) -> None:
    found = evaluate(check, 1.0, evidence(*calls))
    assert (found.passed, found.check) == (holds, check)
    assert found.detail


FILES = {
    "/w/a.txt": b"alpha: 1\nbeta\n",
    "/w/empty": b"",
    "/w/latin1": b"gr\xfcn\n",
    "/w/zero": b"a\0b",
    "/w/crlf": b"one\r\ntwo\r\n",
    "notes.md": b"relative\n",
    "/w/a:b": b"colon in the name",
}
FILE_VECTORS = [
    ("file_exists:/w/a.txt", True),
    ("file_exists:/w/empty", True),
    ("file_exists:/w", True),  # true for folders too
    ("file_exists:/w/b.txt", False),
    ("file_exists:notes.md", True),
    ("file_exists:/w/a:b", True),  # a path may have a colon where no text follows it
    ("dir_exists:/w", True),
    ("dir_exists:/w/a.txt", False),
    ("dir_exists:/nowhere", False),
    ("file_contains:/w/a.txt:alpha: 1", True),
    ("file_contains:/w/a.txt:1\nbeta", True),
    ("file_contains:/w/a.txt:gamma", False),
    ("file_contains:/w/a.txt:", True),
    ("file_contains:/w/empty:", True),
    ("file_contains:/w/empty:x", False),
    ("file_contains:/nowhere:", False),
    ("file_contains:/w:a", False),
    ("file_contains:notes.md:relative", True),
    ("file_contains:/w/latin1:gr", True),  # bytes that are no UTF-8 don't hide the others
    ("file_contains:/w/latin1:ü", False),
    ("file_contains:/w/latin1:\ufffd", True),
    ("file_contains:/w/zero:\0", True),
    ("file_line_regex:/w/a.txt:^beta$", True),
    ("file_line_regex:/w/a.txt:^alpha: [0-9]$", True),
    ("file_line_regex:/w/a.txt:1.beta", False),  # no line goes over its end
    ("file_line_regex:/w/crlf:^two$", True),
    ("file_line_regex:/w/empty:", False),
    ("file_line_regex:/nowhere:x", False),
    ("file_line_regex:/w:x", False),
]


@pytest.mark.parametrize(("check", "holds"), FILE_VECTORS)
def test_checks_of_files(check: str, holds: bool) -> None:
    found = evaluate(check, 2.0, evidence(files=FILES, folders=["/w"]))
    assert (found.passed, found.weight) == (holds, 2.0)


@pytest.mark.parametrize(
    ("check", "detail"),
    [
        ("exit_code:0", "expected 0, got 3"),
        ("stdout_contains:zzz", "'zzz' is in no call's stdout; the last call printed 'two'"),
        ("stdout_regex:zzz", "no call's stdout matches; the last call printed 'two'"),
        ("stderr_empty", "stderr has 'warn'"),
        ("tool_calls_min:3", "2 calls, at least 3 wanted"),
        ("tool_calls_max:1", "2 calls, at most 1 allowed"),
        ("file_exists:/x", "there is nothing at this path"),
        ("dir_exists:/w/a.txt", "there is a file at this path, no directory"),
        ("file_contains:/w:x", "there is a directory at this path, no file"),
        ("file_contains:/x:x", "there is no such file"),
        ("file_contains:/w/a.txt:zzz", "'zzz' isn't in it; it reads 'alpha: 1\\nbeta'"),
    ],
)
def test_a_failing_check_says_what_is_there_instead(check: str, detail: str) -> None:
    assert evaluate(check, 1.0, evidence(*TWO, files=FILES, folders=["/w"])).detail == detail


@pytest.mark.parametrize("check", ["exit_code:0", "stdout_contains:x", "stdout_regex:x"])
def test_without_a_call_the_detail_says_so(check: str) -> None:
    assert "no tool call was made" in evaluate(check, 1.0, evidence()).detail


def test_details_are_short_however_much_was_printed() -> None:
    much = call("x" * 1_000_000, "y" * 1_000_000)
    for check in ("stdout_contains:z", "stdout_regex:z", "stderr_empty", "stdout_contains:" + "z" * 100_000):
        assert len(evaluate(check, 1.0, evidence(much)).detail) < 400


# --- weights and what can't be read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("check", ["nonsense", "exit_code:many", "stdout_regex:(", "stderr_empty:x", ""])
def test_a_check_that_cant_be_read_fails_with_its_weight(check: str) -> None:
    found = evaluate(check, 2.5, evidence(OK))
    assert (found.passed, found.weight) == (False, 2.5)


def test_a_judge_check_has_no_weight() -> None:
    assert evaluate("llm_judge:nice?", 3.0, evidence(OK)).weight == 0.0


@given(st.text(max_size=60), st.sampled_from(["", *(f"{name}:" for name in FORMS)]))
def test_any_text_is_a_check_or_a_failed_one(text: str, name: str) -> None:
    found = evaluate(name + text, 1.0, evidence(OK, files=FILES, folders=["/w"]))
    assert found.detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit_cod:0", "unknown check 'exit_cod'. Did you mean exit_code?"),
        ("Exit_code:0", "unknown check 'Exit_code'. Did you mean exit_code?"),
        (" exit_code:0", "unknown check ' exit_code'. Did you mean exit_code?"),
        ("stdout_contain:x", "unknown check 'stdout_contain'. Did you mean stdout_contains?"),
        ("stderr_emty", "unknown check 'stderr_emty'. Did you mean stderr_empty?"),
        ("qqq", "unknown check 'qqq'. Known checks: exit_code, stdout_contains"),
        ("", "unknown check ''. Known checks: "),
        (":x", "unknown check ''"),
        ("exit_code", "'exit_code' needs an argument: exit_code:N"),
        ("file_contains", "'file_contains' needs an argument: file_contains:/path:text"),
        ("stderr_empty:", "'stderr_empty' takes no argument"),
        ("stderr_empty:yes", "'stderr_empty' takes no argument"),
        ("exit_code:", "'' is not a whole number"),
        ("exit_code:zero", "'zero' is not a whole number"),
        ("exit_code: 0", "' 0' is not a whole number"),
        ("exit_code:1_0", "'1_0' is not a whole number"),
        ("exit_code:１", "'１' is not a whole number"),
        ("exit_code:0.0", "'0.0' is not a whole number"),
        ("exit_code:" + "9" * 5000, "is not a whole number"),
        ("tool_calls_min:-1", "'-1' is negative"),
        ("tool_calls_max:-2", "'-2' is negative"),
        ("file_exists:", "the path is empty"),
        ("dir_exists:", "the path is empty"),
        ("file_contains:/a", "needs a path and a text: /path:text"),
        ("file_contains::x", "needs a path and a text: /path:text"),
        ("file_line_regex:/a", "needs a path and a text: /path:text"),
        ("stdout_regex:(", "'(' is not an RE2 pattern: missing )"),
        ("stdout_regex:(?=x)", "'(?=x)' is not an RE2 pattern: invalid perl operator"),
        (r"stdout_regex:(a)\1", "is not an RE2 pattern: invalid escape sequence"),
        ("stdout_regex:(a{1000}){1000}", "is not an RE2 pattern: invalid repetition size"),
        ("stdout_regex:[b-a]", "is not an RE2 pattern: invalid character class range"),
        ("file_line_regex:/a:*", "is not an RE2 pattern: no argument for repetition operator"),
        ("stdout_regex:a\ud800", "half a character"),
    ],
)
def test_the_message_says_what_is_wrong_with_a_check(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        parse_check(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_path_ends_at_the_first_colon_and_the_text_keeps_its_own() -> None:
    assert parse_check("file_contains:/a:b:c") == ParsedCheck("file_contains", ("/a", "b:c"))
    assert parse_check("stdout_contains:b:c") == ParsedCheck("stdout_contains", ("b:c",))


def test_a_pattern_too_large_to_compile_is_told_in_short() -> None:
    with pytest.raises(ValueError, match="is not an RE2 pattern") as caught:
        parse_check("stdout_regex:" + "x" * 2_000_000)
    assert len(str(caught.value)) < 300


# --- hostile patterns and output ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)x$", "(a+a+)+b", "([a-z]+)*c"])
def test_hostile_patterns_take_linear_time(pattern: str) -> None:
    with little_work(10):  # a backtracking matcher would need longer than the universe has
        assert not compiled(pattern).search("a" * 300_000 + "!")


def test_output_with_lone_surrogates_can_be_searched() -> None:
    odd = call("one \ud800 two")
    assert evaluate("stdout_regex:one.*two", 1.0, evidence(odd)).passed
    assert evaluate("stdout_contains:two", 1.0, evidence(odd)).passed
    evaluate("stdout_contains:zzz", 1.0, evidence(odd)).model_dump_json()


def test_a_huge_file_is_searched_and_not_shown() -> None:
    files = {"/big": b"line\n" * 400_000 + b"needle\n"}
    assert evaluate("file_contains:/big:needle", 1.0, evidence(files=files)).passed
    assert evaluate("file_line_regex:/big:^need", 1.0, evidence(files=files)).passed
    assert len(evaluate("file_contains:/big:gold", 1.0, evidence(files=files)).detail) < 400


def test_an_exit_code_that_nobody_told_is_no_zero() -> None:
    told = evaluate("exit_code:0", 1.0, evidence(ToolCall(commands="x", exit_code=None)))
    assert (told.passed, told.detail) == (False, "expected 0, but the exit code of the last call is unknown")
