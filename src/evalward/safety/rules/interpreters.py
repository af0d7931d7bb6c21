"""Script languages, and other programs that can run commands from their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.code import rate_code, unknown_code
from evalward.safety.harm import empty, overwrite
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.rules.databases import rate_manage_script
from evalward.safety.rules.shells import written_file
from evalward.safety.words import Word, joined, literal

_LANGUAGES: dict[str, str] = {
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3", "ipython"), "c: m: W: X: i u O s S E B"),
    "perl": "e/E: M: I: i n p l a w F: 0 s t T",
    "ruby": "e: r: I: i n p l a w",
    "node": "e/eval: p/print: r/require: i c",
    "nodejs": "e/eval: p/print: r/require: i c",
    "bun": "e/eval: p/print:",
    "php": "r: f: d: c: B: R: E: S: t: a n",
    "lua": "e: l: i v",
    "luajit": "e: l: i v",
    "Rscript": "e: i",
    "julia": "e: E: L: p: i",
    "osascript": "e: l: i s:",
    "tclsh": "c:",
    "expect": "c: f: b d i",
    "guile": "c: e: l: s:",
    "groovy": "e: c:",
    "scala": "e:",
    "elixir": "e/eval: r:",
    "ocaml": "e: I:",
}
_CODE_OPTIONS = ("c", "e", "r", "p", "E", "B", "R")
_PYTHONS = ("python", "python2", "python3", "pypy", "pypy3", "ipython")


@rule(" ".join(_LANGUAGES) + " python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14")
def language(call: ProgramCall) -> Iterator[Answer]:
    """Judge inline code, code on the input, and files that this command wrote."""
    is_python = call.program.startswith(_PYTHONS)
    options = call.leading(_LANGUAGES.get(call.program, _LANGUAGES["python3"]))
    if is_python and options.has("m"):
        yield from _module(call, options.value("m"), options.operands)
        return
    codes = [value for name, value in options.values if name in _CODE_OPTIONS and _takes_code(call.program, name)]
    modules = " ".join(value.text for value in options.all_values("M", "r")) if call.program in ("perl", "ruby") else ""
    for value in codes:
        yield from _code(call, joined((literal(f"use {modules};"), value)) if modules else value)
    if options.has("i") and call.program in ("perl", "ruby") and codes:
        yield from overwrite(call, options.operands)
    if codes or (options.operands and options.operands[0].text != "-"):
        yield from () if codes else _script_file(call, options.operands)
    elif call.stdin is not None:
        yield from _input_code(call)
    elif call.privileged:
        yield call.find("privilege.shell", HIGH, "opens an interpreter with raised privileges")


def runs_code(program: str) -> bool:
    """Say whether arguments of this program may be read by code that it runs."""
    return program in _LANGUAGES or program.startswith(_PYTHONS) or program.endswith("awk")


def _takes_code(program: str, name: str) -> bool:
    if program == "perl" or program == "ruby":
        return name == "e"
    if program == "php":
        return name in ("r", "B", "R", "E")
    return name != "r"


def _code(call: ProgramCall, value: Word) -> Iterator[Answer]:
    if value.flows and any(flow.remote for flow in value.flows):
        yield call.find("remote.execute", HIGH, "runs code that comes from the network")
    elif value.opaque and len(value.pieces) == 1:
        yield from unknown_code(call, value)
    else:
        yield from rate_code(call, value.text)


def _module(call: ProgramCall, module: Word | None, rest: tuple[Word, ...]) -> Iterator[Answer]:
    name = module.text if module is not None else ""
    if name in ("pip", "ensurepip", "pipx"):
        yield NestedCommand(words=(literal("pip"), *rest))
    elif name in ("http.server", "SimpleHTTPServer", "pyftpdlib"):
        yield call.find("network.listen", MODERATE, "offers files to the network")
    elif name in ("IPython", "pdb", "trace", "cProfile", "profile", "runpy"):
        yield NestedCommand(words=(literal("python3"), *rest))


def _script_file(call: ProgramCall, operands: tuple[Word, ...]) -> Iterator[Answer]:
    file = operands[0]
    flow = written_file(call, file) or (file.flows[0] if file.flows else None)
    if flow is not None and flow.content is not None:
        yield from rate_code(call, flow.content.text)
    elif flow is not None and (flow.remote or flow.disguised):
        yield call.find("remote.execute", HIGH, f"runs code that comes from the network ({flow.source})")
    yield from rate_manage_script(call, operands)


@rule("manage.py django-admin artisan")
def manage_script(call: ProgramCall) -> Iterator[Answer]:
    """The same script, made executable."""
    yield from rate_manage_script(call, call.words)


def _input_code(call: ProgramCall) -> Iterator[Answer]:
    flow = call.stdin
    if flow is None:
        return
    if flow.content is not None and not (flow.content.opaque and len(flow.content.pieces) == 1):
        yield from rate_code(call, flow.content.text)
    elif flow.remote:
        yield call.find("remote.execute", HIGH, f"runs code that comes from the network ({flow.source})")
    elif flow.disguised:
        yield call.find("opaque.disguised", HIGH, f"runs code that is decoded first ({flow.source})")
    elif flow.local:
        yield call.find("script.local", MODERATE, "runs code that is not examined")
    else:
        yield call.find("opaque.script", HIGH, f"runs what a command prints ({flow.source or 'unknown'})")


@rule("awk gawk mawk nawk")
def awk(call: ProgramCall) -> Iterator[Answer]:
    """An awk program can run commands and write files."""
    options = call.leading("F/field-separator: v/assign: f/file: i/include: e/source: M b s")
    codes = options.all_values("e") or list(options.operands[:1] if not options.has("f") else ())
    for value in codes:
        yield from rate_code(call, value.text)
    if any(word.text == "inplace" for word in options.all_values("i")):
        yield from overwrite(call, options.operands[1:])


@rule("sed gsed")
def sed(call: ProgramCall) -> Iterator[Answer]:
    """``-i`` writes; the commands ``e`` and ``w`` reach out."""
    options = call.options("e/expression: f/file: i/in-place n/quiet E/regexp-extended r s z l: u")
    scripts = options.all_values("e") or list(options.operands[:1] if not options.has("f") else ())
    files = options.operands if options.has("e", "f") else options.operands[1:]
    if options.has("i"):
        yield from overwrite(call, files)
        if any(script.text in ("d", "1,$d", "/./d", "/.*/d") for script in scripts):
            yield from empty(call, files)
    for script in scripts:
        for match in re.finditer(r"(?:^|[;{}\n]|^[\d$]+|/)\s*e\s+([^;\n}]+)", script.text):
            yield NestedCommand(script=literal(match[1]))
        for match in re.finditer(r"(?:^|[;{}\s\d/p])w\s*(/[^\s;}]+)", script.text):
            yield from overwrite(call, (literal(match[1]),))
        if "e" in _replacement_flags(script.text):
            yield call.find("opaque.script", HIGH, "runs the result of a replacement as a command")


def _replacement_flags(text: str) -> str:
    """Return the flags after ``s/old/new/``."""
    if len(text) < 4 or text[0] != "s" or text[1].isalnum():
        return ""
    at, seen = 2, 0
    while at < len(text) and seen < 2:
        seen += text[at] == text[1]
        at += 2 if text[at] == "\\" else 1
    flags = re.match(r"[a-zA-Z\d]*", text[at:])
    return flags[0] if flags else ""


@rule("vim vi nvim ex view gvim emacs ed")
def editor(call: ProgramCall) -> Iterator[Answer]:
    """Commands given to an editor, among them ``:!command``."""
    options = call.options("c: S: u: T: i: cmd: eval: e E s n R batch Q")
    commands = [word.text for word in options.all_values("c", "cmd", "eval")]
    commands += [word.text[1:] for word in call.args if word.text.startswith("+")]
    if call.stdin is not None and call.stdin.content is not None and call.program in ("ex", "ed", "vim"):
        commands += call.stdin.content.text.splitlines()
    for command in commands:
        text = command.lstrip(": ")
        if text.startswith("!"):
            yield NestedCommand(script=literal(text[1:]))
        elif re.match(r"(?:py3?|python3?|lua|perl|ruby)\b|\(|call system|silent", text):
            yield from rate_code(call, text.replace("shell-command", "system").replace("(system ", "system("))
            yield from (NestedCommand(script=literal(found)) for found in re.findall(r"!\s*(\S.*)", text))
        else:
            found = re.match(r"(?:%?w(?:rite)?|sav\w*)!?\s+(\S+)", text)
            yield from overwrite(call, (literal(found[1]),)) if found else ()
    files = [word for word in options.operands if not word.text.startswith("+")]
    if commands and any(re.search(r"\bw|\bx\b|\bwq", command) for command in commands):
        yield from overwrite(call, files)


@rule("gdb lldb")
def debugger(call: ProgramCall) -> Iterator[Answer]:
    """Debuggers have a shell of their own."""
    for value in call.options("ex: x: c: p: o: eval-command: nx batch quiet nh args").all_values(
        "ex", "o", "eval-command"
    ):
        match = re.match(r"(?:!|shell|platform shell)\s*(.+)", value.text)
        if match:
            yield NestedCommand(script=literal(match[1]))
        elif value.text.startswith(("call ", "python", "script")):
            yield from rate_code(call, value.text)


@rule("osascript")
def apple_script(call: ProgramCall) -> Iterator[Answer]:
    """AppleScript can end sessions and empty the trash."""
    for value in call.options("e: l: i s:").all_values("e"):
        if re.search(r"\b(?:shut down|restart|log out|sleep|empty (?:the )?trash)\b", value.text, re.IGNORECASE):
            yield call.find("machine.down", HIGH, "stops the machine, ends the session or empties the trash")
        if re.search(r"\bdelete (?:every|all)\b|\berase disk\b", value.text, re.IGNORECASE):
            yield call.find("deletion.personal", HIGH, "deletes everything in a folder")
        if re.search(r"\bmake (?:new )?login item\b", value.text, re.IGNORECASE):
            yield call.find("privilege.login", HIGH, "starts a program at each login")
        if re.search(r"\bhidden answer\b", value.text, re.IGNORECASE):
            yield call.find("credential.read", HIGH, "asks for a password and shows it to the next command")


@rule("deno")
def deno(call: ProgramCall) -> Iterator[Answer]:
    """Deno runs code from addresses, within the permissions that it is given."""
    operands = call.options("c: A/allow-all allow-run").operands
    if operands[:1] and operands[0].text == "eval" and operands[1:]:
        yield from rate_code(call, operands[1].text)
    elif any(word.text.startswith(("http:", "https:")) for word in operands[1:]):
        wide = call.options("").has("A", "allow-all", "allow-run", "allow-ffi")
        yield call.find("remote.execute", HIGH if wide else MODERATE, "runs code from the network")


@rule("npx bunx pnpx uvx pipx")
def package_runner(call: ProgramCall) -> Iterator[Answer]:
    """A package that is fetched and run; from a plain address that is somebody's script."""
    operands = call.leading("p/package: c/call: y").operands
    for value in call.leading("p/package: c/call: y").all_values("c"):
        yield NestedCommand(script=value)
    if operands and re.match(r"https?://|git\+|github:|[\w.-]+\.\w+/", operands[0].text):
        yield call.find("remote.execute", HIGH, "runs code from the network")
    elif operands:
        yield NestedCommand(words=operands, stdin=call.stdin)


@rule("pnpm yarn npm")
def script_runner(call: ProgramCall) -> Iterator[Answer]:
    """``pnpm dlx``, ``yarn dlx`` and ``npm exec`` are package runners as well."""
    operands = call.leading("C: prefix: w:").operands
    if operands and operands[0].text in ("dlx", "exec", "x"):
        yield from package_runner(call.with_args(operands[1:]))


@rule("rimraf del-cli")
def remove_tree(call: ProgramCall) -> Iterator[Answer]:
    """``rm -rf`` by another name."""
    yield NestedCommand(words=(literal("rm"), literal("-rf"), *call.options("g G").operands))


@rule("make gmake ninja just")
def make(call: ProgramCall) -> Iterator[Answer]:
    """Rules given on the command line or from the network."""
    options = call.options("f/file/makefile: C/directory: j: eval: s k n B")
    for value in options.all_values("f"):
        if any(flow.remote for flow in value.flows) or (
            value.text == "-" and call.stdin is not None and call.stdin.remote
        ):
            yield call.find("remote.execute", HIGH, "runs build rules that come from the network")
    if any(value.text == "-" for value in options.all_values("f")) and call.stdin is not None:
        lines = call.stdin.content.text.splitlines() if call.stdin.content is not None else []
        yield from (NestedCommand(script=literal(line.lstrip("\t@-+"))) for line in lines if line.startswith("\t"))
    for word in options.operands:
        if word.text.startswith("SHELL="):
            yield NestedCommand(script=word.after(6))
    for value in options.all_values("eval"):
        match = re.search(r"\$\(shell ([^)]*)\)|:\s*;?\s*(.+)", value.text)
        yield from (NestedCommand(script=literal(match[1] or match[2])) for _ in [0] if match)


table("go", "C:", [Subcommand("clean", MODERATE, "package.cache", "clears caches", needs="modcache cache")])
