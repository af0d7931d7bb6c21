"""What `evalward demo` prints: a pull request, what it breaks and how sure that is, on one page of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import structs

from evalward.records.comparison import RunComparison
from evalward.records.texts import SYSTEM
from evalward.records.verdict import Judgement
from evalward.render.changed_sentences import say_changed_sentences
from evalward.render.console import Screen
from evalward.render.context import PageContext, ShowCommand
from evalward.render.escape import one_line
from evalward.render.page import build_page
from evalward.render.sentences import headline
from evalward.render.terminal_parts import say_headline
from evalward.render.view import OUTCOMES, TERMINAL, CaseEntry, JudgementPage

_CAPS = structs.replace(TERMINAL, broken=5, checks=1, block=200)

KNOWN, FRESH = 5, 4
"""Trials of each case in the baseline of the supposed model, and fresh ones of each that failed."""

AGENT = (
    "Certain: nothing here is random. The agent is a recording, written by hand, whose commands ran again just now. "
    "Only a run with a model shows what it does with the new prompt."
)
CHANCE = (
    "Models fail by chance, too. Suppose one passed all tasks {known} times before, and fails these {cases} now. "
    "Evalward then tries each of them {fresh} more times:"
)


@dataclass(frozen=True)
class Demo:
    """What there is to show of the demo's check.

    `passed_again` and `failed_again` are what would be decided of a model that failed the cases that broke, and whose
    fresh trials of them pass or fail. `texts` are what the hashes of prompts stand for. `check` and `show` spell
    commands; `comment` and `page` are files to look at, the page `None` where it couldn't be written. `opened`: a
    browser shows it.
    """

    judgement: Judgement
    passed_again: Judgement
    failed_again: Judgement
    texts: Mapping[str, str]
    check: str
    show: ShowCommand | None
    comment: str
    page: str | None
    opened: bool


def demo_text(demo: Demo, *, colour: bool, width: int) -> str:
    """The page. `width` is the terminal's, in columns."""
    screen = Screen(colour, width)
    page = build_page(demo.judgement, PageContext(show=demo.show), _CAPS)
    broken = next(run for run in demo.judgement.comparison.runs if run.of("broken"))
    _change(screen, demo, broken)
    _verdict(screen, page, demo)
    _broken(screen, page, broken)
    _certainty(screen, demo, page)
    _next(screen, page, demo)
    return screen.text()


def _change(screen: Screen, demo: Demo, run: RunComparison) -> None:
    """What the pull request changes: the sentences of the prompt that differ."""
    screen.heading("A pull request, checked by Evalward")
    screen.say(f"It changes the prompt of an agent that has a bash tool. {len(run.cases)} tasks test the agent.")
    screen.blank()
    prompt = next(change for change in run.subject if change.part == SYSTEM)
    before, now = (demo.texts.get(key or "", "") for key in (prompt.before, prompt.now))
    say_changed_sentences(screen, before, now)


def _verdict(screen: Screen, page: JudgementPage, demo: Demo) -> None:
    screen.blank()
    screen.command(demo.check, "$ ")
    say_headline(screen, page)
    for reason in page.reasons.shown:
        if reason.badge.word == page.badge.word:
            screen.say(reason.message, 2, reason.badge.mark, reason.badge.colour)
    screen.say(f"Exit code {demo.judgement.verdict.exit_code}: the check of this pull request is red.", 2)


def _broken(screen: Screen, page: JudgementPage, run: RunComparison) -> None:
    screen.heading(f"What broke: {page.broken.total} of {len(run.cases)} tasks")
    for case in page.broken.shown:
        _case(screen, case)


def _case(screen: Screen, case: CaseEntry) -> None:
    """A case with its first failing check, and what the last failing command said."""
    room = screen.width - 4
    screen.say(f"{case.id}: {case.before} → {case.now}", 2, "✗", "red")
    for check in case.checks[:1]:
        screen.say(one_line(f"{check.check}: {check.detail}" if check.detail else check.check, room), 4)
    if case.session:
        screen.verbatim(one_line(case.session.split("\n")[-1], room), 4)


def _certainty(screen: Screen, demo: Demo, page: JudgementPage) -> None:
    """How sure the verdict is, and how sure one of a model would be."""
    screen.heading("How sure is that?")
    screen.say(AGENT)
    screen.say(CHANCE.format(cases=page.broken.total, known=KNOWN, fresh=FRESH))
    for then, judgement in (("if they pass", demo.passed_again), ("if they fail", demo.failed_again)):
        badge = OUTCOMES[judgement.verdict.outcome]
        screen.say(f"{then}: {badge.word} — {headline(judgement.verdict)}", 2, badge.mark, badge.colour)


def _next(screen: Screen, page: JudgementPage, demo: Demo) -> None:
    screen.heading("What now?")
    if page.first and page.first.remedy:
        screen.say(page.first.remedy, 2, "→")
    _place(screen, demo.page, "The report, open in your browser" if demo.opened else "The report")
    _place(screen, demo.comment, "The comment on the pull request")
    _place(screen, page.broken.shown[0].show, "What the agent did in one of the tasks")
    screen.heading("In your own repository")
    _place(screen, "evalward init", "Write a configuration, first cases and the workflow")
    _place(screen, "evalward check", "Run the cases, compare and decide")


def _place(screen: Screen, text: str | None, what: str) -> None:
    """What it is, and a file or a command to copy: on one line where there is room."""
    if not text:
        return
    before = f"  {what}: "
    if len(before) + len(text) > screen.width:
        screen.say(before.strip(), 2)
        before = "    "
    screen.command(text, before)
