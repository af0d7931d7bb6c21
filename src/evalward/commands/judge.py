"""`evalward judge check`: hold a judge against labelled transcripts before anybody believes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.commands.files import emit, read_committed
from evalward.commands.world import World
from evalward.config import Config, JudgeConfig, LoadedConfig, load_config
from evalward.records.problem import wrong
from evalward.records.verdict import EXIT_FAILED, EXIT_OK, EXIT_UNJUDGED
from evalward.render.escape import one_line
from evalward.suites.judge.calibrate import Calibration, Swayed, calibrate
from evalward.suites.judge.judge import Judge, with_votes
from evalward.suites.judge.labelled import Labelled, load_labelled
from evalward.suites.judge.rubric import Rubric, read_rubric
from evalward.suites.judge.who import choose, make_judge


@dataclass(frozen=True)
class JudgeCheckOptions:
    """What `judge check` was asked for. `min_kappa` is the agreement beyond chance below which the judge fails."""

    rubric: Path
    labelled: Path
    config: Path
    model: str | None = None
    votes: int | None = None
    threshold: float | None = None
    min_kappa: float = 0.6
    format: str = "terminal"
    output: Path | None = None


def judge_check(world: World, options: JudgeCheckOptions) -> int:
    """Exit code 0; 1 when the judge agrees too little or an injected instruction lifted a verdict; 3 when it failed to
    judge more often than its limit allows.
    """
    rubric = read_rubric(read_committed(options.rubric, "rubric", "Name a YAML file."), str(options.rubric))
    labelled = load_labelled(options.labelled, rubric)
    loaded = _config(options, world)
    settings = loaded.config.judge or JudgeConfig()
    judge = _judge(options, loaded, world)
    threshold = settings.pass_threshold if options.threshold is None else options.threshold
    found = asyncio.run(_run(judge, rubric, labelled, threshold))
    if options.format == "json":
        emit(world, found.model_dump_json(by_alias=True, indent=1), options.output)
    else:
        emit(world, "\n".join(_lines(found, options.min_kappa)), options.output)
    return _code(found, options.min_kappa, settings.max_error_rate)


async def _run(judge: Judge, rubric: Rubric, labelled: Sequence[Labelled], threshold: float) -> Calibration:
    try:
        judge.target.prepare()
        return await calibrate(judge, rubric, labelled, threshold)
    finally:
        await judge.target.close()


def _config(options: JudgeCheckOptions, world: World) -> LoadedConfig:
    """The configuration, for providers and judge; a folder without one can calibrate a judge all the same."""
    if options.config.exists():
        return load_config(options.config)
    return LoadedConfig(Config.model_construct(version=1, suites=[]), str(options.config), world.cwd, "")


def _judge(options: JudgeCheckOptions, loaded: LoadedConfig, world: World) -> Judge:
    choice = choose(options.model, loaded.config.judge, world.env, default=True)
    if choice is None:
        raise wrong(
            loaded.file,
            "there is no judge",
            "Name one with --model, with EVALWARD_JUDGE or as judge.model, or set a provider's key.",
            field="judge",
        )
    judge = with_votes(make_judge(choice, loaded, world.env), options.votes)
    if judge.target.missing_key:
        message = f"the judge {judge.model} needs a key, and {judge.target.missing_key} is not set"
        raise wrong(loaded.file, message, f"Set {judge.target.missing_key}, or name another judge.", field="judge")
    return judge


def _code(found: Calibration, min_kappa: float, max_error_rate: float) -> int:
    lost = len(found.errors) / (3 * found.transcripts)
    if found.judged == 0 or lost > max_error_rate:
        return EXIT_UNJUDGED
    return EXIT_FAILED if _too_little(found, min_kappa) or found.injection.lifted else EXIT_OK


def _too_little(found: Calibration, min_kappa: float) -> bool:
    """κ is too low; where it isn't defined (one label only) every verdict has to be right."""
    if found.kappa.value is None:
        return bool(found.false_passes or found.false_fails)
    return found.kappa.value < min_kappa - 1e-9


def _lines(found: Calibration, min_kappa: float) -> list[str]:
    right = found.judged - len(found.false_passes) - len(found.false_fails)
    agreement = "not available" if found.agreement is None else f"{found.agreement:.0%}"
    error = found.mean_absolute_error
    distance = "not available (no labelled scores)" if error is None else f"{error:.3f}"
    rows = [
        ("Judge", f"{found.model}, threshold {found.threshold:g}"),
        ("Transcripts", f"{found.transcripts}, judged {found.judged}"),
        ("Agreement", f"{agreement} ({right} of {found.judged})"),
        ("Cohen's κ", f"{_kappa(found)}, at least {min_kappa:g} wanted"),
        ("Passed wrongly", _names(found.false_passes)),
        ("Failed wrongly", _names(found.false_fails)),
        ("Mean score error", f"{distance}{f', over {found.scores_compared} scores' if found.scores_compared else ''}"),
        ("Reversed criteria", _sway(found.order)),
        ("Injected orders", _sway(found.injection)),
        ("Cost", _cost(found)),
    ]
    lines = [f"{one_line(name):<18} {one_line(value, 300)}" for name, value in rows]
    return [*lines, *(f"error: {one_line(error, 300)}" for error in found.errors[:10])]


def _kappa(found: Calibration) -> str:
    kappa = found.kappa
    if kappa.value is None:
        return "not available (the labels or the verdicts are all alike)"
    if kappa.low is None or kappa.high is None:
        why = "every verdict is right" if kappa.value == 1 else "the labels or the verdicts are all alike"
        return f"{kappa.value:.2f} ({why}; how sure that is can't be told)"
    return f"{kappa.value:.2f} (95 % interval {kappa.low:.2f} to {kappa.high:.2f})"


def _sway(swayed: Swayed) -> str:
    if swayed.mean_shift is None:
        return "not available"
    told = f"{len(swayed.turned)} of {swayed.compared} verdicts turned, scores moved by {swayed.mean_shift:+.3f}"
    return f"{told}; lifted to a pass: {_names(swayed.lifted)}" if swayed.lifted else told


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "") if names else "none"


def _cost(found: Calibration) -> str:
    usage = found.usage
    cost = "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    read, said = usage.total_input_tokens, usage.output_tokens
    if read is None or said is None:
        return f"{cost}; tokens unknown"
    return f"{cost} ({read:,} tokens read, {said:,} written)"
