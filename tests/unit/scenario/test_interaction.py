"""Layer 1 from events: the worked examples, and what must hold of any run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.events import Complete, Event, OutputEvent, RanCommand, ToolAnswered, ToolCalled, completed
from evalward.suites.scenario.details import Interaction
from evalward.suites.scenario.interaction import (
    MOST_FAILED,
    MOST_SUBCOMMANDS,
    OTHERS,
    ToolCommand,
    interaction_of,
    tool_commands,
)
from evalward.suites.scenario.patterns import (
    BinaryInCommand,
    CommandPattern,
    WrittenPattern,
    command_pattern,
    invocations,
)

TODO = WrittenPattern(r"todo\s+(\S+)")


def ran(command: str, code: int | None = 0, output: str = "") -> list[Event]:
    return [ToolCalled(command=command), ToolAnswered(output=output, exit_code=code)]


def measured(*events: Event, killed: bool | None = None, pattern: CommandPattern = TODO) -> Interaction:
    commands = tool_commands(events, pattern, killed=killed)
    return interaction_of(commands, completed=completed(events), per_subcommand=pattern.has_subcommands)


EV1 = [*ran("todo add a", 1, "no such list"), *ran("todo add b"), *ran("todo list")]


def test_ev1() -> None:
    found = measured(*EV1, Complete(exit_code=0))
    assert (found.total_commands, found.unique_commands, found.error_count, found.retry_count) == (3, 2, 1, 1)
    assert found.rates() == {
        "error_rate": 1 / 3,
        "retry_rate": 1 / 3,
        "first_try_success_rate": 1 / 3,
        "iteration_ratio": 2 / 3,
        "commands_per_unique": 1.5,
    }
    assert (found.retries_after_failure, found.help_invocations, found.unknown_count) == (1, 0, 0)
    assert found.completed is True
    assert [(one.subcommand, one.command, one.exit_code, one.said) for one in found.failed] == [
        ("add", "todo add a", 1, "no such list")
    ]
    assert found.per_subcommand["add"].model_dump() == {
        "total": 2, "errors": 1, "retries": 1, "retries_after_failure": 1, "first_try": False,
    }  # fmt: skip
    assert found.per_subcommand["list"].first_try is True


def test_ev2__a_time_out_changes_only_the_completion() -> None:
    done, killed = measured(*EV1, Complete(exit_code=0)), measured(*EV1, Complete(exit_code=124))
    assert killed.completed is False
    assert killed == done.model_copy(update={"completed": False})


def test_a_call_without_a_result_is_unknown_and_no_success() -> None:
    found = measured(*ran("todo add a"), ToolCalled(command="todo list"), Complete(exit_code=0))
    assert (found.total_commands, found.error_count, found.unknown_count, found.succeeded) == (2, 0, 1, 1)
    assert found.first_try_success_rate == 0.5


def test_in_a_killed_run_what_it_waited_for_failed() -> None:
    events = [*ran("todo add a"), ToolCalled(command="todo sync")]
    for found in (measured(*events, Complete(exit_code=137)), measured(*events, killed=True)):
        assert (found.error_count, found.unknown_count, found.completed) == (1, 0, False)
        assert found.failed[0].said == "it was ended with the run"


def test_ev5__no_command_of_the_target() -> None:
    found = measured(*ran("ls"), OutputEvent(text="todo add x"), Complete(exit_code=0))
    assert found.total_commands == 0
    assert set(found.rates().values()) == {None}


def test_without_a_complete_event_nobody_has_proof_of_a_normal_end() -> None:
    assert measured(*EV1).completed is False
    assert measured(*EV1, Complete()).completed is False


def test_exit_codes_that_nobody_told_give_no_rates_of_them() -> None:
    found = measured(*ran("todo add a", None), *ran("todo add b", None), Complete(exit_code=137))
    assert (found.unknown_count, found.error_count, found.error_rate, found.first_try_success_rate) == (
        2,
        0,
        None,
        None,
    )
    assert found.retry_rate == 0.5


def test_help_counts_as_success_whatever_its_exit_code() -> None:
    found = measured(*ran("todo --help", 2), *ran("todo add --help", 1), *ran("todo help", 0), *ran("todo add", 0))
    assert (found.help_invocations, found.error_count, found.unique_commands) == (3, 0, 2)


@pytest.mark.parametrize(
    ("line", "identities"),
    [
        ("todo add a && todo list", ["add", "list"]),
        ("cd x && todo add 'a; b' --to today; todo list | wc -l", ["add", "list"]),
        ("todo add x; other --help", ["add"]),
        ("todo add \\\n  --help", ["help"]),
        ("which todo\nls", []),
        ("(todo list)", ["list"]),
        ("echo ärger; todo add", ["add"]),
    ],
)
def test_several_commands_in_one_line(line: str, identities: list[str]) -> None:
    found = measured(*ran(line, 3))
    assert [name for name in found.per_subcommand for _ in range(found.per_subcommand[name].total)] == identities
    assert found.error_count + found.unknown_count == len(identities) - identities.count("help")


@pytest.mark.parametrize(
    ("line", "code", "errors", "unknown"),
    [
        ("todo bad; todo hello", 0, 0, 1),
        ("todo bad | cat", 0, 0, 1),
        ("todo bad || true", 0, 0, 1),
        ("todo hello && todo x && todo bad", 1, 0, 3),
        ("todo hello && todo x && todo y", 0, 0, 0),
    ],
)
def test_commands_of_one_call__dont_share_its_exit_code(line: str, code: int, errors: int, unknown: int) -> None:
    found = measured(*ran(line, code))
    assert (found.error_count, found.unknown_count) == (errors, unknown)


def told(line: str, code: int, *commands: tuple[str, int]) -> Interaction:
    """A call of which the shell tells these commands."""
    listed = [RanCommand(command=command, exit_code=one) for command, one in commands]
    return measured(ToolCalled(command=line), ToolAnswered(exit_code=code, commands=listed))


def test_what_the_shell_tells__is_each_commands_own_exit_code() -> None:
    found = told("todo bad; todo hello", 0, ("todo bad", 2), ("todo hello", 0))
    assert (found.total_commands, found.error_count, found.unknown_count) == (2, 1, 0)
    assert [(one.command, one.exit_code) for one in found.failed] == [("todo bad", 2)]
    assert told("todo bad | cat", 0, ("todo bad", 2)).error_count == 1
    found = told("todo hello && todo bad && todo x", 1, ("todo hello", 0), ("todo bad", 1))
    assert (found.total_commands, found.error_count) == (2, 1)  # the third never ran
    assert told("for i in 1 2; do todo add $i; done", 0, ("todo add 1", 0), ("todo add 2", 0)).total_commands == 2


@pytest.mark.parametrize("code", [None, 124, 137, -9])
def test_a_call_that_was_ended_from_outside__had_no_time_to_tell_all(code: int | None) -> None:
    listed = [RanCommand(command="todo a", exit_code=0)]
    found = measured(ToolCalled(command="todo a; todo hang"), ToolAnswered(exit_code=code, commands=listed))
    assert (found.total_commands, found.unknown_count) == (2, 2)


def test_a_reader_that_had_enough__is_no_fault_of_the_tool() -> None:
    found = told("todo list | head -1", 0, ("todo list", 141))
    assert (found.error_count, found.unknown_count) == (0, 0)


@pytest.mark.parametrize(
    ("line", "code", "commands"),
    [
        ("todo hello; todo bad", 3, [("todo hello", 0), ("todo bad", 0)]),  # the call ended with 3
        ("todo hello; todo bad", 3, []),
        ("todo a; todo b", 0, [("todo a", 0), ("rm -rf x", 0), ("todo b", 0)]),
        ("todo a; todo b", 0, [("todo a; todo b", 0)]),
        ("todo a; todo b", 0, [("todo 'a", 0)]),
        ("todo a; todo b", 0, [("todo b", 0)] * 501),
    ],
)
def test_what_contradicts_what_we_saw__isnt_believed(line: str, code: int, commands: list[tuple[str, int]]) -> None:
    found = told(line, code, *commands)
    assert (found.total_commands, found.unknown_count, found.error_count) == (2, 1, int(code != 0))


@pytest.mark.parametrize(
    ("line", "identities"),
    [
        ("todo add", ["add"]),
        ("./todo add && ../bin/todo list", ["add", "list"]),
        ("A=1 B=2 todo add", ["add"]),
        ("if todo check; then todo go; fi", ["check", "go"]),
        ('bash -c "todo add"', ["add"]),
        ("echo $(todo list)", ["list"]),
        ("sudo todo sync", ["sync"]),
        ("todo", ["command"]),
        ("todo; todo list", ["command", "list"]),
        ("todo --json list", ["--json"]),
        ("othertodo list; todo.py x; todo-x y; which todo; cat todo", []),
    ],
)
def test_the_default_finds_the_binary_where_a_command_can_stand(line: str, identities: list[str]) -> None:
    assert [use.identity for use in BinaryInCommand("./todo").find(line)] == identities
    assert [use.identity for use in invocations(line, BinaryInCommand("./todo"))] == identities


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ("timeout 5 ./todo add", ["todo add"]),
        ("timeout -s KILL -k 1 5 nice -n 3 env -u A B=1 ./todo add", ["todo add"]),
        ("ls | xargs -n1 -I{} ./todo add {}", ["todo add {}"]),
        ("stdbuf -oL sudo -u me ./todo add", ["todo add"]),
        ("npx todo add; uv run todo list", ["todo add", "todo list"]),
        ("nohup ./todo serve > log 2>&1 &", ["todo serve > log 2>&1"]),
        ("./todo add &> log", ["todo add &> log"]),
        ('"$BIN/todo" add; "./todo" list', ["todo add", "todo list"]),
        ("A=./todo B=todo ./todo add", ["todo add"]),
        ("./todo add 'a\nb' \\\n --now", ["todo add 'a b'   --now"]),
        ("./todo add $(./todo id) `./todo x`", ["todo add $(./todo id) `./todo x`", "todo id", "todo x"]),
        ("case $x in a) ./todo add;; esac", ["todo add"]),
        ("f() { ./todo add; }; f", ["todo add"]),
        ("docker exec app sh -c 'todo add'", ["todo add'"]),
        ("command -v todo; sudo -l todo; which todo; man todo", []),
        ("echo todo add; git commit -m 'todo add'; grep 'todo x' y", []),
        ("cat <<END\ntodo add\nEND", []),
        ("cat <<END\n$(./todo add)\nEND", ["todo add"]),
        ("# todo add\nls # todo add", []),
        # A program that the script names by a variable.
        ('T=./todo; $T add a; timeout 5 "${T}" list', ["todo add a", "todo list"]),
        ("export T='./todo'\nx=$($T list | wc -l)", ["todo list"]),
        ('T=$PWD/todo; $T add; D="$(pwd)/todo"; "$D" list', ["todo add", "todo list"]),
        ("T='uv run todo'; $T add", ["todo add"]),
        ("for i in 1 2; do T=./todo; $T add $i; done", ["todo add $i"]),
        ("if a; then T=./todo; else T=./other; fi; $T add", []),  # one of two
        ("T=./todo; T+=2; $T add", []),
        ("for T in ./todo ./other; do $T add; done", []),
        ("T=./todo; read T; $T add", []),
        ("T=./todo ls; $T add", []),  # that was for `ls` alone
        ("T='./todo add'; \"$T\"", []),  # one word: no program has that name
        ("T=$(which todo); $T add", []),
        ("T=./todo; ${T%o} add; $TT add", []),
    ],
)
def test_the_default_finds_what_a_script_runs(script: str, texts: list[str]) -> None:
    assert [use.text for use in invocations(script, BinaryInCommand("./todo"))] == texts


@pytest.mark.parametrize(
    ("line", "errors"),
    [
        ("todo bad 'see --help'", 1),
        ("todo bad --helpful", 1),
        ("todo bad > --help", 1),
        ("todo add --help", 0),
        ("todo --help | head", 0),
    ],
)
def test_help_is_asked_for_by_a_word_of_its_own(line: str, errors: int) -> None:
    assert measured(*ran(line, 2)).error_count == errors


def test_identity_is_the_second_group_before_the_first_before_the_second_word() -> None:
    assert WrittenPattern(r"(todo) (\w+)").find("todo add x")[0].identity == "add"
    assert WrittenPattern(r"(todo)( \d+)?").find("todo add")[0].identity == "todo"
    assert WrittenPattern(r"todo").find("todo add x")[0].identity == "add"
    assert WrittenPattern(r"todo$").find("todo")[0].identity == "command"


def test_without_a_group_there_are_only_aggregate_counts() -> None:
    pattern = command_pattern("todo", r"todo\b")
    found = measured(*EV1, pattern=pattern)
    assert (found.total_commands, found.error_count, found.error_rate, found.per_subcommand) == (3, 1, 1 / 3, {})
    assert (found.unique_commands, found.retry_count, found.first_try_count, found.retries_after_failure) == (None,) * 4
    assert {name for name, rate in found.rates().items() if rate is not None} == {"error_rate"}
    assert [(one.subcommand, one.worked) for one in found.failed] == [("command", None)]


def test_a_blank_pattern_means_the_default() -> None:
    assert command_pattern("todo", "  ") == command_pattern("todo", None) == BinaryInCommand("todo")


def test_what_is_kept_of_hostile_commands_is_bounded() -> None:
    commands = [ToolCommand("x" * 9 + str(n), "y" * 9999, 1, "z" * 9999) for n in range(MOST_SUBCOMMANDS + 20)]
    found = interaction_of(commands, completed=True, per_subcommand=True)
    assert len(found.per_subcommand) == MOST_SUBCOMMANDS + 1
    assert found.per_subcommand[OTHERS].total == 20
    assert len(found.failed) == MOST_FAILED
    assert len(found.model_dump_json()) < 20_000


commands = st.lists(
    st.builds(
        ToolCommand,
        identity=st.sampled_from(["add", "list", "help"]),
        text=st.just("todo"),
        exit_code=st.sampled_from([0, 0, 1, 127, None]),
        killed=st.booleans(),
    ),
    max_size=30,
)


@given(commands)
def test_what_holds_of_every_run(run: list[ToolCommand]) -> None:
    found = interaction_of(run, completed=True, per_subcommand=True)
    rates = found.rates()
    between = {name: value for name, value in rates.items() if value is not None and name != "commands_per_unique"}
    assert all(0 <= value <= 1 for value in between.values())
    assert found.succeeded + found.error_count + found.unknown_count == found.total_commands
    if not run:
        assert set(rates.values()) == {None}
        return
    assert found.retry_rate is not None
    assert found.iteration_ratio is not None
    assert found.retry_rate == pytest.approx(1 - found.iteration_ratio)
    if found.first_try_success_rate is not None and found.error_rate is not None:
        assert found.first_try_success_rate <= 1 - found.error_rate + 1e-12
        assert found.first_try_success_rate <= found.iteration_ratio
    assert sum(stats.total for stats in found.per_subcommand.values()) == found.total_commands
    assert sum(stats.retries_after_failure for stats in found.per_subcommand.values()) == found.retries_after_failure
