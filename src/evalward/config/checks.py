"""What has to fit across the keys of a configuration: names, targets, paths, rules that something feeds.

These checks read the plain values, not the model, so that they speak also when other parts of the file are
wrong: whatever has an unexpected shape is passed over here and told by `explain`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from evalward.config.judge_checks import check_judge, judge_paths
from evalward.config.kinds import spec_at
from evalward.config.model import PROMPT_MARK
from evalward.config.provider_checks import check_providers
from evalward.config.reading import get, items, suites, target_ids, texts
from evalward.config.succession_checks import check_succession
from evalward.config.target_checks import check_targets
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake
from evalward.records.policy import BOUNDS
from evalward.records.words import one_line, shown

_OUTPUT = re.compile(r"text|\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\])+")
_RATIOS = re.compile(r"(.+_(rate|share|accuracy|precision|recall|f1)|csr|csr_behaviour|pass_at_[0-9]+)")


def check(config: Value) -> Iterator[Mistake]:
    """Every mistake that concerns more than the shape of one value."""
    yield from _version(config)
    yield from _names(config)
    yield from check_targets(config)
    yield from check_succession(config)
    yield from _of_kinds(config)
    yield from _paths(config)
    yield from _rules(config)
    yield from _programs(config)
    yield from check_providers(config)
    yield from check_judge(config)


# ------------------------------------------------------------------------------------------- suites and targets


def _version(config: Value) -> Iterator[Mistake]:
    if isinstance(get(config, "version"), bool):  # in Python True is 1
        yield Mistake(("version",), "must be the number 1, not yes or true", "Write version: 1.")


def _names(config: Value) -> Iterator[Mistake]:
    seen: set[str] = set()
    for path, suite in suites(config):
        name = get(suite, "name")
        if isinstance(name, str) and name in seen:
            yield Mistake((*path, "name"), f"another suite is already called {shown(name)}", "Give it its own name.")
        elif isinstance(name, str):
            seen.add(name)


def _of_kinds(config: Value) -> Iterator[Mistake]:
    for path, suite in suites(config):
        yield from spec_at(suite).mistakes(suite, path)


def _programs(config: Value) -> Iterator[Mistake]:
    for place, program in items(get(config, "programs"), "programs"):
        command, output = get(program, "command"), get(program, "output")
        if isinstance(command, list) and command and not any(PROMPT_MARK in str(word) for word in command):
            message = f"no argument has {PROMPT_MARK} in it, so the program would never see the request"
            yield Mistake((*place, "command"), message, f'Add "{PROMPT_MARK}" where the request belongs.')
        if isinstance(output, str) and output and not _OUTPUT.fullmatch(output):
            message = f"{shown(output)} is not text or a path in JSON"
            yield Mistake((*place, "output"), message, "Write text, or a path like $.command or $.choices[0].text.")


# ------------------------------------------------------------------------------------------- paths


def _paths(config: Value) -> Iterator[Mistake]:
    for place, path in _all_paths(config):
        yield from _path(place, path)


def _all_paths(config: Value) -> Iterator[tuple[KeyPath, str]]:
    yield from texts(get(config, "baseline"), "baseline")
    yield from texts(get(config, "protect"), "protect")
    yield from texts(get(get(config, "history"), "folder"), "history", "folder")
    for place, suite in suites(config):
        for key in spec_at(suite).file_keys:
            value, parts = suite, key.removesuffix(".*").split(".")
            for part in parts:
                value = get(value, part)
            if key.endswith(".*"):
                yield from (named for at, inner in items(value, *place, *parts) for named in texts(inner, *at))
            else:
                yield from texts(value, *place, *parts)
    for place, profile in items(get(config, "profiles"), "profiles"):
        yield from texts(get(profile, "baseline"), *place, "baseline")
    for section in ("recordings", "scripts", "patches", "logs"):
        for place, recording in items(get(config, section), section):
            yield from texts(recording, *place)
    yield from judge_paths(config)


def _path(place: KeyPath, path: str) -> Iterator[Mistake]:
    inside = "Write a path relative to the config's folder that stays inside it."
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        yield Mistake(place, f"the path {shown(path)} is absolute", inside)
    elif path.startswith("~"):
        yield Mistake(place, f"the path {shown(path)} begins with ~, which is not expanded", inside)
    elif "\\" in path:
        yield Mistake(place, f"the path {shown(path)} has a backslash", "Write / instead.")
    elif ".." in path.split("/"):
        yield Mistake(place, f"the path {shown(path)} has .. in it", inside)
    elif not path.isprintable():
        yield Mistake(place, f"the path {shown(path)} has a character that can't be printed", "Remove it.")


# ------------------------------------------------------------------------------------------- rules


def _rules(config: Value) -> Iterator[Mistake]:
    runs = _runs(config)
    lists: list[tuple[KeyPath, Value]] = [(("policy",), get(config, "policy"))]
    for place, profile in items(get(config, "profiles"), "profiles"):
        lists.append(((*place, "policy"), get(profile, "policy")))
    for place, rules in lists:
        for path, rule in items(rules, *place) if isinstance(rules, list) else ():
            yield from _bounds(path, rule)
            yield from _wrong_way(config, path, rule)
            yield from _without_arms(config, path, rule)
            yield from _matching_nothing(path, rule, runs) if runs else ()


def _runs(config: Value) -> list[tuple[str, str]]:
    """Suite and target of every run; nothing when one of the suites can't be read, for then nobody knows."""
    runs: list[tuple[str, str]] = []
    for path, suite in suites(config):
        name = get(suite, "name")
        targets = [target for _, target in target_ids(suite, *path)]
        if not isinstance(name, str) or not targets:
            return []
        runs += [(name, target) for target in targets]
    return runs


def _matching_nothing(path: KeyPath, rule: Value, runs: list[tuple[str, str]]) -> Iterator[Mistake]:
    suite, target = (get(rule, key) for key in ("suite", "target"))
    by_suite = [run for run in runs if not isinstance(suite, str) or fnmatchcase(run[0], suite)]
    if not by_suite:
        names = ", ".join(dict.fromkeys(name for name, _ in runs))
        message = f"no suite matches {shown(str(suite))}, so the rule would protect nothing"
        yield Mistake((*path, "suite"), message, f"Suites: {one_line(names, 200)}.")
    elif isinstance(target, str) and not any(fnmatchcase(run[1], target) for run in by_suite):
        targets = ", ".join(dict.fromkeys(name for _, name in by_suite))
        message = f"no target of the rule's suites matches {shown(target)}, so the rule would protect nothing"
        yield Mistake((*path, "target"), message, f"Targets: {one_line(targets, 200)}.")


def _wrong_way(config: Value, path: KeyPath, rule: Value) -> Iterator[Mistake]:
    """A drop of what should be low is no loss."""
    metric, pattern = get(rule, "metric"), get(rule, "suite")
    if get(rule, "max_drop") is None or get(rule, "max_rise") is not None or not isinstance(metric, str):
        return
    for _, suite in suites(config):
        name = str(get(suite, "name"))
        if metric in spec_at(suite).falling(suite) and fnmatchcase(name, pattern if isinstance(pattern, str) else "*"):
            message = f"less of {one_line(metric)} is better in the suite {shown(name)}, so a drop is an improvement"
            yield Mistake((*path, "max_drop"), message, "Write max_rise.")
            return


def _without_arms(config: Value, path: KeyPath, rule: Value) -> Iterator[Mistake]:
    """What must beat another arm needs a suite that has one."""
    metric, pattern = get(rule, "metric"), get(rule, "suite")
    if get(rule, "must_beat") is None or not isinstance(metric, str):
        return
    held = [
        suite
        for _, suite in suites(config)
        if fnmatchcase(str(get(suite, "name")), pattern if isinstance(pattern, str) else "*")
    ]
    known = list(dict.fromkeys(each for suite in held for each in spec_at(suite).contrasted(suite)))
    if held and metric not in known:
        message = f"no suite of this rule runs {one_line(metric)} in another arm, so there is nothing to beat"
        remedy = f"Metrics with another arm: {', '.join(known)}." if known else "Remove the key."
        yield Mistake((*path, "must_beat"), message, remedy)


def _bounds(path: KeyPath, rule: Value) -> Iterator[Mistake]:
    metric = get(rule, "metric")
    is_ratio = isinstance(metric, str) and _RATIOS.fullmatch(metric) is not None
    for key in BOUNDS:
        value = get(rule, key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not _is_finite(value):
            yield Mistake((*path, key), "must be a finite number", "Write a number, or remove the key.")
        elif is_ratio and value > 1:
            message = f"{one_line(str(metric))} is a ratio from 0 to 1, and {value:g} is above 1"
            yield Mistake((*path, key), message, as_share(value))


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond every float
        return False


def as_share(value: float, written: str = "") -> str:
    """The remedy for per cent where a share is meant: `Write it as a share: 0.90, not 90.`"""
    if value > 100 or not (written or value >= 2):  # 1.1 is a slip, and no share in per cent
        return "Write a number from 0 to 1."
    share = f"{value / 100:.2f}" if round(value) == value else f"{value / 100:.6g}"
    return f"Write it as a share: {share}, not {written or format(value, 'g')}."
