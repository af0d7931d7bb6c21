"""`evalward doctor`: what this machine offers, and what of it the configuration needs and doesn't have.

Nothing of the repository is started: its configuration and baseline are read as data, and programs are asked for their
version only where they lie outside of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from evalward import __version__
from evalward.commands.doctor.machine import machine_items, package_items
from evalward.commands.doctor.network import network_items
from evalward.commands.doctor.programs import Programs, program_items
from evalward.commands.doctor.project import read_project
from evalward.commands.doctor.walls import found_walls, wall_items
from evalward.commands.world import World
from evalward.records.base import json_text
from evalward.records.checkup import Checkup, CheckupItem
from evalward.records.exits import EXIT_FAILED, EXIT_INPUT, EXIT_OK
from evalward.redaction import Redaction
from evalward.render.checkup import checkup_text
from evalward.render.escape import one_line


@dataclass(frozen=True)
class DoctorOptions:
    """What was asked. `config`: the file that was named; without one the nearest is taken."""

    config: Path | None = None
    network: bool = False
    json: bool = False


def doctor(world: World, options: DoctorOptions) -> int:
    """0; 1 where the configuration needs what isn't there, 2 where it or its baseline can't be used."""
    checkup = Checkup(evalward=__version__, items=list(_shown(examined(world, options), world.redaction)))
    if options.json:
        world.show(json_text(checkup))
    else:
        colour, ascii = world.colour(world.out), world.only_ascii
        world.show(checkup_text(checkup, colour=colour, width=world.width, ascii=ascii))
    if checkup.of("wrong"):
        return EXIT_INPUT
    return EXIT_FAILED if checkup.of("missing") else EXIT_OK


def examined(world: World, options: DoctorOptions) -> list[CheckupItem]:
    """Everything, in order. What waits for other processes is begun first."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        walls = pool.submit(found_walls)
        programs = pool.submit(lambda: list(program_items(Programs(world.cwd, world.env))))
        machine = [*machine_items(world.env), *package_items()]
        project = read_project(world, options.config, walls.result)
        network = network_items(project.hosts, world.env, needed=project.needs) if options.network else []
        return [*machine, *wall_items(walls.result()), *programs.result(), *project.items, *network]


def _shown(items: Iterable[CheckupItem], redaction: Redaction) -> Iterable[CheckupItem]:
    """What comes from the machine, without what must not leave it: HOME is `~`."""
    for item in items:
        texts = {name: redaction.text(one_line(getattr(item, name))) for name in ("name", "text", "remedy")}
        yield item.model_copy(update=texts)
