"""Package managers of systems and languages."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import HIGH, MODERATE, SAFE, RiskLevel
from evalward.safety.options import Options
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.rules.shells import written_file
from evalward.safety.words import names

_ESSENTIAL = [
    "libc6",
    "libc",
    "glibc",
    "bash",
    "dash",
    "coreutils",
    "systemd",
    "sudo",
    "openssh-server",
    "openssh",
    "apt",
    "dpkg",
    "rpm",
    "yum",
    "dnf",
    "pacman",
    "util-linux",
    "python3",
    "python",
    "perl",
    "linux-image",
    "linux-generic",
    "kernel",
    "kernel-core",
    "grub",
    "grub2",
    "grub-pc",
    "network-manager",
    "NetworkManager",
    "networking",
    "init",
    "base-files",
    "base-passwd",
    "login",
    "mount",
    "tar",
    "gzip",
    "sed",
    "grep",
    "findutils",
    "libssl",
    "openssl",
    "ubuntu-desktop",
    "gnome-shell",
    "xorg",
    "udev",
    "dbus",
    "netplan.io",
    "iproute2",
    "e2fsprogs",
    "initramfs-tools",
    "filesystem",
    "setup",
    "musl",
    "busybox",
]
_REMOVES = names("remove purge erase autoremove del delete rm removepkg uninstall")
_INSTALLS = names(
    "install reinstall add upgrade update full-upgrade dist-upgrade localinstall groupinstall in dup patch"
)
_APT = "y/yes/assume-yes q o: t: c: purge f s/simulate/dry-run/just-print d/download-only"
_DRY = ("s", "dry-run", "assumeno", "download-only", "dryrun", "n")


def is_essential(name: str) -> bool:
    """Say whether a system hardly works without this package, or the name is a wildcard."""
    base = name.partition(":")[0].partition("=")[0]
    is_wild = base.endswith("*") or base in ("^", ".*")
    return (
        is_wild
        or base in _ESSENTIAL
        or base.startswith(("linux-image", "linux-headers", "libc6", "libssl", "kernel-", "grub"))
    )


@rule("dpkg rpm apt apt-get yum dnf pip pip3 npm gem pacman zypper snap installer")
def downloaded_package(call: ProgramCall) -> Iterator[Answer]:
    """Installing what was just downloaded by hand runs what came from the network."""
    for word in call.options("").operands:
        flow = written_file(call, word)
        if flow is not None and flow.remote:
            yield call.find("remote.execute", HIGH, f"installs {word.text}, which was downloaded by hand")


@rule("apt apt-get aptitude yum dnf zypper apk microdnf tdnf opkg pkg eopkg xbps-remove slackpkg emerge swupd")
def system_packages(call: ProgramCall) -> Iterator[Answer]:
    """Removing asks first, unless told not to; essential packages must stay."""
    options = call.options(_APT)
    if options.has("allow-unauthenticated", "nogpgcheck", "no-gpg-checks", "force-yes", "allow-untrusted"):
        yield call.find("package.unverified", HIGH, "installs packages without checking who made them")
    if not options.operands or options.has(*_DRY):
        return
    verb, packages = options.operands[0].text, [word.text for word in options.operands[1:]]
    if verb in _REMOVES:
        yield call.find("package.remove", _removal(call, verb, packages, options), "removes packages")
    elif verb in _INSTALLS:
        yield call.find("package.install", MODERATE, "installs or upgrades packages")


def _removal(call: ProgramCall, verb: str, packages: list[str], options: Options) -> RiskLevel:
    if any(is_essential(name) for name in packages) or options.has("allow-remove-essential", "force-remove", "purge"):
        return HIGH
    if verb == "purge" or any(word.opaque for word in options.operands):
        return HIGH
    unattended = options.has("y", "noconfirm", "non-interactive") and bool(packages)
    return HIGH if unattended and call.program not in ("apk", "microdnf") else MODERATE


@rule("dpkg")
def dpkg(call: ProgramCall) -> Iterator[Answer]:
    """``dpkg`` asks nothing."""
    options = call.options("i/install r/remove P/purge l/list L/listfiles s/status S/search force- root: admindir:")
    forced = any(flag.startswith("force") for flag in options.flags)
    packages = [word.text for word in options.operands]
    if options.has("P") or (options.has("r") and (forced or any(map(is_essential, packages)))) or forced:
        yield call.find("package.force", HIGH, "removes or overwrites packages against the rules")
    elif options.has("r", "i", "unpack", "configure"):
        yield call.find("package.change", MODERATE, "changes packages")


@rule("rpm")
def rpm(call: ProgramCall) -> Iterator[Answer]:
    """``rpm -e`` removes."""
    options = call.options("e/erase i/install U/upgrade F/freshen q/query V/verify nodeps force root: import:")
    packages = [word.text for word in options.operands]
    if options.has("e"):
        forced = options.has("nodeps", "allmatches", "noscripts") or any(map(is_essential, packages))
        yield call.find("package.remove", HIGH if forced else MODERATE, "removes packages")
    elif options.has("U", "F") or (options.has("i") and not options.has("q")):
        level = HIGH if options.has("nodeps", "force", "nosignature", "nodigest") else MODERATE
        yield call.find("package.install", level, "installs packages")


@rule("pacman yay paru")
def pacman(call: ProgramCall) -> Iterator[Answer]:
    """``-R`` removes; ``d`` and ``c`` make it worse."""
    options = call.options("r/root: b: Q/query S/sync R/remove U/upgrade noconfirm")
    packages = [word.text for word in options.operands]
    if options.has("R"):
        letters = "".join(word.text for word in call.args if word.text.startswith("-R"))
        forced = "dd" in letters or "c" in letters or options.has("noconfirm", "nodeps", "cascade")
        level = HIGH if forced or any(map(is_essential, packages)) else MODERATE
        yield call.find("package.remove", level, "removes packages")
    elif options.has("S", "U") and not options.has("s", "i", "search", "info"):
        yield call.find("package.install", MODERATE, "installs packages")


@rule("pip pip3 pip2 pipx")
def pip(call: ProgramCall) -> Iterator[Answer]:
    """Sources and protections matter more than the package."""
    options = call.options("r: i/index-url: extra-index-url: f/find-links: trusted-host: t/target: e: c: user")
    verb = options.operands[0].text if options.operands else ""
    if options.has("break-system-packages"):
        yield call.find("package.protection", HIGH, "overrides the protection of the system's Python")
    if verb not in ("install", "download", "wheel"):
        if verb == "uninstall":
            unknown = any(word.opaque for word in options.operands)
            yield call.find("package.remove", HIGH if unknown else MODERATE, "removes packages")
        return
    sources = [*options.operands[1:], *options.all_values("i", "extra-index-url", "f", "r")]
    insecure = any(word.text.startswith(("http://", "git+http://")) for word in sources)
    if insecure or options.has("trusted-host"):
        yield call.find("package.unverified", HIGH, "installs code over a connection that can be forged")
    yield call.find("package.install", MODERATE, "installs packages")


table(
    "npm pnpm yarn bun",
    "prefix: C: dry-run",
    [
        Subcommand("*", SAFE, "", "", needs="dry-run"),
        Subcommand("unpublish|deprecate", HIGH, "package.publish", "takes a published package away"),
        Subcommand("owner add|rm|remove", HIGH, "package.publish", "changes who may publish"),
        Subcommand(
            "access set|grant|revoke|public|restricted", HIGH, "package.publish", "changes who may publish or read"
        ),
        Subcommand("publish|owner|access|token|adduser", MODERATE, "package.publish", "changes what is published"),
        Subcommand(
            "install|i|add http:*|git+http:*",
            HIGH,
            "package.unverified",
            "installs code over a connection that can be forged",
        ),
    ],
)
table(
    "twine cargo gem poetry",
    "",
    [
        Subcommand("yank", MODERATE, "package.publish", "brings a published package back", needs="undo"),
        Subcommand("yank", HIGH, "package.publish", "takes a published package away"),
        Subcommand("upload|publish|push|owner", MODERATE, "package.publish", "publishes a package"),
        Subcommand("uninstall", MODERATE, "package.remove", "removes packages"),
    ],
)
table(
    "snap flatpak",
    "",
    [
        Subcommand("remove", HIGH, "package.remove", "removes packages with their data", needs="purge"),
        Subcommand("uninstall", HIGH, "package.remove", "removes packages", needs="all delete-data"),
        Subcommand("remove|uninstall|install|refresh|update", MODERATE, "package.change", "changes packages"),
        Subcommand("disable|revert", MODERATE, "package.change", "changes packages"),
    ],
)
table(
    "brew",
    "n/dry-run",
    [
        Subcommand("*", SAFE, "", "", needs="n"),
        Subcommand(
            "uninstall|remove|rm",
            HIGH,
            "package.remove",
            "removes packages that others need",
            needs="ignore-dependencies force zap",
        ),
        Subcommand("uninstall|remove|rm|cleanup|autoremove", MODERATE, "package.remove", "removes packages"),
    ],
)
table("dotnet", "s: k:", [Subcommand("nuget delete", HIGH, "package.publish", "takes a published package away")])
table(
    "apt-key add-apt-repository apt-mark rpmkeys",
    "",
    [Subcommand("", MODERATE, "package.source", "changes where packages come from")],
)
table("do-release-upgrade", "", [Subcommand("", HIGH, "package.release", "upgrades the whole system")])
table(
    "conda mamba",
    "n: p:",
    [
        Subcommand("env remove", MODERATE, "package.remove", "removes an environment"),
        Subcommand("remove|uninstall", MODERATE, "package.remove", "removes packages"),
    ],
)
table(
    "nix-collect-garbage nix-env",
    "",
    [Subcommand("", MODERATE, "package.remove", "removes packages", needs="d delete-old e uninstall")],
)
table("choco winget scoop", "", [Subcommand("uninstall", MODERATE, "package.remove", "removes packages")])
