"""How a model is asked: what the configuration says, resolved; and the key, which nothing shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from evalward.config.model import Config
from evalward.config.providers import Effort, ModelPrice, ModelSettings, Provider
from evalward.records.base import digest
from evalward.records.providers import PROVIDERS, ProviderRow
from evalward.targets.limiter import MOST
from evalward.targets.prices import Price, configured_price, price

TIMEOUT_S = 300.0

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|gh[a-z]|xox[a-z]|hf)[-_][\w*.-]{6,}|\bBearer\s+\S+", re.I)
_HIDDEN = "[key]"


@dataclass(frozen=True)
class LiveSettings:
    """One live target: `provider/model`, and how it is asked.

    `key_env` is the variable of the key, `None` where none is sent: to a `base_url` of one's own goes only a key that
    the configuration names for it. `headers` are names and values; `timeout_s` is for one attempt. `prompt_cache`: the
    provider's cache is asked for where that saves; it changes no answer, so the subject doesn't name it.
    """

    provider: str
    model: str
    base_url: str
    key_env: str | None
    headers: tuple[tuple[str, str], ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    effort: Effort | None = None
    timeout_s: float = TIMEOUT_S
    stream: bool = False
    prompt_cache: bool = False
    concurrency: int = MOST
    price: Price | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        """How configuration and reports call the target."""
        return f"{self.provider}/{self.model}"

    @property
    def subject(self) -> Mapping[str, str]:
        """What can change the model's answers: its name, where it is asked, and the settings as a hash."""
        asked = {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "reasoning_effort": self.effort,
            "headers": [list(pair) for pair in self.headers],
        }
        parts = urlsplit(self.base_url)
        return {"model": self.model, "host": parts.netloc, "settings": digest(asked)}


def settings_of(config: Config, provider: str, model: str) -> LiveSettings:
    """The settings of a target. A price holds for the provider's own host, or where the configuration states it."""
    row, given = PROVIDERS[provider], config.providers.named(provider)
    own = given.settings_for(model)
    stated = given.prices.get(model)
    packaged = price(provider, model) if given.base_url is None else None
    return LiveSettings(
        provider=provider,
        model=model,
        base_url=given.base_url or row.url,
        key_env=given.key_env or (row.key_env if given.base_url is None else None),
        headers=tuple(sorted(given.headers.items())),
        max_tokens=own.max_tokens,
        temperature=own.temperature,
        effort=own.reasoning_effort,
        timeout_s=own.timeout_s or TIMEOUT_S,
        stream=bool(own.stream),
        prompt_cache=_asks_for_cache(row, given, own, stated),
        concurrency=given.concurrency or MOST,
        price=configured_price(stated) if stated else packaged,
    )


def _asks_for_cache(row: ProviderRow, given: Provider, own: ModelSettings, stated: ModelPrice | None) -> bool:
    """Whether requests ask for the provider's cache.

    Not at an address of one's own unless the configuration says so: what answers there may refuse the marks. And never
    at a stated price without the cache's: a turn that used it would have no known cost.
    """
    if not row.cache_marks or (stated is not None and None in (stated.cache_read, stated.cache_write)):
        return False
    return given.base_url is None if own.prompt_cache is None else own.prompt_cache


class Secret:
    """A key. It shows itself in no `repr`, no message and no comparison; `reveal` is for the SDK alone."""

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        self._key = key.strip()  # a line end from a file or a secret store would break the HTTP header

    def __repr__(self) -> str:
        return _HIDDEN

    def __bool__(self) -> bool:
        return bool(self._key)

    @property
    def usable(self) -> bool:
        """Whether it can stand in an HTTP header."""
        return self._key.isascii() and self._key.isprintable() and " " not in self._key

    def reveal(self) -> str:
        """The key itself."""
        return self._key

    def hide(self, text: str) -> str:
        """The text without the key, and without anything else that looks like one."""
        cleaned = text.replace(self._key, _HIDDEN) if self._key else text
        return _KEY_LIKE.sub(_HIDDEN, cleaned)
