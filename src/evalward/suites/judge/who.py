"""Who judges: the name of the model, by fixed precedence, and the judges that a suite's cases want.

The scenario's own model, then `EVALWARD_JUDGE`, `LLM_TOOL_TEST_JUDGE`, the configuration (in the action: the base's),
then a cheap model of the first provider whose key is there. A scenario of a pull request may not choose its judge: its
own model counts only where the base has the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.config import DEFAULT_CACHE, RECORDED, JudgeConfig, LoadedConfig
from evalward.config.judge_checks import judge_name_problem
from evalward.opening import kind_inside, read_inside, why
from evalward.records.problem import InputError, wrong
from evalward.records.providers import PROVIDERS
from evalward.records.target_id import target_id
from evalward.redaction import Redaction
from evalward.suites.judge.cache import JudgeCache
from evalward.suites.judge.judge import Judge
from evalward.suites.judge.recorded import load_recorded
from evalward.targets import make_target
from evalward.targets.asking import Asker
from evalward.targets.base import Target

VARIABLES = ("EVALWARD_JUDGE", "LLM_TOOL_TEST_JUDGE")
CACHE_VARIABLE = "EVALWARD_JUDGE_CACHE"
CHEAP = tuple((row.key_env, f"{row.name}/{row.judge}") for row in PROVIDERS.values() if row.judge)
"""Judges that cost a small part of a run, by the key that they need; the first whose key is there."""

_SNAPSHOT = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)\Z")
_BARE = {family: row.name for row in PROVIDERS.values() for family in row.families}


@dataclass(frozen=True)
class Choice:
    """The judge's name and who said so: `scenario`, a variable's name, `config` or `default`."""

    model: str
    by: str


def choose(own: str | None, config: JudgeConfig | None, env: Mapping[str, str], *, default: bool) -> Choice | None:
    """The judge, `None` when nobody names one. `default`: then a cheap model of a provider with a key."""
    if own:
        return Choice(named(own), "scenario")
    for variable in VARIABLES:
        if env.get(variable, "").strip():
            return Choice(named(env[variable].strip()), variable)
    if config is not None and config.model:
        return Choice(config.model, "config")
    if not default and config is None:
        return None
    found = next((model for key, model in CHEAP if env.get(key, "").strip()), None)
    return None if found is None else Choice(found, "default")


def named(model: str) -> str:
    """The name with its provider: other tools write `gpt-4o-mini` and `claude-haiku-4-5` alone."""
    if "/" in model or ":" in model:
        return model
    provider = _BARE.get(model.partition("-")[0])
    return f"{provider}/{model}" if provider else model


def same_model(judge: str, tested: str) -> bool:
    """Whether two ids name one model, whatever the protocol, agent or dated snapshot."""
    names = [_SNAPSHOT.sub("", target_id(name).short) for name in (judge, tested) if "/" in name]
    return len(names) == 2 and names[0] == names[1]


@dataclass(frozen=True)
class JudgeNeeds:
    """What a suite wants of judges. `own` are the models that its cases name themselves, `None` for those that don't.

    `default`: where nobody names a judge, a cheap model of a provider with a key may be asked.
    """

    own: Sequence[str | None] = (None,)
    default: bool = False


@dataclass(frozen=True)
class Judges:
    """The judges of a suite, by the model that a case itself names."""

    by_own: Mapping[str | None, Judge]
    config: JudgeConfig
    warnings: Sequence[str] = ()

    def of(self, own: str | None = None) -> Judge | None:
        """The judge of a case; `None` when nobody judges."""
        return self.by_own.get(own)

    @property
    def threshold(self) -> float:
        """The score that passes, unless a case sets its own."""
        return self.config.pass_threshold

    @property
    def all(self) -> list[Judge]:
        """Each judge once."""
        return list({judge.model: judge for judge in self.by_own.values()}.values())

    @property
    def subject(self) -> Mapping[str, str]:
        """What identifies them, for the report's subject; nothing when nobody judges."""
        names = {judge.model: judge.subject["judge"] for judge in self.all}
        if len(names) == 1:
            return {"judge": next(iter(names.values()))}
        return {f"judge {name}": value for name, value in sorted(names.items())}

    @property
    def missing_keys(self) -> Mapping[str, str]:
        """Judge → environment variable of its key, where that isn't set."""
        return {judge.model: judge.target.missing_key for judge in self.all if judge.target.missing_key}


def make_judges(
    needs: JudgeNeeds,
    loaded: LoadedConfig,
    env: Mapping[str, str],
    tested: Iterable[str] = (),
    asker: Asker | None = None,
) -> Judges:
    """The judges of a suite whose targets are `tested`. Raises `InputError` for a judge that there is none of."""
    settings = loaded.config.judge
    found: dict[str | None, Judge] = {}
    made: dict[str, Judge] = {}
    for own in dict.fromkeys(needs.own):
        choice = choose(own, settings, env, default=needs.default)
        if choice is None:
            continue
        if choice.model not in made:
            made[choice.model] = make_judge(choice, loaded, env, asker)
        found[own] = made[choice.model]
    return Judges(found, settings or JudgeConfig(), _warnings(list(made), tested))


def make_judge(choice: Choice, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None = None) -> Judge:
    """The judge of this name, with the configuration's votes and cache. Raises `InputError` when there is none."""
    settings = loaded.config.judge or JudgeConfig()
    target = _target(choice, loaded, env, asker)
    cache = None if choice.model.startswith(RECORDED) else make_cache(loaded, env)
    return Judge(target, settings.votes, cache)


def _target(choice: Choice, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None) -> Target:
    problem = judge_name_problem(choice.model)
    if problem is not None:
        where = "judge.model" if choice.by == "config" else choice.by
        raise wrong(loaded.file, f"the judge {choice.model[:80]!r} {problem[0]}", problem[1], field=where)
    if choice.model.startswith(RECORDED):
        return load_recorded(choice.model.removeprefix(RECORDED), loaded)
    return make_target(choice.model, loaded, env, asker)


def make_cache(loaded: LoadedConfig, env: Mapping[str, str]) -> JudgeCache | None:
    """The cache of answers. Where a base judges, nothing of the checkout may answer for a judge: only a folder that
    the environment names outside of it.
    """
    redaction = Redaction(env, loaded.config.key_names)
    outside = env.get(CACHE_VARIABLE, "").strip()
    if outside:
        folder = Path(outside)
        below = folder.resolve().is_relative_to(loaded.root.resolve())
        return JudgeCache(folder, redaction) if folder.is_absolute() and not (below and loaded.base_file) else None
    path = (loaded.config.judge or JudgeConfig(cache=DEFAULT_CACHE)).cache
    if path == "off" or loaded.base_file is not None:
        return None
    _refuse_links(loaded, path)
    return JudgeCache(loaded.root / path, redaction)


def _refuse_links(loaded: LoadedConfig, path: str) -> None:
    """Answers are read from the cache's folder and written there: no link may lead either elsewhere."""
    try:
        kind_inside(loaded.root, path)
    except InputError as error:
        raise wrong(loaded.file, why(error), "Remove the link, or name another folder.", field="judge.cache") from None
    except OSError:
        return  # nothing can be read there, so nothing is kept


def unchanged_in_base(loaded: LoadedConfig, path: str) -> bool:
    """Whether the base that judges has this file as it is here; true where no base judges.

    What a file itself says about its judge counts only then.
    """
    if loaded.base_file is None:
        return True
    try:
        return loaded.base_file(path) == read_inside(loaded.root, path)
    except (OSError, InputError):
        return False


def _warnings(judges: Sequence[str], tested: Iterable[str]) -> list[str]:
    targets = list(tested)
    warnings = [
        f"The judge {judge} is also tested ({target}): a model that judges itself is biased. Choose another judge."
        for judge in judges
        for target in targets
        if same_model(judge, target)
    ]
    warnings += [
        f"The judge {judge} is a recording: it doesn't read what it judges."
        for judge in judges
        if judge.startswith(RECORDED)
    ]
    return warnings
