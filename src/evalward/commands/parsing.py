"""How a command line is read: its mistakes in one message, and a help that ends with examples."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from evalward.commands.examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

EXIT_INPUT = 2  # as in records.verdict, which is too slow to load for --help
_CHOICE = re.compile(r"invalid choice: (.+?) \(choose from (.*)\)", re.DOTALL)
_ABOUT = re.compile(r"argument (\S+): (.*)", re.DOTALL)
_AMBIGUOUS = re.compile(r"ambiguous option: (\S+) could match (.*)", re.DOTALL)
_REQUIRED = "the following arguments are required: "
_EXCLUSIVE = "not allowed with argument "


class CommandParser(argparse.ArgumentParser):
    """A parser whose mistakes are one message each, with a remedy, instead of the usage of all options."""

    def __init__(self, *args: object, **options: object) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **options)  # type: ignore[arg-type]  # all of it is argparse's

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line; exit code 2."""
        self.exit(EXIT_INPUT, f"error: {' '.join(self._in_words(message).split())}\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Raises `OSError` where standard output can't be written, which argparse passes over."""
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def unknown(self, words: Sequence[str]) -> NoReturn:
        """Words that this command doesn't take; exit code 2."""
        first = words[0]
        if not first.startswith("-") or first == "-":
            self.error(f"argument {first}: too many arguments")
        name = first.partition("=")[0]
        known = [option for action in self._actions for option in action.option_strings]
        self.error(f"argument {name}: there is no such option. {self._near(name, known)}")

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """What an abbreviation could mean; two names of one option are one meaning."""
        found: list[Any] = super()._get_option_tuples(option_string)
        return found[:1] if len({id(each[0]) for each in found}) == 1 else found

    @property
    def _help(self) -> str:
        return f"See `{self.prog} --help`."

    def _near(self, word: str, known: Sequence[str]) -> str:
        from evalward.records.words import did_you_mean  # noqa: PLC0415 - only a mistake pays for it

        return did_you_mean(word, known) or self._help

    def _in_words(self, message: str) -> str:
        if message.startswith(_REQUIRED):
            return f"{self.prog}: {message.removeprefix(_REQUIRED)} is missing. {self._help}"
        ambiguous = _AMBIGUOUS.fullmatch(message)
        if ambiguous:
            return f"{ambiguous[1]}: this could be {' or '.join(ambiguous[2].split(', '))}. Write the whole name."
        about = _ABOUT.fullmatch(message)
        if not about:
            return f"{message}. {self._help}"
        return f"{about[1]}: {self._of_argument(about[2])}"

    def _of_argument(self, message: str) -> str:
        choice = _CHOICE.fullmatch(message)
        if choice:
            known = [word.strip("'") for word in choice[2].split(", ")]
            word = choice[1].strip("'\"")
            near = self._near(word, known)
            return f'unknown value "{word}". ' + (near if near != self._help else f"Known: {', '.join(known)}.")
        if message.startswith(_EXCLUSIVE):
            return f"this can't be used together with {message.removeprefix(_EXCLUSIVE)}. Leave one of them out."
        if message.startswith("expected "):
            return f"a value is missing. {self._help}"
        if message.startswith("ignored explicit argument"):
            return f"this option takes no value. {self._help}"
        return message if message.endswith((".", "?")) else f"{message}. {self._help}"


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands of a parser, by name; empty for one that has none."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(groups[0].choices) if groups else {}


def all_parsers(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """This parser and all below it, each with its command's words: `baseline update`."""
    yield " ".join(words), parser
    for name, each in below(parser).items():
        yield from all_parsers(each, (*words, name))


def with_examples(parser: CommandParser) -> CommandParser:
    """The same; every parser's help ends with its examples, and what was read names the parser that read it."""
    for command, each in all_parsers(parser):
        shown = [f"  $ {line}" for line in EXAMPLES.get(command, ())]
        parts = [each.epilog or "", "\n".join(["examples:", *shown]) if shown else ""]
        each.epilog = "\n\n".join(part.strip("\n") for part in parts if part) or None
        each.set_defaults(parser=each)
    return parser


def read_arguments(parser: CommandParser, words: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for. Raises `SystemExit` with 2 for what no command takes.

    Of a command that takes another one after `--`, that is `after`; argparse would mix it with the arguments before.
    """
    given = sys.argv[1:] if words is None else list(words)
    found, rest = parser.parse_known_args(given)
    if getattr(found, "takes_command", False):
        end = given.index("--") if "--" in given else len(given)
        found, rest = parser.parse_known_args(given[:end])
        found.after = given[end + 1 :]
    if rest:
        found.parser.unknown(rest)
    return found


def listed(text: str) -> list[str]:
    """One pattern, or several between commas: at least one, for none would leave out nothing."""
    if found := [part for part in (each.strip() for each in text.split(",")) if part]:
        return found
    raise argparse.ArgumentTypeError(f"names no pattern: {text!r}. Name at least one, or leave out the option.")


def number_up_to(most: int) -> Callable[[str], int]:
    """The reader of a whole number from 1 to `most`."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {most:,}, not {text!r}.")
        return int(text)

    return read
