"""A judge held against labelled transcripts, before anybody believes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from evalward.config import Config, JudgeConfig, LoadedConfig
from evalward.config.load import load_config
from evalward.opening import read_inside
from evalward.records.calibration import Calibration
from evalward.records.problem import wrong
from evalward.runner.outside import Outside
from evalward.suites.judge.calibrate import calibrate
from evalward.suites.judge.judge import Judge, with_votes
from evalward.suites.judge.labelled import Labelled, load_labelled
from evalward.suites.judge.rubric import Rubric, read_rubric
from evalward.suites.judge.who import choose, make_judge
from evalward.targets.asking import Asker
from evalward.wire.messages import JudgeOrder

RUBRIC_LIMIT = 4_000_000  # bytes


def check(asker: Asker, outside: Outside, order: JudgeOrder) -> Calibration:
    """Ask the judge about every transcript. Raises `InputError`."""
    rubric = read_rubric(_rubric(Path(order.rubric)), order.rubric)
    labelled = load_labelled(Path(order.labelled), rubric)
    loaded = _config(Path(order.config), outside)
    settings = loaded.config.judge or JudgeConfig()
    judge = _judge(order, loaded, outside, asker)
    threshold = settings.pass_threshold if order.threshold is None else order.threshold
    return asyncio.run(_run(judge, rubric, labelled, threshold))


def _rubric(path: Path) -> bytes:
    remedy = "Name a YAML file."
    try:
        return read_inside(path.parent, path.name, RUBRIC_LIMIT)
    except FileNotFoundError:
        raise wrong(str(path), "there is no such rubric", remedy) from None
    except OSError as error:
        raise wrong(str(path), f"the rubric can't be read: {error.strerror}", remedy) from error


async def _run(judge: Judge, rubric: Rubric, labelled: Sequence[Labelled], threshold: float) -> Calibration:
    try:
        judge.target.prepare()
        return await calibrate(judge, rubric, labelled, threshold)
    finally:
        await judge.target.close()


def _config(path: Path, outside: Outside) -> LoadedConfig:
    """The configuration, for providers and judge; a folder without one can calibrate a judge all the same."""
    if path.exists():
        return load_config(path)
    return LoadedConfig(Config.model_construct(version=1, suites=[]), str(path), outside.cwd, "")


def _judge(order: JudgeOrder, loaded: LoadedConfig, outside: Outside, asker: Asker) -> Judge:
    choice = choose(order.model, loaded.config.judge, outside.env, default=True)
    if choice is None:
        raise wrong(
            loaded.file,
            "there is no judge",
            "Name one with --model, with EVALWARD_JUDGE or as judge.model, or set a provider's key.",
            field="judge",
        )
    judge = with_votes(make_judge(choice, loaded, outside.env, asker), order.votes)
    if judge.target.missing_key:
        message = f"the judge {judge.model} needs a key, and {judge.target.missing_key} is not set"
        raise wrong(loaded.file, message, f"Set {judge.target.missing_key}, or name another judge.", field="judge")
    return judge
