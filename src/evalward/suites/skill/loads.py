"""Which skills an agent loaded, by what it did: calls of its tool for skills, and what its other tools showed it.

A call that names a skill and succeeded has loaded it, whoever made it. A skill was read where the output of a tool
shows a line of its body that stands nowhere else: not in another skill, a file of the case, the prompt, or the call
itself. Where a skill has no such line, or an output was cut, a tool that opened the file and succeeded says the same.
What an agent merely says is no evidence.

claude-code and opencode load skills by calls, so that a read alone triggers nothing there; for every other agent a
read is how skills are loaded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalward.records.trace import ToolCall, ToolResult, ToolUse, Trace
from evalward.suites.skill.details import LoadedSkill, Origin
from evalward.suites.skill.install import installed_name, skill_files
from evalward.suites.skill.skill_file import SKILL_FILE, Skill

SHORTEST_LINE = 12
"""Characters of a line that can tell a skill: shorter ones stand anywhere."""
LARGEST_FILE = 1 << 20
"""Bytes of a file of text that is looked into for lines of a skill's body."""
LONGEST_OUTPUT = 2_000_000
"""Characters of one output that are looked into."""
BY_CALLS = frozenset({"claude-code", "opencode"})
"""Agents with a tool for skills."""
SKILL_TOOLS = frozenset({"Skill", "skill"})
READ_TOOLS = frozenset({"Read", "read", "view", "read_file"})
_NUMBERED = re.compile(r"^\s*(?:[\w./-]{0,200}:)?\d{1,6}(?:[:|→\t-]|\s{2,})\s*")
_FILE = re.compile(rf"([^\s'\"]*/)?([A-Za-z0-9][\w.-]{{0,127}})/{re.escape(SKILL_FILE)}(?![\w.-])")
_AGENTS_OWN = "/.system/"


@dataclass(frozen=True)
class SkillTexts:
    """What tells the skills of one arm: their origin by name, and the lines that each alone has in its body."""

    origins: Mapping[str, Origin]
    lines: Mapping[str, str]
    unmarked: frozenset[str]

    @classmethod
    def of(cls, skills: Mapping[Origin, Sequence[Skill]], prompt: str = "", files: Iterable[str] = ()) -> SkillTexts:
        """Of these skills, by origin, the first of a name being the one that is there.

        `files` are the texts of the case's files, which agents see in any case, as they see the prompt.
        """
        known: dict[str, tuple[Origin, Skill]] = {}
        for origin, several in skills.items():
            for skill in several:
                known.setdefault(installed_name(skill), (origin, skill))
        bodies = {name: _lines(skill.body) for name, (_, skill) in known.items()}
        standing = Counter(line for lines in bodies.values() for line in lines)
        beside = (*files, *_other_files(skill for _, skill in known.values()))
        others = {line for text in beside for line in _lines(text)}
        others |= {line for _, skill in known.values() for line in _lines(skill.description)}
        marks = {
            line: name
            for name, lines in bodies.items()
            for line in lines
            if standing[line] == 1 and line not in others and line not in prompt
        }
        return cls(
            {name: origin for name, (origin, _) in known.items()}, marks, frozenset(bodies) - frozenset(marks.values())
        )


def loaded_skills(trace: Trace, texts: SkillTexts) -> list[LoadedSkill]:
    """The skills that were loaded: calls in their order, then reads in theirs, each skill once."""
    found: dict[str, LoadedSkill] = {}
    for use in trace.skills:
        name = plain_name(use.name)
        if use.succeeded and name:
            origin = texts.origins.get(name, "agent")
            found.setdefault(name, LoadedSkill(name=name, origin=origin, how=use.how, subagent=use.subagent))
    for name, origin in _read(trace, texts):
        found.setdefault(name, LoadedSkill(name=name, origin=origin, how="read"))
    return list(found.values())


def triggers(loaded: Sequence[LoadedSkill], *, by_calls: bool) -> list[LoadedSkill]:
    """Those of them that count as triggered for this agent."""
    return [each for each in loaded if each.how == "called" or not by_calls]


def loads_by_calls(agent: str, trace: Trace, *, replayed: bool = False) -> bool:
    """Whether the agent, or the one that was recorded, has a tool for skills."""
    if replayed:
        return any(use.name in SKILL_TOOLS for message in trace.messages for use in message.tool_uses)
    return agent.partition("/")[0] in BY_CALLS


def plain_name(name: str) -> str:
    """`NAME` of `NAME`, `/NAME` and `plugin:NAME`."""
    return name.strip().lstrip("/").rpartition(":")[2].strip()


# ------------------------------------------------------------------------------------------- reads


@dataclass(frozen=True)
class _Shown:
    """What one use of a tool showed: what was asked, what came, whether it went well, whether some of it is missing."""

    asked: str
    output: str
    succeeded: bool
    cut: bool = False


def _read(trace: Trace, texts: SkillTexts) -> Iterator[tuple[str, Origin]]:
    for shown in _outputs(trace):
        yield from ((name, texts.origins[name]) for name in _by_lines(shown, texts))
        yield from _by_path(shown, texts)


def _by_lines(shown: _Shown, texts: SkillTexts) -> list[str]:
    """The skills of which a telling line is shown, in the order in which they are."""
    found: dict[str, None] = {}
    for line in shown.output[:LONGEST_OUTPUT].splitlines():
        name = texts.lines.get(line.strip()) or texts.lines.get(_NUMBERED.sub("", line, count=1).strip())
        if name is not None and name not in found and not _quoted(line, shown.asked):
            found[name] = None
    return list(found)


def _quoted(line: str, asked: str) -> bool:
    """Whether the line came back because it was in what was asked, as of `echo`."""
    words = line.strip()
    return words in asked or _NUMBERED.sub("", line, count=1).strip() in asked


def _by_path(shown: _Shown, texts: SkillTexts) -> Iterator[tuple[str, Origin]]:
    """Files of skills that were opened with success, where no line can tell it."""
    if not shown.succeeded or not shown.output.strip():
        return
    for found in _FILE.finditer(shown.asked[:LONGEST_OUTPUT]):
        name, origin = found[2], texts.origins.get(found[2])
        if origin is None:
            yield name, "agent" if _AGENTS_OWN in found[0] else "unknown"
        elif name in texts.unmarked or shown.cut:
            yield name, origin


def _outputs(trace: Trace) -> Iterator[_Shown]:
    """In the order of the conversation; then the commands of helpers, whose words are not in it."""
    uses: dict[str, ToolUse] = {}
    told: Counter[str] = Counter()
    for message in trace.messages:
        for block in message.content:
            if isinstance(block, ToolUse):
                uses[block.id] = block
            elif isinstance(block, ToolResult) and block.tool_use_id in uses:
                use = uses[block.tool_use_id]
                command = _command(use)
                told[command or ""] += 1
                if use.name not in SKILL_TOOLS:
                    yield _Shown(command or _asked(use), block.content, not block.is_error)
    for call in trace.tool_calls:
        if told[call.commands] > 0 and not call.cut:
            told[call.commands] -= 1
        else:
            yield _of_call(call)


def _of_call(call: ToolCall) -> _Shown:
    output = "\n".join(filter(None, (call.stdout, call.stderr)))
    return _Shown(call.commands, output, call.ran and call.exit_code in (0, None), bool(call.cut))


def _command(use: ToolUse) -> str | None:
    given = use.input if isinstance(use.input, Mapping) else {}
    found = next((given[key] for key in ("command", "commands", "script", "cmd") if key in given), None)
    return found if isinstance(found, str) else None


def _asked(use: ToolUse) -> str:
    """What a tool that is no shell was asked, if it is one that opens files."""
    if use.name not in READ_TOOLS or not isinstance(use.input, Mapping):
        return ""
    return "\n".join(text for text in use.input.values() if isinstance(text, str))


# ------------------------------------------------------------------------------------------- lines


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= SHORTEST_LINE}


def _other_files(skills: Iterable[Skill]) -> Iterator[str]:
    """The texts of all that is installed beside the SKILL.md of each."""
    for skill in skills:
        for path, content, _ in skill_files(skill):
            if path != SKILL_FILE and len(content) <= LARGEST_FILE and b"\0" not in content:
                yield content.decode("utf-8", "replace")
