"""How an answer is sampled: what a request and the configuration's settings say, as far as a model takes it."""

from __future__ import annotations

from collections.abc import Mapping

from evalward.records.providers import PROVIDERS
from evalward.targets.base import Request
from evalward.targets.models.openai_client import reasons
from evalward.targets.models.settings import LiveSettings


def takes_sampling(provider: str, model: str) -> bool:
    """Whether a model takes `temperature` and `top_p`; providers refuse them for models that reason."""
    return PROVIDERS[provider].temperature and not reasons(model)


def sampling_of(request: Request, settings: LiveSettings) -> Mapping[str, float]:
    """`temperature` and `top_p` that are sent. A request's own come before the settings, where the model takes them."""
    taken = takes_sampling(settings.provider, settings.model)
    own = {"temperature": request.temperature, "top_p": request.top_p} if taken else {}
    found = {"temperature": settings.temperature, **{name: value for name, value in own.items() if value is not None}}
    return {name: value for name, value in found.items() if value is not None}


def most_tokens(request: Request, settings: LiveSettings) -> int | None:
    """The most tokens of an answer: the smaller of the two bounds, `None` without any."""
    return min((most for most in (request.max_tokens, settings.max_tokens) if most is not None), default=None)
