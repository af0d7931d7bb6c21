"""Ordering the runner's work from a command: which runner, what it may ask, and what is left of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from evalward.commands.files import REPORT_HINT
from evalward.commands.foreign_commands import refuse_foreign_commands
from evalward.commands.hosts import refuse_foreign_hosts
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.batch import Batch
from evalward.edge import harmless
from evalward.engine.keeping import RunRetrials
from evalward.engine.selection import Selection
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.services import BaseFilesService, Services
from evalward.keeper.session import RunnerSession, opened_runner
from evalward.records.problem import wrong
from evalward.records.reading import parse_record
from evalward.records.report import Report
from evalward.render.ahead import load_ahead
from evalward.wire import messages as m


@contextmanager
def runner_of(world: World, folder: Path | None = None) -> Iterator[RunnerSession]:
    """A runner that knows of our variables what is harmless, and of all others that they are set.

    It works in `folder`, else where we were called.
    """
    env, cwd = world.env, (folder or world.cwd).absolute()
    keys = sorted(name for name in env.keys() - harmless(env).keys() if env[name].strip())
    with opened_runner(env, cwd, keys=keys, terminal=world.err.isatty()) as runner:
        yield runner


def loaded_of(head: m.HeadConfig) -> LoadedConfig:
    """The configuration that the runner read."""
    return LoadedConfig(head.config, head.file, Path(head.root), head.sha256)


def load(
    runner: RunnerSession, config: str, shown: str | None = None, below: str | None = None
) -> tuple[LoadedConfig, m.HeadConfig]:
    """Have the runner read a configuration; no link is followed below `below`. Raises `InputError`."""
    head = runner.load(config, shown, below=below)
    if head is None:
        raise RuntimeError("a configuration that must be there was not read")
    return loaded_of(head), head


def chosen_of(selection: Selection) -> m.Chosen:
    """What of a configuration is run, for the runner."""
    return m.Chosen(
        suites=list(selection.suites),
        targets=list(selection.targets),
        cases=list(selection.cases),
        trials=selection.trials,
        only=None if selection.only is None else list(selection.only),
    )


def open_output(world: World, output: Path) -> OutputFolder:
    """The output folder of a command, whose path counts from where we were called. Raises `InputError`."""
    return OutputFolder.open(
        output, world.redaction, anchor=world.cwd.absolute(), search_path=world.env.get("PATH", os.defpath)
    )


Retries = Callable[[Report], Sequence[RunRetrials]]


def services_of(
    world: World,
    loaded: LoadedConfig,
    output: Path,
    *,
    clear: tuple[str, ...] | None = None,
    retries: Retries = lambda report: (),  # noqa: ARG005
    base: BaseFilesService | None = None,
    suites: Sequence[str] = (),
) -> Services:
    """What we do for the runner. The output folder is opened when there is something to write: before that everything
    else has been found right. `clear` is what of an earlier run is removed then, `None` for nothing. `suites`
    are patterns of those that are run.

    Raises `InputError` where a key would go to a host or a command that the checkout alone names.
    """
    refuse_foreign_hosts(loaded, world.env)
    refuse_foreign_commands(loaded, world.env, suites)

    def opened() -> OutputFolder:
        folder = open_output(world, output)
        folder.claim()
        if clear is not None:
            folder.clear(*([clear] if clear else []))
        return folder

    folder = str(world.cwd.absolute() / loaded.root)
    return Services(loaded.config, world.env, opened, world.tell, world.now, world.redaction, retries, base, folder)


def in_batches(services: Services, order: m.MeasureOrder, loaded: LoadedConfig) -> None:
    """Where the order wants that, requests go in batches, on the configuration's terms."""
    if order.batched:
        services.batch, services.resume = loaded.config.batches or Batch(), order.resume


def measured(runner: RunnerSession, order: m.MeasureOrder, services: Services) -> Report:
    """Have the runner measure; the report without secrets, which is also in the output folder. Raises `InputError`."""
    load_ahead()
    services.parts = order.known
    runner.measure(order, services.handlers())
    if services.report is None:
        raise RuntimeError("the runner measured and reported nothing")
    return services.report


def read_report_of(runner: RunnerSession, path: str) -> Report:
    """The report in a file that the runner reads. Raises `InputError`."""
    return parse_record(report_bytes(runner, path), path, Report, "a report", REPORT_HINT)


def report_bytes(runner: RunnerSession, path: str) -> bytes:
    """What is in a report's file. Raises `InputError`, also where there is none."""
    data = runner.read(path, anywhere=True)
    if data is None:
        raise wrong(path, "there is no such report", REPORT_HINT)
    return data
