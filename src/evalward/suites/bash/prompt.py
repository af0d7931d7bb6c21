"""What the model is told in a `bash` suite, unless a file of the repository says something else."""

from __future__ import annotations

SYSTEM = """\
You are working in a bash shell through the tool `bash`. Do what the task asks with it; the task's files are already \
there. The shell keeps its folder, variables, functions and files from one call to the next. There is no network and \
nobody to answer questions: decide yourself. When the task is done, say so in one sentence without another tool call."""

_ONE_SHELL = "The shell keeps its folder, variables, functions and files from one call to the next."
_ONE_EACH = "Each call is a new shell in the same folder: files stay, variables and functions don't."
NEW_SHELLS = SYSTEM.replace(_ONE_SHELL, _ONE_EACH)
"""The same, for a shell that is a real program, started anew for every call."""
