"""`evalward judge check`: compare a judge with labelled transcripts before anybody believes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.commands.emitting import emit
from evalward.commands.measuring import runner_of, services_of
from evalward.commands.world import World
from evalward.config import Config, JudgeConfig, LoadedConfig
from evalward.records.calibration import Calibration, Swayed
from evalward.records.exits import EXIT_FAILED, EXIT_OK, EXIT_UNJUDGED
from evalward.render.escape import one_line
from evalward.render.numbers import format_number, percent, plural
from evalward.wire.messages import JudgeOrder


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
    with runner_of(world) as runner:
        head = runner.load(str(options.config), optional=True)
        config = head.config if head is not None else Config.model_construct(version=1, suites=[])
        loaded = LoadedConfig(config, str(options.config), world.cwd, "")
        world = world.hiding(config.key_names)
        order = JudgeOrder(
            rubric=str(options.rubric),
            labelled=str(options.labelled),
            config=str(options.config),
            model=options.model,
            votes=options.votes,
            threshold=options.threshold,
        )
        found = runner.check_judge(order, services_of(world, loaded, world.cwd).handlers())
    settings = config.judge or JudgeConfig()
    if options.format == "json":
        emit(world, found.model_dump_json(by_alias=True, indent=1), options.output)
    else:
        emit(world, "\n".join(_lines(found, options.min_kappa)), options.output)
    return _code(found, options.min_kappa, settings.max_error_rate)


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
    agreement = "not available" if found.agreement is None else percent(found.agreement)
    error = found.mean_absolute_error
    compared = f", over {plural(found.scores_compared, 'score')}" if found.scores_compared else ""
    distance = f"{'not available (no labelled scores)' if error is None else f'{error:.3f}'}{compared}"
    rows = [
        ("Judge", f"{found.model}, threshold {found.threshold:g}"),
        ("Transcripts", f"{found.transcripts}, judged {found.judged}"),
        ("Agreement", f"{agreement} ({right} of {found.judged})"),
        ("Cohen's κ", f"{_kappa(found)}, at least {min_kappa:g} wanted"),
        ("Passed wrongly", _names(found.false_passes)),
        ("Failed wrongly", _names(found.false_fails)),
        ("Mean score error", distance),
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
        return f"{kappa.value:.2f} ({why}; its certainty is unknown)"
    return f"{kappa.value:.2f} (95 % interval {kappa.low:.2f} to {kappa.high:.2f})"


def _sway(swayed: Swayed) -> str:
    if swayed.mean_shift is None:
        return "not available"
    effect = f"{len(swayed.turned)} of {swayed.compared} verdicts turned, scores moved by {swayed.mean_shift:+.3f}"
    return f"{effect}; lifted to a pass: {_names(swayed.lifted)}" if swayed.lifted else effect


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "") if names else "none"


def _cost(found: Calibration) -> str:
    usage = found.usage
    cost = "unknown" if usage.cost_usd is None else format_number(usage.cost_usd, "usd")
    input_tokens, output_tokens = usage.total_input_tokens, usage.output_tokens
    if input_tokens is None or output_tokens is None:
        return f"{cost}; tokens unknown"
    return f"{cost} ({input_tokens:,} tokens read, {output_tokens:,} written)"
