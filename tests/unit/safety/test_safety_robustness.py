"""The validator answers always, soon, and within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalward.safety import RiskLevel, assess
from support.patience import little_work

_PIECES = [
    "rm", "-rf", "/", "$(", "`", "'", "\"", "${", "}", ")", "(", "<<EOF\n", "EOF\n", "|", "||", "&&", "&",
    ";", "\n", "for x in", "do", "done", "if", "then", "fi", "case", "esac", "in", "{", "[[", "]]", "((",
    "))", "$x", "${x%%*}", "${x//a/b}", "<(", ">(", ">", "<", "<<<", "eval", "bash -c", "find . -exec",
    "\\;", "xargs -I{}", "sudo", "env -S", "python -c", "awk", "sed -i", "dd of=", "git -c alias.x=!",
    "docker run -v", "psql -c", "printf %b", "base64 -d", "{a,b}", "{1..9999}", "x=", "x+=", "x=(",
    "export", "read", "set --", "cd", "..", "tmux send-keys", "parallel :::", "*", "?", "[a-z]", "@(a|b)",
    "~", "~root", "!", "#", "\\", "curl x", "ssh h", "powershell -enc", "AAAA", "del /s", "C:\\", "vim -c",
    ":!", "make -f -", "function", "f()", "alias a=b", "trap", "%0|%0", "\x00", "\ud800", "\xe9",
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gets_an_answer(command: str) -> None:
    assessment = assess(command)
    assert assessment.level == max((finding.level for finding in assessment.findings), default=RiskLevel.SAFE)


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=30), st.sampled_from([" ", ""]))
def test_any_mix_of_syntax_gets_an_answer(pieces: list[str], joint: str) -> None:
    assessment = assess(joint.join(pieces))
    assert assessment.parsed or assessment.level >= RiskLevel.HIGH


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="rm -f/~*$(){}'\"\\;|&<>\n`=", max_size=60))
def test_quoting_a_dangerous_command_differently_never_raises(noise: str) -> None:
    assess(f"{noise}; rm -rf /")
    assess(f"bash -c '{noise}'")


def _fill(unit: str, size: int = 4990) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize(
    "command",
    [
        *map(
            _fill,
            [
                "a;",
                "rm -rf x;",
                "a|",
                "(",
                "$(",
                "`",
                '"',
                "{a,b}",
                "{1..9}",
                "$((",
                "*",
                "[a",
                "+(",
                "${x:-",
            ],
        ),
        *map(
            _fill,
            ["eval ", "sudo ", "env ", "xargs ", "bash -c ", "cat <<A\n", "f(){ f|f& };", "cd a;cd ..;"],
        ),
        *map(
            _fill,
            ["a=$a$a;", "x=$(y) ", "while :;do ", "case x in a) ls;; ", "alias a=b;", "git -c alias.x=!git "],
        ),
        "{" * 2000 + "a,b" + "}" * 2000,
        "$(" * 1200 + ")" * 1200,
        "python -c '" + _fill("os.system(", 4900) + "'",
        "python -c '" + _fill("exec(base64 fork while socket ", 4900) + "'",
        "awk '" + _fill('print > "', 4900) + "'",
        'psql -c "' + _fill("alter table ", 4900) + '"',
        "sed -e '" + _fill("s\\/", 4900) + "'",
        "rm " + _fill("x ", 4900),
        "aws ec2 modify-image-attribute --launch-permission '" + _fill("Group=  ", 4900) + "'",
        "gcloud sql instances patch db --authorized-networks=" + _fill("0.0.0.0/0,", 4900) + "x",
        "kubectl apply -f " + _fill("github.com", 4900),
        "cp x " + _fill("/Library/LaunchAgents", 4900),
        "cat " + _fill("Library/Keychains/", 4900) + "\\n",
        "trash " + _fill("~/x ", 4900),
        "codesign --remove-signature " + _fill("/x ", 4900),
        "PlistBuddy -c '" + _fill("Clear ", 4900) + "' ~/Library/Preferences/x",
        "ssh -R " + _fill("0.0.0.0:1:", 4900) + " h",
        _fill("rm x \\\n"),
        "del " + _fill('"', 4900),
        "for a in 1 2 3 4 5 6 7 8;do " * 20 + "ls;" + "done;" * 20,
        "".join(f"f{n}(){{ f{n + 1}; f{n + 1}; }};" for n in range(150)) + "f0",
    ],
    ids=lambda command: command[:24],
)
def test_long_input_is_bounded(command: str) -> None:
    with little_work(10):  # a tenth of a second on an idle machine
        assess(command)


def test_ordinary_commands_take_well_under_five_milliseconds() -> None:
    commands = [
        "ls -la",
        "find . -name '*.py' | xargs grep -n TODO",
        'for f in *.txt; do mv "$f" "${f%.txt}"; done',
    ]
    for command in commands:
        assess(command)
    with little_work(300 * 0.05):
        for _ in range(100):
            for command in commands:
                assess(command)


@pytest.mark.parametrize("depth", [5, 200, 800])
@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("$(", ")"), ("{ ", ";}"), ("if ", ";then :;fi")])
def test_deep_nesting_is_judged_or_refused(opening: str, closing: str, depth: int) -> None:
    command = opening * depth + "rm -rf /" + closing * depth
    assert assess(command).level >= RiskLevel.HIGH
