"""Result files that an earlier step left: parts of one run count together, two runs only where that is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial
from evalward.suites.external.formats.find import read_files
from evalward.suites.external.kind import EXTERNAL
from evalward.suites.external.results import Reading, read_results
from evalward.suites.external.spec import ExternalSuite
from evalward.suites.gathering import Gathered
from support.foreign import harbor
from support.foreign.files import files_of
from support.foreign.trials import PLACE, foreign

STRICT = Reading("rows", suite="bot", pool=False)


def run(file: str, *trials: ForeignTrial, **more: Any) -> ForeignResults:
    return ForeignResults(trials, file=file, **more)


def counted(*files: ForeignResults, how: Reading = STRICT) -> int:
    return sum(len(each.results) for each in read_results(files, how, PLACE).runs)


def refused(*files: ForeignResults, how: Reading = STRICT) -> str:
    with pytest.raises(InputError) as caught:
        read_results(files, how, PLACE)
    (problem,) = caught.value.problems
    return str(problem)


def test_the_runs_of_two_days__are_refused_with_both_files() -> None:
    first = run("logs/1.eval", foreign("a"), made_at="2026-11-01T08:00:00Z")
    second = run("logs/2.eval", foreign("b"), foreign("a"), made_at="2026-11-02T08:00:00Z")
    assert refused(first, second) == (
        "logs/2.eval: it is of another run (2026-11-02T08:00:00Z) than logs/1.eval (2026-11-01T08:00:00Z): both have "
        'the case "a". Name the files of one run, or write pool: true to count several runs together, '
        "as further trials."
    )


def test_the_same_trial_by_its_number__is_of_two_runs() -> None:
    words = refused(run("1", foreign("a", number=2)), run("2", foreign("a", number=1), foreign("a", number=2)))
    assert words.startswith('2: it is of another run than 1: both have trial 2 of "a".')


def test_a_trial_without_a_number__is_the_first_of_its_file() -> None:
    assert "two" not in refused(run("1", foreign("a", number=1)), run("2", foreign("a")))
    assert counted(run("1", foreign("a", number=2)), run("2", foreign("a"))) == 2


def test_readers_that_name_no_file__are_believed_to_read_one_run_each() -> None:
    words = refused(run("", foreign("a")), run("", foreign("a")))
    assert words.startswith(f"{PLACE}: it is of another run than a file before it: both have")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param([run("1", foreign("a")), run("2", foreign("b"))], id="shards"),
        pytest.param([run("1", foreign(target="m/x")), run("2", foreign(target="m/y"))], id="models"),
        pytest.param([run("1", foreign(suite="math")), run("2", foreign(suite="shell"))], id="tasks"),
        pytest.param([run("1", foreign(number=1)), run("2", foreign(number=2))], id="epochs"),
        pytest.param([run("1", foreign(), foreign("b", "skipped")), run("2", foreign("b"))], id="parts of all tests"),
        pytest.param([run("1", foreign()), run("1", foreign())], id="arms of one file"),
    ],
)
def test_parts_of_one_run__count_together_without_a_word(files: Sequence[ForeignResults]) -> None:
    again = [run(one.file, *one.trials) for one in files]
    found = read_results(again, STRICT, PLACE)
    valid = [one for each in found.runs for one in each.results if one.status is not Status.SKIPPED]
    assert len(valid) == 2
    assert found.notes == []


def test_several_runs_that_are_pooled__are_further_trials() -> None:
    pooled = Reading("rows", suite="bot", pool=True)
    assert counted(run("1", foreign()), run("2", foreign()), how=pooled) == 2


def test_on_the_command_line__no_key_of_a_configuration_is_proposed() -> None:
    how = Reading("rows", pool=False)
    assert refused(run("1", foreign()), run("2", foreign()), how=how).endswith("Name the files of one run.")


# --- days -------------------------------------------------------------------------------------------------------------

TODAY, LAST_WEEK = "2026-11-22T08:00:00Z", "2026-11-15T07:00:00Z"


def notes(*files: ForeignResults, how: Reading = STRICT) -> Sequence[str]:
    return read_results(files, how, PLACE).notes


def test_a_file_of_an_earlier_day__is_counted_and_named_with_its_age() -> None:
    old = run("logs/1.eval", foreign("a"), made_at=LAST_WEEK)
    new = run("logs/2.eval", foreign("b"), made_at=TODAY)
    assert notes(old, new) == notes(new, old)
    assert notes(old, new) == [
        f"logs/1.eval was made 7 days before logs/2.eval ({LAST_WEEK}, {TODAY}), and its trials count as those of one "
        "run. Empty the folder before the harness runs, or write pool: true if they belong together"
    ]


def test_several_old_files__are_one_note_with_the_oldest() -> None:
    files = [run(str(day), foreign(str(day)), made_at=f"2026-11-{day}T08:00:00Z") for day in (20, 11, 12)]
    (note,) = notes(*files)
    assert note.startswith("11 was made 9 days before 20 (")
    assert "(2 files older than a day)" in note


@pytest.mark.parametrize(
    "files",
    [
        [
            run("1", foreign("a"), made_at="2026-11-22T00:00:00Z"),
            run("2", foreign("b"), made_at="2026-11-22T23:00:00Z"),
        ],
        [run("1", foreign("a")), run("2", foreign("b"), made_at=TODAY)],
        [run("1", foreign("a"), made_at="long ago"), run("2", foreign("b"), made_at=TODAY)],
        [run("1", made_at=LAST_WEEK), run("2", foreign("b"), made_at=TODAY)],
    ],
    ids=["one-day", "undated", "unreadable", "without-trials"],
)
def test_files_of_one_day_or_of_none_that_is_known__are_no_news(files: list[ForeignResults]) -> None:
    assert notes(*files) == []


def test_several_runs_on_purpose__are_no_news() -> None:
    files = [run("1", foreign("a"), made_at=LAST_WEEK), run("2", foreign("b"), made_at=TODAY)]
    assert notes(*files, how=Reading("rows", suite="bot", pool=True)) == []


# --- files ------------------------------------------------------------------------------------------------------------


class Quiet:
    """Who gathers, where no command is run."""

    def keep(self, trial: object) -> str:
        raise AssertionError(trial)

    def say(self, line: str) -> None:
        pass

    def now(self) -> str:
        return "2026-11-22T12:00:00Z"

    run = rerun = keep


def gather(root: Path, files: Mapping[str, str], **keys: Any) -> Gathered:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    suite = {"name": "bot", "kind": "external", "results": "logs/*.jsonl", **keys}
    loaded = parse_config(json.dumps({"version": 1, "suites": [suite]}), "evalward.yml", root)
    (spec,) = loaded.config.suites
    assert isinstance(spec, ExternalSuite)
    return EXTERNAL.gather(spec, loaded, Quiet())  # type: ignore[arg-type]


def row(case: str, status: str = "passed", **more: Any) -> str:
    return json.dumps({"case": case, "status": status, **more}) + "\n"


def test_yesterdays_file__is_not_pooled_with_todays(tmp_path: Path) -> None:
    files = {"logs/1.jsonl": row("a"), "logs/2.jsonl": row("a", "failed")}
    with pytest.raises(InputError, match=r"logs/2\.jsonl: it is of another run than logs/1\.jsonl"):
        gather(tmp_path, files)
    (run_,) = gather(tmp_path, files, pool=True).runs
    assert [(one.trial, one.status) for one in run_.results] == [(1, "passed"), (2, "failed")]


def test_one_file_that_lies_there_twice__counts_once(tmp_path: Path) -> None:
    files = {"logs/1.jsonl": row("a"), "logs/copy.jsonl": row("a"), "logs/other.jsonl": row("b")}
    found = gather(tmp_path, files)
    assert sum(len(each.results) for each in found.runs) == 2
    assert found.notes == ["logs/copy.jsonl has the same content as logs/1.jsonl: its results count once"]


def test_equal_files_of_two_runs_in_folders__are_all_read() -> None:
    """What two jobs planned may be the same; each job's own results are not."""
    lock = {"schema_version": 1, "harbor": {"version": "0.25.0"}, "trials": []}
    files = files_of(
        {
            "jobs/a/lock.json": lock,
            "jobs/a/t1/result.json": harbor.trial("t1", task="one"),
            "jobs/b/lock.json": lock,
            "jobs/b/t1/result.json": harbor.trial("t2", task="two"),
        }
    )
    _, found = read_files(files, "harbor", PLACE)
    assert [(each.version, each.notes, each.file) for each in found] == [
        ("0.25.0", [], "jobs/a"),
        ("0.25.0", [], "jobs/b"),
    ]


def test_a_mistake_of_no_single_file__stands_where_the_configuration_names_them(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        gather(tmp_path, {})
    (problem,) = caught.value.problems
    assert (problem.place.file, problem.place.line) == ("evalward.yml", 1)
    assert str(problem) == (
        "evalward.yml:1: suite bot, results logs/*.jsonl: there is no result file. Run the harness first, and name the "
        "files that it writes."
    )


def test_a_mistake_in_a_file__stands_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        gather(tmp_path, {"logs/1.jsonl": row("a") + "{\n"})
    (problem,) = caught.value.problems
    assert (problem.place.file, problem.place.line) == ("logs/1.jsonl", 2)


def test_results_of_an_earlier_day__say_how_old_they_are(tmp_path: Path) -> None:
    suite = '<testsuite name="s" timestamp="DAYT08:00:00Z"><testcase classname="s" name="a"/></testsuite>'
    old = gather(tmp_path, {"logs/1.xml": suite.replace("DAY", "2026-11-12")}, results="logs/*.xml")
    assert old.notes == [
        "the newest results were made 10 days ago (2026-11-12T08:00:00Z): run the harness before they are judged"
    ]
    new = gather(tmp_path, {"logs/1.xml": suite.replace("DAY", "2026-11-22")}, results="logs/*.xml")
    assert new.notes == []
