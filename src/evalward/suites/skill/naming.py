"""Prompts that name a skill: agents load it then without a choice, so that loading it says nothing."""

from __future__ import annotations

from collections.abc import Sequence


def named_in(prompt: str, names: Sequence[str]) -> str | None:
    """How a prompt names one of the skills, `/NAME` at its beginning (claude-code) or `$NAME` anywhere (codex)."""
    begins = prompt.lstrip()
    for name in names:
        first = begins.split(maxsplit=1)[0] if begins else ""
        if first.startswith("/") and first[1:].rpartition(":")[2] == name:
            return first
        if _has_dollar(prompt, name):
            return f"${name}"
    return None


def _has_dollar(prompt: str, name: str) -> bool:
    """Whether `$NAME` stands in the prompt, and not as the beginning of a longer name."""
    at = prompt.find(f"${name}")
    while at >= 0:
        after = prompt[at + len(name) + 1 : at + len(name) + 2]
        if not (after.isalnum() or after in {"-", "_"}) or not after:
            return True
        at = prompt.find(f"${name}", at + 1)
    return False
