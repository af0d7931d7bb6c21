"""Programs that run another program whose words follow theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import rule
from evalward.safety.rules.environment import rate_assignment
from evalward.safety.targets import PlaceKind
from evalward.safety.words import Flow, Word, joined


@dataclass(frozen=True, slots=True)
class Prefix:
    """How to find the inner command: options with values, operands before it, a leading subcommand."""

    known: str = ""
    operands: int = 0
    subcommand: str = ""


_PREFIXES: dict[str, Prefix] = {
    "nohup": Prefix(),
    "setsid": Prefix(),
    "time": Prefix("f/format: o/output:"),
    "gtime": Prefix("f/format: o/output:"),
    "nice": Prefix("n/adjustment:"),
    "ionice": Prefix("c/class: n/classdata: p/pid:"),
    "timeout": Prefix("k/kill-after: s/signal:", 1),
    "gtimeout": Prefix("k/kill-after: s/signal:", 1),
    "stdbuf": Prefix("i/input: o/output: e/error:"),
    "chrt": Prefix("T: P: D:", 1),
    "taskset": Prefix("", 1),
    "numactl": Prefix("N: m: C: i: p:"),
    "cpulimit": Prefix("l: p: e:"),
    "prlimit": Prefix("p:"),
    "setarch": Prefix("", 1),
    "linux32": Prefix(),
    "linux64": Prefix(),
    "chroot": Prefix("userspec: groups:", 1),
    "unshare": Prefix("map-user: map-group: S: G: R/root: w/wd: propagation: setgroups:"),
    "strace": Prefix("o: e: p: s: u: E: P: a: b: I: O: S: X:"),
    "ltrace": Prefix("o: e: p: s: u: n: a: l: x:"),
    "gdb": Prefix("x: ex: p: c:"),
    "valgrind": Prefix(),
    "torsocks": Prefix(),
    "torify": Prefix(),
    "proxychains": Prefix("f:"),
    "proxychains4": Prefix("f:"),
    "fakeroot": Prefix("l: s: i: b:"),
    "firejail": Prefix(),
    "xvfb-run": Prefix("n: s: f: p: e:"),
    "dbus-run-session": Prefix("config-file:"),
    "caffeinate": Prefix("t: w:"),
    "unbuffer": Prefix(),
    "rlwrap": Prefix(),
    "chronic": Prefix(),
    "busybox": Prefix(),
    "toybox": Prefix(),
    "setpriv": Prefix(),
    "capsh": Prefix(),
    "systemd-inhibit": Prefix("what: who: why: mode:"),
    "systemd-run": Prefix(
        "u/unit: p/property: M/machine: H/host: slice: working-directory: on-calendar: on-active: on-boot: on-startup: "
        "on-unit-active: on-unit-inactive:"
    ),
    "cgexec": Prefix("g:", 0),
    "bundle": Prefix(subcommand="exec"),
    "poetry": Prefix("C: P:", subcommand="run"),
    "pipenv": Prefix(subcommand="run"),
    "pdm": Prefix(subcommand="run"),
    "hatch": Prefix(subcommand="run"),
    "rye": Prefix(subcommand="run"),
    "uv": Prefix("with: python: p: directory: project: env-file:", subcommand="run"),
    "conda": Prefix("n/name: p/prefix:", subcommand="run"),
    "mamba": Prefix("n/name: p/prefix:", subcommand="run"),
    "micromamba": Prefix("n/name: p/prefix:", subcommand="run"),
    "direnv": Prefix("", 1, subcommand="exec"),
    "dotenv": Prefix("f: e:", subcommand="run"),
    "op": Prefix("env-file:", subcommand="run"),
    "doppler": Prefix("p: c:", subcommand="run"),
    "aws-vault": Prefix("", 1, subcommand="exec"),
    "heroku": Prefix("a/app:", subcommand="run"),
    "mise": Prefix("", subcommand="exec"),
    "asdf": Prefix("", 1, subcommand="exec"),
    "rbenv": Prefix(subcommand="exec"),
    "pyenv": Prefix(subcommand="exec"),
    "winpty": Prefix(),
    "start": Prefix(),
    "wsl": Prefix("d: u: e: distribution: user: cd: exec:"),
    "wsl.exe": Prefix("d: u: distribution: user: cd:"),
    "entr": Prefix(),
}


@rule(" ".join(_PREFIXES))
def prefixed(call: ProgramCall) -> Iterator[Answer]:
    """Run the command that follows the wrapper's own options and operands."""
    prefix = _PREFIXES[call.program.lower()]
    args = call.args
    if prefix.subcommand:
        operands = call.leading(prefix.known).operands
        if not operands or operands[0].text != prefix.subcommand:
            return
        args = operands[1:]
    inner = call.with_args(args).leading(prefix.known).operands[prefix.operands :]
    if inner:
        yield NestedCommand(words=inner, stdin=call.stdin, elsewhere=call.program == "chroot")


@rule("systemd-run")
def transient_timer(call: ProgramCall) -> Iterator[Answer]:
    """With a time it runs later, and again, as ``at`` does; in a folder of everybody, whatever lies there by then."""
    options = call.leading(_PREFIXES["systemd-run"].known)
    if any(flag.startswith("on-") for flag in options.flags):
        anybodys = any(target.place is PlaceKind.TEMP for _, target in call.places(options.operands[:1]))
        yield call.find("cron.schedule", HIGH if anybodys else MODERATE, "schedules commands for later")


@rule("flock")
def lock(call: ProgramCall) -> Iterator[Answer]:
    """``flock FILE COMMAND`` or ``flock FILE -c TEXT``."""
    operands = call.leading("w/wait/timeout: E: x s n u o").operands
    if len(operands) > 2 and operands[1].text in ("-c", "--command"):
        yield NestedCommand(script=operands[2])
    elif len(operands) > 1:
        yield NestedCommand(words=operands[1:], stdin=call.stdin)


@rule("env")
def environment(call: ProgramCall) -> Iterator[Answer]:
    """Run a command with other variables; ``-S`` splits one text into words."""
    options = call.leading("u/unset: C/chdir: S/split-string: i/ignore-environment")
    text = options.value("S")
    if text is not None:
        yield NestedCommand(script=joined((text, *options.operands)), stdin=call.stdin)
        return
    settings, words = split_assignments(options.operands)
    for name, value in settings:
        yield from rate_assignment(call, name, value)
    if words:
        yield NestedCommand(words=words, stdin=call.stdin)


def split_assignments(words: tuple[Word, ...]) -> tuple[list[tuple[str, Word]], tuple[Word, ...]]:
    """Separate leading ``NAME=value`` words from the command that follows them."""
    settings: list[tuple[str, Word]] = []
    for at, word in enumerate(words):
        name, equals, _ = word.text.partition("=")
        if not equals or not name.isidentifier():
            return settings, words[at:]
        settings.append((name, word.after(len(name) + 1)))
    return settings, ()


@rule("sudo doas pkexec sudo-rs please gosu su-exec run0")
def raise_privilege(call: ProgramCall) -> Iterator[Answer]:
    """Run a command as another user, mostly root."""
    options = call.leading(
        "u/user: g/group: h/host: p/prompt: C/close-from: r/role: t/type: T/command-timeout: "
        "U/other-user: D/chdir: R/chroot: i/login s/shell l/list v/validate k/reset-timestamp K E b n H A "
        "S e/edit V/version help"
    )
    operands = options.operands[1:] if call.program in ("gosu", "su-exec") else options.operands
    user = options.value("u")
    is_root = user is None or user.text in ("root", "#0", "0", "#-1", "#4294967295")
    if options.has("l", "v", "k", "K", "V", "help"):
        return
    if options.has("e"):
        yield call.find("privilege.edit", MODERATE, "edits a file with raised privileges")
        return
    settings, words = split_assignments(operands)
    for name, value in settings:
        yield from rate_assignment(call, name, value)
    if words:
        yield call.find("privilege.sudo", MODERATE, f"runs a command as {user.text if user else 'root'}")
        stdin = None if options.has("S") and _is_one_line(call.stdin) else call.stdin
        yield NestedCommand(words=words, stdin=stdin, privileged=is_root)
    elif is_root:
        yield call.find("privilege.shell", HIGH, "opens a root shell")


def _is_one_line(flow: Flow | None) -> bool:
    """Say whether input is only the password that ``sudo -S`` reads."""
    return flow is not None and flow.content is not None and "\n" not in flow.content.text.strip()


@rule("su runuser")
def switch_user(call: ProgramCall) -> Iterator[Answer]:
    """Become another user, for a shell or for one command."""
    options = call.options("c/command/session-command: s/shell: g/group: G: u/user: w: l/login m p P")
    operands = [word for word in options.operands if word.text != "-"]
    user = options.value("u") or (operands[0] if operands else None)
    is_root = user is None or user.text == "root"
    script = options.value("c")
    if script is not None:
        yield call.find("privilege.sudo", MODERATE, "runs a command as another user")
        yield NestedCommand(script=script, privileged=is_root)
    elif options.has("u") and operands:
        yield NestedCommand(words=tuple(operands), stdin=call.stdin, privileged=is_root)
    else:
        yield call.find("privilege.shell", HIGH if is_root else MODERATE, "opens a shell as another user")


@rule("watch")
def watch(call: ProgramCall) -> Iterator[Answer]:
    """Run a command again and again."""
    operands = call.leading("n/interval: d t b e g c x").operands
    if operands:
        yield NestedCommand(script=joined(operands))


@rule("sg")
def with_group(call: ProgramCall) -> Iterator[Answer]:
    """``sg GROUP TEXT``."""
    operands = call.leading("c/command:").operands
    yield from (NestedCommand(script=joined(operands[1:])) for _ in operands[1:2])


@rule("machinectl")
def machine_shell(call: ProgramCall) -> Iterator[Answer]:
    """A shell on the host or in a container."""
    operands = call.leading("M: u/uid: E:").operands
    if operands and operands[0].text in ("shell", "login"):
        yield call.find("privilege.shell", HIGH, "opens a shell as another user")
    elif operands and operands[0].text in ("terminate", "kill", "remove", "poweroff", "reboot"):
        yield call.find("machine.delete", HIGH, "ends or removes a machine")


@rule("nsenter")
def enter_namespace(call: ProgramCall) -> Iterator[Answer]:
    """Entering the namespaces of process 1 means leaving the container."""
    options = call.leading("t/target: S: G: r w a/all m u i n p U C F")
    target = options.value("t")
    if target is not None and target.text == "1":
        yield call.find("container.escape", HIGH, "enters the namespaces of the host")
    if options.operands:
        yield NestedCommand(words=options.operands, stdin=call.stdin)


@rule("at batch")
def later(call: ProgramCall) -> Iterator[Answer]:
    """Run commands later, read from input."""
    options = call.options("f: q: t: l d r v m c")
    if options.has("l", "c", "v"):
        return
    if options.has("d", "r"):
        yield call.find("cron.remove", MODERATE, "removes a scheduled job")
    elif call.stdin is not None:
        yield call.find("cron.schedule", MODERATE, "schedules commands for later")
        yield NestedCommand(flow=call.stdin)


@rule("screen")
def screen(call: ProgramCall) -> Iterator[Answer]:
    """A command in a new window."""
    options = call.leading("S: t: c: e: h: p: s: T: X d m A")
    if options.operands and not options.has("X"):
        yield NestedCommand(words=options.operands)


@rule("tmux")
def tmux(call: ProgramCall) -> Iterator[Answer]:
    """Commands given to new windows, or typed into old ones."""
    operands = call.leading("L: S: f: c: T: 2 u v").operands
    command = operands[0].text if operands else ""
    rest = call.with_args(operands[1:]).leading("s: t: n: c: x: y: F: e: N: l: p: d A P D E h v b").operands
    if command in ("new", "new-session", "new-window", "neww", "split-window", "splitw", "run-shell", "run"):
        yield from (NestedCommand(script=joined(rest)) for _ in rest[:1])
    elif command in ("send-keys", "send"):
        keys = tuple(word for word in rest if word.text not in ("Enter", "C-m", "ENTER"))
        yield from (NestedCommand(script=joined(keys)) for _ in keys[:1])
    elif command == "kill-server":
        yield call.find("process.kill", MODERATE, "ends all sessions")


@rule("hyperfine")
def benchmark(call: ProgramCall) -> Iterator[Answer]:
    """Every operand is a command line."""
    options = call.options("w: r: m: M: p/prepare: c/cleanup: s/setup: export-json: export-markdown: n: L: u: S:")
    for word in (*options.operands, *options.all_values("p", "c", "s")):
        yield NestedCommand(script=word)
