"""Virtual machines and system containers."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import Subcommand, rule, table

_HOST = "gives a container powers over the host"

table(
    "vagrant",
    "",
    [
        Subcommand("destroy", HIGH, "machine.delete", "deletes a virtual machine"),
        Subcommand("halt|suspend|reload", MODERATE, "machine.stop", "stops a virtual machine"),
    ],
)
table(
    "virsh",
    "c:",
    [
        Subcommand(
            "destroy|undefine|vol-delete|pool-delete|vol-wipe|snapshot-delete|net-destroy",
            HIGH,
            "machine.delete",
            "deletes a virtual machine or its disks",
        ),
        Subcommand("shutdown|reboot|suspend", MODERATE, "machine.stop", "stops a virtual machine"),
    ],
)
table(
    "VBoxManage vboxmanage",
    "",
    [
        Subcommand("unregistervm", HIGH, "machine.delete", "deletes a virtual machine", needs="delete"),
        Subcommand("closemedium|controlvm", MODERATE, "machine.stop", "changes a virtual machine"),
    ],
)
table(
    "lxc incus",
    "",
    [
        Subcommand("delete", HIGH, "machine.delete", "deletes a container"),
        Subcommand("stop|restart", MODERATE, "machine.stop", "stops a container"),
        Subcommand("storage|image|network|project|profile delete|rm", HIGH, "machine.delete", "deletes a volume"),
        Subcommand("storage volume delete|rm", HIGH, "machine.delete", "deletes a volume"),
        Subcommand("config|profile set * security.privileged*", HIGH, "container.privileged", _HOST),
        Subcommand("config device add * * disk source=/|source=/etc|source=/root", HIGH, "container.mount", _HOST),
        Subcommand("config|profile", MODERATE, "machine.settings", "changes a container"),
    ],
)
table(
    "multipass",
    "",
    [
        Subcommand("delete|purge", HIGH, "machine.delete", "deletes a virtual machine"),
        Subcommand("stop", MODERATE, "machine.stop", "stops a virtual machine"),
    ],
)
table("qm pct", "", [Subcommand("destroy|stop|rollback", HIGH, "machine.delete", "deletes or stops a virtual machine")])


@rule("lxc incus adb vagrant wsl")
def inside(call: ProgramCall) -> Iterator[Answer]:
    """Commands that run in another system."""
    operands = call.leading("s: e: u: d: c:").operands
    texts = [word.text for word in operands]
    if call.program in ("lxc", "incus") and texts[:1] == ["exec"]:
        after = operands[texts.index("--") + 1 :] if "--" in texts else operands[2:]
        yield NestedCommand(words=after, stdin=call.stdin, elsewhere=True)
    elif call.program == "adb" and texts[:1] == ["shell"] and operands[1:]:
        yield NestedCommand(words=operands[1:], stdin=call.stdin, elsewhere=True)
    elif call.program == "adb" and texts[:2] in (["reboot"], ["reboot", "bootloader"]):
        yield call.find("machine.down", HIGH, "restarts a device")
    elif call.program == "vagrant" and texts[:1] == ["ssh"]:
        for value in call.options("c/command:").all_values("c"):
            yield NestedCommand(script=value, elsewhere=True)
