"""Programs that run a command for every file or input line: find, fd, xargs, parallel."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import SHELLS, Answer, NestedCommand, ProgramCall
from evalward.safety.harm import destroy, overwrite
from evalward.safety.listing import Search, read_fd, read_find
from evalward.safety.model import HIGH
from evalward.safety.registry import rule
from evalward.safety.targets import PlaceKind
from evalward.safety.words import PieceKind, Word, WordPiece, joined, literal, make_word, unknown
from evalward.safety.words import names as names_set

_MOST_INPUTS = 16


@rule("find gfind bfs")
def find(call: ProgramCall) -> Iterator[Answer]:
    """Judge ``-delete`` and ``-exec`` by the files found."""
    search = read_find(call)
    yield from overwrite(call, search.outputs)
    if search.deletes:
        yield from destroy(call, search.names(), recursive=not search.narrowed)
        yield from _lost_documents(call, search)
    yield from _commands(call, search)


def _lost_documents(call: ProgramCall, search: Search) -> Iterator[Answer]:
    """Deleting a common kind of document in a whole home is no narrow deletion."""
    kinds = {text.rpartition(".")[2].lower() for text in search.patterns if text.startswith("*.")}
    places = [target for _, target in call.places(search.roots)]
    at_home = any(target.place is PlaceKind.HOME or target.path in ("/home", "/Users") for target in places)
    if at_home and (kinds & _PRECIOUS or not search.patterns):
        yield call.find("deletion.personal", HIGH, "deletes documents or pictures in a whole home folder")


_PRECIOUS = names_set("doc docx odt pdf xls xlsx ods ppt pptx txt md jpg jpeg png heic raw mp4 mov mp3 key")


@rule("fd fdfind")
def fd(call: ProgramCall) -> Iterator[Answer]:
    """The same for ``fd``."""
    yield from _commands(call, read_fd(call))


def _commands(call: ProgramCall, search: Search) -> Iterator[Answer]:
    for command in search.commands:
        if not command:
            continue
        names = search.names()
        appends = call.program.startswith("fd") and not any("{" in word.text for word in command)
        yield NestedCommand(words=(*command, *names) if appends else fill(command, names, "{}"))


@rule("xargs gxargs")
def build_arguments(call: ProgramCall) -> Iterator[Answer]:
    """Add words read from input to a command."""
    options = call.leading(
        "I: n/max-args: P/max-procs: L/max-lines: s/max-chars: d/delimiter: E: a/arg-file: 0/null r/no-run-if-empty t p"
    )
    command = options.operands
    if not command:
        return
    mark = options.value("I")
    values = _read_arguments(call, options.value("a"))
    if mark is None and command[0].text.rpartition("/")[2] in SHELLS and len(command) == 1:
        yield call.find("opaque.script", HIGH, "runs input as scripts")
    if mark is not None:
        for value in values[:_MOST_INPUTS]:
            yield NestedCommand(words=fill(command, (value,), mark.text))
    else:
        yield NestedCommand(words=(*command, *values))


def _read_arguments(call: ProgramCall, file: Word | None) -> tuple[Word, ...]:
    if file is not None or call.stdin is None:
        return (_input(call),)
    text = call.stdin.text
    if text is not None:
        return tuple(literal(word) for word in text.split()[:64])
    return call.stdin.names or (_input(call),)


def _input(call: ProgramCall) -> Word:
    return unknown("<input>", call.stdin)


@rule("parallel rush")
def parallel(call: ProgramCall) -> Iterator[Answer]:
    """Run a command once for each value after ``:::``, or for each input line."""
    words = call.leading(
        "j/jobs: a/arg-file: I: n/max-args: N: L: C/colsep: delay: joblog: results: S/sshlogin:"
    ).operands
    texts = [word.text for word in words]
    at = min((texts.index(mark) for mark in (":::", "::::", ":::+") if mark in texts), default=len(texts))
    command, values = words[:at], words[at + 1 :]
    if values and texts[at] == ":::":
        yield from (_job(command, (value,)) for value in values[:_MOST_INPUTS])
    elif command:
        names = call.stdin.names if call.stdin is not None else ()
        yield _job(command, names or (_input(call),))
    else:
        yield call.find("opaque.script", HIGH, "runs input lines as commands")


def _job(command: tuple[Word, ...], values: tuple[Word, ...]) -> NestedCommand:
    has_mark = any("{" in word.text for word in command)
    return NestedCommand(script=joined(fill(command, values, "{}") if has_mark else (*command, *values)))


def fill(command: tuple[Word, ...], values: tuple[Word, ...], mark: str) -> tuple[Word, ...]:
    """Put ``values`` where ``mark`` stands in ``command``."""
    filled: list[Word] = []
    for word in command:
        if word.text == mark:
            filled.extend(values)
        elif mark in word.text and values:
            filled.append(_replaced(word, mark, values[0]))
        else:
            filled.append(word)
    return tuple(filled)


def _replaced(word: Word, mark: str, value: Word) -> Word:
    pieces: list[WordPiece] = []
    for piece in word.pieces:
        if piece.kind is not PieceKind.TEXT:
            pieces.append(piece)
            continue
        for number, text in enumerate(piece.text.split(mark)):
            if number:
                pieces.extend(value.pieces)
            pieces.append(WordPiece(PieceKind.TEXT, text))
    return make_word(pieces)
