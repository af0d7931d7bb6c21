"""`evalward baseline update|show`: make the committed record, and read it."""

from __future__ import annotations

from pathlib import Path

from evalward.commands.files import emit, read_baseline_file, read_report, write_text
from evalward.commands.pipeline import measures
from evalward.commands.world import World
from evalward.config import load_config
from evalward.decide.baseline import dump_baseline, make_baseline
from evalward.records.verdict import EXIT_OK
from evalward.render.baseline import baseline_text

FEW_TRIALS = 5  # with fewer baseline trials of a random target a small drop can never be told from chance


def baseline_path(config: Path, baseline: Path | None) -> Path:
    """The file that was named, else the config's."""
    if baseline is not None:
        return baseline
    loaded = load_config(config)
    return loaded.root / loaded.config.baseline


def update(world: World, report: Path, path: Path) -> int:
    """Write the report's content as the baseline; nothing is written when there is no news."""
    previous = read_baseline_file(path) if path.exists() else None
    measured = read_report(report)
    made = make_baseline(measured, str(report), previous, measures(measured))
    text = dump_baseline(made)
    if previous is not None and dump_baseline(previous) == text:
        world.say(f"{path}: no change")
        return EXIT_OK
    write_text(path, text)
    cases = sum(len(run.cases) for run in made.runs)
    world.say(f"{path}: {len(made.runs)} runs, {cases} cases. Commit it.")
    for run in made.runs:
        if run.random and run.trials < FEW_TRIALS:
            world.say(
                f"warning: {run.name} has {run.trials} trial(s) per case: small drops can't be told from chance. "
                f"Run it with --trials {FEW_TRIALS}."
            )
    return EXIT_OK


def show(world: World, path: Path) -> int:
    """What the baseline holds, for people."""
    colour = world.colour(world.out)
    emit(world, baseline_text(read_baseline_file(path), colour=colour, width=world.width), None)
    return EXIT_OK
