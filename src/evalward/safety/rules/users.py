"""Accounts, groups and passwords."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import Subcommand, rule, table

_ACCOUNT = "creates, changes or removes accounts"

table(
    "useradd adduser userdel deluser usermod groupdel delgroup newusers chpasswd gpasswd vipw vigr "
    "groupmod groupadd addgroup pw lusermod luseradd pwconv pwunconv grpck "
    "chage faillock",
    "",
    [
        Subcommand("", MODERATE, "user.account", "shows accounts", needs="help version l list"),
        Subcommand("", HIGH, "user.account", _ACCOUNT),
    ],
)
table(
    "visudo",
    "",
    [
        Subcommand("", MODERATE, "privilege.rules", "checks the rules of sudo", needs="c check"),
        Subcommand("", HIGH, "privilege.rules", "changes who may become root"),
    ],
)
table("loginctl", "", [Subcommand("terminate-*|kill-*", HIGH, "user.session", "ends sessions of users")])
table("chsh chfn", "s/shell:", [Subcommand("", MODERATE, "user.account", "changes an account")])


@rule("passwd")
def passwd(call: ProgramCall) -> Iterator[Answer]:
    """Changing a password, above all another's or with options that unlock or remove it."""
    options = call.options("S/status a/all d/delete e/expire l/lock u/unlock n: x: w: i: q stdin")
    if not options.has("S"):
        yield call.find("user.password", HIGH, "changes a password")


@rule("vim vi nvim nano emacs ed ex sudoedit editor code")
def editor(call: ProgramCall) -> Iterator[Answer]:
    """Files that decide who is root; commands given to editors are judged with the other languages."""
    for _, target in call.places(call.options("c: u: S: T: w:").operands):
        if target.path in ("/etc/passwd", "/etc/shadow", "/etc/sudoers"):
            yield call.find("privilege.rules", HIGH, f"edits {target.path}")
        elif call.program == "sudoedit":
            yield call.find("privilege.edit", MODERATE, f"edits {target.path} with raised privileges")
