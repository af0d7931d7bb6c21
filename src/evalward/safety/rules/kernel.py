"""Kernel parameters, modules, boot, mounts, schedules, logs and history."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import CRITICAL, HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.targets import PlaceKind, is_vital

_BOOT = "changes how the machine boots"
_MODULE = "loads or removes parts of the kernel"


@rule("sysctl")
def sysctl(call: ProgramCall) -> Iterator[Answer]:
    """Reading is harmless, setting is not."""
    options = call.options("w/write p/load/system a/all n e N q r: pattern:")
    if options.has("w") or any("=" in word.text for word in options.operands):
        yield call.find("kernel.parameter", HIGH, "sets a kernel parameter")
    elif options.has("p"):
        yield call.find("kernel.parameter", MODERATE, "loads kernel parameters")


table(
    "insmod rmmod kldload kldunload kextload kextunload",
    "",
    [Subcommand("*", HIGH, "kernel.module", _MODULE), Subcommand("", HIGH, "kernel.module", _MODULE, needs="f a")],
)
table(
    "modprobe",
    "d: S: C:",
    [
        Subcommand("", SAFE, "", "", needs="n dry-run show c showconfig D show-depends"),
        Subcommand("*", HIGH, "kernel.module", _MODULE),
        Subcommand("", HIGH, "kernel.module", _MODULE, needs="r remove"),
    ],
)
table("kexec", "", [Subcommand("", HIGH, "kernel.boot", _BOOT)])
table(
    "grub-install grub2-install grub-set-default grub-mkconfig update-grub efibootmgr bootctl lilo "
    "extlinux mkinitcpio dracut update-initramfs grubby bcdedit bootsect",
    "o: b:",
    [
        Subcommand("status|list", SAFE, "", ""),
        Subcommand("", MODERATE, "kernel.boot", _BOOT, needs="v verbose u", unless="d B b"),
        Subcommand("*", HIGH, "kernel.boot", _BOOT),
        Subcommand("", HIGH, "kernel.boot", _BOOT, needs="B b d o f c delete force"),
    ],
)
table(
    "flashrom fwupdmgr fwupdtool mokutil ipmitool efivar",
    "p: H: U: P: I: n:",
    [
        Subcommand("power|chassis status", SAFE, "", ""),
        Subcommand("power off|cycle|reset|soft|diag", HIGH, "machine.down", "switches a machine off"),
        Subcommand("chassis power", HIGH, "machine.down", "switches a machine off"),
        Subcommand("get-*|refresh|sensor|sdr", SAFE, "", ""),
        Subcommand("", HIGH, "kernel.firmware", "changes firmware", needs="w E erase write"),
        Subcommand("update|install|downgrade|chassis|mc", HIGH, "kernel.firmware", "changes firmware"),
    ],
)
table("pivot_root switch_root", "", [Subcommand("", HIGH, "mount.over", "changes the root of the file system")])
table("dmesg", "", [Subcommand("", HIGH, "history.log", "clears the kernel log", needs="C c clear read-clear")])
table("swapoff", "", [Subcommand("", HIGH, "mount.swap", "takes swap space away")])
table(
    "depmod swapon",
    "",
    [Subcommand("", SAFE, "", "", needs="s summary show"), Subcommand("", MODERATE, "kernel.module", _MODULE)],
)


@rule("mount")
def mount(call: ProgramCall) -> Iterator[Answer]:
    """Mounting over or remounting system folders."""
    options = call.options("o/options: t/types: L: U: B/bind R/rbind M/move n r w v a/all l fake")
    settings = ",".join(word.text for word in options.all_values("o")) + (",remount" if options.has("u") else "")
    if not options.operands and not options.has("a"):
        return
    points = options.operands if "remount" in settings or options.has("M") else options.operands[-1:]
    for word, target in call.places(points):
        covers = target.place in (PlaceKind.ROOT, PlaceKind.SYSTEM, PlaceKind.HOME) and (
            is_vital(target) or target.place is not PlaceKind.SYSTEM or target.path in ("/var", "/home", "/usr", "/opt")
        )
        level = HIGH if covers and (len(options.operands) > 1 or "remount" in settings) else MODERATE
        yield call.find("mount.over", level, f"mounts over {word.text}" if level is HIGH else f"mounts {word.text}")


@rule("umount")
def umount(call: ProgramCall) -> Iterator[Answer]:
    """Taking system folders away, or everything."""
    options = call.options("t: O: a/all f/force l/lazy R/recursive")
    if options.has("a"):
        yield call.find("mount.remove", HIGH, "unmounts everything")
    for word, target in call.places(options.operands):
        is_system = target.place in (PlaceKind.ROOT, PlaceKind.SYSTEM, PlaceKind.HOME, PlaceKind.KERNEL)
        yield call.find("mount.remove", HIGH if is_system else MODERATE, f"unmounts {word.text}")


@rule("crontab")
def crontab(call: ProgramCall) -> Iterator[Answer]:
    """Listing and editing by hand are harmless; removing and replacing are not."""
    options = call.options("u/user: l e r i s")
    if options.has("r"):
        yield call.find("cron.remove", HIGH, "removes all scheduled jobs")
    elif options.has("e"):
        yield call.find("cron.edit", MODERATE, "opens the scheduled jobs in an editor")
    elif options.operands or (call.stdin is not None and not options.has("l")):
        yield call.find("cron.replace", HIGH, "replaces the scheduled jobs")


table(
    "schtasks schtasks.exe",
    "",
    [
        Subcommand("/query", SAFE, "", ""),
        Subcommand("/create|/delete|/change|/run|/end", HIGH, "cron.replace", "changes scheduled tasks"),
    ],
)
table("atrm", "", [Subcommand("", MODERATE, "cron.remove", "removes scheduled jobs")])


@rule("history")
def history(call: ProgramCall) -> Iterator[Answer]:
    """Clearing hides what was done."""
    options = call.options("d: c w a r n p s")
    if options.has("c"):
        yield call.find("history.clear", HIGH, "clears the command history")
    elif options.has("d"):
        yield call.find("history.clear", MODERATE, "removes a line of the command history")


@rule("journalctl")
def journalctl(call: ProgramCall) -> Iterator[Answer]:
    """Vacuuming to nearly nothing deletes the log."""
    options = call.options("u/unit: n/lines: S/since: U/until: o: p: t: vacuum-time: vacuum-size: vacuum-files: rotate")
    for value in options.all_values("vacuum-time", "vacuum-size", "vacuum-files"):
        amount = value.text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        tiny = amount in ("0", "1") and not value.text.endswith(
            ("d", "days", "weeks", "w", "month", "months", "G", "y")
        )
        yield call.find("history.log", HIGH if tiny else MODERATE, "deletes old log entries")


table("wevtutil wevtutil.exe", "", [Subcommand("cl|clear-log", HIGH, "history.log", "clears an event log")])
table(
    "auditctl",
    "e: D: a: A: d: w: W: r: b: f:",
    [Subcommand("", HIGH, "history.audit", "switches the audit off or changes it", needs="e D d W")],
)
table("fc", "", [Subcommand("", MODERATE, "history.clear", "changes the history", needs="p R W")])
table("logrotate", "s:", [Subcommand("", MODERATE, "history.log", "rotates logs", needs="f force")])
table(
    "date hwclock",
    "d: f: r: I:",
    [Subcommand("", MODERATE, "machine.clock", "sets the clock", needs="s set w systohc")],
)
table(
    "restic borg duplicity rclone kopia",
    "r: repo:",
    [
        Subcommand("", SAFE, "", "", needs="dry-run n"),
        Subcommand(
            "purge|delete|deletefile|rmdirs|sync|forget|prune|unlock|cleanup|remove-*",
            HIGH,
            "deletion.backup",
            "deletes files or backups",
        ),
        Subcommand("move|moveto|dedupe", MODERATE, "deletion.backup", "moves files away"),
    ],
)
table(
    "debugfs",
    "R: f:",
    [Subcommand("", CRITICAL, "disk.raw", "changes a file system by hand", needs="w")],
)
