"""File names from untrusted ids, and files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalward.engine.store import Store, safe_name, trial_path
from evalward.records.result import Trial
from evalward.records.trace import Trace
from support.results import result

any_text = st.text(st.characters(exclude_categories=()), max_size=80)
tricky = st.text(st.sampled_from("aA.-/\\:_0 "), max_size=8)
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


@given(any_text | tricky)
@example("")
@example(".")
@example("..")
@example("../../etc/passwd")
@example("C:\\x")
@example("a" * 500)
def test_a_name_is_never_a_path_and_never_long(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert safe.isascii()
    assert len(safe) < 100
    assert not set(safe) & set('/\\:*?"<>|\0\n ')
    assert not safe.startswith(".")
    assert PurePosixPath(safe).parts == PureWindowsPath(safe).parts == (safe,)


@given(any_text | tricky, any_text | tricky)
@example("A", "a")
@example("Readme", "README")
@example("a/b", "a-b")
@example("a", "a.")
@example("", "x")
@example("x" * 60, "x" * 61)
@example("é", "e\u0301")
@example("\ud800", "\ud801")
def test_ids_that_differ_give_names_that_differ_even_without_capitals(one: str, other: str) -> None:
    assert (safe_name(one).lower() == safe_name(other).lower()) == (one == other)


@pytest.mark.parametrize("name", ["a?", "json/keys", "A"])
def test_a_name_cant_be_made_to_be_anothers(name: str) -> None:
    assert safe_name(safe_name(name)) != safe_name(name)


@pytest.mark.parametrize("name", sorted(RESERVED))
@pytest.mark.parametrize("end", ["", ".json", "."])
def test_no_name_is_reserved_by_windows(name: str, end: str) -> None:
    for form in (name + end, name.upper() + end):
        assert safe_name(form).split(".")[0].lower() not in RESERVED


@pytest.mark.parametrize("name", ["json_nested_keys", "bash-tools", "oracle", "v1.2", "0", "console"])
def test_plain_ids_stay_as_they_are(name: str) -> None:
    assert safe_name(name) == name


def test_other_ids_stay_readable() -> None:
    assert safe_name("replay:haiku").startswith("replay-haiku-")
    assert trial_path("s", "oracle", "a", 3) == "trials/s/oracle/a.3.json"


def test_a_trial_lies_below_the_folder_whatever_its_names(tmp_path: Path) -> None:
    trial = Trial(suite="..", kind="bash", target="../../x", subject="h", result=result("/etc/passwd"), trace=Trace())
    path = Store(tmp_path).keep(trial)
    assert (tmp_path / path).resolve().is_relative_to(tmp_path / "trials")
    assert Trial.model_validate_json((tmp_path / path).read_text("utf-8")) == trial
