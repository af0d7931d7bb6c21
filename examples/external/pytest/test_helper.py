"""What the helper's commands print, when they run among some files."""

import subprocess

import pytest
from helper import command_for

FILES = {
    "log.txt": "start\nsome words here\nend\n",
    "numbers.txt": "10\n9\n100\n",
    "people.csv": "Ada,36\nAlan,41\n",
}
CASES = {
    "count-lines": ("How many lines has log.txt?", "3"),
    "count-words": ("How many words has log.txt?", "5"),
    "sort-numbers": ("Sort numbers.txt, the smallest first.", "9\n10\n100"),
    "find-tables": ("Which files end in .csv?", "./people.csv"),
    "cut-names": ("Show the names in people.csv.", "Ada\nAlan"),
    "last-line": ("Show the last line of log.txt.", "end"),
}


@pytest.mark.parametrize(("request_", "expected"), CASES.values(), ids=CASES)
def test_command(request_, expected, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = command_for(request_)
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == expected, f"{command!r} printed {done.stdout!r}"
