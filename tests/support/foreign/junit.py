"""JUnit XML as pytest, vitest, jest-junit and promptfoo write it: their attributes in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

ENDINGS = ("failure", "error", "skipped")


def case(
    classname: str,
    name: str,
    *endings: str,
    time: str = "0.001",
    properties: Sequence[tuple[str, str]] = (),
) -> str:
    """A `testcase`; an ending is `failure:message`, `error:message` or `skipped:message`."""
    inside = "".join(f"<property name={quoteattr(key)} value={quoteattr(value)} />" for key, value in properties)
    body = f"<properties>{inside}</properties>" if inside else ""
    for ending in endings:
        tag, _, message = ending.partition(":")
        assert tag in ENDINGS
        body += f"<{tag} message={quoteattr(message)}>at line 1</{tag}>"
    return f'<testcase classname={quoteattr(classname)} name={quoteattr(name)} time="{time}">{body}</testcase>'


def pytest_xml(*cases: str, tests: int | None = None, name: str = "pytest") -> str:
    """What `pytest --junitxml` writes."""
    suite = {
        "name": name,
        "errors": _count(cases, "error"),
        "failures": _count(cases, "failure"),
        "skipped": _count(cases, "skipped"),
        "tests": str(len(cases) if tests is None else tests),
        "time": "0.060",
        "timestamp": "2026-11-22T03:59:04.712544+00:00",
        "hostname": "runner",
    }
    return _document("pytest tests", _suite(suite, cases), 'version="1.0" encoding="utf-8"')


def vitest_xml(file: str, *cases: str) -> str:
    """What vitest's reporter `junit` writes; the failures have no other kind."""
    suite = {
        "name": file,
        "timestamp": "2026-11-22T03:55:50.103Z",
        "hostname": "runner",
        "tests": str(len(cases)),
        "failures": _count(cases, "failure"),
        "errors": "0",
        "skipped": _count(cases, "skipped"),
        "time": "0.014338142",
    }
    return _document("vitest tests", _suite(suite, cases))


def jest_xml(title: str, *cases: str, todo: int = 0) -> str:
    """What jest-junit writes: failures without a message attribute, todo counted out of `tests`."""
    suite = {
        "name": title,
        "errors": "0",
        "failures": _count(cases, "failure"),
        "skipped": _count(cases, "skipped"),
        "timestamp": "2026-11-22T04:01:00",
        "time": "0.312",
        "tests": str(len(cases) - todo),
    }
    return _document("jest tests", _suite(suite, cases))


def jest_case(full_name: str, failure: str | None = None, *, skipped: bool = False) -> str:
    """A test as jest-junit writes it."""
    body = "<skipped/>" if skipped else "" if failure is None else f"<failure>{escape(failure)}</failure>"
    return f'<testcase classname={quoteattr(full_name)} name={quoteattr(full_name)} time="0.003">\n{body}</testcase>'


def promptfoo_xml(provider: str, *cases: str) -> str:
    """What `promptfoo eval -o x.junit.xml` writes of one provider and prompt."""
    suite = {
        "errors": _count(cases, "error"),
        "failures": _count(cases, "failure"),
        "name": f"[{provider}] prompt 1",
        "skipped": "0",
        "tests": str(len(cases)),
        "time": "0.183",
        "timestamp": "2026-11-22T03:40:48.510Z",
    }
    return _document("promptfoo", _suite(suite, cases))


def _suite(attributes: Mapping[str, str], cases: Sequence[str]) -> str:
    shown = " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<testsuite {shown}>{''.join(cases)}</testsuite>"


def _document(name: str, suites: str, declaration: str = 'version="1.0" encoding="UTF-8"') -> str:
    return f"<?xml {declaration}?><testsuites name={quoteattr(name)}>{suites}</testsuites>"


def _count(cases: Sequence[str], tag: str) -> str:
    return str(sum(f"<{tag}" in one for one in cases))
