"""`evalward show`: which trial is meant, what is listed, and commands that lead back to the case."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from evalward.cli import build_parser
from evalward.commands.show import ShowTrialOptions, show, tried_cases
from evalward.commands.spelling import show_case
from evalward.records.patterns import chosen
from evalward.records.problem import InputError
from evalward.records.report import Beside, MeasuredBase, Report, Run
from evalward.records.result import Result, Trial
from evalward.records.trace import Message, Text, Trace
from support.hostile import SNIPPETS
from support.results import baseline, report, result, run
from support.showing import shown, shown_whole, world_of


def wrote(folder: Path, *runs: Run, **more: Any) -> None:
    """A report in a folder, with a file of each trial that names one: the model says which one it is."""
    found = report(*runs, **more)
    (folder / "report.json").write_text(found.model_dump_json(by_alias=True), "utf-8")
    base = [(of, each) for of in (found.base.runs if found.base else []) for each in of.cases]
    for of in found.runs:
        sides = [*of.beside.base, *of.beside.head] if of.beside else []
        base += [(of, each) for each in [*of.cases, *of.confirmation, *sides]]
    for of, each in base:
        if each.trace:
            keep(folder, of, each)


def keep(folder: Path, of: Run, found: Result) -> None:
    path = folder / str(found.trace)
    path.parent.mkdir(parents=True, exist_ok=True)
    said = Message(role="assistant", content=[Text(text=f"I am {found.trace}.")])
    trial = Trial(
        suite=of.suite, kind=of.kind, target=of.target, subject="x", result=found, trace=Trace(messages=[said])
    )
    path.write_text(trial.model_dump_json(by_alias=True), "utf-8")


def fails(case: str = "a", trial: int = 1, **more: object) -> Result:
    return result(case, "failed", trial=trial, trace=f"trials/{case}.{trial}.json", reason="checks_failed", **more)  # type: ignore[arg-type]


def passes(case: str = "a", trial: int = 1, **more: object) -> Result:
    return result(case, trial=trial, trace=f"trials/{case}.{trial}.json", **more)  # type: ignore[arg-type]


def refused(folder: Path, **options: object) -> str:
    with pytest.raises(InputError) as error:
        show(world_of(folder), ShowTrialOptions(report=Path("report.json"), **options))  # type: ignore[arg-type]
    (problem,) = error.value.problems
    return str(problem)


def test_without_a_case_the_failed_ones_are_listed_with_their_commands(tmp_path: Path) -> None:
    broke = result("c", "error", trace="trials/c.1.json")
    wrote(tmp_path, run([fails("a"), passes("b"), broke]), run([passes("a")], target="oracle"))
    assert shown(tmp_path) == (
        "2 of 4 cases failed (report.json):\n"
        "  ✗ a  checks failed  evalward show --target replay:haiku --report report.json a\n"
        "  ! c  overload       evalward show --report report.json c\n"
    )


def test_of_several_trials_the_list_says_how_many_failed(tmp_path: Path) -> None:
    wrote(tmp_path, run([passes(trial=1), fails(trial=2)], confirmation=[fails(trial=3)]))
    assert "✗ a  2 of 3 trials failed  evalward show" in shown(tmp_path)


def test_where_nothing_failed_that_is_said(tmp_path: Path) -> None:
    wrote(tmp_path, run([passes("a"), passes("b")]))
    assert shown(tmp_path) == "0 of 2 cases failed (report.json).\n"


def test_a_report_without_cases_is_refused(tmp_path: Path) -> None:
    wrote(tmp_path)
    assert refused(tmp_path).startswith("report.json: this report has no cases. ")
    assert "this report has no cases" in refused(tmp_path, case="a")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"suites": ["q"]}, "no suite matches --suite q. Suites: bash-tools, other."),
        ({"suites": ["bash-tool"]}, "no suite matches --suite bash-tool. Near: bash-tools."),
        ({"targets": ["zzz"]}, "no target matches --target zzz. Targets: replay:haiku, oracle."),
        ({"targets": ["orcale"]}, "no target matches --target orcale. Near: oracle."),
        ({"suites": ["other"], "targets": ["replay:*"]}, "no run matches --suite other --target replay:*. Runs: "),
    ],
)
def test_a_suite_or_target_that_no_run_has_is_refused(tmp_path: Path, asked: dict[str, str], said: str) -> None:
    wrote(tmp_path, run([fails("a")]), run([fails("b")], suite="other", target="oracle"))
    assert refused(tmp_path, **asked).startswith(f"report.json: {said}")
    assert said in refused(tmp_path, case="a", **asked)


def test_a_baseline_without_a_case_is_refused(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails("a")]))
    remedy = "Put the case first: evalward show CASE --baseline [FILE]."
    assert remedy in refused(tmp_path, compared=True)
    assert remedy in refused(tmp_path, compared=True, baseline=Path("a"))


def test_a_folder_means_the_report_in_it(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    wrote(tmp_path / "out", run([fails("a"), fails("b")]))
    assert "evalward show --report out/report.json a\n" in shown(tmp_path, "out")
    assert "I am trials/a.1.json." in shown(tmp_path, "out", case="a")


def test_listed_commands_keep_what_was_asked_for(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails("a1"), fails("a2", trial=2), fails("a3", trial=2)]))
    text = shown(tmp_path, case="a?", trial=2, full=True, compared=True, baseline=Path("b.json"))
    assert text.startswith("2 cases match a?.")
    assert "evalward show --trial 2 --report report.json --baseline b.json --full a2\n" in text
    assert "evalward show --report report.json a1 --baseline\n" in shown(tmp_path, case="a?", compared=True)
    assert "evalward show --report report.json --full a1\n" in shown(tmp_path, full=True)


def test_a_trial_that_no_match_has_is_refused_with_those_that_are(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails("a")]), run([fails("a", trial=2)], target="oracle"))
    message = refused(tmp_path, case="a", trial=99)
    assert message == "--trial 99: none of the 2 cases that match 'a' has such a trial. There are: 1, 2."
    assert "I am trials/a.2.json." in shown(tmp_path, case="a", trial=2)


@pytest.mark.parametrize("case", ["a", "-a"])
@pytest.mark.parametrize("file", ["", "b.json", "-b.json"])
def test_a_spelled_baseline_never_takes_the_case(case: str, file: str) -> None:
    args = build_parser().parse_args(shlex.split(show_case(case, "s", baseline=file, full=True))[1:])
    assert (args.case, args.suite, args.baseline, args.full) == (case, ["s"], Path(file), True)


def test_the_list_is_narrowed_by_suite_and_target(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails("a")]), run([fails("b")], suite="other"), run([fails("c")], target="oracle"))
    assert shown(tmp_path, suites=["oth*"]).startswith("1 of 1 case failed")
    assert " c " in shown(tmp_path, targets=["oracle"])
    assert shown(tmp_path, suites=["bash-*", "other"], targets=["replay:haiku"]).startswith("2 of 2 cases failed")
    assert "no suite matches --suite q. " in refused(tmp_path, suites=["bash-*", "q"])
    message = refused(tmp_path, suites=["other"], targets=["oracle", "orac*"])
    assert "no run matches --suite other --target oracle,orac*. " in message


def test_suites_and_targets_are_several_between_commas_and_repeated() -> None:
    args = build_parser().parse_args(["show", "a", "--suite", "s, t", "--suite", "u", "--target", "x,y"])
    assert (args.suite, args.target) == (["s", "t", "u"], ["x", "y"])


def test_a_target_with_a_comma_in_its_name_is_found_by_the_command_that_is_printed(tmp_path: Path) -> None:
    """Other harnesses' targets have any name: a comma doesn't make them two."""
    wrote(tmp_path, run([fails("a")], target="gpt, [t=0]"), run([fails("a")], target="gpt, [t=1]"))
    command = shlex.split(shown(tmp_path).splitlines()[1].partition("evalward ")[2])
    args = build_parser().parse_args(command)
    assert shown(tmp_path, case="a", targets=args.target).startswith("✗ failed: a, trial 1 · bash-tools × gpt, [t=0]")


def test_the_first_trial_that_failed_is_shown(tmp_path: Path) -> None:
    wrote(tmp_path, run([passes(trial=1), fails(trial=2), fails(trial=3)]))
    text = shown(tmp_path, case="a")
    assert "I am trials/a.2.json." in text
    assert "Trial 2 of 3: 1 passed, 2 failed, 3 failed. --trial N shows another." in text
    assert "I am trials/a.3.json." in shown(tmp_path, case="a", trial=3)


def test_of_a_case_that_passed_the_first_trial_is_shown(tmp_path: Path) -> None:
    wrote(tmp_path, run([passes(trial=1), passes(trial=2)]))
    assert "I am trials/a.1.json." in shown(tmp_path, case="a")


def test_fresh_trials_say_that_they_are(tmp_path: Path) -> None:
    beside = Beside(head=[fails(trial=3)], base=[passes(trial=3)])
    wrote(tmp_path, run([passes(trial=1)], confirmation=[fails(trial=2)], beside=beside))
    assert "failed: a, trial 2 (retrial)" in shown(tmp_path, case="a")
    assert "failed: a, trial 3 (with the base)" in shown(tmp_path, case="a", trial=3)


def test_a_trial_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    wrote(tmp_path, run([passes(trial=1), passes(trial=2)]))
    assert "--trial 9: the case 'a' has no such trial. There are: 1, 2." in refused(tmp_path, case="a", trial=9)
    assert "Name the case, too." in refused(tmp_path, trial=1)


def test_several_matches_are_listed_with_what_tells_them_apart(tmp_path: Path) -> None:
    runs = [run([fails("a")]), run([passes("a")], target="oracle"), run([passes("a")], suite="o", target="oracle")]
    wrote(tmp_path, *runs)
    lines = re.sub(r" \\\n +", " ", shown(tmp_path, case="a")).splitlines()  # one line for each command
    assert lines[0] == "3 cases match a. Choose one:"
    assert [line.partition("evalward show ")[2] for line in lines[1:]] == [
        "--target replay:haiku --report report.json a",
        "--suite bash-tools --target oracle --report report.json a",
        "--suite o --report report.json a",
    ]


def test_a_pattern_finds_what_no_case_is_called(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails("sum-1"), passes("sum-2"), fails("other")]))
    assert shown(tmp_path, case="oth*").startswith("✗ failed: other, trial 1")
    assert shown(tmp_path, case="sum-?").startswith("2 cases match sum-?.")


@pytest.mark.parametrize(
    ("case", "near"),
    [
        ("sum-colum", "sum-column"),
        ("SUM", "sum-column, checksum"),
        ("zzz", "`evalward show` lists"),
        ("", "`evalward show`"),
    ],
)
def test_an_unknown_case_is_one_message_with_names_like_it(tmp_path: Path, case: str, near: str) -> None:
    wrote(tmp_path, run([fails("sum-column"), fails("checksum"), fails("other")]))
    message = refused(tmp_path, case=case)
    assert message.startswith(f"report.json: there is no case {case!r}")
    assert near in message
    assert "--suite nothing" in refused(tmp_path, case="other", suites=["nothing"])


def test_there_has_to_be_a_report(tmp_path: Path) -> None:
    assert "there is no such report" in refused(tmp_path, case="a")
    (tmp_path / "report.json").write_text("{", "utf-8")
    assert "not valid JSON" in refused(tmp_path)


def test_a_trial_whose_file_is_gone_says_so(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails()]))
    (tmp_path / "trials/a.1.json").unlink()
    assert "The file trials/a.1.json is not there, or can't be read." in shown(tmp_path, case="a")


def test_the_baselines_numbers_come_before_now(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails()]))
    before = baseline(run([result("a", tokens=(70, 7)), result("a", trial=2)]))
    (tmp_path / "base.json").write_text(before.model_dump_json(by_alias=True), "utf-8")

    text = shown(tmp_path, case="a", compared=True, baseline=Path("base.json"))

    assert text.startswith("In the baseline: 2 trials\n")
    assert "70 tokens in, 7 out" in text
    assert text.index("In the baseline") < text.index("✗ failed: a")


def test_a_baseline_without_the_case_or_with_another_of_this_name_says_so(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails(definition="sha256:new"), fails("b")]))
    before = baseline(run([result("a", definition="sha256:old")]))
    (tmp_path / "base.json").write_text(before.model_dump_json(by_alias=True), "utf-8")
    named: dict[str, Any] = {"compared": True, "baseline": Path("base.json")}

    assert shown(tmp_path, case="a", **named).startswith("! The baseline's trials are of another definition")
    assert shown(tmp_path, case="b", **named).startswith("! The baseline has no case b of bash-tools × replay:haiku.")


def test_the_base_commits_trials_are_shown_before_now(tmp_path: Path) -> None:
    """Those that were measured in turns with the head's, and those of suites that are compared with the base."""
    beside = Beside(head=[fails(trial=2)], base=[result("a", trial=2, trace="beside/trials/a.2.json")])
    wrote(tmp_path, run([fails()], beside=beside))
    text = shown(tmp_path, case="a", trial=2, compared=True)
    assert "✓ passed: a, trial 2 (the base commit)" in text
    assert text.index("I am beside/trials/a.2.json.") < text.index("I am trials/a.2.json.")

    base = MeasuredBase(runs=[run([result("a", trace="beside/trials/a.1.json")])])
    wrote(tmp_path, run([fails()]), base=base)
    assert "I am beside/trials/a.1.json." in shown(tmp_path, case="a", compared=True)


def test_a_baseline_that_nobody_names_is_the_configs(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails()]))
    assert "there is no evalward.yml here or above that names one" in refused(tmp_path, case="a", compared=True)

    (tmp_path / "evals").mkdir()
    suite = "{name: s, kind: bash, cases: evals/*.jsonl, targets: [oracle]}"
    (tmp_path / "evalward.yml").write_text(f"version: 1\nbaseline: known.json\nsuites: [{suite}]\n", "utf-8")
    assert "known.json: there is no such baseline" in refused(tmp_path, case="a", compared=True)
    before = baseline(run([result("a")]))
    (tmp_path / "known.json").write_text(before.model_dump_json(by_alias=True), "utf-8")
    assert shown(tmp_path, case="a", compared=True).startswith("In the baseline: 1 trial\n")


def test_all_of_a_report_can_be_shown(tmp_path: Path) -> None:
    wrote(tmp_path, run([fails("a"), passes("b"), result("c", "skipped"), result("d", "error")]))
    text = shown_whole(tmp_path / "report.json")
    assert text.count("I am trials/a.1.json.") == 2


def leads_to(command: str, found: Report) -> list[str]:
    """The cases that a command that we print would show."""
    program, *words = shlex.split(command)
    assert program == "evalward"
    args = build_parser().parse_args(words)
    tried = [
        one for one in tried_cases(found) if chosen(one.run.suite, args.suite) and chosen(one.run.target, args.target)
    ]
    exact = [one.case for one in tried if one.case == args.case]
    return exact or [one.case for one in tried if chosen(one.case, [args.case])]


@pytest.mark.parametrize(
    "case",
    [*(s for s in SNIPPETS if s.strip()), "-x", "--trial", "a  b", " a", "it's", "$(id)", "a*[b]?\x07", "x" * 900],
)
def test_the_command_leads_to_the_case_whatever_it_is_called(case: str) -> None:
    name = case.replace("\ud800", "\ufffd")  # what JSON can't hold is never read from a report
    found = report(run([fails(name), fails("another")]))
    command = show_case(name, report="out/report.json")
    assert leads_to(command, found) == [name]
    assert command.isprintable()


def test_hyphens_in_front_make_no_option() -> None:
    command = show_case("-a", "-s", "--t", trial=2, report="-r/report.json")
    args = build_parser().parse_args(shlex.split(command)[1:])
    assert (args.case, args.suite, args.target, args.trial, str(args.report)) == (
        "-a",
        ["-s"],
        ["--t"],
        2,
        "-r/report.json",
    )


def test_the_usual_report_is_not_named() -> None:
    assert show_case("a", report="evalward-out/report.json") == show_case("a") == "evalward show a"
