"""The guidance of a suite's fixtures as one text: what its hash in the subject stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.opening import beginning_inside, why
from evalward.records.problem import InputError
from evalward.records.texts import GUIDANCE, LONGEST_TEXT
from evalward.suites.scenario.case import ScenarioCase, subject_of

_MOST_NAMED = 3
_MOST_BYTES = 4 * (LONGEST_TEXT + 1)  # of one file: a character has four at most


def guidance_texts(cases: Sequence[ScenarioCase]) -> dict[str, str]:
    """The guidance of all cases by its hash; nothing where no fixture has any."""
    key = subject_of(cases).get(GUIDANCE)
    return {} if key is None else {key: "\n".join(_files(cases))}


def _files(cases: Sequence[ScenarioCase]) -> Iterator[str]:
    """Each file once, however many fixtures have it; after `LONGEST_TEXT` characters no more are read."""
    users: dict[tuple[str, str], list[ScenarioCase]] = {}
    for case in cases:
        for path, fingerprint in sorted(case.guidance.items()):
            users.setdefault((path, fingerprint), []).append(case)
    room = LONGEST_TEXT
    for (path, fingerprint), of in users.items():
        if room < 0:
            return
        text = f"=== {path} ({_named(of)})\n{_content(of[0], path, fingerprint)}"
        room -= len(text)
        yield text


def _named(cases: Sequence[ScenarioCase]) -> str:
    more = f" and {len(cases) - _MOST_NAMED} more" if len(cases) > _MOST_NAMED else ""
    return ", ".join(case.id for case in cases[:_MOST_NAMED]) + more


def _content(case: ScenarioCase, path: str, fingerprint: str) -> str:
    if fingerprint.startswith("l:"):
        return f"(a link to {fingerprint.removeprefix('l:')})\n"
    try:
        return beginning_inside(case.fixture, path, _MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        return f"(it can't be read: {error.strerror})\n"
    except InputError as error:
        return f"(it can't be read: {why(error)})\n"
