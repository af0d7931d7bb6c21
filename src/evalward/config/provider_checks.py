"""What has to fit in `providers:`. Values that could be keys are never repeated in a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args
from urllib.parse import urlsplit

from evalward.config.providers import Effort
from evalward.config.reading import get, items, suites, target_ids, texts
from evalward.config.words import KeyPath, Value
from evalward.config.yaml_positions import Mistake
from evalward.records.providers import PROVIDERS
from evalward.records.target_id import target_id
from evalward.records.words import near_or_known, one_line, shown

USE_KEY_ENV = "Put the key into an environment variable and name that in key_env."
MODEL_LIMIT = 200

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET_HEADER = re.compile(r"authorization|api-?_?key|cookie|secret|password|(^|[-_])(token|auth|key)($|[-_])", re.I)
_KEY_LIKE = re.compile(r"\b(bearer|basic)\s|\b(sk|pk|rk|gh[a-z]|xox[a-z]|hf)[-_][A-Za-z0-9_-]{8,}", re.I)


def check_providers(config: Value) -> Iterator[Mistake]:
    """Every mistake in `providers:` that concerns more than the shape of one value."""
    providers = get(config, "providers")
    for name in PROVIDERS:
        provider = get(providers, name)
        if isinstance(provider, dict):
            yield from _provider(name, provider, _models_of(config, name))


def model_name_problem(name: str) -> str | None:
    """Why this can't be the name of a provider's model; `None` when it can."""
    if not name:
        return "doesn't name its model"
    if len(name) > MODEL_LIMIT or not name.isprintable() or any(char.isspace() for char in name):
        return "has a model name that can't be one"
    return None


def _models_of(config: Value, provider: str) -> list[str]:
    """The models of a provider that the suites' targets name, by themselves or as an agent's, and the judge."""
    targets = [target for path, suite in suites(config) for _, target in target_ids(suite, *path)]
    agents = [model for _, agent in items(get(config, "agents")) for _, model in texts(get(agent, "model"))]
    targets += [judge for _, judge in texts(get(get(config, "judge"), "model"))]
    return [parsed.model for parsed in map(target_id, [*targets, *agents]) if parsed.provider == provider]


def _provider(name: str, provider: Value, models: list[str]) -> Iterator[Mistake]:
    path = ("providers", name)
    yield from _base_url((*path, "base_url"), get(provider, "base_url"))
    yield from _key_env((*path, "key_env"), get(provider, "key_env"))
    for place, value in items(get(provider, "headers"), *path, "headers"):
        yield from _header(place, value)
    yield from _settings(path, name, provider)
    for place, settings in items(get(provider, "models"), *path, "models"):
        yield from _settings(place, name, settings)
        model = str(place[-1])
        if model not in models:
            known = near_or_known(model, models, "Models") if models else "Remove it, or add the target."
            yield Mistake(place, f"no suite has the target {shown(f'{name}/{model}')}", known)


def is_key_name(name: str) -> bool:
    """Whether a key of the configuration is called like something secret: `api_key`, `token`."""
    return _SECRET_HEADER.search(name) is not None


def _base_url(place: KeyPath, url: Value) -> Iterator[Mistake]:
    if not isinstance(url, str):
        return
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port  # reading the port may fail, too
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        yield Mistake(place, "the address has a user, a password or a query in it", USE_KEY_ENV)
    elif parts.scheme not in {"http", "https"} or not host or port == 0 or not url.isprintable() or " " in url:
        yield Mistake(place, f"{shown(url)} is not a web address", "Write it like https://llm.example.com/v1.")


def _key_env(place: KeyPath, variable: Value) -> Iterator[Mistake]:
    if isinstance(variable, str) and variable and not _VARIABLE.fullmatch(variable):
        remedy = "Write the variable's name, like LITELLM_KEY, without $ and never the key itself."
        yield Mistake(place, "this is not the name of an environment variable", remedy)


def _header(place: KeyPath, value: Value) -> Iterator[Mistake]:
    name = str(place[-1])
    if not _HEADER.fullmatch(name):
        yield Mistake(place, f"{shown(name)} is not the name of an HTTP header", "Use letters, digits and -.")
    elif _SECRET_HEADER.search(name) or (isinstance(value, str) and _KEY_LIKE.search(value)):
        yield Mistake(place, f"the header {one_line(name)} would hold a key", USE_KEY_ENV)
    elif isinstance(value, str) and not (value.isascii() and value.isprintable()):
        yield Mistake(place, f"the header {one_line(name)} has a character that can't be sent", "Use ASCII only.")


def _settings(path: KeyPath, provider: str, settings: Value) -> Iterator[Mistake]:
    row = PROVIDERS[provider]
    if not row.temperature and get(settings, "temperature") is not None:
        remedy = "Remove it, or use a gateway with OpenAI's protocol."
        yield Mistake((*path, "temperature"), f"{row.maker}'s API no longer has a temperature", remedy)
    if not row.cache_marks and get(settings, "prompt_cache") is not None:
        yield Mistake((*path, "prompt_cache"), f"{row.maker}'s API caches prompts by itself", "Remove it.")
    effort = get(settings, "reasoning_effort")
    if effort in row.refused_efforts:
        *most, last = (each for each in get_args(Effort) if each not in row.refused_efforts)
        known = f"Write {', '.join(most)} or {last}, or remove the key."
        yield Mistake((*path, "reasoning_effort"), f"{row.maker}'s API has no effort {shown(str(effort))}", known)
