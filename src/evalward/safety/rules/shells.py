"""Shells and the builtins that run, remember or redefine commands."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import SHELLS, Answer, NestedCommand, ProgramCall
from evalward.safety.harm import overwrite
from evalward.safety.model import HIGH, MODERATE, SafetyFinding
from evalward.safety.registry import rule
from evalward.safety.rules.environment import rate_assignment
from evalward.safety.words import ANYTHING, Flow, Word, joined, literal, names, show, unknown

_SHELL_OPTIONS = "c o: O: rcfile: init-file: i l/login s p x e u v n norc noprofile posix help version"
_GUARDED = names("rm mv cp sudo su ssh chmod chown dd kill shutdown reboot passwd login doas")
_SETUP = names(
    "ssh-agent direnv brew pyenv rbenv nodenv goenv jenv starship dircolors conda mamba zoxide thefuck gh "
    "minikube docker-machine opam luarocks register-python-argcomplete gpg-agent keychain lesspipe fnm "
    "nvm resize navi atuin mcfly kubectl helm pip poetry rustup mise asdf rtx pixi micromamba npm oc kind "
    "k3d flux argocd task just uv"
)
"""Programs whose output is made to be evaluated by a shell."""


@rule(" ".join(SHELLS))
def shell(call: ProgramCall) -> Iterator[Answer]:
    """A shell runs text, a file, its input, or waits for a person."""
    options = call.leading(_SHELL_OPTIONS)
    if options.has("help", "version") or (options.has("n") and not options.has("c")):
        return
    if options.has("p") and not options.has("c"):
        yield call.find("privilege.shell", HIGH, "keeps raised privileges in a shell")
    if options.has("c"):
        yield from _inline(call, options.operands)
    elif options.operands and not options.has("s"):
        yield from run_file(call, options.operands[0], options.operands[1:])
    else:
        yield from _from_input(call, options.operands)


def _inline(call: ProgramCall, operands: tuple[Word, ...]) -> Iterator[Answer]:
    if operands:
        yield NestedCommand(script=operands[0], arguments=operands[2:], stdin=call.stdin)


def _from_input(call: ProgramCall, arguments: tuple[Word, ...]) -> Iterator[Answer]:
    if call.stdin is not None:
        yield NestedCommand(flow=call.stdin, arguments=arguments)
    elif call.privileged:
        yield call.find("privilege.shell", HIGH, "opens a shell with raised privileges")


def run_file(call: ProgramCall, file: Word, arguments: tuple[Word, ...], inline: bool = False) -> Iterator[Answer]:
    """Judge running a script file: what it holds is known when this command wrote or fetched it."""
    if file.text in ("-", "/dev/stdin", "/proc/self/fd/0") and call.stdin is not None:
        yield NestedCommand(flow=call.stdin, arguments=arguments, inline=inline)
        return
    flow = written_file(call, file)
    if flow is not None:
        yield NestedCommand(flow=flow, arguments=arguments, inline=inline)
    elif file.flows and _is_setup(file.flows[0]):
        yield call.find("script.setup", MODERATE, "evaluates what a local tool prints")
    elif file.opaque and file.flows:
        yield NestedCommand(flow=file.flows[0], arguments=arguments, inline=inline)
    elif file.text.startswith("/dev/tcp/"):
        yield NestedCommand(flow=Flow(remote=True, source=file.text))
    else:
        yield call.find("script.local", MODERATE, f"runs the script {file.text}, which is not examined")


def written_file(call: ProgramCall, file: Word) -> Flow | None:
    """Return what is known of a file that this command wrote or downloaded."""
    files = call.scope.files
    return files.get(file.text) or files.get(file.text.removeprefix("./")) or files.get("./" + file.text)


def written_program(call: ProgramCall, word: Word) -> Flow | None:
    """Return what is known of a program that this command wrote, by its path or by its name."""
    if "/" in word.text:
        return written_file(call, word)
    placed = [path for path in call.scope.files if path.endswith(f"bin/{word.text}")]
    return call.scope.files[placed[0]] if placed and word.text else None


@rule("source .")
def source(call: ProgramCall) -> Iterator[Answer]:
    """Run a file in this shell."""
    if call.args:
        yield from run_file(call, call.args[0], call.args[1:], inline=True)


@rule("eval")
def evaluate(call: ProgramCall) -> Iterator[Answer]:
    """Run the arguments as a command of this shell."""
    args = call.args
    while args and args[0].literal and args[0].text in ("--", "eval", "builtin", "command"):
        args = args[1:]
    flows = [flow for word in args for flow in word.flows]
    if flows and all(_is_setup(flow) for flow in flows) and all(word.flows for word in args):
        yield call.find("script.setup", MODERATE, "evaluates what a local tool prints")
    elif args:
        yield NestedCommand(script=joined(args), inline=True)


def _is_setup(flow: Flow) -> bool:
    program = flow.source.split()[0].rpartition("/")[2] if flow.source else ""
    return program in _SETUP and not (flow.remote or flow.disguised)


@rule("exec command builtin noglob nocorrect")
def replace_shell(call: ProgramCall) -> Iterator[Answer]:
    """Run another program, in place of this shell or past its functions."""
    options = call.leading("a: c l" if call.program == "exec" else "p v V")
    if options.operands and not (call.program == "command" and options.has("v", "V")):
        yield NestedCommand(words=options.operands, stdin=call.stdin, inline=call.program != "exec")


@rule("trap")
def trap(call: ProgramCall) -> Iterator[Answer]:
    """Run a command later, when a signal comes or the shell ends."""
    operands = call.leading("l p").operands
    if len(operands) > 1 and operands[0].text not in ("", "-"):
        yield NestedCommand(script=operands[0])


@rule("alias")
def alias(call: ProgramCall) -> Iterator[Answer]:
    """A new name is judged like the command behind it; well-known names must keep their meaning."""
    for word in call.leading("p g s").operands:
        name, equals, body = word.text.partition("=")
        if not equals:
            continue
        call.scope.aliases[name] = body
        if name in _GUARDED and not _is_kinder(name, body):
            yield call.find("evasion.alias", HIGH, f"changes what {name} means")
        if body.strip() not in ("sudo", "doas"):
            yield NestedCommand(script=word.after(len(name) + 1))


def rate_function_name(name: str) -> Iterator[SafetyFinding]:
    """A function must not take the place of a program that people trust."""
    if name in _GUARDED:
        yield SafetyFinding("evasion.function", HIGH, name, f"changes what {name} means")


def _is_kinder(name: str, body: str) -> bool:
    """Say whether an alias only adds harmless options to the program of the same name."""
    first, *rest = body.split() or [""]
    options = all(option.startswith("-") for option in rest)
    deletes = name in ("rm", "mv", "cp") and any(set(option.lstrip("-")) & set("rRf") for option in rest)
    return first == name and options and not deletes


@rule("cd pushd")
def change_folder(call: ProgramCall) -> Iterator[Answer]:
    """Remember where the shell is: it decides what a wildcard means."""
    operands = call.leading("L P e").operands
    word = operands[0] if operands else literal("~")
    target = next((place for _, place in call.places((word,))), None)
    is_home = not operands or word.text == "~"
    known = None if target is None or word.opaque or word.text == "-" else target.path
    call.scope.enter("~" if is_home else known, checked=is_home or word.text in ("/", ".."))
    return iter(())


@rule("export declare typeset local readonly")
def declare(call: ProgramCall) -> Iterator[Answer]:
    """Set variables."""
    for word in call.leading("f F g i a A r x n p t u l").operands:
        name, equals, _ = word.text.partition("=")
        if equals and name.isidentifier():
            value = word.after(len(name) + 1)
            call.scope.variables[name] = (value,)
            yield from rate_assignment(call, name, value)


@rule("unset")
def unset(call: ProgramCall) -> Iterator[Answer]:
    """Forget variables; without its history file a shell leaves no trace."""
    for word in call.leading("v f n").operands:
        call.scope.variables.pop(word.text, None)
        if word.text in ("HISTFILE", "HISTSIZE", "HISTFILESIZE"):
            yield call.find("history.off", HIGH, "stops recording the command history")


@rule("read")
def read(call: ProgramCall) -> Iterator[Answer]:
    """Set variables from input: known text stays known."""
    operands = call.options("p: d: n: N: t: u: i: a: r s e").operands
    flow = call.stdin if call.stdin is not None else ANYTHING
    for word in operands:
        if flow.text is not None:
            value: tuple[Word, ...] = tuple(literal(line) for line in flow.text.splitlines()) or (literal(""),)
        elif flow.names:
            value = flow.names
        else:
            value = (_read_value(word.text, flow),)
        call.scope.variables[word.text] = value
    return iter(())


def _read_value(name: str, flow: Flow) -> Word:
    return unknown("$" + name, flow)


@rule("mapfile readarray")
def read_lines(call: ProgramCall) -> Iterator[Answer]:
    """Set an array from input."""
    yield from read(call)


@rule("set")
def set_options(call: ProgramCall) -> Iterator[Answer]:
    """``set --`` gives new arguments, ``-e`` stops at errors, ``+o history`` hides what follows."""
    texts = [word.text for word in call.args]
    if "--" in texts:
        call.scope.set_arguments(call.args[texts.index("--") + 1 :])
    elif texts and texts[0][:1] not in ("-", "+"):
        call.scope.set_arguments(call.args)
    if any(text.startswith("-") and "e" in text and not text.startswith("--") for text in texts):
        call.scope.stops_on_error = True
    if texts[:2] == ["+o", "history"]:
        yield call.find("history.off", HIGH, "stops recording the command history")


@rule("shopt")
def shell_options(call: ProgramCall) -> Iterator[Answer]:
    """``shopt -uo history`` is ``set +o history``."""
    options = call.options("u o s q p")
    if options.has("u") and any(word.text == "history" for word in options.operands):
        yield call.find("history.off", HIGH, "stops recording the command history")


@rule("printf")
def print_to_variable(call: ProgramCall) -> Iterator[Answer]:
    """``printf -v`` sets a variable."""
    if len(call.args) > 2 and call.args[0].text == "-v":
        call.scope.variables[call.args[1].text] = (joined(call.args[2:]),)
    return iter(())


@rule("enable hash")
def builtin_table(call: ProgramCall) -> Iterator[Answer]:
    """Make a name stand for another file."""
    if call.options("p: f: d n r t a").has("p", "f"):
        yield call.find("evasion.alias", HIGH, f"changes what a command means: {show(call.args)}")


@rule("script")
def record(call: ProgramCall) -> Iterator[Answer]:
    """Record a session; ``-c`` runs a command."""
    options = call.options("c/command: t: q a f e")
    for value in options.all_values("c"):
        yield NestedCommand(script=value)
    yield from overwrite(call, options.operands)
