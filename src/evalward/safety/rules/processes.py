"""Signals to processes, and the end of the machine's day."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.listing import lists_everything
from evalward.safety.model import CRITICAL, HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.targets import PlaceKind, takes_all
from evalward.safety.words import Word, names

_VITAL = names(
    "sshd systemd init dbus-daemon NetworkManager dockerd containerd kubelet mysqld postgres postgresql "
    "mongod nginx apache2 httpd redis-server Xorg X gdm lightdm sddm gnome-shell loginwindow WindowServer "
    "launchd rsyslogd auditd crond cron named bind9 haproxy php-fpm java mariadbd etcd firewalld "
    "explorer.exe lsass.exe csrss.exe winlogon.exe"
)
_SESSION = names("WindowServer loginwindow")
"""On a Mac, any signal to these ends the session with all that is open in it."""
_KILLS = names("KILL SIGKILL 9")
_NOTIFYING = names("HUP SIGHUP 1 USR1 SIGUSR1 USR2 SIGUSR2 WINCH SIGWINCH CONT SIGCONT")
"""Signals by which services are told to reload or to go on."""


@rule("kill gkill")
def kill(call: ProgramCall) -> Iterator[Answer]:
    """One process is ordinary; all of them, or the first, are not."""
    args = list(call.args)
    signal = _signal(args)
    if signal in ("0", "l", "L"):
        return
    for word in args:
        if word.text == "--":
            continue
        if word.text in ("-1", "0"):
            yield call.find("process.kill_all", CRITICAL, "signals every process")
        elif word.text == "1":
            yield call.find("process.kill_init", HIGH, "signals the first process")
        elif lists_everything(word) or (signal.upper() not in _NOTIFYING and _looks_up_vital(word)):
            yield call.find("process.kill_all", HIGH, "signals every process that is listed")
        else:
            yield call.find("process.kill", MODERATE, f"signals {word.text}")


def _looks_up_vital(word: Word) -> bool:
    """``kill $(pidof sshd)``, and everything of root."""
    for flow in word.flows:
        first, *rest = flow.source.split() or [""]
        if first in ("pidof", "pgrep") and (_VITAL.intersection(rest) or ("-u" in rest and len(rest) < 3)):
            return True
    return False


def _signal(args: list[Word]) -> str:
    """Take the signal out of the arguments; ``-1`` is one only in front of a process."""
    if not args or not args[0].text.startswith("-") or args[0].text == "--":
        return "TERM"
    text = args[0].text
    if text in ("-s", "-n", "--signal"):
        value = args[1].text if len(args) > 1 else ""
        del args[:2]
        return value
    if text == "-1" and len(args) == 1:
        return "TERM"
    args.pop(0)
    return text.lstrip("-")


@rule("killall pkill skill killall5 slay")
def kill_by_name(call: ProgramCall) -> Iterator[Answer]:
    """Names and patterns hit more than one process."""
    if call.program == "killall5":
        yield call.find("process.kill_all", HIGH, "signals all processes")
        return
    options = call.options(
        "s/signal: u/user/euid: U/uid: g/pgroup: G/group: t/terminal: P/parent: o/older-than: "
        "y/younger-than: f/full n/newest x/exact e i w l/list V/version"
    )
    if options.has("0", "V") or (options.has("l") and not options.operands):
        return
    by_user = options.has("u", "U", "G", "t") and not options.operands
    patterns = [word.text for word in options.operands]
    if (
        by_user
        or any(takes_all(text) or len(text) < 2 or text == "^" for text in patterns)
        or _all_of_user(call, patterns)
    ):
        yield call.find("process.kill_all", HIGH, "signals all processes of a user, or all")
    elif _SESSION.intersection(patterns):
        yield call.find("machine.down", HIGH, "ends the session")
    elif options.flags & _NOTIFYING or _value_in(options.value("s"), _NOTIFYING):
        yield call.find("process.signal", MODERATE, "tells processes to reload")
    elif any(text.rpartition("/")[2] in _VITAL for text in patterns):
        yield call.find("process.kill_service", HIGH, "ends a service that others depend on")
    elif call.program == "killall" and (_KILLS & options.flags or _value_in(options.value("s"), _KILLS)):
        yield call.find("process.kill_many", HIGH, "kills every process of a name at once")
    else:
        yield call.find("process.kill", MODERATE, "signals processes by name")


def _value_in(value: Word | None, signals: frozenset[str]) -> bool:
    return value is not None and value.text.upper() in signals


def _all_of_user(call: ProgramCall, patterns: list[str]) -> bool:
    return call.program == "pkill" and any(text.strip(".*^$") == "" for text in patterns)


_DOWN = "stops or restarts the machine"

table(
    "shutdown halt poweroff reboot",
    "",
    [
        Subcommand("", MODERATE, "machine.cancel", "cancels a shutdown", needs="c"),
        Subcommand("/a", MODERATE, "machine.cancel", "cancels a shutdown"),
        Subcommand("", MODERATE, "machine.notice", "only warns or shows help", needs="k help wtmp-only w"),
        Subcommand("", HIGH, "machine.down", _DOWN),
    ],
)
table(
    "init telinit",
    "",
    [
        Subcommand("0|1|6|s|S|single", HIGH, "machine.down", _DOWN),
        Subcommand("q|Q", MODERATE, "machine.init", "reloads init"),
    ],
)
table("pm-suspend pm-hibernate", "", [Subcommand("", HIGH, "machine.down", "suspends the machine")])


@rule("fuser")
def kill_users(call: ProgramCall) -> Iterator[Answer]:
    """Killing who uses a whole file system is not narrow."""
    options = call.options("s: n/namespace: k/kill m/mount i v u")
    if options.has("k"):
        system = any(
            target.place in (PlaceKind.SYSTEM, PlaceKind.ROOT, PlaceKind.HOME)
            for _, target in call.places(options.operands)
        )
        yield call.find("process.kill", HIGH if system or options.has("m") else MODERATE, "kills who uses a file")


table(
    "rtcwake",
    "m: s: t:",
    [
        Subcommand("", SAFE, "", "", needs="n dry-run"),
        Subcommand("", HIGH, "machine.down", "suspends the machine", needs="m"),
    ],
)
table("gnome-session-quit xfce4-session-logout", "", [Subcommand("", HIGH, "machine.down", _DOWN)])
table("renice xkill", "n: p: g: u:", [Subcommand("", MODERATE, "process.priority", "changes processes")])
table("stress stress-ng", "", [Subcommand("", HIGH, "exhaustion.load", "loads the machine to its limits")])
