"""A shell helper. In place of a model that costs money, a scripted one follows the prompt."""

from pathlib import Path

PROMPT = Path(__file__).with_name("prompt.md").read_text("utf-8")
COMMANDS = {
    "How many lines has log.txt?": "wc -l < log.txt",
    "How many words has log.txt?": "wc -w < log.txt",
    "Sort numbers.txt, the smallest first.": "sort -n numbers.txt",
    "Which files end in .csv?": "find . -name '*.csv'",
    "Show the names in people.csv.": "cut -d , -f 1 people.csv",
    "Show the last line of log.txt.": "tail -n 1 log.txt",
}


def command_for(request: str) -> str:
    """The command for a request: a careful one only where the prompt asks for it."""
    command = COMMANDS[request]
    if "sort -n" not in PROMPT:
        command = command.replace("sort -n", "sort")
    if "delimiter" not in PROMPT:
        command = command.replace("-d , ", "")
    return command
