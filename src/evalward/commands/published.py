"""From work to a page to what people see. Whatever goes wrong has a page, too, and the exit code comes last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalward.commands.faults import internal_error
from evalward.commands.surfaces import Publication, Surfaces, annotated
from evalward.engine.parts import IncompleteError
from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from evalward.github.runner_files import Annotation, Outputs
from evalward.records.exits import EXIT_INPUT, EXIT_UNJUDGED
from evalward.records.problem import InputError


class IdleError(Exception):
    """There is nothing to measure, and that has been told."""

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(exit_code)


@dataclass(frozen=True)
class Failing:
    """What the page's headline is: for wrong input, and before the sentence about a fault of ours."""

    wrong: str
    ours: str = ""


def published(
    surfaces: Surfaces, client: GitHub, work: Callable[[Surfaces], Publication], failing: Failing, *, opens: bool = True
) -> int:
    """Do the work and publish its page, or one that says why there is none; the exit code.

    `opens`: the output folder is opened first, and what can't be one is the same as wrong input. A fault of our own has
    a page, too: an older run's "passed" must not be left standing.
    """
    try:
        surfaces = surfaces.opened() if opens else surfaces
        page = work(surfaces)
    except IdleError as idle:
        surfaces.write(Outputs(verdict="", exit_code=idle.exit_code))
        return idle.exit_code
    except InputError as error:
        surfaces.tell(*annotated(error.problems))
        page = surfaces.unjudged(failing.wrong, error.problems, EXIT_INPUT)
    except (GitHubError, IncompleteError) as error:
        page = not_judged(surfaces, str(error))
    except Exception as error:
        message = internal_error(error, surfaces.redaction)
        page = not_judged(surfaces, message, f"{failing.ours}{message}")
    return surfaces.publish(client, page).exit_code


def not_judged(surfaces: Surfaces, message: str, headline: str | None = None) -> Publication:
    """The page of a run that could not be judged, for whatever reason; the log says it, too."""
    surfaces.tell(Annotation("error", message, title="Evalward").command())
    return surfaces.unjudged(headline or message, (), EXIT_UNJUDGED)
