"""The action's mode `history-page`: the page of the kept history, for a step that publishes it.

Nothing is measured or judged. The configuration is the head's, so the runner reads it; the history is read through the
API, from git's objects, or by the runner.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from evalward.commands.ci_history import read_branch_history
from evalward.commands.history import APPEND_HINT, Where, stored
from evalward.commands.history_page import HistoryPageOptions, made_page
from evalward.commands.measuring import load, runner_of
from evalward.commands.surfaces import Surfaces, annotated, wrong_inputs
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.decide.history_file import HISTORY_FILE, History, read_history
from evalward.git import MAX_FILE_BYTES
from evalward.github.client import GitHub
from evalward.github.comment import Marker
from evalward.github.errors import GitHubError
from evalward.github.repository import RepositoryWriter
from evalward.github.runner_files import Annotation, Outputs, give_to_owner
from evalward.github.settings import ActionInputs, read_runner
from evalward.keeper.outputs import HISTORY_PAGE
from evalward.keeper.session import RunnerSession as HeadRunner
from evalward.records.exits import EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED
from evalward.records.problem import InputError, wrong

PLACE_HINT = "Add `history: {branch: evalward-data}` to it; runs with `mode: update-baseline` then keep it there."


def write_history_page(world: World, settings: ActionInputs) -> int:
    """The exit code: 0 written, 2 the input is wrong, 3 GitHub could not be asked."""
    runner = read_runner(world.env)
    try:
        marker = Marker(settings.comment_id, "", runner.run_id, runner.run_attempt)  # no comment gets it
        surfaces = Surfaces(world, settings, runner, marker, None, world.redaction)
        surfaces.mask()
        surfaces = surfaces.opened()
    except InputError as error:
        return wrong_inputs(world, runner, error.problems)
    try:
        with GitHub(settings.github_token, runner.api_url) as client, runner_of(world, runner.workspace) as head:
            surfaces.tell(_written(surfaces, client, head))
        code = EXIT_OK
    except InputError as error:
        surfaces.tell(*annotated(error.problems))
        code = EXIT_INPUT
    except GitHubError as error:
        surfaces.tell(Annotation("error", str(error), title="Evalward").command())
        code = EXIT_UNJUDGED
    surfaces.write(Outputs(verdict="", exit_code=code))
    return code


def _written(surfaces: Surfaces, client: GitHub, head: HeadRunner) -> str:
    """What was written, in a line for the log. Raises `InputError`, `GitHubError`."""
    settings, outputs = surfaces.settings, surfaces.outputs
    if outputs is None:
        raise RuntimeError("the output folder is not open")
    config = posixpath.join(settings.working_directory, settings.config)
    loaded, _ = load(head, config, posixpath.normpath(config), ".")
    surfaces = surfaces.hiding(loaded.config.key_names)
    outputs = replace(outputs, redaction=surfaces.redaction)
    history = _history(surfaces, client, head, loaded)
    options = HistoryPageOptions(surfaces.output, profile=settings.profile)
    made = made_page(history, loaded, options, surfaces.tree(client), surfaces.world.env)
    for note in (*history.warnings, *made.notes):
        surfaces.tell(Annotation("notice", note, title="Evalward").command())
    outputs.write(HISTORY_PAGE, made.text)
    give_to_owner([outputs.folder], surfaces.runner.workspace)
    return f"{surfaces.shown(surfaces.output / HISTORY_PAGE)}: {made.said}"


def _history(surfaces: Surfaces, client: GitHub, head: HeadRunner, loaded: LoadedConfig) -> History:
    place = loaded.config.history
    if place is None:
        raise wrong(str(loaded.file), "it says of no history where it is", PLACE_HINT)
    if place.branch is not None and surfaces.settings.github_token:
        found = read_branch_history(RepositoryWriter(client, surfaces.runner.repository), place.branch)
    elif place.branch is not None:
        data = stored(replace(surfaces.world, cwd=surfaces.runner.workspace), Where(surfaces.folder, place.branch))
        found = _read(data)
    else:
        found = _read(head.read(posixpath.join(place.folder or "", HISTORY_FILE), limit=MAX_FILE_BYTES))
    if not found.entries:
        where = f"the branch {place.branch}" if place.branch else place.folder
        raise wrong(HISTORY_FILE, f"there is no history in {where}", APPEND_HINT)
    return found


def _read(data: bytes | None) -> History:
    return read_history((data or b"").decode("utf-8", "replace"))
