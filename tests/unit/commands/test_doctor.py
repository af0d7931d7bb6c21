"""What `evalward doctor` says of the walls of a machine, and how a checkup looks."""

from __future__ import annotations

import pytest

from evalward.commands.doctor import walls
from evalward.commands.doctor.walls import FoundWalls, wall_items
from evalward.records.checkup import Checkup, CheckupItem, CheckupStatus
from evalward.render.checkup import checkup_text
from evalward.sandbox.process.probe import Layers

FULL = Layers(own_user=True, namespaces=True, network=True, landlock=True, filtered=True)


def said(found: FoundWalls) -> dict[str, CheckupItem]:
    return {item.name: item for item in wall_items(found)}


def test_walls__all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalward.sandbox.launcher.bubblewrap.installed", lambda: "/usr/bin/bwrap")
    items = said(FoundWalls(FULL, grouped=True))
    assert {item.status for item in items.values()} == {"ok", "note"}
    assert items["bubblewrap"].text == "/usr/bin/bwrap, not needed: root builds the namespaces itself"


def test_walls__too_few_say_why_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalward.sandbox.launcher.bubblewrap.installed", lambda: None)
    monkeypatch.setattr("evalward.sandbox.launcher.landlock.version", lambda: 0)
    monkeypatch.setattr("evalward.sandbox.process.probe.open_sockets", lambda own_user: ("/run/docker.sock",))
    setting = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    monkeypatch.setattr(walls, "_setting", lambda place: "1" if place == setting else "?")
    items = said(FoundWalls(Layers(filtered=True, note="no own process namespace: not permitted")))
    assert items["level"].status == "warning"
    assert "none" not in items["level"].text.split(",")[0]
    assert items["namespaces"].text == "none: kernel.apparmor_restrict_unprivileged_userns is 1"
    assert "bubblewrap" in items["namespaces"].remedy
    assert items["Landlock"].status == "warning"
    assert items["sockets"].text.endswith("/run/docker.sock")
    monkeypatch.setattr(walls, "_setting", lambda place: "")
    items = said(FoundWalls(Layers(landlock=True, note="no own process namespace: not permitted")))
    assert items["namespaces"].text == "none: not permitted"


def test_walls__that_are_not_known_are_not_lacking() -> None:
    [item] = wall_items(FoundWalls(None, failed="this machine is too busy"))
    assert (item.status, item.text) == ("warning", "not known: this machine is too busy")


def item(status: CheckupStatus, name: str = "thing", text: str = "found", remedy: str = "") -> CheckupItem:
    return CheckupItem(group="project", name=name, status=status, text=text, remedy=remedy)


@pytest.mark.parametrize(
    ("statuses", "end"),
    [
        (["ok", "note"], "✓ Nothing that the configuration needs is missing.\n"),
        (
            ["ok", "warning"],
            "✓ Nothing that the configuration needs is missing. 1 line marked ! may be worth a look.\n",
        ),
        (["missing", "missing"], "✗ The configuration needs what is not here: thing.\n"),
        (["missing", "wrong"], "✗ Can't be used as it is: thing.\n"),
    ],
)
def test_text__ends_with_what_it_comes_to(statuses: list[CheckupStatus], end: str) -> None:
    checkup = Checkup(evalward="1.0", items=[item(status) for status in statuses])
    assert checkup_text(checkup, colour=False, width=100).endswith(f"\n\n{end}")
    plain = checkup_text(checkup, colour=False, width=100, ascii=True)
    assert plain.isascii()


def test_text__obeys_nothing_of_the_machine() -> None:
    hostile = "a\x1b[31mb\n::error::c\u202ed"
    checkup = Checkup(evalward="1.0", items=[item("warning", hostile, hostile, hostile)])
    shown = checkup_text(checkup, colour=False, width=200)
    assert not {"\x1b", "\u202e"} & set(shown)
    assert not any(line.startswith("::") for line in shown.splitlines())
    assert "\n  ! ab ::error::cd  ab ::error::cd\n" in shown
