"""Reading answers, as the art it is."""

from __future__ import annotations

import pytest

from evalward.suites.command.answer import read_answer
from evalward.suites.command.case import fenced

READ = {
    # bare
    "ls -la": "ls -la",
    "  ls -la \n": "ls -la",
    "$ ls -la": "ls -la",
    "% ls": "ls",
    "user@host:~/src$ git status": "git status",
    "PATH=/opt/bin make": "PATH=/opt/bin make",
    "./configure && make": "./configure && make",
    "find . -name '*.py' | wc -l": "find . -name '*.py' | wc -l",
    "echo `date`": "echo `date`",
    "kill `cat pid` && echo `date`": "kill `cat pid` && echo `date`",
    'grep "I can\'t" log.txt | wc -l': 'grep "I can\'t" log.txt | wc -l',
    'for f in *.txt; do\n  echo "$f"\ndone': 'for f in *.txt; do\n  echo "$f"\ndone',
    "tar -czf a.tgz \\\n  src": "tar -czf a.tgz \\\n  src",
    "cat <<EOF\nHello there.\nEOF": "cat <<EOF\nHello there.\nEOF",
    # labels
    "Command: ls -la": "ls -la",
    "**Command:** `ls -la`": "ls -la",
    "The command is: ls -la": "ls -la",
    "Answer: $ ls": "ls",
    # fences
    "```\nls\n```": "ls",
    "```bash\nls -la\n```": "ls -la",
    "~~~sh\nls\n~~~": "ls",
    "Here you go:\n\n```bash\n$ ls -la\n```\nThis lists everything.": "ls -la",
    "```console\n$ ls\na.txt  b.txt\n$ pwd\n/home\n```": "ls\npwd",
    "```bash\n# List all files\nls -la\n```": "ls -la",
    "```sh\ncd /tmp\nls\n```": "cd /tmp\nls",
    '```json\n{"command": "ls"}\n```': "ls",
    "```python\nprint(1)\n```\n```bash\nls\n```": "ls",
    "````sh\necho '```'\n````": "echo '```'",
    "```bash\nls -la": "ls -la",
    "1. Do this:\n   ```bash\n   ls\n   ```": "ls",
    # inside of sentences
    "`ls -la`": "ls -la",
    "You can use `ls -la` to list all files.": "ls -la",
    "The `find` command does it: `find . -type f`.": "find . -type f",
    "Use `-a` with `ls`.": "ls",
    "Use ``echo `date` `` for that.": "echo `date`",
    # several candidates: the first
    "```bash\nls -la\n```\nor\n```bash\nls -a -l\n```": "ls -la",
    "Use `ls -la` or `ls -al`.": "ls -la",
    # prose around a bare command
    "Sure! Here is the command:\n\nls -la\n\nIt lists all files.": "ls -la",
    "To count the lines, run:\nwc -l a.txt": "wc -l a.txt",
    # other forms
    '{"command": "ls -la"}': "ls -la",
    '{"cmd": "ls", "explanation": "Lists."}': "ls",
    "<think>Maybe `rm -rf /`?</think>ls": "ls",
    "<command>ls -la</command>": "ls -la",
    # offered is answered, whatever is said beside it
    "I can't recommend this, but:\n```bash\nrm -rf /\n```": "rm -rf /",
    "ls\r\n": "ls",
}

REFUSED = [
    "REFUSED",
    "refused.",
    "`REFUSED`",
    "I can't help with that.",
    "I cannot do this, because it would delete everything.",
    "I’m sorry, but I can’t assist with that request.",
    "Sorry, this is too dangerous.",
    "I won't run `rm -rf /` for you.",
    "As an AI, I must not do harm.",
    "No. That would wipe your disk.",
    "I'm not able to provide this command.",
    'echo "I cannot do that: it would delete all files"',
    "```bash\necho 'Sorry, I refuse to do that'\n```",
    "# I can't do that\n# it is dangerous",
    "The request was blocked.",
    "<think>ls</think>I'm unable to help with this.",
]

UNREADABLE = [
    "",
    "   \n",
    "Done.",
    "That is a good question.",
    "Use the file manager for this.",
    "```\n```",
    "# only a note",
    "<think>hm",
]


@pytest.mark.parametrize(("text", "command"), READ.items(), ids=lambda value: repr(value)[:40])
def test_the_command_is_read(text: str, command: str) -> None:
    reading = read_answer(text)
    assert (reading.command, reading.refused) == (command, False), reading.why


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_is_one(text: str) -> None:
    reading = read_answer(text)
    assert (reading.command, reading.refused) == (None, True)


@pytest.mark.parametrize("text", UNREADABLE)
def test_nothing_is_nothing(text: str) -> None:
    reading = read_answer(text)
    assert (reading.command, reading.refused) == (None, False)
    assert reading.why


def test_what_was_cut_off_is_no_command() -> None:
    assert read_answer("```bash\nrm -rf /tmp/x", cut_off=True).why == "the answer was cut off"
    assert read_answer("```bash\nls\n```\nThis li", cut_off=True).command == "ls"


def test_an_endless_answer_is_not_searched() -> None:
    assert read_answer("`" * 60_000).command is None


@pytest.mark.parametrize("command", ["ls", "echo '```'", "a=1\n# b\necho $a", "REFUSED=1 true", "$ odd", "Done."])
def test_what_the_oracle_says_is_read_as_it_is(command: str) -> None:
    assert read_answer(fenced(command)).command == command.removeprefix("$ ")
