"""The trials of the page: what the report says of each, and transcripts as far as there is room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct, field, structs

from evalward.records.result import Status
from evalward.records.sections import SamplePlot
from evalward.render.conversation import Said, TrialView
from evalward.render.html.budget import PAGE_BYTES, RESERVED, SPARE, Filled, TrialBody, filled, fitting_first, size_of
from evalward.render.html.document import environment
from evalward.render.html.passages import Passages, TextLimits, packed
from evalward.render.html.plots import StripPlot, StripRow, strip_plot
from evalward.render.html.transcript import VOICES, text_anchor, transcript_of, usage_facts
from evalward.render.html.trial_cases import PageCase, PageRun, PageTrial
from evalward.render.html.trial_html import (
    CaseHead,
    SampleDrawings,
    TrialHead,
    case_html,
    prompt_html,
    transcript_html,
    trial_html,
)
from evalward.render.names import spoken
from evalward.render.numbers import format_number, plural
from evalward.render.view import BROKEN, RESULTS

PROMPT_CHARACTERS = 200_000  # of all prompts together
MOST_PLOTS = 30
PLACE = Markup("\x00trials\x00")
"""Stands for the trials until the size of the rest is known. No text can hold it: control characters are shown."""


class RunHtml(Struct, frozen=True):
    """A run's part: its name, and its cases as HTML, one by one."""

    name: str
    made: list[str]

    @property
    def cases(self) -> Markup:
        """All of its cases."""
        return _joined(self.made)


class TrialsPart(Struct, frozen=True):
    """The part of the page that shows single trials. `left_out` are sentences on what isn't in the page."""

    runs: list[RunHtml] = field(default_factory=list)
    prompts: str = ""
    left_out: list[str] = field(default_factory=list)


def with_trials(page: str, runs: Sequence[PageRun], allowed: int = PAGE_BYTES) -> str:
    """The page with its trials in place of `PLACE`: as many as `allowed` bytes hold beside the rest."""
    before, _, after = page.partition(PLACE)
    room = allowed - size_of(before) - size_of(after) - SPARE
    part = trials_part(runs, room)
    frame = structs.replace(part, runs=[RunHtml(run.name, [PLACE]) for run in part.runs])
    between = environment().get_template("trials.html.j2").render(trials=frame).split(PLACE)
    # Put together once, as the last step: the cases are most of the page.
    section = [between[0]]
    for run, text in zip(part.runs, between[1:], strict=True):
        section += [*run.made, text]
    places = frozenset(place for piece in section for place in _PLACES.findall(piece))
    return "".join([_linked(before, places), *section, _linked(after, places)])


_PLACES = re.compile(r' id="([^"]+)"')
_MARK = re.compile(r'<a href="#(case-[a-z0-9-]+\.\d+)"( class="[^"]*")>(.*?)</a>')


def _linked(page: str, places: frozenset[str]) -> str:
    """The page with links to trials as text where the trial is left out. No text can look like one: it is escaped."""
    return _MARK.sub(lambda mark: mark[0] if mark[1] in places else f"<span{mark[2]}>{mark[3]}</span>", page)


def trials_part(runs: Sequence[PageRun], room: int) -> TrialsPart:
    """The trials in at most `room` bytes: cases and checks first, then transcripts, those that failed before others."""
    prompts = {text_anchor(said): said for run in runs for said in run.prompts}
    above = _prompts(prompts)
    cases = sorted((case for run in runs for case in run.cases), key=lambda case: case.rank)
    drawn = _Drawn({said: anchor for anchor, said in prompts.items()})
    room -= size_of(above)
    heads = _heads(cases, room, drawn)
    shown = cases[: len(heads)]
    entries = [(case, entry) for case in shown for entry in case.trials]
    room -= sum(size_of(head) for head in heads)
    found = filled(entries, _urgent, room, lambda entry, limits: drawn.trial(entry[1], limits))
    left_out = _left_out(found, len(cases) - len(heads))
    bodies = {entries[place][1].anchor: body.html for place, body in found.bodies.items()}
    drawn.bare.clear()
    del found  # from here on each text goes as soon as it is in a longer one: the page may have some MB
    html = {
        id(case): drawn.case(case, bodies) if any(entry.anchor in bodies for entry in case.trials) else heads[place]
        for place, case in enumerate(shown)
    }
    del heads
    parts = [RunHtml(run.name, [html[id(case)] for case in run.cases if id(case) in html]) for run in runs]
    return TrialsPart([part for part in parts if part.made], above, left_out)


def _joined(made: Iterable[str]) -> Markup:
    """Pieces of HTML in one: `Markup.join` would hold it a second time."""
    return Markup("".join(made))  # noqa: S704 - ours


def _heads(cases: Sequence[PageCase], room: int, drawn: _Drawn) -> list[Markup]:
    """The first cases without transcripts, as many as leave room for the transcripts of the first that failed."""
    heads = fitting_first(cases, room, lambda case: drawn.case(case, {}))
    reserve = room // RESERVED
    if sum(map(size_of, heads)) <= room - reserve:
        return heads
    entries = [(case, entry) for case in cases[: len(heads)] for entry in case.trials]
    urgent = [entry for entry in entries if _urgent(entry)]
    first = filled(urgent, _urgent, reserve, lambda entry, limits: drawn.trial(entry[1], limits))
    return fitting_first(heads, room - first.size, lambda head: head)


def _urgent(entry: tuple[PageCase, PageTrial]) -> bool:
    case, trial = entry
    return case.wanted or trial.status in _FAILED


_FAILED = (Status.FAILED, Status.ERROR)


def _left_out(found: Filled[Any], cases: int) -> list[str]:
    texts, characters = found.cut
    said = [
        (found.dropped, f"the transcripts of {plural(found.dropped, 'trial')}"),
        (texts, f"{characters:,} characters of {plural(texts, 'transcript')}"),
        (cases, f"{plural(cases, 'case')} with their trials"),
    ]
    return [words for count, words in said if count]


class _Drawn(Struct, frozen=True):
    """Makes HTML of cases and trials. `elsewhere` are the prompts that stand in the page once, with their fragments.

    `bare` are the trials without a transcript, by their anchors: whatever the limits are, they are the same.
    """

    elsewhere: Mapping[Said, str]
    bare: dict[str, TrialBody] = field(default_factory=dict)

    def case(self, case: PageCase, bodies: dict[str, str]) -> Markup:
        """A case with its trials, those without a body as one line or with their checks. Its bodies are taken out."""

        def trials(entries: Sequence[PageTrial]) -> list[str]:
            return [bodies.pop(entry.anchor, "") or self._head(entry.brief(), entry) for entry in entries]

        badge = BROKEN if case.broken else RESULTS[case.status]
        head = CaseHead(case.anchor, case.id, badge, case.wanted, case.facts, trials(case.now), trials(case.before))
        return case_html(head)

    def trial(self, entry: PageTrial, limits: TextLimits) -> TrialBody:
        """A trial with its transcript within the limits, or why there is none."""
        known = self.bare.get(entry.anchor)
        if known is not None:
            return known
        view = entry.load()
        if view.missing and not view.sections:
            self.bare[entry.anchor] = TrialBody(self._head(view, entry))
            return self.bare[entry.anchor]
        found = transcript_of(view, limits, self.elsewhere)
        texts = packed(found.texts) if found.texts else ""
        body = transcript_html(found, [_drawings(plot) for plot in found.plots], texts)
        return TrialBody(trial_html(_head(view, entry), body), found.left_out)

    def _head(self, view: TrialView, entry: PageTrial) -> Markup:
        return trial_html(_head(view, entry))


def _head(view: TrialView, entry: PageTrial) -> TrialHead:
    return TrialHead(
        anchor=entry.anchor,
        number=view.trial,
        badge=RESULTS[view.status],
        facts=_facts(view),
        message=view.message,
        missing=view.missing,
        wanted=view.status in _FAILED,
        held=sum(check.passed for check in view.checks),
        checks=view.checks,
        command=entry.command,
    )


def _drawings(plot: SamplePlot) -> SampleDrawings:
    shown = plot.groups[:MOST_PLOTS]
    drawn = [
        strip_plot(StripPlot(group.name, plot.unit, [StripRow(*row) for row in group.samples.items()]))
        for group in shown
    ]
    return SampleDrawings(plot.title, drawn, len(plot.groups) - len(shown))


def _facts(view: TrialView) -> list[str]:
    reason = [spoken(view.reason)] if view.reason else []
    score = [f"score {view.score}"] if view.score else []
    judge = [f"judge: {', '.join(usage_facts(view.judge_usage))}"] if view.judge_usage else []
    return [*reason, *score, format_number(view.duration_ms, "ms"), *usage_facts(view.usage), *judge]


def _prompts(prompts: Mapping[str, Said]) -> Markup:
    """The texts that runs share, each once, cut alike where they are too long together."""
    passages = Passages(PROMPT_CHARACTERS // max(len(prompts), 1), pack=False)
    made = [prompt_html(VOICES[said.voice], anchor, passages.of(said.text)) for anchor, said in prompts.items()]
    return _joined(made)
