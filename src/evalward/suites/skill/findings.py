"""What the numbers of a skill run show: missed queries, skills taken for each other, skills that are never loaded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from evalward.records.metric import EPSILON
from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.render.names import quoted
from evalward.render.numbers import format_delta, percent_limit, plural
from evalward.suites.skill.confusion import CONFUSED_SHARE, LEAST_TRIALS, SkillPair, skill_pairs
from evalward.suites.skill.evidence import NO_SKILL, contrast
from evalward.suites.skill.metrics import details_of, is_asked, is_near_miss, valid_arm, values_of
from evalward.suites.trial_findings import trial_finding

SHOWN = 5
LEAST_TASKS = 2
_WORDS = re.compile(r"[^\W\d_]{4,}")
_MARK = re.compile(r"-[0-9a-f]{6,}$")
_EVERYDAY = frozenset(
    {"this", "that", "these", "those", "with", "from", "into", "what", "when", "where", "which", "have", "will"}
    | {"would", "could", "should", "please", "make", "want", "need", "your", "there", "them", "then", "than", "some"}
    | {"only", "just", "also", "does", "about", "help", "like", "file", "files"}
)


def interpret(results: Sequence[Result]) -> list[Finding]:
    """The findings of one run, what is wrong with triggers first."""
    valid = [result for result in results if result.valid]
    return [
        *_missed(valid),
        *_taken(valid),
        *_confused(valid),
        *_agents_own(valid),
        *_only_read(valid),
        *_unloaded(valid),
        *_no_help(valid),
    ]


def _no_help(valid: Sequence[Result]) -> Iterator[Finding]:
    """Skills whose own tasks go no better with them: what the whole suite gains may hide that one gains nothing."""
    for skill, trials in list(_by_skill(valid).items())[: 4 * SHOWN]:
        arms = contrast("uplift_pass_rate", "without", trials)
        if arms is None or len(arms.cases) < LEAST_TASKS:
            continue
        gained = fmean(fmean(case.now) - fmean(case.before) for case in arms.cases.values())
        if gained <= EPSILON:
            yield trial_finding(
                "skill_does_not_help",
                "warning",
                f"The tasks of {quoted(skill)} go no better with it",
                evidence=f"{format_delta(gained, 'points')} over {plural(len(arms.cases), 'task')}",
                threshold=f"no gain over {plural(LEAST_TASKS, 'task')}",
                advice="Look at a trial of each arm: evalward show. Chance alone can do this with few trials.",
                of=[each for each in trials if values_of(each, "uplift_pass_rate") is not None],
            )


def _by_skill(results: Iterable[Result]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(details_of(result).skill, []).append(result)
    return groups


def _missed(valid: Sequence[Result]) -> Iterator[Finding]:
    """Queries that loaded nothing at all: what went to another skill is a pair of its own."""
    for skill, asked in list(_by_skill(filter(is_asked, valid)).items())[: 4 * SHOWN]:
        missed = [result for result in asked if not details_of(result).triggered and details_of(result).won is None]
        if len(missed) < LEAST_TRIALS or len(missed) < CONFUSED_SHARE * len(asked):
            continue
        words = _shared(missed, [result for result in asked if details_of(result).triggered])
        yield trial_finding(
            "missed_queries",
            "warning",
            f"{quoted(skill)} was not loaded by queries that ask for it",
            evidence=f"{len(missed):,} of {plural(len(asked), 'trial')}" + (f"; they share: {words}" if words else ""),
            threshold=f"{LEAST_TRIALS} trials and {percent_limit(CONFUSED_SHARE)} of them",
            advice="Name these requests in its description, in the words that people use.",
            of=missed,
        )


def _shared(missed: Iterable[Result], loaded: Iterable[Result]) -> str:
    """Words of the queries' ids that at least two missed queries have, and no query that loaded the skill."""
    known = {word for result in loaded for word in _words(result.id)}
    ids = dict.fromkeys(result.id for result in missed)
    counts = Counter(word for each in ids for word in _words(each))
    shared = [word for word, count in counts.most_common() if count >= 2 and word not in known]
    return ", ".join(map(quoted, shared[:SHOWN]))


def _words(case: str) -> set[str]:
    """The words of a query, as its id has them."""
    *_, last = case.split("/")
    return set(_WORDS.findall(_MARK.sub("", last).lower())) - _EVERYDAY


def _taken(valid: Sequence[Result]) -> Iterator[Finding]:
    for skill, near in list(_by_skill(filter(is_near_miss, valid)).items())[: 4 * SHOWN]:
        taken = [result for result in near if details_of(result).triggered]
        if taken and len(taken) >= CONFUSED_SHARE * len(near):
            yield trial_finding(
                "near_misses_taken",
                "warning",
                f"{quoted(skill)} was loaded by queries that are not for it",
                evidence=f"{len(taken):,} of {plural(len(near), 'trial')}",
                threshold=f"{percent_limit(CONFUSED_SHARE)} of them",
                advice="Say in its description what it is not for.",
                of=taken,
            )


def _confused(valid: Sequence[Result]) -> Iterator[Finding]:
    pairs = [pair for pair in skill_pairs(valid) if pair.is_pattern and NO_SKILL not in {pair.wanted, pair.won}]
    agents = {each.name for result in valid for each in details_of(result).loaded if each.origin == "agent"}
    for pair in [pair for pair in pairs if pair.won not in agents][:SHOWN]:
        yield trial_finding(
            "confused_skills",
            "warning",
            f"Asked for {quoted(pair.wanted)}, {quoted(pair.won)} was loaded first",
            evidence=_evidence(pair),
            threshold=f"{LEAST_TRIALS} trials and {percent_limit(CONFUSED_SHARE)} of them",
            advice="Say in both descriptions when to use this one and when the other.",
            of=[result for result in valid if result.id in pair.cases],
        )


def _evidence(pair: SkillPair) -> str:
    return f"{pair.trials:,} of {plural(pair.of, 'trial')} that asked for it"


def _agents_own(valid: Sequence[Result]) -> Iterator[Finding]:
    """Skills that come with the agent, and change with its version."""
    lost = [result for result in valid if is_asked(result) and _won_by_agents_own(result)]
    if lost:
        names = dict.fromkeys(details_of(result).won or "" for result in lost)
        yield trial_finding(
            "agents_own_skill",
            "warning",
            f"A skill of the agent's own was loaded first: {', '.join(map(quoted, list(names)[:SHOWN]))}",
            evidence=f"in {plural(len(lost), 'trial')}",
            advice="Pin the agent's version: its skills compete with yours.",
            of=lost,
        )


def _won_by_agents_own(result: Result) -> bool:
    details = details_of(result)
    return any(each.name == details.won and each.origin == "agent" for each in details.loaded[:1])


def _only_read(valid: Sequence[Result]) -> Iterator[Finding]:
    """Where a call counts, and the file was only read."""
    found = [
        result
        for result in valid
        if is_asked(result)
        and not details_of(result).triggered
        and any(each.name == details_of(result).wants and each.how == "read" for each in details_of(result).loaded)
    ]
    if found:
        yield trial_finding(
            "only_read",
            "info",
            f"In {plural(len(found), 'trial')} the skill's file was read, and the skill not called",
            advice="This agent calls skills; what it reads by itself doesn't count as loaded.",
            of=found,
        )


def _unloaded(valid: Sequence[Result]) -> Iterator[Finding]:
    """Skills that their own tasks never load: both arms are then the same."""
    tasks = [result for result in valid if valid_arm(result, "without") is not None and valid_arm(result, "with")]
    for skill, group in list(_by_skill(tasks).items())[: 4 * SHOWN]:
        arms = [valid_arm(result, "with") for result in group]
        if not any(each.name == skill for arm in arms if arm is not None for each in arm.loaded):
            yield trial_finding(
                "never_loaded",
                "warning",
                f"{quoted(skill)} was never loaded in its own tasks, so the arms compare nothing",
                evidence=f"in {plural(len(group), 'trial')}",
                advice="Let its description name these tasks, or choose tasks that need it.",
                of=group,
            )
