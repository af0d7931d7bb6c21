"""A log as GitHub's runner reads it: which of its lines are workflow commands that it would carry out."""

from __future__ import annotations

import re

# `::name properties::data` after blanks at a line's start; `##[name properties]data` anywhere in a line.
_NEW = re.compile(r"\s*::(?P<name>[^:\s]*)(?P<rest>[^:]*)::(?P<data>.*)", re.DOTALL)
_OLD = re.compile(r"##\[(?P<name>[^\]\s]*)(?P<rest>[^\]]*)\](?P<data>.*)", re.DOTALL)
_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_STOP = "stop-commands"


def live_commands(log: str) -> list[str]:
    """The lines that are carried out, without those that stop commands and let them go on."""
    live, stopped = [], ""
    for line in _LINE_ENDS.split(log):
        match = _NEW.match(line) or _OLD.search(line)
        if match is None:
            continue
        if stopped:
            stopped = "" if match["name"] == stopped else stopped
        elif match["name"] == _STOP:
            stopped = match["data"].strip()
        else:
            live.append(line)
    return live


def is_ours(command: str, *secrets: str) -> bool:
    """An annotation of ours, a group of the log, or the masking of a secret that we know of."""
    if command.startswith("::add-mask::"):
        return command.removeprefix("::add-mask::") in secrets
    if command == "::endgroup::" or command.startswith("::group::"):
        return True
    annotation = r"::(?:error|warning|notice)(?: (?:file|title)=[^:]*::|::\d+ more are in the job summary\.$)"
    return re.match(annotation, command) is not None
