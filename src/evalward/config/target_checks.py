"""What has to fit between the targets of suites and the sections of the configuration that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalward.config.provider_checks import model_name_problem
from evalward.config.reading import get, items, suites, target_ids, texts
from evalward.config.targets import KNOWN_TARGETS, SCENARIO_TARGETS, SPEEDUP_TARGETS
from evalward.config.words import KeyPath, Value, near_or_known, one_line, shown
from evalward.config.yaml_positions import Mistake
from evalward.records.providers import AGENT_PROVIDERS, PROVIDERS
from evalward.records.target_id import TargetId, target_id
from evalward.registry import TARGETS, added


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
_WORKING = ("agent", "scripted")
_OF_SPEEDUPS = ("patch", "log")
_OWN_FORMS = {"scenario": SCENARIO_TARGETS, "speedup": SPEEDUP_TARGETS}
_MUST_BE_USED = {"agent": "agents", "scripted": "scripts"}


def check_targets(config: Value) -> Iterator[Mistake]:
    """Every mistake in the targets of the suites, and agents and scripts that no target names."""
    for path, suite in suites(config):
        seen: set[str] = set()
        for place, target in target_ids(suite, *path):
            if target in seen:
                yield Mistake(place, f"the target {shown(target)} is listed twice", "Remove one of the two.")
            seen.add(target)
            yield from _target(place, target_id(target), str(get(suite, "kind")), config)
    yield from _unused(config)
    for place, agent in items(get(config, "agents"), "agents"):
        for path, model in texts(get(agent, "model"), *place, "model"):
            yield from _agents_model(path, model)


def _agents_model(place: KeyPath, name: str) -> Iterator[Mistake]:
    """What a program of one's own may ask: a provider's model."""
    asked = target_id(name)
    if asked.head not in PROVIDERS or asked.mark == ":":
        remedy = f"Write it as PROVIDER/NAME with one of: {', '.join(PROVIDERS)}."
        yield Mistake(place, f"the model {shown(name)} doesn't name its provider", remedy)
    else:
        yield from _model(place, asked, f"{asked.head}/NAME")


def _target(place: KeyPath, target: TargetId, kind: str, config: Value) -> Iterator[Mistake]:
    if target.text in {"", "oracle", "nop"} or _is_added(target, kind):
        return
    refused = _wrong_kind(target, kind)
    if refused is not None:
        yield Mistake(place, *refused)
    elif target.form == "model":
        yield from _model(place, target, f"{target.provider}/NAME")
    elif target.form == "coding-agent":
        yield from _agent(place, target)
    elif target.form in _SECTIONS:
        yield from _named(place, target, _SECTIONS[target.form], config)
    else:
        known = near_or_known(target.text, _forms(kind), "Known")
        yield Mistake(place, f"unknown target {shown(target.text)}", known)


def _forms(kind: str) -> Sequence[str]:
    """The targets that suites of this kind have."""
    return _OWN_FORMS[kind] if kind in _OWN_FORMS else (*KNOWN_TARGETS, *added(TARGETS))


def _is_added(target: TargetId, kind: str) -> bool:
    """Whether it is a target of a third party, `NAME` or `NAME:REST`; one talks with these."""
    other = target.form == "other" and target.mark != "/"
    return other and kind not in _OWN_FORMS and target.head in added(TARGETS)


def _wrong_kind(asked: TargetId, kind: str) -> tuple[str, str] | None:
    """Why suites of this kind have no such target, and what else to do; `None` when they may."""
    form, head, target = asked.form, "" if asked.mark == ":" else asked.head, asked.text
    if form == "program" and kind == "bash":
        what = f"the target {shown(target)} can't use tools, which suites of kind bash are about"
        return what, "Programs answer suites of kind command."
    if form == "program" and kind == "scenario":
        what = f"the target {shown(target)} gives one answer, and scenarios are worked on"
        return what, "Name the program under agents: and write agent:NAME."
    if kind in {"bash", "command"} and (form in _WORKING or head in AGENT_PROVIDERS):
        what = f"the target {shown(target)} is an agent, which works by itself; suites of kind {kind} have none"
        return what, f"Agents work on suites of kind scenario. Here: {', '.join(KNOWN_TARGETS)}."
    if form in _OF_SPEEDUPS and kind != "speedup":
        return f"the target {shown(target)} gives no answers", "It is for suites of kind speedup."
    if kind == "speedup" and (form in {"replay", "program"} or head in PROVIDERS):
        what = f"the target {shown(target)} changes no code, which suites of kind speedup are about"
        return what, f"Here: {', '.join(SPEEDUP_TARGETS)}."
    return None


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
