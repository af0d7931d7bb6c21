"""Single trials as HTML: a case with its trials, the head of a trial, its transcript.

The only part of the page that is made without a template: a page holds thousands of trials, and macros of a template
take four times as long. Every text goes through `html_element`. No line end stands between elements: each would be a
node of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from markupsafe import Markup
from msgspec import Struct

from evalward.records.result import CheckResult, Status
from evalward.records.sections import Facts
from evalward.render.escape import html_element as shown
from evalward.render.html.passages import Passage, shortened
from evalward.render.html.transcript import Block, CallBlock, FileBlock, GapBlock, SaidBlock, Transcript, TurnBlock
from evalward.render.view import RESULTS, Badge

MOST_CHECKS, CHECK_TEXT = 100, 2_000
_BETWEEN = re.compile(r">\n+<")
_NOTHING = Markup("")


class TrialHead(Struct, frozen=True):
    """What the page says of a trial without its file. `wanted`: it can be opened even without a transcript.

    `command` makes what shows it in a terminal: only what can be opened has one.
    """

    anchor: str
    number: int
    badge: Badge
    facts: list[str]
    message: str
    missing: str
    wanted: bool
    held: int
    checks: list[CheckResult]
    command: Callable[[], str]

    @property
    def none_failing(self) -> bool:
        """True where it failed, and no check says why."""
        return self.badge == RESULTS[Status.FAILED] and self.held == len(self.checks)


class CaseHead(Struct, frozen=True):
    """What the page says of a case, and its trials as HTML."""

    anchor: str
    id: str
    badge: Badge
    bad: bool
    facts: list[str]
    now: list[str]
    before: list[str]


class SampleDrawings(Struct, frozen=True):
    """Samples drawn, a drawing for each benchmark; `more` of them are left out."""

    title: str
    drawings: list[Markup]
    more: int


def case_html(case: CaseHead) -> Markup:
    """A case with its trials, those of the base's side beside them."""
    now = "".join(case.now)
    if case.before:
        sides = f"<section><h5>Baseline</h5>{''.join(case.before)}</section><section><h5>Now</h5>{now}</section>"
        now = f'<div class="sides">{sides}</div>'
    return _made(
        f'<article class="trials" data-case="{shown(case.anchor)}"{_bad(case.bad)}>'
        f"<h4>{_badge(case.badge)} {shown(case.id)}</h4>{_facts_line(case.facts)}{now}</article>"
    )


def trial_html(trial: TrialHead, body: Markup = _NOTHING) -> Markup:
    """A trial with its transcript, with its checks where it is wanted, else as one line."""
    line = f"{_badge(trial.badge)} Trial {trial.number}{_facts_span(trial.facts)}"
    if not body and not trial.wanted:
        return _made(f'<p class="trial" id="{shown(trial.anchor)}">{line}</p>')
    inside = "".join(_inside(trial, body))
    return _made(
        f'<details class="trial"{_bad(trial.wanted)}><summary>{line}</summary>'
        f'<div class="inside" id="{shown(trial.anchor)}">{inside}</div></details>'
    )


def transcript_html(found: Transcript, plots: Sequence[SampleDrawings], packed: str) -> Markup:
    """What a trial shows when it is opened; `packed` are its long texts, in base64."""
    parts = [*map(_turn, found.turns), *map(_table, found.facts), *map(_plots, plots), _files(found.files)]
    if packed:
        parts.append(f'<script type="application/json" class="texts">"{packed}"</script>')
    return _made(f'<div class="transcript">{"".join(parts)}</div>')


def prompt_html(who: str, anchor: str, words: Passage) -> Markup:
    """A text that stands in the page once, for all trials."""
    return _made(
        f'<details class="fold prompt"><summary>{shown(who)} {_size(words)}</summary>'
        f'<div id="{shown(anchor)}">{_text(words)}</div></details>'
    )


def _made(html: str) -> Markup:
    """The HTML, each text in it escaped. An element that holds line ends alone becomes an empty one."""
    return Markup(_BETWEEN.sub("><", html))  # noqa: S704 - of texts that `html_element` made


def _bad(bad: bool) -> str:
    return " data-bad" if bad else ""


def _badge(badge: Badge) -> str:
    return f'<span class="badge {badge.colour}"><span aria-hidden="true">{badge.mark}</span> {badge.word}</span>'


def _joined(facts: Iterable[str]) -> str:
    return shown(" · ".join(facts))


def _facts_line(facts: Sequence[str]) -> str:
    return f'<p class="facts">{_joined(facts)}</p>' if facts else ""


def _facts_span(facts: Sequence[str]) -> str:
    return f' <span class="facts">{_joined(facts)}</span>' if facts else ""


def _inside(trial: TrialHead, body: Markup) -> Iterator[str]:
    if trial.message:
        yield f'<p class="message">{shown(trial.message)}</p>'
    command = trial.command()
    if command:
        yield f'<p class="how">In a terminal: <code>{shown(command)}</code></p>'
    if trial.none_failing:
        yield '<p class="cut">No failing check was recorded.</p>'
    if trial.checks:
        yield from _checks(trial)
    if body:
        yield body
    else:
        yield f'<p class="cut">{shown(trial.missing or "[left out: the transcript]")}</p>'


def _checks(trial: TrialHead) -> Iterator[str]:
    """Those that failed first."""
    ordered = sorted(trial.checks, key=lambda check: check.passed)
    yield (
        f'<table class="checks"><caption>Checks held: {trial.held} of {len(ordered)}</caption>'
        '<thead><tr><th scope="col">Result</th><th scope="col">Expected</th><th scope="col">Found</th></tr></thead>'
        "<tbody>"
    )
    yield from map(_check, ordered[:MOST_CHECKS])
    yield "</tbody></table>"
    if len(ordered) > MOST_CHECKS:
        yield f'<p class="cut">[left out: {len(ordered) - MOST_CHECKS} checks]</p>'


def _check(check: CheckResult) -> str:
    css, mark, word = ("ok", "✓", "holds") if check.passed else ("bad", "✗", "fails")
    weight = "" if check.weight == 1 else f' <span class="size">weight {check.weight:g}</span>'
    expected, found = (shown(shortened(text, CHECK_TEXT)) for text in (check.check, check.detail))
    return (
        f'<tr class="{css}"><td><span aria-hidden="true">{mark}</span> {word}{weight}</td>'
        f"<td><code>{expected}</code></td><td>{found}</td></tr>"
    )


def _turn(turn: TurnBlock) -> str:
    blocks = "".join(map(_block, turn.blocks))
    return f'<section class="turn"><h5>{shown(turn.title)}{_facts_span(turn.facts)}</h5>{blocks}</section>'


def _block(block: Block) -> str:
    match block:
        case SaidBlock():
            return _said(block)
        case CallBlock():
            return _call(block)
        case GapBlock():
            return f'<p class="cut">[left out: {block.steps:,} steps]</p>'


def _said(block: SaidBlock) -> str:
    words = block.words
    if block.link:
        size = f'<span class="size">{words.size:,} characters, the same for every trial</span>'
        return f'<p class="elsewhere"><a href="#{shown(block.link)}">{shown(block.who)}</a> {size}</p>'
    if block.voice == "thinking":
        return _fold(block.who, words, "thinking")
    return _folded(block.who, words, f"said {block.voice}")


def _call(block: CallBlock) -> str:
    mark = '<span aria-hidden="true">✗</span> ' if block.failed else ""
    outputs = "".join(_folded(name, words, "output") for name, words in block.outputs)
    return (
        f'<div class="call{" bad" if block.failed else ""}">{_folded(block.tool, block.command, "command")}'
        f'<p class="facts">{mark}{_joined(block.facts)}</p>{outputs}</div>'
    )


def _folded(name: str, words: Passage, css: str) -> str:
    """A text under its name, folded where it is long."""
    if words.long or words.between:
        return _fold(name, words, css)
    return f'<div class="{css}"><p class="who">{shown(name)}</p>{_text(words)}</div>'


def _fold(name: str, words: Passage, css: str) -> str:
    return f'<details class="fold {css}"><summary>{shown(name)} {_size(words)}</summary>{_text(words)}</details>'


def _size(words: Passage) -> str:
    return f'<span class="size">{words.size:,} characters</span>'


def _text(words: Passage) -> str:
    """What is folded scrolls in its own box once it is open, so that keys have to reach it."""
    if not words.between:
        boxed = ' class="boxed" tabindex="0"' if words.long else ""
        return f"<pre{boxed}>\n{shown(words.text)}</pre>"
    place = "" if words.packed is None else f' data-text="{words.packed}"'
    begins, ends = (f"<pre>\n{shown(text)}</pre>" for text in (words.text, words.tail))
    return f'<div class="long"{place}>{begins}{_between(words)}{ends}</div>'


def _between(words: Passage) -> str:
    said = []
    if words.packed is not None:
        said.append(f"[{words.between:,} characters more: scripts open them here, evalward show prints them]")
    if words.left_out:
        said.append(f"[left out: {words.left_out:,} characters]")
    return f'<p class="cut">{" ".join(said)}</p>'


def _table(table: Facts) -> str:
    heads = "".join(f'<th scope="col">{shown(head)}</th>' for head in table.heads)
    head = f"<thead><tr><td></td>{heads}</tr></thead>" if table.heads else ""
    rows = "".join(
        f'<tr><th scope="row">{shown(row.label)}</th>{"".join(f"<td>{shown(value)}</td>" for value in row.values)}</tr>'
        for row in table.rows
    )
    return f'<table class="facts-table"><caption>{shown(table.title)}</caption>{head}<tbody>{rows}</tbody></table>'


def _plots(plot: SampleDrawings) -> str:
    figures = "".join(f'<figure class="samples">{drawing}</figure>' for drawing in plot.drawings)
    more = f'<p class="cut">[left out: {plot.more:,} more of these plots]</p>' if plot.more else ""
    return f"<h5>{shown(plot.title)}</h5>{figures}{more}"


def _files(files: Sequence[FileBlock]) -> str:
    return f'<div class="files"><h5>Files</h5>{"".join(map(_file, files))}</div>' if files else ""


def _file(file: FileBlock) -> str:
    if file.content is None:
        return f'<p class="file">{shown(file.name)} <span class="size">no text</span></p>'
    cut = f'<p class="cut">[left out: {file.cut:,} bytes of {shown(file.name)}]</p>' if file.cut else ""
    return f"{_folded(file.name, file.content, 'file')}{cut}"
