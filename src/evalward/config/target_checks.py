"""What has to fit between the targets of suites and the sections of the configuration that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from evalward.config.kinds import spec_at
from evalward.config.provider_checks import model_name_problem
from evalward.config.reading import get, items, suites, target_ids, texts
from evalward.config.targets import form_of
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake
from evalward.records.providers import AGENT_PROVIDERS, PROVIDERS
from evalward.records.target_id import TargetId, target_id
from evalward.records.words import near_or_known, one_line, shown


class _Section(Struct, frozen=True):
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
            yield from _target(place, target_id(target), suite, config)
    yield from _unused(config)
    for place, agent in items(get(config, "agents"), "agents"):
        for path, model in texts(get(agent, "model"), *place, "model"):
            yield from _agents_model(path, model)


def _agents_model(place: KeyPath, name: str) -> Iterator[Mistake]:
    """What a program of one's own may ask: a provider's model."""
    parsed = target_id(name)
    if parsed.head not in PROVIDERS or parsed.mark == ":":
        remedy = f"Write it as PROVIDER/NAME with one of: {', '.join(PROVIDERS)}."
        yield Mistake(place, f"the model {shown(name)} doesn't name its provider", remedy)
    else:
        yield from _model(place, parsed, f"{parsed.head}/NAME")


def _target(place: KeyPath, target: TargetId, suite: Value, config: Value) -> Iterator[Mistake]:
    takes = spec_at(suite).takes
    refused = takes.refusal(target.text, str(get(suite, "kind")))
    if refused is not None:
        yield Mistake(place, *refused)
    elif target.text in {"", "oracle", "nop"} or takes.takes_added(target):
        return
    elif target.form == "model":
        yield from _model(place, target, f"{target.provider}/NAME")
    elif target.form == "coding-agent":
        yield from _agent(place, target)
    elif target.form in _SECTIONS:
        yield from _named(place, target, _SECTIONS[target.form], config)
    elif not target.mark and (form := form_of(target.text, takes.forms)) is not None:
        yield Mistake(place, f"the target {shown(target.text)} doesn't name its model", f"Write {form}.")
    else:
        known = _as_model(target.text, takes.forms) or near_or_known(target.text, takes.usable, "Known")
        yield Mistake(place, f"unknown target {shown(target.text)}", known)


def _as_model(name: str, forms: Sequence[str]) -> str:
    """For the name of a model without its provider: the target. Empty where it is no model's, or none is taken."""
    providers = [row.name for row in PROVIDERS.values() if row.families and name.lower().startswith(row.families)]
    taken = [each for each in providers if f"{each}/NAME" in forms and not model_name_problem(name)]
    return f"Did you mean {taken[0]}/{one_line(name)}?" if taken else ""


def _model(place: KeyPath, target: TargetId, form: str) -> Iterator[Mistake]:
    problem = model_name_problem(target.model)
    if problem:
        yield Mistake(place, f"the target {shown(target.text)} {problem}", f"Write {form}.")


def _agent(place: KeyPath, target: TargetId) -> Iterator[Mistake]:
    """An agent of ours with its model, which of several providers has to be named where there are several."""
    providers = AGENT_PROVIDERS[target.head]
    if len(providers) == 1:
        yield from _model(place, target, f"{target.head}/MODEL")
    elif target.provider:
        yield from _model(place, target, f"{target.head}/{target.provider}/MODEL")
    else:
        message = f"the target {shown(target.text)} doesn't name its provider and model"
        yield Mistake(place, message, f"Write {target.head}/PROVIDER/MODEL with one of: {', '.join(providers)}.")


def _named(place: KeyPath, target: TargetId, section: _Section, config: Value) -> Iterator[Mistake]:
    name, entries = target.name, get(config, section.key)
    known = list(entries) if isinstance(entries, dict) else []
    if not name:
        remedy = f"Write {target.form}:NAME with the name of {section.a_word}."
        yield Mistake(place, f"the target {shown(target.text)} doesn't name its {section.word}", remedy)
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
