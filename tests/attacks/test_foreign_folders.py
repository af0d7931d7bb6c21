"""Results of harbor, mira, mcpchecker, skill-creator and our own rows by somebody malicious: sentence or record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Trial
from evalward.suites.external.formats.base import format_named
from evalward.suites.external.results import Reading, read_results
from support.foreign import harbor, mcpchecker, mira, skill_creator
from support.foreign.files import files_of
from support.fuzzing.mutation import ODD, RAW, places, written

Files = Mapping[str, object]

FOLDER = "jobs/nightly/count-lines__1"
GOOD: Mapping[str, Files] = {
    "harbor": {
        "jobs/nightly/result.json": harbor.job(1),
        "jobs/nightly/lock.json": harbor.lock(),
        f"{FOLDER}/result.json": harbor.trial("count-lines__1", **harbor.raised("AgentTimeoutError", {"reward": 1})),
        f"{FOLDER}/agent/trajectory.json": harbor.trajectory(),
    },
    "mira": {
        "run/report.json": mira.report([mira.case(params={"effort": "low"}, trials=2, input=["Say hello."])]),
        "run/meta.json": mira.meta([mira.case()]),
    },
    "mcpchecker": {"mcpchecker-x-out.json": mcpchecker.output([mcpchecker.run(judgeTokenUsage={"inputTokens": 1})])},
    "skill-creator": {"benchmark.json": skill_creator.benchmark([skill_creator.run()])},
    "rows": {"out.jsonl": {"case": "a", "trial": 1, "status": "passed", "scores": {"x": 1}, "asked": {"b": [1]}}},
}


MARK = "@odd@"
STRANGE = [written(strange()) for strange in ODD]


def with_odd_places(files: Files) -> Iterator[dict[str, object]]:
    """The files with each odd value at each of their places, one at a time."""
    good: dict[str, object] = {name: written(value).encode() for name, value in files.items()}
    for name, value in files.items():
        for path in places(value):
            marked = written(_put(value, path, MARK))
            for strange in STRANGE:
                yield {**good, name: marked.replace(f'"{MARK}"', strange).encode()}


def _put(value: object, path: tuple[Any, ...], strange: object) -> object:
    if not path:
        return strange
    copy: Any = deepcopy(value)
    here = copy
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = strange
    return copy


def outcome(name: str, files: Mapping[str, object]) -> int:
    """How many trials were read and written down; 0 for files that were refused in one sentence."""
    kept: list[Trial] = []

    def keep(trial: Trial) -> str:
        kept.append(Trial.model_validate_json(trial.model_dump_json(by_alias=True)))
        return "trials/1.json"

    try:
        found = read_results(format_named(name).read(files_of(files)), Reading(name, keep=keep), "results")
    except InputError as error:
        return 0 if str(error).count("\n") < len(error.problems) else -1  # each is one line
    return sum(len(run.results) for run in found.runs)


@pytest.mark.parametrize("name", GOOD)
def test_whatever_stands_at_any_place_is_a_record_or_a_sentence(name: str) -> None:
    assert outcome(name, GOOD[name]) == 1
    assert {outcome(name, files) for files in with_odd_places(GOOD[name])} == {0, 1}


@pytest.mark.parametrize("raw", RAW)
@pytest.mark.parametrize("name", GOOD)
def test_texts_that_no_writer_gives(name: str, raw: str) -> None:
    for file in GOOD[name]:
        outcome(name, {**GOOD[name], file: RAW[raw].encode()})


@pytest.mark.parametrize("opened", [b"[", b'{"a":', b'{"results":[', b'{"cases":[{"eval":{'])
@pytest.mark.parametrize("name", GOOD)
def test_a_million_brackets(name: str, opened: bytes) -> None:
    for file in GOOD[name]:
        if not file.endswith("trajectory.json"):
            assert outcome(name, {**GOOD[name], file: opened * 1_000_000}) == 0


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("mira", {"report.json": mira.report([mira.case(expected=list(range(200_000)))])}),
        ("rows", {"out.jsonl": {"case": "a", "status": "passed", "asked": list(range(200_000))}}),
    ],
)
def test_a_case_that_asks_more_than_can_be_held_is_refused(name: str, files: Files) -> None:
    assert outcome(name, files) == 0


def test_a_million_brackets_in_a_trajectory_cost_the_conversation_alone() -> None:
    assert outcome("harbor", {**GOOD["harbor"], f"{FOLDER}/agent/trajectory.json": b"[" * 1_000_000}) == 1


@pytest.mark.parametrize("name", GOOD)
def test_a_file_that_is_cut_anywhere_is_refused(name: str) -> None:
    for file, value in GOOD[name].items():
        whole = written(value).encode()
        if file.endswith("trajectory.json"):
            continue
        for end in range(0, len(whole), 97):
            assert outcome(name, {**GOOD[name], file: whole[:end]}) == 0, (file, end)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("harbor", lambda text: {f"{FOLDER}/result.json": harbor.trial("x", task=text)}),
        ("mira", lambda text: {"report.json": mira.report([mira.case(text)])}),
        ("mcpchecker", lambda text: {"a.json": mcpchecker.output([mcpchecker.run(text)])}),
        ("skill-creator", lambda text: {"a.json": skill_creator.benchmark([skill_creator.run(eval_id=text)])}),
    ],
)
def test_names_are_names_and_nothing_else(name: str, files: Callable[[str], Files]) -> None:
    for text in ("../../etc/passwd", "a\x00b\x1b[2J\u202e", "\ud800", "**x** <img src=y> @octocat", "x" * 10_000):
        found = read_results(format_named(name).read(files_of(files(text))), Reading(name), "results")
        (result,) = found.runs[0].results
        assert result.id.isprintable() or result.id == "\ufffd"
        assert len(result.id) <= 200
