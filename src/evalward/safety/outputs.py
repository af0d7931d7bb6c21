"""What programs print, as far as it matters: known text, file names, and where unknown text comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from evalward.safety.call import ProgramCall
from evalward.safety.decoding import decoded
from evalward.safety.lexer import decode_ansi
from evalward.safety.listing import (
    EVERYTHING,
    narrowed,
    picks_some,
    read_fd,
    read_find,
    read_ls,
)
from evalward.safety.scope import is_secret_name
from evalward.safety.sensitive import names_sensitive
from evalward.safety.words import (
    NOTHING,
    Flow,
    PieceKind,
    Word,
    WordPiece,
    joined,
    literal,
    make_word,
    merge_flows,
    names,
)

Printer = Callable[[ProgramCall], Flow | None]

_PRINTERS: dict[str, Printer] = {}
_SILENT = names(
    "cd : true false mkdir touch unset local readonly alias shift exit return sleep wait test [ pushd "
    "popd shopt rm mv cp ln chmod chown trap read"
)
_FILTERS = names(
    "cat tac head tail sort uniq cut sed awk gawk mawk perl tr tee rev grep egrep fgrep zgrep rg ag fold "
    "fmt nl paste column expand pv base64 base32 gzip gunzip zcat bzip2 bzcat bunzip2 xz xzcat zstd "
    "zstdcat lz4 openssl gpg xxd od hexdump iconv dos2unix strings jq yq less more bat sponge envsubst "
    "tar cpio zip dd uudecode shuf"
)
_SCRIPTED = names("grep egrep fgrep rg sed awk gawk mawk perl jq yq")
"""Filters whose first operand says what to do."""
_REMOTE = names(
    "nc ncat netcat socat telnet ssh lynx w3m links ftp sftp tftp aria2c http https xh dig host nslookup "
    "fetch gsutil whois axel lftp"
)
_VALUES = {
    "pwd": ".",
    "whoami": "user",
    "logname": "user",
    "hostname": "host",
    "mktemp": "/tmp/tmp.folder",
    **dict.fromkeys(("date", "nproc", "id", "uname", "wc", "expr", "bc", "tput", "stat", "du", "arch"), "12345"),
}


def printed_by(call: ProgramCall) -> Flow | None:
    """Return what ``call`` prints, or ``None`` when nothing is known about the program."""
    program = call.program
    if program in _SILENT:
        return NOTHING
    if program in _VALUES:
        return Flow(content=literal(_VALUES[program]), source=call.text)
    printer = _PRINTERS.get(program)
    if printer:
        return printer(call)
    if program in _FILTERS:
        return _filtered(call)
    if program in _REMOTE:
        return Flow(remote=True, source=call.text)
    return None


def _prints(programs: str) -> Callable[[Printer], Printer]:
    def register(function: Printer) -> Printer:
        _PRINTERS.update(dict.fromkeys(programs.split(), function))
        return function

    return register


@_prints("echo")
def _echo(call: ProgramCall) -> Flow:
    args = list(call.args)
    escapes = False
    while args and re.fullmatch(r"-[neE]+", args[0].text):
        escapes = "e" in args.pop(0).text
    content = joined(args)
    if escapes:
        content = _unescaped(content)
    return _shown(content, call)


@_prints("printf")
def _printf(call: ProgramCall) -> Flow | None:
    args = call.args[1:] if call.args and call.args[0].text == "--" else call.args
    if not args:
        return NOTHING
    form, *values = args
    pieces: list[WordPiece] = []
    for part in re.split(r"(%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z%])", decode_ansi(form.text)):
        if part == "%%":
            pieces.append(WordPiece(PieceKind.TEXT, "%"))
        elif part.startswith("%") and len(part) > 1:
            pieces.extend(values.pop(0).pieces if values else ())
        else:
            pieces.append(WordPiece(PieceKind.TEXT, part))
    for value in values:  # the format is used again for what is left
        pieces.extend((WordPiece(PieceKind.TEXT, "\n" if "\\n" in form.text else ""), *value.pieces))
    content = make_word(pieces)
    return _shown(_unescaped(content) if "%b" in form.text else content, call)


def _unescaped(content: Word) -> Word:
    return make_word(
        replace(piece, text=decode_ansi(re.sub(r"\\0([0-7]{1,3})", r"\\\1", piece.text))) for piece in content.pieces
    )


def _shown(content: Word, call: ProgramCall) -> Flow:
    unknown = [piece for piece in content.pieces if piece.kind is PieceKind.UNKNOWN]
    flows = [piece.flow for piece in unknown if piece.flow]
    return Flow(
        content=content,
        remote=any(flow.remote for flow in flows),
        secret=any(flow.secret for flow in flows) or any(is_secret_name(piece.text) for piece in unknown),
        disguised=any(flow.disguised for flow in flows),
        personal=any(flow.personal for flow in flows),
        source=call.text,
    )


@_prints("curl")
def _curl(call: ProgramCall) -> Flow:
    options = call.options("o/output: O/remote-name I/head")
    to_file = options.has("o", "O") and not any(word.text in ("-", "/dev/stdout") for word in options.all_values("o"))
    return NOTHING if to_file or options.has("I") else Flow(remote=True, source=call.text)


@_prints("wget")
def _wget(call: ProgramCall) -> Flow:
    output = call.options("O/output-document: P: o: U:").value("O")
    bundled = any(re.fullmatch(r"-[a-zA-Z]*O-", word.text) for word in call.args)
    to_pipe = bundled or (output is not None and output.text in ("-", "/dev/stdout"))
    return Flow(remote=True, source=call.text) if to_pipe else NOTHING


@_prints("find gfind")
def _find(call: ProgramCall) -> Flow | None:
    search = read_find(call)
    return None if search.commands or search.deletes else Flow(names=search.names(), source=call.text)


@_prints("fd fdfind")
def _fd(call: ProgramCall) -> Flow | None:
    search = read_fd(call)
    return None if search.commands else Flow(names=search.names(), source=call.text)


@_prints("ls exa eza")
def _ls(call: ProgramCall) -> Flow:
    return Flow(names=read_ls(call), source=call.text)


@_prints("ps")
def _ps(call: ProgramCall) -> Flow:
    chosen = call.options("C: p/pid: u/user: U: g: G: t: o: O: q: ppid: sort: format: s:").has(
        "C", "p", "u", "U", "g", "G", "t", "q", "ppid"
    )
    return Flow(names=narrowed((EVERYTHING,)) if chosen else (EVERYTHING,), source=call.text)


@_prints("pgrep pidof lsof fuser jobs")
def _processes(call: ProgramCall) -> Flow:
    options = call.options("u: U: g: P: t: i: p: c: d:")
    return Flow(names=narrowed((EVERYTHING,)) if options.operands or call.args else (EVERYTHING,), source=call.text)


@_prints("docker podman nerdctl")
def _containers(call: ProgramCall) -> Flow | None:
    namespaced = call.program == "nerdctl"
    options = call.options("f/filter: n/namespace: format:" if namespaced else "f/filter: n/last: format: H: c:")
    verbs = [word.text for word in options.operands[:2]]
    if not {"ps", "ls", "images", "list"} & set(verbs):
        return None
    some = options.has("f") or (options.has("n") and not namespaced)
    return Flow(names=narrowed((EVERYTHING,)) if some else (EVERYTHING,), source=call.text)


@_prints("crictl ctr")
def _node_containers(call: ProgramCall) -> Flow | None:
    valued = "n/namespace: address:" if call.program == "ctr" else "r: i: name: label: state: pod: namespace:"
    options = call.options(valued)
    verbs = {word.text for word in options.operands[:2]}
    if not {"ps", "pods", "images", "ls", "list"} & verbs:
        return None
    some = options.has("name", "label", "state", "pod") or len(options.operands) > len(verbs)
    return Flow(names=narrowed((EVERYTHING,)) if some else (EVERYTHING,), source=call.text)


@_prints("which whence")
def _which(call: ProgramCall) -> Flow | None:
    operands = call.options("").operands
    return Flow(content=joined(operands, "\n"), source=call.text) if operands else None


@_prints("command type")
def _command(call: ProgramCall) -> Flow | None:
    options = call.leading("")
    return Flow(content=joined(options.operands), source=call.text) if options.has("v", "p", "P") else None


@_prints("realpath readlink")
def _realpath(call: ProgramCall) -> Flow:
    return Flow(content=joined(call.options("").operands, "\n"), source=call.text)


@_prints("basename dirname")
def _path_part(call: ProgramCall) -> Flow | None:
    operands = call.options("s/suffix:").operands
    if not operands or not operands[0].literal:
        return None
    head, slash, tail = operands[0].text.rstrip("/").rpartition("/")
    folder = head or (slash and "/") or "."
    return Flow(content=literal(tail if call.program == "basename" else folder), source=call.text)


@_prints("seq")
def _seq(call: ProgramCall) -> Flow:
    return Flow(content=literal("1\n2\n3"), source=call.text)


@_prints("git")
def _git(call: ProgramCall) -> Flow | None:
    operands = [word.text for word in call.options("C: c: git-dir: work-tree:").operands]
    if operands[:1] == ["rev-parse"]:
        top = call.options("").has("show-toplevel")
        return Flow(content=literal("." if top else "1a2b3c"), source=call.text)
    return (
        Flow(names=(make_word((WordPiece(PieceKind.TEXT, "./"), WordPiece(PieceKind.GLOB, "*"))),))
        if operands == ["ls-files"]
        else None
    )


@_prints("set export declare typeset")
def _variables(call: ProgramCall) -> Flow:
    lists = not call.args or [word.text for word in call.args] == ["-p"]
    return Flow(secret=True, source=call.text) if lists else NOTHING


@_prints("openssl")
def _openssl(call: ProgramCall) -> Flow:
    connects = any(word.text == "s_client" for word in call.args)
    return Flow(remote=True, source=call.text) if connects else _filtered(call)


@_prints("env printenv")
def _environment(call: ProgramCall) -> Flow | None:
    operands = call.leading("u: S:").operands
    if call.program == "env" and any("=" not in word.text for word in operands):
        return None
    names_only = call.program == "printenv" and operands
    secret = not names_only or any(is_secret_name(word.text) for word in operands)
    return Flow(secret=secret, source=call.text)


@_prints("gpg gpg2")
def _gpg(call: ProgramCall) -> Flow:
    flow = _filtered(call)
    options = call.options("")
    if any(flag.startswith("export-secret") for flag in options.flags):
        return replace(flow, secret=True)
    return replace(flow, disguised=flow.disguised or options.has("d", "decrypt"))


@_prints("security pass vault op bw secret-tool")
def _vault(call: ProgramCall) -> Flow:
    return Flow(secret=True, source=call.text)


@_prints("pbpaste wl-paste termux-clipboard-get xclip xsel")
def _clipboard(call: ProgramCall) -> Flow:
    """What was copied: often a password. ``xclip`` and ``xsel`` fill the clipboard unless they are told to print it."""
    prints = call.program not in ("xclip", "xsel") or call.options("o/out/output selection: d: t: b p s i").has("o")
    return Flow(personal=True, source=call.text) if prints else NOTHING


def _filtered(call: ProgramCall) -> Flow:
    """What a filter prints: its input or its files, changed in ways that mostly do not matter."""
    files = [word for word in _file_operands(call) if word.text != "-"]
    sources = [_file_flow(call, word) for word in files]
    if not files or call.program == "tee":
        sources = [call.stdin] if call.stdin is not None else [Flow(local=True)]
    flow = replace(merge_flows(sources), source=call.text)
    if call.program in ("cat", "tee", "tac", "pv", "sponge", "less", "more", "bat"):
        return flow
    if flow.names:
        return replace(flow, names=narrowed(flow.names) if picks_some(call) else flow.names)
    return decoded(call, flow)


def _file_operands(call: ProgramCall) -> Iterable[Word]:
    operands = call.options("n/lines: c: f: d: k: t: o: e: in: out: C: A: B: m:").operands
    takes_script = call.program in _SCRIPTED
    if call.program in ("tr", "openssl", "dd"):
        return ()
    return operands[1:] if takes_script else operands


def _file_flow(call: ProgramCall, word: Word) -> Flow:
    known = call.scope.files.get(word.text) or call.scope.files.get(word.text.removeprefix("./"))
    if known is not None:
        return known
    if word.flows:
        return word.flows[0]
    remote = word.text.startswith(("/dev/tcp/", "/dev/udp/"))
    return Flow(local=not remote, remote=remote, secret=names_sensitive(call, (word,)))
