"""Services and who supervises them."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.words import names

_STOPS = "stops a service"
_STARTS = "starts or reloads a service"
_STOP_VERBS = names("stop kill disable mask isolate emergency rescue force-stop onestop")
_DOWN_VERBS = names("poweroff reboot halt kexec suspend hibernate hybrid-sleep soft-reboot exit switch-root")
_RESTART_VERBS = names("restart try-restart reload-or-restart condrestart force-restart")
_CHANGE_VERBS = names(
    "start reload enable reenable unmask daemon-reload daemon-reexec set-default edit set-property revert "
    "link preset reset-failed set-environment unset-environment import-environment"
)
_ACCESS = names("ssh sshd network networking NetworkManager systemd-networkd docker containerd kubelet firewalld dbus")


@rule("systemctl")
def systemctl(call: ProgramCall) -> Iterator[Answer]:
    """Judge the verb; a user's own services matter less."""
    options = call.options(
        "H/host: M/machine: t/type: p/property: n/lines: o/output: s/signal: state: root: user now no-block"
    )
    texts = [word.text for word in options.operands]
    if texts:
        yield from _verb(call, texts[0], texts[1:], is_own=options.has("user"))


def _verb(call: ProgramCall, verb: str, units: list[str], is_own: bool = False) -> Iterator[Answer]:
    if verb in _DOWN_VERBS:
        yield call.find("machine.down", HIGH, "stops or restarts the machine")
    elif verb in _STOP_VERBS:
        yield call.find("service.stop", MODERATE if is_own else HIGH, _STOPS)
    elif verb in _RESTART_VERBS:
        cuts = call.privileged or any(unit.removesuffix(".service") in _ACCESS for unit in units)
        yield call.find("service.restart", HIGH if cuts and not is_own else MODERATE, "interrupts a service")
    elif verb in _CHANGE_VERBS:
        yield call.find("service.change", MODERATE, _STARTS)


@rule("service rc-service invoke-rc.d")
def service(call: ProgramCall) -> Iterator[Answer]:
    """``service NAME VERB``."""
    texts = [word.text for word in call.options("").operands]
    if len(texts) > 1:
        yield from _verb(call, texts[1], texts[:1])


def rate_init_script(call: ProgramCall, path: str) -> Iterator[Answer]:
    """``/etc/init.d/NAME VERB``."""
    if path.startswith(("/etc/init.d/", "/etc/rc.d/")) and call.args:
        yield from _verb(call, call.args[0].text, [call.program])


table(
    "sv",
    "",
    [
        Subcommand("down|stop|exit|force-stop|kill|d|x", HIGH, "service.stop", _STOPS),
        Subcommand("up|restart|reload|once", MODERATE, "service.change", _STARTS),
    ],
)
table(
    "rc-update update-rc.d chkconfig",
    "",
    [
        Subcommand("del|delete", HIGH, "service.stop", "keeps a service from starting"),
        Subcommand("* remove|disable|off", HIGH, "service.stop", "keeps a service from starting"),
        Subcommand("* defaults|enable|on", MODERATE, "service.change", _STARTS),
        Subcommand("add", MODERATE, "service.change", _STARTS),
    ],
)
table(
    "supervisorctl",
    "c:",
    [
        Subcommand("stop|shutdown|remove", HIGH, "service.stop", _STOPS),
        Subcommand("restart|start|reload|update|reread", MODERATE, "service.change", _STARTS),
    ],
)
table(
    "pm2",
    "",
    [
        Subcommand("kill", HIGH, "service.stop", _STOPS),
        Subcommand("stop|delete|del all", HIGH, "service.stop", _STOPS),
        Subcommand("stop|delete|del|restart|reload|start", MODERATE, "service.change", _STARTS),
    ],
)
table(
    "initctl",
    "",
    [
        Subcommand("stop|emit", HIGH, "service.stop", _STOPS),
        Subcommand("start|restart|reload", MODERATE, "service.change", _STARTS),
    ],
)
table("s6-svc s6-rc", "", [Subcommand("", HIGH, "service.stop", _STOPS, needs="d D k x")])
table("monit", "", [Subcommand("stop|unmonitor|quit", HIGH, "service.stop", _STOPS)])


@rule("nginx openresty apachectl apache2ctl httpd")
def web_server(call: ProgramCall) -> Iterator[Answer]:
    """``nginx -s SIGNAL`` and ``apachectl VERB``."""
    options = call.options("s: k: c: g: f: p: t T v V S D:")
    signals = [*options.all_values("s", "k"), *options.operands]
    for word in signals[:1]:
        if word.text in ("stop", "quit", "graceful-stop"):
            yield call.find("service.stop", HIGH, _STOPS)
        else:
            yield call.find("service.change", MODERATE, _STARTS)


table(
    "pg_ctl pg_ctlcluster",
    "D: m: l: o:",
    [
        Subcommand("stop|kill", HIGH, "service.stop", _STOPS),
        Subcommand("* * stop", HIGH, "service.stop", _STOPS),
        Subcommand("restart|promote", MODERATE, "service.restart", "interrupts a service"),
    ],
)
table(
    "rabbitmqctl",
    "n:",
    [
        Subcommand(
            "stop|stop_app|shutdown|reset|force_reset|delete_*|clear_*|purge_queue",
            HIGH,
            "service.stop",
            "stops or empties the message broker",
        )
    ],
)
table(
    "brew",
    "",
    [
        Subcommand("services stop", HIGH, "service.stop", "stops every service", needs="all"),
        Subcommand("services stop", MODERATE, "service.stop", _STOPS),
    ],
)
table(
    "sc sc.exe",
    "",
    [
        Subcommand("stop|delete", HIGH, "service.stop", _STOPS),
        Subcommand("config", HIGH, "service.change", "changes a service"),
    ],
)
table("postfix dovecot", "", [Subcommand("stop|abort", HIGH, "service.stop", _STOPS)])
table(
    "hostnamectl timedatectl localectl",
    "",
    [Subcommand("set-*|hostname", MODERATE, "machine.settings", "changes settings of the machine")],
)
