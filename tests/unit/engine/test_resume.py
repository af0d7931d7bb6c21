"""Which trials of an earlier run count."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from evalward.engine.store import Store, StoredTrial, TrialKey, trial_path
from evalward.records.result import Trial
from evalward.records.trace import Trace
from support.results import result

WANTED = TrialKey("s", "openai/m", "a", "sha256:a", "subject", 1)
PATH = trial_path("s", "openai/m", "a", 1)


def trial(status: str = "passed", *, case: str = "a", number: int = 1, target: str = "openai/m") -> Trial:
    return Trial(
        suite="s",
        kind="bash",
        target=target,
        subject="subject",
        result=result(case, status, trial=number),
        trace=Trace(),
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.mark.parametrize("status", ["passed", "failed"])
def test_a_valid_trial_is_found_with_its_path(store: Store, status: str) -> None:
    kept = trial(status)
    assert store.keep(kept) == PATH
    assert store.find(WANTED) == StoredTrial(kept.result.model_copy(update={"trace": PATH}))


def test_nothing_there_is_nothing_to_tell(store: Store) -> None:
    assert store.find(WANTED) == StoredTrial()


@pytest.mark.parametrize("status", ["error", "skipped"])
def test_an_error_is_done_again_without_a_word(store: Store, status: str) -> None:
    store.keep(trial(status))
    assert store.find(WANTED) == StoredTrial()


@pytest.mark.parametrize(
    "wanted",
    [
        structs.replace(WANTED, definition="sha256:other"),
        structs.replace(WANTED, subject="other"),
        structs.replace(WANTED, definition="x", subject="y"),
    ],
)
def test_another_case_or_subject_is_told(store: Store, wanted: TrialKey) -> None:
    store.keep(trial())
    found = store.find(wanted)
    assert (found.result, found.note) == (None, f"{PATH}: case or subject have changed since. It is run again.")


@pytest.mark.parametrize(
    "other", [trial(case="b"), trial(number=2), trial(target="openai/n"), trial().model_copy(update={"suite": "t"})]
)
def test_a_foreign_trial_is_told(store: Store, other: Trial) -> None:
    there = store.folder.path / store.keep(other)
    (store.folder.path / PATH).parent.mkdir(parents=True, exist_ok=True)
    there.rename(store.folder.path / PATH)
    found = store.find(WANTED)
    assert (found.result, found.note) == (None, f"{PATH}: it is a trial of something else. It is run again.")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema": "other/1"}', '{"schema": "evalward.trial/1"}', "\0", "\ud800"]
)
def test_a_file_that_is_no_trial_is_told(store: Store, text: str) -> None:
    store.keep(trial())
    (store.folder.path / PATH).write_bytes(text.encode("utf-8", "surrogatepass"))
    found = store.find(WANTED)
    assert found.result is None
    assert found.note.startswith(f"{PATH}:")
    assert "It is run again." in found.note


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_trial_is_told(store: Store, share: float) -> None:
    path = store.folder.path / store.keep(trial())
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    found = store.find(WANTED)
    assert found.result is None
    assert "not valid JSON" in found.note


def test_a_folder_in_its_place_is_nothing(store: Store) -> None:
    (store.folder.path / PATH).mkdir(parents=True)
    assert store.find(WANTED) == StoredTrial()
