"""What is odd about the skills themselves: what one agent or another leaves out, cuts, or doesn't find."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from evalward.records.problem import Place, Problem
from evalward.records.words import did_you_mean, one_line, shown
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.skill_file import Skill, is_installed

LONGEST_DESCRIPTION = 1024
"""Characters: the specification's limit, at which codex cuts. claude-code cuts at 1,536."""
LONGEST_LIST = 6_000
"""Characters of all names and descriptions, from which on claude-code lists some skills by their names only."""
LONGEST_COMPATIBILITY = 500
MOST_BROKEN = 10
"""References of one skill that are named."""
MOST_BODY = 200_000
"""Characters of a body that are looked through."""
SPECIFIED = ("name", "description", "license", "allowed-tools", "metadata", "compatibility")
CLAUDE_CODE = (
    *("when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable", "model", "effort"),
    *("context", "agent", "hooks", "paths", "shell", "version"),
)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LINK = re.compile(r"\]\(([^)\s]{1,300})")
_QUOTED = re.compile(r"`((?:scripts|references|assets|templates)/[^`\s*<>{}]{1,200}\.[A-Za-z0-9]{1,8})`")
_FENCED = re.compile(r"[ \t]*(```|~~~)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


def check_skills(
    skills: Sequence[Skill], distractors: Sequence[Skill], cases: Sequence[SkillCase]
) -> Iterator[Problem]:
    """All that is odd about the suite's skills. None of it keeps an agent from using them: these are warnings."""
    asked = {case.wants for case in cases if case.asks == "trigger"}
    tried = {case.skill for case in cases}
    for skill in skills:
        yield from _front_matter(skill)
        yield from _name(skill)
        yield from _description(skill)
        yield from _keys(skill)
        yield from _body(skill)
        if skill.front.values.get("disable-model-invocation") is True and skill.name in asked:
            message = "claude-code doesn't show the skill to models, and queries want it to be loaded"
            yield _odd(skill, message, "Remove the key, or the queries.", "disable-model-invocation")
        if skill.name not in tried:
            yield _odd(
                skill, "the skill has no evals", "Add evals/evals.json or evals/trigger-evals.json to its folder."
            )
    yield from _list([*skills, *distractors])


def _odd(skill: Skill, message: str, remedy: str, key: str = "") -> Problem:
    place = Place(file=skill.file, line=skill.front.line(key) if key else None)
    return Problem(place=place, message=message, remedy=remedy, field=key)


def _front_matter(skill: Skill) -> Iterator[Problem]:
    front = skill.front
    if not front.there:
        message = "there is no front matter: codex and opencode leave the skill out"
        yield _odd(skill, message, "Begin the file with ---, name:, description: and ---.")
    if front.broken:
        message = f"the front matter is not valid YAML, and opencode leaves the skill out: {front.broken}"
        place = Place(file=skill.file, line=front.broken_line)
        yield Problem(place=place, message=message, remedy="Put quotes around values with a colon.")
    for each in front.oddities:
        yield _odd(skill, f"front matter: {each}", "Remove one of them.")
    if front.bom:
        message = "the file begins with a byte order mark: codex leaves the skill out, claude-code shows no description"
        yield _odd(skill, message, "Save it as UTF-8 without BOM.")
    elif front.crlf:
        yield _odd(skill, "its lines end as on Windows (CR LF), which not all agents read", "Save it with LF.")


def _name(skill: Skill) -> Iterator[Problem]:
    name = skill.front.text("name")
    if skill.front.there and not name:
        yield _odd(
            skill, f"the skill has no name: the folder's is used, {shown(skill.name)}", "Add name: NAME.", "name"
        )
        return
    if name and name != skill.name:
        message = f"the name {shown(name)} can't be a folder's: the skill is installed as {shown(skill.name)}"
        yield _odd(skill, message, "Use lower-case letters, digits and hyphens.", "name")
    elif name and not _NAME.fullmatch(name):
        message = f"the name {shown(name)} is not as the specification has it"
        yield _odd(skill, message, "Use lower-case letters, digits, and hyphens between them.", "name")
    if name and skill.folder_name and name != skill.folder_name:
        message = (
            f"the name is {shown(name)}, the folder is called {shown(skill.folder_name)}: agents show one or the other"
        )
        yield _odd(skill, message, "Give both the same name.", "name")


def _description(skill: Skill) -> Iterator[Problem]:
    text = skill.description
    if not text:
        if skill.front.there:
            message = "there is no description: codex and opencode leave the skill out"
            yield _odd(skill, message, "Add description: what it does, and when it should be used.", "description")
        return
    if len(text) > LONGEST_DESCRIPTION:
        message = f"the description has {len(text):,} characters: codex cuts it at {LONGEST_DESCRIPTION:,}"
        yield _odd(skill, message, "Make it shorter.", "description")
    if "<" in text or ">" in text:
        message = "the description has < or > in it, which the specification forbids"
        yield _odd(skill, message, "Write it without.", "description")


def _keys(skill: Skill) -> Iterator[Problem]:
    known = (*SPECIFIED, *CLAUDE_CODE)
    for key in skill.front.values:
        if key not in known:
            remedy = did_you_mean(key, known) or "Put it below metadata:, or remove it."
            yield _odd(skill, f"{shown(key)} is a key that agents don't know", remedy, key[:60])
    if len(skill.front.text("compatibility")) > LONGEST_COMPATIBILITY:
        message = f"it has more than {LONGEST_COMPATIBILITY} characters"
        yield _odd(skill, message, "Make it shorter.", "compatibility")


def _body(skill: Skill) -> Iterator[Problem]:
    if not skill.body.strip():
        message = "the body is empty: an agent that loads the skill learns nothing"
        yield _odd(skill, message, "Write what to do below the front matter.")
    broken = list(dict.fromkeys(_broken(skill)))
    for why in broken[:MOST_BROKEN]:
        yield _odd(skill, why, "Correct the path, or add the file.")
    if (rest := len(broken) - MOST_BROKEN) > 0:
        yield _odd(skill, f"{rest} more of its references {'leads' if rest == 1 else 'lead'} nowhere", "Correct them.")


def _broken(skill: Skill) -> Iterator[str]:
    """References of the body to files that aren't installed with the skill."""
    folders = {folder for path in skill.files for folder in _above(path)}
    for target in _references(skill.body[:MOST_BODY]):
        path = posixpath.normpath(unquote(target.partition("#")[0].partition("?")[0]))
        if path.split("/")[0] == "..":
            yield f"it refers to {shown(target)}, outside of its folder, which is not installed with it"
        elif not is_installed(path):
            yield f"it refers to {shown(target)}: evals are not installed"
        elif path != "." and path not in skill.files and path not in folders:
            yield f"it refers to {shown(target)}, and there is no such file in its folder"


def _references(body: str) -> Iterator[str]:
    """Paths that the text outside of code blocks names as links, or between backticks as a file of a usual folder."""
    fence = ""
    for line in body.split("\n"):
        mark = _FENCED.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence:
            yield from (each for each in _LINK.findall(line) if not _SCHEME.match(each))
            yield from _QUOTED.findall(line)


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _list(skills: Sequence[Skill]) -> Iterator[Problem]:
    size = sum(len(skill.name) + len(skill.description) + len("- : ") for skill in skills)
    if size > LONGEST_LIST and skills:
        longest = max(skills, key=lambda skill: len(skill.description))
        message = (
            f"the names and descriptions of {len(skills)} skills have {size:,} characters together: claude-code lists "
            f"some skills by their names only from about {LONGEST_LIST:,} on"
        )
        remedy = f"Make descriptions shorter, {one_line(longest.name)}'s first."
        yield Problem(place=Place(file=longest.file), message=message, remedy=remedy)
