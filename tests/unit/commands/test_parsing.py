"""How a command line is read: mistakes, help, and the words that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.examples import EXAMPLES
from evalward.commands.parsing import all_parsers, below, read_arguments
from evalward.registry import EXPORTERS, FORMATS, IMPORTERS, OUTPUTS, ours
from support.showing import world_of

PARSERS = dict(all_parsers(build_parser()))
LEAVES = {words: parser for words, parser in PARSERS.items() if not below(parser)}
WIDTH = 80


def refused(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        read_arguments(build_parser(words), list(words))
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "error: evalward: COMMAND is missing. See `evalward --help`."),
        ("chek", 'error: COMMAND: unknown value "chek". Did you mean check?'),
        ("baseline", "error: evalward baseline: ACTION is missing. See `evalward baseline --help`."),
        ("baseline dif", 'error: ACTION: unknown value "dif". Did you mean diff?'),
        ("check --outptu x", "error: --outptu: there is no such option. Did you mean --output?"),
        ("check --xyz", "error: --xyz: there is no such option. See `evalward check --help`."),
        ("check --xyz=1 2", "error: --xyz: there is no such option. See `evalward check --help`."),
        ("show one two", "error: two: too many arguments. See `evalward show --help`."),
        ("compare --format jsn", 'error: --format: unknown value "jsn". Did you mean json?'),
        (
            "compare --format q",
            'error: --format: unknown value "q". Known: terminal, markdown, html, junit, json, badge.',
        ),
        ("check --fail-on x", 'error: --fail-on: unknown value "x". Known: regression, inconclusive, never.'),
        ("check --trials 500", "error: --trials: must be a whole number from 1 to 100, not '500'."),
        ("check --trials", "error: --trials: a value is missing. See `evalward check --help`."),
        ("check --resume=yes", "error: --resume: this option takes no value. See `evalward check --help`."),
        (
            "baseline update --pool --keep",
            "error: --keep: this can't be used together with --pool. Leave one of them out.",
        ),
        ("check --t x", "error: --t: this could be --target or --trials. Write the whole name."),
        (
            "import caro",
            "error: evalward import: FILE, --output is missing. See `evalward import --help`.",
        ),
        ("judge check a b --min-kappa 3", "error: --min-kappa: must be a number from 0 to 1, not '3'."),
    ],
)
def test_mistake__is_one_message_with_a_remedy(capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    assert refused(capsys, line.split()) == message + "\n"


def test_option_of_two_names__can_be_abbreviated() -> None:
    args = read_arguments(build_parser(), ["check", "--outp", "here"])
    assert args.output == Path("here")


@pytest.mark.parametrize("command", ["run", "check", "guidance", "publish x", "release --report r", "history page"])
def test_output_folder__has_the_name_that_it_has_in_the_action(command: str) -> None:
    assert read_arguments(build_parser(), [*command.split(), "--output-dir", "here"]).output == Path("here")


def test_patterns__may_be_separated_by_commas_or_repeated() -> None:
    args = read_arguments(
        build_parser(), ["check", "--suite", "a, b", "--suite", "c", "--target", "x/y,z", "--case", "one,two"]
    )
    assert args.suite == ["a", "b", "c"]
    assert args.target == ["x/y", "z"]
    assert args.case == ["one,two"], "the id of a case may hold a comma"


@pytest.mark.parametrize("option", ["suite", "target"])
@pytest.mark.parametrize("value", ["", " , "])
def test_patterns__none_at_all_is_a_mistake(capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    """An empty variable in `--suite "$SUITES"` would measure everything."""
    said = f"error: --{option}: names no pattern: {value!r}. Name at least one, or leave out the option.\n"
    assert refused(capsys, ["check", f"--{option}", value]) == said


def test_patterns__of_one_command_line_are_not_those_of_the_next() -> None:
    read_arguments(build_parser(), ["check", "--suite", "a"])
    assert read_arguments(build_parser(), ["check"]).suite == []


def test_version__has_a_short_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["-V"])
    short = capsys.readouterr().out
    with pytest.raises(SystemExit):
        build_parser().parse_args(["--version"])
    assert short == capsys.readouterr().out != ""


# --- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", PARSERS)
def test_help__has_an_example_that_the_parser_reads(words: str) -> None:
    assert EXAMPLES[words], "write one in evalward.commands.examples"
    shown = PARSERS[words].format_help()
    for line in EXAMPLES[words]:
        assert f"  $ {line}\n" in shown
        command = re.sub(r"source <\((.*)\)", r"\1", line)
        command = re.split(r" [<>] ", command)[0]
        first, *given = _typed(command)
        assert first == "evalward"
        args = read_arguments(build_parser(), given)
        assert args.parser.prog.startswith(f"evalward {words}".strip())


def _typed(line: str) -> list[str]:
    import shlex

    return shlex.split(line)


def test_examples__are_of_commands_that_there_are() -> None:
    assert set(EXAMPLES) == set(PARSERS)


@pytest.mark.parametrize("words", PARSERS)
def test_help__fits_a_terminal(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    lines = dict(all_parsers(build_parser()))[words].format_help().splitlines()
    assert [line for line in lines if len(line) > WIDTH] == []


@pytest.mark.parametrize("words", LEAVES)
def test_help__explains_every_argument(words: str) -> None:
    for action in LEAVES[words]._actions:
        name = action.option_strings or action.dest
        assert action.help, f"{name} has no help"
        metavar = action.metavar
        takes_value = action.nargs != 0 and action.choices is None
        if takes_value:
            assert isinstance(metavar, str), name
            assert metavar == "N" or len(metavar) > 1, f"{name}: {metavar} explains nothing"
            assert not re.fullmatch(r"[A-Z]\.json", metavar), name


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("import", [*ours(IMPORTERS), *ours(FORMATS), "auto"]),
        ("export", list(ours(EXPORTERS))),
        ("compare", list(ours(OUTPUTS))),
        ("report", list(ours(OUTPUTS))),
    ],
)
def test_help__names_all_formats(words: str, names: list[str]) -> None:
    (text,) = [action.help or "" for action in LEAVES[words]._actions if action.dest in {"form", "format"}]
    listed = set(re.split(r"[ ,;:]+", text))
    assert set(names) <= listed


def asked(*words: str) -> str:
    args = read_arguments(build_parser(), ["help", *words])
    world = world_of(Path(), None)
    assert args.handler(world, args) == 0
    assert isinstance(world.out, StringIO)
    return world.out.getvalue()


@pytest.mark.parametrize("words", PARSERS)
def test_help_command__shows_the_help_of_a_command(words: str) -> None:
    assert asked(*words.split()) == PARSERS[words].format_help()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("chek", 'evalward chek: there is no such command as "chek". Did you mean check?'),
        ("check now", 'evalward check now: there is no such command as "now". It has no actions: leave the word out.'),
        ("baseline x", 'evalward baseline x: there is no such command as "x". Commands: update, show, diff, commit.'),
    ],
)
def test_help_command__says_what_there_is(words: str, message: str) -> None:
    from evalward.records.problem import InputError

    with pytest.raises(InputError) as raised:
        asked(*words.split())
    assert str(raised.value.problems[0]) == message


def test_defaults__are_in_the_help_where_there_are_some() -> None:
    for words, parser in LEAVES.items():
        for action in parser._actions:
            if isinstance(action.default, (str, Path)) and action.default is not argparse.SUPPRESS:
                assert str(action.default) in (action.help or ""), (words, action.dest)


@pytest.mark.parametrize("command", sorted(PARSERS.keys() - {"", "help", "completion"}))  # these two hold all
def test_the_parser_of_one_command_is_that_of_all(command: str) -> None:
    words = command.split()
    alone = dict(all_parsers(build_parser(words)))
    assert alone[command].format_help() == PARSERS[command].format_help()
    assert alone[command].prog == PARSERS[command].prog
    defaults = {name: value for name, value in alone[command]._defaults.items() if name != "parser"}
    assert defaults == {name: value for name, value in PARSERS[command]._defaults.items() if name != "parser"}


@pytest.mark.parametrize("words", [[], ["--help"], ["help"], ["completion"], ["chekc"], ["--", "check"]])
def test_what_names_no_command_is_read_with_all_of_them(words: list[str]) -> None:
    assert set(below(build_parser(words))) == set(below(build_parser()))


def test_one_command_is_made_alone() -> None:
    assert set(below(build_parser(["check", "--config", "run"]))) == {"check"}
