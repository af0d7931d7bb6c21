"""Which files a listing names: what ``find``, ``fd`` and ``ls`` print, as patterns."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalward.safety.call import ProgramCall
from evalward.safety.targets import takes_all
from evalward.safety.words import Word, joined, literal, make_word, pattern

_NAME_TESTS = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"}
)
_OTHER_TESTS = frozenset(
    {"-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-size", "-inum"}
    | {"-samefile", "-links", "-used", "-anewer", "-cnewer", "-newermt", "-newerct"}
)
_VALUED = frozenset(
    {
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-perm",
        "-type",
        "-xtype",
        "-maxdepth",
        "-mindepth",
        "-fstype",
        "-printf",
        "-fls",
        "-fprint",
        "-fprint0",
    }
)
_COMMANDS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SOME = "selected-file"
"""Stands for the files that a test other than a name picks out."""


@dataclass(slots=True)
class Search:
    """A ``find`` command, taken apart."""

    roots: list[Word] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    narrowed: bool = False
    deletes: bool = False
    commands: list[tuple[Word, ...]] = field(default_factory=list)
    asks: bool = False
    outputs: list[Word] = field(default_factory=list)
    alternatives: bool = False
    takes_all: bool = False
    """One of the names looked for is everybody's."""

    def names(self) -> tuple[Word, ...]:
        """Return the files found: patterns below the roots, or everything in them."""
        roots = self.roots or [literal(".")]
        if self.patterns:
            tails = [pattern("/**/" + text) for text in self.patterns]
        else:
            tails = [pattern("/**/" + _SOME if self.narrowed else "/*")]
        return tuple(joined((root, tail), "") for root in roots for tail in tails)


def read_find(call: ProgramCall) -> Search:
    """Take a ``find`` command apart."""
    search = Search()
    args = list(call.args)
    while args and (args[0].text in ("-H", "-L", "-P") or args[0].text.startswith(("-O", "-D"))):
        args.pop(0)
    while args and args[0].text[:1] not in ("-", "(", "!"):
        search.roots.append(args.pop(0))
    _read_expression(search, args)
    if search.alternatives and search.takes_all:
        search.narrowed, search.patterns = False, []
    return search


def _read_expression(search: Search, args: list[Word]) -> None:
    negated, alternative, at = False, False, 0
    while at < len(args):
        text = args[at].text
        at += 1
        if text in ("!", "-not"):
            negated = not negated
            continue
        if text in ("-o", "-or"):
            alternative = True
            continue
        if text in _COMMANDS:
            at = _read_command(search, args, at, text)
        elif text == "-delete":
            search.deletes = True
        elif text == "-empty":
            search.narrowed = search.narrowed or not negated
        elif at < len(args) and (text in _VALUED or text.startswith("-fprint")):
            _read_other(search, text, args[at])
            at += 2 if text == "-fprintf" else 1
        elif at < len(args) and (text in _NAME_TESTS or text in _OTHER_TESTS or text.startswith("-newer")):
            _read_test(search, text, args[at].text, negated)
            at += 1
        search.alternatives = search.alternatives or alternative
        if alternative and (text == "-delete" or text in _COMMANDS):
            search.narrowed, search.patterns = False, []  # the tests belong to the other alternative
        negated, alternative = False, False


def _read_command(search: Search, args: list[Word], at: int, text: str) -> int:
    stop = next((n for n in range(at, len(args)) if args[n].text in (";", "+")), len(args))
    search.commands.append(tuple(args[at:stop]))
    search.asks = search.asks or text.startswith("-ok")
    return stop + 1


def _read_other(search: Search, text: str, value: Word) -> None:
    if text in ("-type", "-xtype"):
        search.narrowed = search.narrowed or value.text not in ("f", "d", "f,d")
    elif text.startswith("-f") and text != "-fstype":
        search.outputs.append(value)


def _read_test(search: Search, test: str, value: str, negated: bool) -> None:
    if test in _NAME_TESTS:
        last = value.rstrip("/").rpartition("/")[2] if "path" in test or "regex" in test else value
        if negated:
            return
        if takes_all(value.replace("/", "").replace("$", "")):
            search.takes_all = True
            return
        search.narrowed = True
        is_plain = test in ("-name", "-iname")
        search.patterns.append(last if is_plain else _SOME)
    elif not (test == "-size" and value.lstrip("+-")[:1] == "0"):
        search.narrowed = True


def read_fd(call: ProgramCall) -> Search:
    """Take an ``fd`` command apart."""
    texts = [word.text for word in call.args]
    marks = ("-x", "--exec", "-X", "--exec-batch")
    stop = next((at for at, text in enumerate(texts) if text in marks), len(texts))
    options = call.with_args(call.args[:stop]).options("e/extension: t/type: d/max-depth: E/exclude: S/size: c: j:")
    search = Search(roots=list(options.operands[1:]))
    search.commands = [tuple(word for word in call.args[stop + 1 :] if word.text != ";")] if stop < len(texts) else []
    for extension in options.all_values("e"):
        search.patterns.append("*." + extension.text)
    if options.operands and options.operands[0].text not in (".", "", ".*", "*"):
        search.patterns.append(f"*{options.operands[0].text}*".replace("**", "*"))
    search.narrowed = bool(search.patterns) or options.has("S", "changed-before", "changed-within")
    return search


def read_ls(call: ProgramCall) -> tuple[Word, ...]:
    """Return what ``ls`` names: its operands, folders with everything in them."""
    operands = call.options("I/ignore: w: T: color: sort: time: d/directory").operands
    if not operands:
        return (pattern("./*"),)
    return tuple(
        word if word.glob or "." in word.text.strip("./") else joined((word, pattern("/*")), "") for word in operands
    )


EVERYTHING = pattern("*")
"""Stands for all there is of something: files, processes, containers."""


def lists_everything(word: Word) -> bool:
    """Say whether a word stands for all there is, directly or as the output of a listing."""
    listed = [name for flow in word.flows for name in flow.names]
    return any(name.glob and takes_all(name.text.rpartition("/")[2]) for name in (word, *listed))


def picks_some(call: ProgramCall) -> bool:
    """Say whether a filter lets through only some lines, rather than all but a heading."""
    texts = [word.text for word in call.args]
    if call.program in ("grep", "egrep", "fgrep", "rg"):
        return bool(texts) and not call.options("e: f:").has("v", "invert-match")
    if call.program in ("head", "tail"):
        return not {"+2", "-n+2", "+1", "-n+1"} & set(texts)
    if call.program in ("awk", "gawk", "mawk"):
        program = next((text for text in texts if "{" in text or "/" in text), "")
        condition = program.partition("{")[0].replace(" ", "")
        return condition not in ("", "NR>1", "NR!=1", "FNR>1") or "if" in program
    return call.program == "sed" and "-n" in texts


def narrowed(names: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return names after a filter picked some of them."""
    found: list[Word] = []
    for name in names:
        head, slash, last = name.text.rpartition("/")
        if not takes_all(last):
            found.append(name)
            continue
        keep = [piece for piece in name.pieces if not piece.text.endswith(last)] if slash else []
        kept_head = make_word(keep) if keep else literal(head + slash)
        found.append(joined((kept_head, pattern(_SOME + "*")), ""))
    return tuple(found)
