"""`evalward init`: what a repository needs to begin with, written where nothing lies yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evalward.commands.config_place import CONFIG_NAMES
from evalward.commands.world import World
from evalward.config.surroundings import KEYS
from evalward.edge import set_variables
from evalward.opening import beginning_inside, files_near
from evalward.records.exits import EXIT_OK
from evalward.records.problem import InputError, Place, Problem, unwritable
from evalward.render.numbers import plural
from evalward.starter.contents import MOST_TEXT
from evalward.starter.found import SHELL, Finds, Origin, find
from evalward.starter.mcp_server import FoundServer
from evalward.starter.plan import (
    CASES,
    CONFIG,
    IGNORED,
    WORKFLOW,
    FirstSuite,
    NewFile,
    ignoring,
    key_of,
    planned,
    suggested,
    usable,
)
from evalward.writing import Folder, TreeEntry

MOST_ENTRIES, DEEPEST = 20_000, 8
LEFT_OUT = frozenset(
    {"node_modules", ".venv", "venv", "__pycache__", "dist", "build", "target", "vendor", "evalward-out", ".tox"}
)
GITIGNORE = ".gitignore"
MOST_IGNORED = 1 << 20
NO_MODEL = "none"
ASKED_AGAIN = 3
NEXT = "Next:"

Answers = Callable[[], str]
"""One line of an answer, `""` at the end of all input."""


def init(world: World, answers: Answers | None, *, silent: bool = False) -> int:
    """Look, ask (where there is somebody to ask), write, and say what to do next.

    Raises `InputError` where the folder can't be read or written, or a link is where a file is to be.
    """
    finds, whole = _look(world.cwd)
    _tell_finds(world, finds, whole=whole)
    if answers is None and not silent:
        world.say("Standard input is not a terminal, so the defaults are used, as with --yes.")
    folder = Folder(world.cwd)
    there = next((name for name in CONFIG_NAMES if folder.has(name)), None)
    _require_way(folder, [there] if there else [])
    first = None if there else _chosen(world, finds, Questions(world, answers))
    if there:
        world.show(f"{there} is there already: it is left as it is, and no other suite is begun.")
    files = planned(first) if first else []
    _require_way(folder, [*(file.path for file in files), GITIGNORE])
    written = _written(world, folder, files)
    written += _ignored(world, folder)
    _tell_next(world, first, written)
    return EXIT_OK


def _look(root: Path) -> tuple[Finds, bool]:
    """What there is, and whether all of it was looked at."""

    def text(path: str) -> str:
        try:
            return beginning_inside(root, path, MOST_TEXT).decode("utf-8", "replace")
        except (OSError, InputError):
            return ""

    listing = files_near(root, MOST_ENTRIES, DEEPEST, LEFT_OUT)
    return find(listing.files, text), listing.whole


# --- questions ------------------------------------------------------------------------------------------------------


class Questions:
    """Asks one line at a time; where nobody answers, the default is the answer."""

    def __init__(self, world: World, answers: Answers | None) -> None:
        self._world = world
        self._answers = answers

    @property
    def asks(self) -> bool:
        """Whether there is somebody to answer."""
        return self._answers is not None

    def ask(self, question: str, default: str, right: Callable[[str], bool], remedy: str) -> str:
        """The answer, once `right` takes it; the default for an empty one, and after too many that are wrong."""
        if self._answers is None:
            return default
        for _ in range(ASKED_AGAIN):
            self._world.tell(f"{question} [{default}] ")
            answer = self._answers()
            if not answer.endswith("\n"):
                self._world.say("")
                return default
            if not answer.strip():
                return default
            if right(answer.strip()):
                return answer.strip()
            self._world.say(f"  {remedy}")
        self._world.say(f"  {default} it is.")
        return default


def _chosen(world: World, finds: Finds, questions: Questions) -> FirstSuite:
    keys = set_variables(world.env, KEYS)
    model = _model(questions, suggested(keys))
    for each in finds.origins:
        if not usable(each, model):
            said = f"left out  {described(each)}: its suite needs a model"
            world.show(f"{said}. Set {' or '.join(sorted(KEYS))}, and run init again")
    origin = _origin(world, questions, [*(each for each in finds.origins if usable(each, model)), SHELL])
    return FirstSuite(origin, model, _workflow(world, questions))


def _model(questions: Questions, models: Sequence[str]) -> str | None:
    """The model that is asked; `None` where there is no key for one."""
    if not models:
        return None
    remedy = f"Write PROVIDER/NAME, such as {models[0]}, or {NO_MODEL}."
    answer = questions.ask(
        f"Which model should be evaluated? ({NO_MODEL}: only the cases' own solutions)",
        models[0],
        lambda text: text == NO_MODEL or key_of(text) is not None,
        remedy,
    )
    return None if answer == NO_MODEL else answer


def _origin(world: World, questions: Questions, origins: Sequence[Origin]) -> Origin:
    """What the first suite is made of, by its number."""
    if len(origins) == 1:
        return origins[0]
    lines = [f"  {number}  {described(origin)}" for number, origin in enumerate(origins, 1)]
    if questions.asks:
        world.say("\n".join(["What should the first suite contain?", *lines]))
    numbers = [str(number) for number in range(1, len(origins) + 1)]
    answer = questions.ask("Its number", "1", lambda text: text in numbers, f"A number from 1 to {len(origins)}.")
    return origins[int(answer) - 1]


def _workflow(world: World, questions: Questions) -> bool:
    if not _at_top(world.cwd):
        return False
    question = f"A GitHub workflow, {WORKFLOW}? (yes or no)"
    answers = {"yes": True, "y": True, "no": False, "n": False}
    answer = questions.ask(question, "yes", lambda text: text.lower() in answers, "Write yes or no.")
    return answers[answer.lower()]


def _at_top(folder: Path) -> bool:
    """False in a folder below the top of its repository, where GitHub looks for no workflow."""
    return (folder / ".git").exists() or not any((above / ".git").exists() for above in folder.absolute().parents)


def described(origin: Origin) -> str:
    """An origin in a few words."""
    if origin == SHELL:
        return "three example shell tasks, to be replaced with your own"
    more = f" and {len(origin.files) - 2} more" if len(origin.files) > 3 else ""
    return f"{origin.template}: {', '.join(origin.files[:2] if more else origin.files)}{more}".rstrip(": ")


# --- writing --------------------------------------------------------------------------------------------------------


def _require_way(folder: Folder, paths: Iterable[str]) -> None:
    """Raises `InputError` for what keeps a file from being written, all of it at once.

    `run` follows no link either: what was written behind one, it would refuse.
    """
    found = {hindrance.path: _hindered(hindrance, path) for path in paths if (hindrance := folder.in_the_way(path))}
    if found:
        raise InputError(found.values())


def _hindered(hindrance: TreeEntry, path: str) -> Problem:
    last = hindrance.path == path
    if not hindrance.is_link:
        message, remedy = f"is not a folder, and {path} would be written in it", "Move it away"
    elif last:
        message, remedy = (
            "is a symbolic link, and links are not followed",
            "Replace the link by the file itself, or remove it",
        )
    else:
        message = f"is a symbolic link, and links are not followed: {path} would be written behind it"
        remedy = "Replace the link by the folder itself"
    place = Place(file=hindrance.path)
    return Problem(place=place, message=message, remedy=f"{remedy}, and run `evalward init` again.")


def _written(world: World, folder: Folder, files: Sequence[NewFile]) -> list[str]:
    """The paths of the files that were written; what is there already stays. All are written, or none."""
    made: dict[str, bool] = {}
    try:
        for file in files:
            made[file.path] = _created(folder, file)
    except BaseException:
        for path in (path for path, new in made.items() if new):
            folder.remove(path)
        raise
    for path, new in made.items():
        world.show(f"written   {path}" if new else f"left      {path}: it is there already")
    return [path for path, new in made.items() if new]


def _created(folder: Folder, file: NewFile) -> bool:
    """Whether a file was written: what is there stays."""
    try:
        folder.create(file.path, file.text.encode())
    except FileExistsError:
        return False
    except OSError as error:
        raise unwritable(file.path, error, "Run `evalward init` in a folder that you can write to.") from error
    return True


def _ignored(world: World, folder: Folder) -> list[str]:
    """`.gitignore` with the output folder in it."""
    try:
        text = folder.read(GITIGNORE, MOST_IGNORED).decode() if folder.has(GITIGNORE) else ""
        more = ignoring(text)
        if more is not None:
            folder.write(GITIGNORE, more.encode())
    except (OSError, UnicodeDecodeError, InputError):
        world.show(f"left      {GITIGNORE}: it can't be read. Add the line {IGNORED} to it.")
        return []
    if more is None:
        return []
    world.show(f"{'added to ' if text else 'written  '} {GITIGNORE}: {IGNORED}")
    return [GITIGNORE]


# --- words ----------------------------------------------------------------------------------------------------------


def _tell_finds(world: World, finds: Finds, *, whole: bool) -> None:
    for origin in finds.origins:
        world.show(f"found     {described(origin)}")
    if finds.guidance:
        names = " and ".join(finds.guidance)
        world.show(f"found     {names}: `evalward guidance` compares two versions of it (docs/guidance.md)")
    if finds.unstarted:
        world.show(
            f"found     {finds.unstarted}: an MCP server, but no command that starts it. Write a list of its tools,"
        )
        world.show("          and init finds it: evalward mcp snapshot --output evals/mcp/tools.json -- COMMAND")
    if finds.untried:
        world.show(f"found     {finds.untried}: skills without evals. Add evals/trigger-evals.json (queries)")
        world.show(
            "          or evals/evals.json (tasks) to a skill's folder, and init finds them (docs/skill-suite.md)"
        )
    if not whole:
        world.say(f"note: only the nearest {MOST_ENTRIES:,} files, at most {DEEPEST} folders deep, were looked at")


def _tell_next(world: World, first: FirstSuite | None, written: Sequence[str]) -> None:
    if first is None:
        world.show("Nothing was written." if not written else f"{plural(len(written), 'file')} written.")
        return
    trials = " --trials 5" if first.random else ""
    run = f"  evalward run{trials}"
    world.show(NEXT)
    world.show(f"{run:<34}# measure: {'five trials of each case' if first.random else 'no key, nothing is spent'}")
    world.show(f"{'  evalward baseline update':<34}# what later changes are compared with")
    world.show("Then commit what was written, and .evalward; from then on `evalward check` compares:")
    world.show(f"  git add {' '.join([*written, '.evalward'])}")
    if first.model is None and first.origin == SHELL:
        world.show(f"A model is added in {CONFIG}, under targets, with its key in the environment.")
    if CASES in written and first.origin.server:
        _tell_cases(world, first.origin.server)
    if WORKFLOW in written:
        key = f" It needs the repository's secret {first.key}." if first.key else ""
        world.show(f"The workflow judges pull requests once {CONFIG} is on their base branch.{key}")


def _tell_cases(world: World, server: FoundServer) -> None:
    if server.catalogue is not None:
        world.show(f"{CASES} is only a start: one request for each tool of {server.snapshot}, made of its description.")
        world.show("Correct each before you trust a number: your users say it in other words.")
        return
    listing = f"evalward mcp snapshot --output evals/mcp/tools.json -- {' '.join(server.command)}"
    world.show(f"{CASES} is only a start, to be filled in: init starts no server, and doesn't know the tools.")
    world.show("With a list of them it makes a request for each. Start the server for it, and init once more:")
    world.show(f"  {listing}")
    world.show(f"  rm {CONFIG} {CASES}; evalward init")
