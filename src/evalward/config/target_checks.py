"""What has to fit between the targets of suites and the sections of the configuration that they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalward.config.agents import AGENT_PROVIDERS
from evalward.config.kinds import spec_at
from evalward.config.provider_checks import model_name_problem
from evalward.config.providers import PROVIDERS
from evalward.config.reading import get, items, suites, target_ids, texts
from evalward.config.words import KeyPath, Value, near_or_known, one_line, shown
from evalward.config.yaml_positions import Mistake


@dataclass(frozen=True)
class _Section:
    """The part of the configuration that a form of target names."""

    key: str
    word: str
    entry: str

    @property
    def a_word(self) -> str:
        """With its article."""
        return f"{'an' if self.word[0] in 'aeiou' else 'a'} {self.word}"


_SECTIONS = {
    "replay": _Section("recordings", "recording", "FOLDER"),
    "program": _Section("programs", "program", '{command: [PROGRAM, "{prompt}"]}'),
    "agent": _Section("agents", "agent", '{command: [PROGRAM, "{prompt}"]}'),
    "scripted": _Section("scripts", "script", "FILE"),
    "patch": _Section("patches", "folder of patches", "FOLDER"),
    "log": _Section("logs", "folder of logs", "FOLDER"),
}
_MUST_BE_USED = {"agent": "agents", "scripted": "scripts"}


def check_targets(config: Value) -> Iterator[Mistake]:
    """Every mistake in the targets of the suites, and agents and scripts that no target names."""
    for path, suite in suites(config):
        seen: set[str] = set()
        for place, target in target_ids(suite, *path):
            if target in seen:
                yield Mistake(place, f"the target {shown(target)} is listed twice", "Remove one of the two.")
            seen.add(target)
            yield from _target(place, target, suite, config)
    yield from _unused(config)
    for place, agent in items(get(config, "agents"), "agents"):
        for path, model in texts(get(agent, "model"), *place, "model"):
            yield from _agents_model(path, model)


def _agents_model(place: KeyPath, name: str) -> Iterator[Mistake]:
    """What a program of one's own may ask: a provider's model."""
    provider, _, model = name.partition("/")
    if provider not in PROVIDERS:
        remedy = f"Write it as PROVIDER/NAME with one of: {', '.join(PROVIDERS)}."
        yield Mistake(place, f"the model {shown(name)} doesn't name its provider", remedy)
    else:
        yield from _model(place, name, f"{provider}/NAME", model)


def _target(place: KeyPath, target: str, suite: Value, config: Value) -> Iterator[Mistake]:
    takes = spec_at(suite).takes
    form, colon, name = target.partition(":")
    head, slash, model = target.partition("/")
    refused = takes.refusal(target, str(get(suite, "kind")))
    if refused is not None:
        yield Mistake(place, *refused)
    elif target in {"", "oracle", "nop"}:
        return
    elif slash and head in PROVIDERS:
        yield from _model(place, target, f"{head}/NAME", model)
    elif slash and head in AGENT_PROVIDERS:
        yield from _agent(place, target, head, model)
    elif form not in _SECTIONS:
        yield Mistake(place, f"unknown target {shown(target)}", near_or_known(target, takes.forms, "Known"))
    else:
        yield from _named(place, target, _SECTIONS[form], name if colon else "", config)


def _model(place: KeyPath, target: str, form: str, model: str) -> Iterator[Mistake]:
    problem = model_name_problem(model)
    if problem:
        yield Mistake(place, f"the target {shown(target)} {problem}", f"Write {form}.")


def _agent(place: KeyPath, target: str, program: str, rest: str) -> Iterator[Mistake]:
    """An agent of ours with its model, which of several providers has to be named where there are several."""
    providers = AGENT_PROVIDERS[program]
    if len(providers) == 1:
        yield from _model(place, target, f"{program}/MODEL", rest)
        return
    provider, _, model = rest.partition("/")
    if provider not in providers:
        message = f"the target {shown(target)} doesn't name its provider and model"
        yield Mistake(place, message, f"Write {program}/PROVIDER/MODEL with one of: {', '.join(providers)}.")
    else:
        yield from _model(place, target, f"{program}/{provider}/MODEL", model)


def _named(place: KeyPath, target: str, section: _Section, name: str, config: Value) -> Iterator[Mistake]:
    entries = get(config, section.key)
    known = list(entries) if isinstance(entries, dict) else []
    if not name:
        remedy = f"Write {target.partition(':')[0]}:NAME with the name of {section.a_word}."
        yield Mistake(place, f"the target {shown(target)} doesn't name its {section.word}", remedy)
    elif name not in known:
        add = f"Add it: {section.key}: {{{one_line(name, 40)}: {section.entry}}}."
        remedy = near_or_known(name, known, section.key.capitalize()) if known else add
        yield Mistake(place, f"there is no {section.word} {shown(name)}", remedy)


def _unused(config: Value) -> Iterator[Mistake]:
    """Whoever writes an agent down wants it to be evaluated."""
    named = {target for path, suite in suites(config) for _, target in target_ids(suite, *path)}
    for form, key in _MUST_BE_USED.items():
        for place, _ in items(get(config, key), key):
            target = f"{form}:{place[-1]}"
            if isinstance(place[-1], str) and target not in named:
                yield Mistake(place, f"no suite has the target {shown(target)}", "Add the target, or remove this.")
