"""What a change does to the skills that agents are offered: added, removed, renamed, described in other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalward.records.comparison import DISTRACTORS, SKILL_DESCRIPTION_OF, SKILL_OF
from evalward.records.surface import LONGEST_PIECE, PartTexts, PieceChange, Surface, surface_of

CUT_BY: Mapping[str, int] = {"codex": 1_024, "claude-code": 1_536}
"""Characters of a description that an agent shows, for those that cut it."""
LIST_CUT = 6_000
"""Characters of all names and descriptions from which on claude-code shows the names of some skills alone."""
_LINE = len("- : \n")  # what an agent's list adds to a name and its description


def surface_change(before: PartTexts, now: PartTexts) -> Surface | None:
    """What changed from one subject's skills to another's; `None` where nothing did."""
    old, new = _described(before), _described(now)
    changes = list(_changes(old, new, before, now))
    notes = list(_notes(new, before, now)) if changes or _differ(before, now, DISTRACTORS) else []
    return surface_of("skill", "skills", changes, (None, None), notes, breaks="what calls it by name")


def _described(parts: PartTexts) -> dict[str, str | None]:
    """What agents are shown of each skill, without its name; `None` where the text isn't kept."""
    named = {
        part.removeprefix(SKILL_DESCRIPTION_OF): held.text
        for part, held in parts.items()
        if part.startswith(SKILL_DESCRIPTION_OF)
    }
    return {name: None if text is None else text.removeprefix(f"{name}:").strip() for name, text in named.items()}


def _changes(
    old: Mapping[str, str | None], new: Mapping[str, str | None], before: PartTexts, now: PartTexts
) -> Iterator[PieceChange]:
    renamed = _renamed(old, new)
    for was, name in renamed.items():
        yield _compared(name, old[was], new[name], was=was)
    for name in sorted(new.keys() - old.keys() - set(renamed.values())):
        text = new[name]
        yield PieceChange(name=name, how="added", other=_cuts(text), now=_kept(text), unread=text is None)
    for name in sorted(old.keys() - new.keys() - renamed.keys()):
        yield PieceChange(name=name, how="removed", before=_kept(old[name]), unread=old[name] is None)
    for name in sorted(old.keys() & new.keys()):
        if _differ(before, now, f"{SKILL_DESCRIPTION_OF}{name}"):
            yield _compared(name, old[name], new[name])
        elif _differ(before, now, f"{SKILL_OF}{name}"):
            yield PieceChange(name=name, how="changed", other=["its files differ; what agents are shown of it doesn't"])


def _renamed(old: Mapping[str, str | None], new: Mapping[str, str | None]) -> dict[str, str]:
    """Earlier name → name, of skills whose description is the same."""
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    found: dict[str, str] = {}
    for was in gone:
        same = [name for name in come if name not in found.values() and _alike(old[was], new[name])]
        if len(same) == 1:
            found[was] = same[0]
    return found


def _alike(old: str | None, new: str | None) -> bool:
    return old is not None and old == new and bool(old)


def _compared(name: str, before: str | None, now: str | None, was: str = "") -> PieceChange:
    if before is None or now is None:
        return PieceChange(name=name, how="renamed" if was else "changed", was=was, unread=True)
    differs = before != now
    grown = [f"the description differs ({len(before):,} → {len(now):,} characters)"] if differs else []
    return PieceChange(
        name=name,
        how="renamed" if was else "changed",
        was=was,
        other=[*grown, *_cuts(now)],
        before=_kept(before) if differs else "",
        now=_kept(now) if differs else "",
    )


def _cuts(text: str | None) -> list[str]:
    """Which agents show only the beginning of a description."""
    length = len(text or "")
    return [f"{agent} cuts it at {most:,} characters" for agent, most in CUT_BY.items() if length > most]


def _kept(text: str | None) -> str:
    words = text or ""
    return words if len(words) <= LONGEST_PIECE else f"{words[: LONGEST_PIECE - 1]}…"


def _differ(before: PartTexts, now: PartTexts, part: str) -> bool:
    was, held = before.get(part), now.get(part)
    return (was and was.hash) != (held and held.hash)


def _notes(new: Mapping[str, str | None], before: PartTexts, now: PartTexts) -> Iterator[str]:
    """What concerns the whole list."""
    if _differ(before, now, DISTRACTORS):
        yield "the skills of others that are installed differ"
    size = sum(len(name) + len(text or "") + _LINE for name, text in new.items())
    if size > LIST_CUT:
        yield (
            f"all names and descriptions take {size:,} characters: from about {LIST_CUT:,} on claude-code shows some "
            "skills by their name alone"
        )
