"""`evalward demo`: a pull request that breaks something, checked as any other, from what comes with the package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evalward.commands.check import CheckRun, checked, write_reports
from evalward.commands.demo_chance import supposed
from evalward.commands.demo_folder import OUTPUT, lay_out
from evalward.commands.ending import display_of, sources_of
from evalward.commands.measuring import runner_of
from evalward.commands.options import CheckOptions
from evalward.commands.spelling import check_again
from evalward.commands.view import has_display, open_page
from evalward.commands.world import World
from evalward.edge import harmless
from evalward.records.exits import EXIT_OK, EXIT_UNJUDGED
from evalward.records.result import Status
from evalward.records.verdict import Judgement, Outcome
from evalward.render.demo import Demo, demo_text
from evalward.render.outputs import COMMENT_FILE, HTML_FILE, ShownJudgement
from evalward.render.sentences import headline
from evalward.render.view import OUTCOMES

CONFIG = "pull-request.yml"


def demo(world: World, folder: Path) -> int:
    """0 when the pull request could be checked and was refused, as it must be. Raises `InputError`."""
    lay_out(folder, world.cwd.absolute())
    keyless = replace(world, env=harmless(world.env))
    options = CheckOptions(config=folder / CONFIG, output=folder / OUTPUT, versioned=False)
    with runner_of(keyless) as runner:
        found = checked(keyless, runner, options)
    verdict = found.judgement.verdict
    if verdict.outcome is not Outcome.FAIL:
        ended = f"{OUTCOMES[verdict.outcome].word}: {headline(verdict)}"
        world.say(f"error: the check of the demo's pull request has to fail, and did not. It ended as {ended}")
        return EXIT_UNJUDGED
    world.show(_shown(world, found))
    return EXIT_OK


def _shown(world: World, found: CheckRun) -> str:
    """Write what a check writes; what is said of it."""
    sources = sources_of(found.report, found.judging.baseline, found.services.output, world.redaction)
    display = display_of(world, world.out)
    paged = HTML_FILE in write_reports(found, ShownJudgement(found.judgement, found.context, sources=sources))
    place = found.options.output
    passed_again, failed_again = (_supposed(found, again) for again in (Status.PASSED, Status.FAILED))
    return demo_text(
        Demo(
            judgement=found.judgement,
            passed_again=passed_again,
            failed_again=failed_again,
            texts=sources.texts(),
            check=check_again(found.options),
            show=found.context.show,
            comment=str(place / COMMENT_FILE),
            page=str(place / HTML_FILE) if paged else None,
            opened=paged and _opened(world, place / HTML_FILE),
        ),
        colour=display.colour,
        width=display.width,
    )


def _supposed(found: CheckRun, again: Status) -> Judgement:
    """The verdict on a model that fails what broke by chance, or for good."""
    broken = {case.id for run in found.judgement.comparison.runs for case in run.of("broken")}
    steady = next(run for run in found.report.runs if all(case.status is Status.PASSED for case in run.cases))
    return supposed(found.report, steady, broken, found.judging.policy, again=again)


def _opened(world: World, page: Path) -> bool:
    """Whether a browser shows the page: only for people who sit in front of it."""
    return world.out.isatty() and has_display(world) and open_page(world.cwd / page)
