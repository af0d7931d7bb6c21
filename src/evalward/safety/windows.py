"""Commands of Windows: cmd.exe and PowerShell, which quote and escape in their own ways."""

from __future__ import annotations

import base64
import binascii
import ntpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evalward.safety.model import CRITICAL, HIGH, MODERATE, RiskLevel, SafetyFinding
from evalward.safety.words import names

_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|\|\||&&|[;|&\n{}()]|[^\s;|&\"'{}()]+")
_SEPARATORS = frozenset(";|&\n{}()") | {"||", "&&"}
_VERBS = (
    "Get|Set|New|Remove|Start|Stop|Restart|Clear|Add|Disable|Enable|Invoke|Format|Out|Write|Read|Copy|Move|Rename|Test|"
    "Select|Where|ForEach|Sort|Measure|Import|Export|Convert\\w*|Uninstall|Install|Register|Unregister|Suspend|Resume|"
    "Update|Mount|Dismount|Initialize|Reset|Repair|Compare|Expand|Compress|Join|Split|Resolve|Send|Show|Hide|Wait|Group|Tee"
)
_CMDLET = re.compile(rf"(?:{_VERBS})-[A-Za-z]{{2,}}\Z", re.IGNORECASE)
_BUILTINS = names(
    "del erase rd format dir copy xcopy robocopy move ren type diskpart reg vssadmin bcdedit wmic cipher "
    "icacls takeown attrib net netsh sc taskkill schtasks wevtutil fsutil chkdsk powershell "
    "powershell.exe pwsh pwsh.exe cmd cmd.exe iex iwr irm ri rmdir gci sp assoc ftype certutil bitsadmin "
    "mshta regsvr32 rundll32 shutdown label"
)
_ONLY_WINDOWS = names(
    "vssadmin dism mountvol manage-bde wbadmin bcdedit wmic diskpart cipher icacls takeown netsh taskkill "
    "schtasks wevtutil fsutil chkdsk powershell powershell.exe pwsh pwsh.exe cmd.exe iex iwr irm robocopy "
    "xcopy certutil bitsadmin mshta regsvr32 rundll32 net.exe sc.exe reg.exe"
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]*(?:\*(?:\.\*)?)?\Z")
_SYSTEM = re.compile(
    r"(?:[A-Za-z]:|%SystemDrive%|\$env:SystemDrive)[\\/]+(?:Windows|Program Files(?: \(x86\))?|ProgramData"
    r"|Users|Boot|Recovery)"
    r"(?:[\\/]\*?(?:\.\*)?|[\\/]System32.*|[\\/][^\\/]+[\\/]?)?\Z|%(?:SystemRoot|WinDir|ProgramFiles"
    r"|UserProfile|SystemDrive|AppData)%.*"
    r"|\$env:(?:SystemRoot|windir|ProgramFiles|USERPROFILE|SystemDrive|APPDATA|HOMEPATH)\b.*"
    r"|\$HOME[\\/]?\*?\Z|~[\\/]?\*?\Z|[\\/]\Z",
    re.IGNORECASE,
)
_TOP_FOLDER = re.compile(r"[A-Za-z]:[\\/]+(?!te?mp\b)[^\\/]+[\\/]?\Z", re.IGNORECASE)
_EVERYTHING = names("* *.* . .\\ .\\* ./* .. ..\\ .\\*.* \\*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One command: its name in lower case, arguments as written, and the command that feeds it."""

    name: str
    args: tuple[str, ...]
    source: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The command on one line."""
        return " ".join((self.name, *self.args))[:160]

    def flags(self) -> set[str]:
        """Options in lower case, without their sign: ``/s`` and ``-Recurse`` alike."""
        found: set[str] = set()
        for arg in self.args:
            if re.match(r"/[A-Za-z?]", arg) and "/" not in arg[1:2]:
                found.update(part.lower() for part in re.findall(r"/([A-Za-z?]+)", arg))
            elif re.match(r"-[A-Za-z]", arg):
                found.add(arg[1:].partition(":")[0].lower())
        return found

    def has(self, *options: str) -> bool:
        """Say whether an option is given; PowerShell lets names be cut short."""
        given = self.flags()
        return any(
            option in given or any(len(flag) > 1 and option.startswith(flag) for flag in given) for option in options
        )

    def operands(self) -> list[str]:
        """Arguments that are no options, without quotes."""
        plain = [arg for arg in self.args if not re.match(r"/[A-Za-z?]+(?::\S*)?\Z|-[A-Za-z]", arg)]
        return [arg.strip("\"'").rstrip(",") for arg in plain]


def statements(text: str) -> list[Statement]:
    """Cut a command line into its commands."""
    found: list[Statement] = []
    words: list[str] = []
    previous: tuple[str, ...] = ()
    for token in [*_TOKEN.findall(text), ";"]:
        if token not in _SEPARATORS:
            words.append(token)
            continue
        if words:
            name, slash, options = words[0].strip("\"'").rpartition("\\")[2].lower().partition("/")
            joined = (slash + options,) if slash else ()  # cmd.exe takes format/q without a blank
            found.append(Statement(name, (*joined, *words[1:]), previous))
        previous = tuple(words) if token == "|" else previous if token in "{}()" and not words else ()
        words = []
    return found


def is_windows(text: str) -> bool:
    """Say whether a text is meant for cmd.exe or PowerShell rather than for a Unix shell."""
    commands = statements(text)
    cmdlets = any(_CMDLET.match(command.name) for command in commands)
    paths = (
        re.search(r"(?<![\w/])[A-Za-z]:(?:[\\/]|(?=\s|$))|%\w+%|\$env:\w|\s/[a-z]\b", text, re.IGNORECASE) is not None
    )
    builtin = any(command.name in _BUILTINS for command in commands)
    certain = any(command.name in _ONLY_WINDOWS or _is_service_tool(command) for command in commands)
    return cmdlets or certain or (builtin and paths) or _has_cmdlet_options(text)


def _has_cmdlet_options(text: str) -> bool:
    """``rm`` and ``ri`` are also names of Remove-Item, whose options are whole words."""
    has_options = re.search(r"\s-(?:Recurse|Force|Path|LiteralPath)\b", text, re.IGNORECASE) is not None
    return has_options and re.search(r"(?:\A|[;|&{])\s*(?:rm|ri|del|rmdir|mv|cp)\s", text) is not None


def _is_service_tool(command: Statement) -> bool:
    """``net``, ``sc`` and ``reg`` are words that other systems know too."""
    verbs = "stop start user localgroup use share view query delete config create add export import accounts"
    return command.name in ("net", "sc", "reg") and bool(command.args) and command.args[0].lower() in verbs.split()


def rate_windows(text: str, depth: int = 0) -> Iterator[SafetyFinding]:
    """Judge a command line of Windows."""
    if depth > 5:
        yield SafetyFinding("opaque.script", HIGH, text[:80], "nested too deeply")
        return
    if re.search(r"%0\s*\|\s*%0", text):
        yield SafetyFinding("exhaustion.fork_bomb", CRITICAL, text[:80], "a script that starts itself without end")
    if _runs_downloads(text):
        yield SafetyFinding("remote.execute", HIGH, text[:160], "runs what comes from the network")
    for command in statements(text):
        reader = _READERS.get(command.name)
        if reader:
            yield from reader(command, depth)


def _runs_downloads(text: str) -> bool:
    fetches = r"Download(?:String|File|Data)|\b(?:iwr|irm|curl|wget)\b|Invoke-(?:WebRequest|RestMethod)"
    runs = r"(?:\||;|^|\s)\s*(?:iex|Invoke-Expression)\b|&\s*\(\[scriptblock\]"
    return bool(re.search(fetches, text, re.IGNORECASE) and re.search(runs, text, re.IGNORECASE))


def _find(command: Statement, rule: str, level: RiskLevel, message: str) -> SafetyFinding:
    return SafetyFinding(rule, level, command.text, message)


def _target_level(path: str) -> RiskLevel:
    if ".." in path:
        path = ntpath.normpath(path)
    if _DRIVE.match(path) or _SYSTEM.match(path) or path in _EVERYTHING:
        return CRITICAL
    if re.match(r"(?:HKLM|HKCU|HKCR|HKU|HKEY_\w+|Registry):?", path, re.IGNORECASE):
        return HIGH
    if path.startswith("$") and not re.match(r"\$(?:env:TEMP|env:TMP|PSScriptRoot|pwd)\b", path, re.IGNORECASE):
        return HIGH
    return MODERATE


def _remove(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    """Del, rd, Remove-Item: by what they reach."""
    deep = command.has("s", "recurse")
    paths = command.operands() or [arg.strip("\"'") for arg in command.source[1:] if not arg.startswith(("-", "/"))]
    for path in paths:
        level = _target_level(path)
        wide = any(char in path for char in "*?")
        if deep and level is MODERATE and _TOP_FOLDER.match(path):
            level = HIGH
        if level is CRITICAL and not deep and not (wide or _DRIVE.match(path)):
            level = HIGH
        if level > MODERATE or deep or wide:
            yield _find(command, "deletion.windows", level, f"deletes {path}")
    if not paths and command.source:
        yield _find(command, "deletion.windows", HIGH, "deletes whatever is passed to it")


def _format(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    if any(_DRIVE.match(path) for path in command.operands()) or re.search(r"\b[A-Za-z]:", command.text):
        yield _find(command, "disk.format", CRITICAL, "formats a drive")


def _always(level: RiskLevel, rule: str, message: str) -> Callable[[Statement, int], Iterator[SafetyFinding]]:
    def judge(command: Statement, depth: int) -> Iterator[SafetyFinding]:
        if not command.has("whatif", "?"):
            yield _find(command, rule, level, message)

    return judge


def _with_words(
    words: str, level: RiskLevel, rule: str, message: str
) -> Callable[[Statement, int], Iterator[SafetyFinding]]:
    pattern = re.compile(words, re.IGNORECASE)

    def judge(command: Statement, depth: int) -> Iterator[SafetyFinding]:
        if pattern.search(" ".join(command.args)):
            yield _find(command, rule, level, message)

    return judge


def _shell(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    """A shell in a shell: encoded, inline, or with its protections off."""
    args = [arg.strip("\"'") for arg in command.args]
    lowered = [arg.lower() for arg in args]
    for at, arg in enumerate(lowered):
        if re.match(r"-(?:e|ec|enc|enco\w*|encodedcommand)\Z", arg):
            yield _find(command, "opaque.disguised", HIGH, "runs an encoded command")
            yield from rate_windows(_decoded(args[at + 1]) if at + 1 < len(args) else "", depth + 1)
        elif re.match(r"-(?:c|command)\Z|/[ckr]\Z", arg):
            yield from rate_windows(" ".join(args[at + 1 :]), depth + 1)
            return
    first = next((at for at, arg in enumerate(args) if not arg.startswith("-")), None)
    if first is not None and command.name.startswith(("powershell", "pwsh")):
        yield from rate_windows(" ".join(command.args[first:]), depth + 1)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le", errors="replace")
    except (binascii.Error, ValueError):
        return ""


def _policy(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    if re.search(r"unrestricted|bypass", command.text, re.IGNORECASE):
        yield _find(command, "protection.off", HIGH, "lets any script run")


def _net(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    text = " ".join(command.args).lower()
    if re.search(r"\b(?:user|localgroup|group)\b.*(?:/add|/delete|/active)", text) or re.match(
        r"user\s+\S+\s+[^/\s]", text
    ):
        yield _find(command, "user.account", HIGH, "creates, changes or removes accounts")
    elif text.startswith("stop"):
        yield _find(command, "service.stop", HIGH, "stops a service")
    elif re.search(r"\b(?:use|share)\b.*/delete", text):
        yield _find(command, "network.share", MODERATE, "removes a share")


def _write(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    levels = [_target_level(path) for path in command.operands()[:1]]
    if levels and levels[0] > MODERATE:
        yield _find(command, "write.windows", HIGH, "writes to a system folder")


def _kill(command: Statement, depth: int) -> Iterator[SafetyFinding]:
    vital = re.search(
        r"\b(?:explorer|svchost|lsass|csrss|winlogon|wininit|services)\b|/im\s+\*",
        command.text,
        re.IGNORECASE,
    )
    everything = (
        command.source and command.source[0].lower() in ("get-process", "gps", "ps") and len(command.source) == 1
    )
    yield _find(command, "process.kill", HIGH if vital or everything else MODERATE, "ends processes")


_GONE = "destroys what is on a disk"
_Reader = Callable[[Statement, int], Iterator[SafetyFinding]]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(("del", "erase", "rd", "rmdir", "remove-item", "ri", "rm"), _remove),
    "format": _format,
    "format.com": _format,
    "format-volume": _always(CRITICAL, "disk.format", "formats a drive"),
    **dict.fromkeys(
        ("clear-disk", "initialize-disk", "remove-partition", "reset-physicaldisk"),
        _always(CRITICAL, "disk.wipe", _GONE),
    ),
    "diskpart": _always(CRITICAL, "disk.partition", "changes the partitions of a disk"),
    "cipher": _with_words(r"/w", HIGH, "deletion.wipe", "overwrites free space"),
    "vssadmin": _with_words(r"delete|resize", CRITICAL, "deletion.backup", "deletes shadow copies"),
    "wbadmin": _with_words(r"delete", CRITICAL, "deletion.backup", "deletes backups"),
    "wmic": _with_words(
        r"delete|call\s+(?:terminate|create|uninstall)", HIGH, "machine.settings", "deletes or runs things"
    ),
    "reg": _with_words(r"^(?:delete|add|import|restore|load)", HIGH, "write.registry", "changes the registry"),
    "bcdedit": _with_words(
        r"/(?:set|delete|deletevalue|create|import)", HIGH, "kernel.boot", "changes how the machine boots"
    ),
    "netsh": _with_words(
        r"state\s+off|firewall\s+(?:set|delete|add|reset)|interface\s+set|int\s+ip\s+(?:set|reset)"
        r"|winsock\s+reset|disabled",
        HIGH,
        "firewall.off",
        "changes the firewall or the network",
    ),
    "fsutil": _with_words(r"deletejournal|setzerodata|dirty\s+set", HIGH, "disk.raw", "changes a file system by hand"),
    "takeown": _with_words(r"/r\b", HIGH, "permission.owner", "takes many files over"),
    "icacls": _with_words(r"everyone:.*f|/reset.*/t|/grant.*/t", HIGH, "permission.access", "opens files to everybody"),
    "wevtutil": _with_words(r"^(?:cl|clear-log)", HIGH, "history.log", "clears an event log"),
    "schtasks": _with_words(r"/(?:create|delete|change)", HIGH, "cron.replace", "changes scheduled tasks"),
    "sc": _with_words(r"^(?:stop|delete|config)", HIGH, "service.stop", "stops or changes a service"),
    "sc.exe": _with_words(r"^(?:stop|delete|config)", HIGH, "service.stop", "stops or changes a service"),
    "net": _net,
    "net.exe": _net,
    "taskkill": _kill,
    "stop-process": _kill,
    "shutdown": _with_words(r"[/-][srphgf]", HIGH, "machine.down", "stops or restarts the machine"),
    "dism": _with_words(
        r"/disable-feature|/remove-|/cleanup-image.*resetbase",
        HIGH,
        "package.remove",
        "removes parts of Windows",
    ),
    "mountvol": _with_words(r"/[dp]\b", HIGH, "mount.remove", "takes a volume away"),
    "manage-bde": _with_words(
        r"-(?:off|disable|forcerecovery|wipefreespace)",
        HIGH,
        "disk.encrypt",
        "changes the encryption of a disk",
    ),
    "certutil": _with_words(r"urlcache|-decode", HIGH, "remote.download", "fetches or decodes a program"),
    "mshta": _with_words(r"http|javascript|vbscript", HIGH, "remote.execute", "runs code from the network"),
    "regsvr32": _with_words(r"http|scrobj", HIGH, "remote.execute", "runs code from the network"),
    "rundll32": _with_words(r"javascript|http|comsvcs", HIGH, "remote.execute", "runs code in disguise"),
    "bitsadmin": _with_words(r"/transfer", HIGH, "remote.download", "fetches a program"),
    **dict.fromkeys(("powershell", "powershell.exe", "pwsh", "pwsh.exe", "cmd", "cmd.exe"), _shell),
    "set-executionpolicy": _policy,
    "stop-computer": _always(HIGH, "machine.down", "stops the machine"),
    "restart-computer": _always(HIGH, "machine.down", "restarts the machine"),
    **dict.fromkeys(
        ("stop-service", "remove-service", "suspend-service"),
        _always(HIGH, "service.stop", "stops a service"),
    ),
    "set-service": _with_words(r"disabled|stopped", HIGH, "service.stop", "stops a service"),
    "set-mppreference": _with_words(r"disable|exclusion", HIGH, "protection.off", "switches the virus scanner off"),
    "add-mppreference": _with_words(r"exclusion", HIGH, "protection.off", "weakens the virus scanner"),
    "set-netfirewallprofile": _with_words(r"false|allow", HIGH, "firewall.off", "switches the firewall off"),
    "disable-netadapter": _always(HIGH, "network.down", "cuts the machine off the network"),
    "remove-netfirewallrule": _always(HIGH, "firewall.rules", "removes rules of the firewall"),
    "disable-netfirewallrule": _always(HIGH, "firewall.rules", "removes rules of the firewall"),
    **dict.fromkeys(
        (
            "new-localuser",
            "remove-localuser",
            "add-localgroupmember",
            "set-localuser",
            "remove-aduser",
            "disable-localuser",
        ),
        _always(HIGH, "user.account", "creates, changes or removes accounts"),
    ),
    **dict.fromkeys(
        ("clear-eventlog", "remove-eventlog", "clear-history"), _always(HIGH, "history.log", "clears a log")
    ),
    **dict.fromkeys(
        ("remove-itemproperty", "set-itemproperty", "new-itemproperty", "sp"),
        _with_words(r"hk(?:lm|cu|cr|u)|registry", HIGH, "write.registry", "changes the registry"),
    ),
    **dict.fromkeys(
        ("register-scheduledtask", "unregister-scheduledtask"),
        _always(HIGH, "cron.replace", "changes scheduled tasks"),
    ),
    **dict.fromkeys(
        ("remove-vm", "stop-vm", "remove-azvm", "remove-azresourcegroup"),
        _always(HIGH, "machine.delete", "deletes a machine"),
    ),
    **dict.fromkeys(("clear-content", "set-content", "out-file"), _write),
    "clear-recyclebin": _always(HIGH, "deletion.windows", "empties the recycle bin for good"),
    **dict.fromkeys(
        ("disable-computerrestore", "remove-computercheckpoint"),
        _always(HIGH, "deletion.backup", "takes restore points away"),
    ),
    "uninstall-windowsfeature": _always(HIGH, "package.remove", "removes parts of Windows"),
    "robocopy": _with_words(r"/(?:mir|purge)\b", MODERATE, "deletion.mirror", "deletes what the source lacks"),
    "iex": _with_words(r"frombase64|decompress|\$\w", HIGH, "opaque.script", "runs text that is not known"),
    "invoke-expression": _with_words(
        r"frombase64|decompress|\$\w", HIGH, "opaque.script", "runs text that is not known"
    ),
}
