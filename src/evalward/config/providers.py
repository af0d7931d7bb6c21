"""What the configuration says about the providers of models. Keys never stand in it: `key_env` names a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import Field, create_model

from evalward.records.base import StrictRecord
from evalward.records.providers import PROVIDERS

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Text = Annotated[str, Field(min_length=1)]
UsdPerMillion = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_NO_TEMPERATURE = ", ".join(name for name, row in PROVIDERS.items() if not row.temperature)
_CACHE_MARKS = ", ".join(name for name, row in PROVIDERS.items() if row.cache_marks)
UrlText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": "^https?://"})]
VariableText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})]


class ModelPrice(StrictRecord):
    """What a model costs, in USD per million tokens. Without a price for the cache, turns that use it cost unknown."""

    input: UsdPerMillion = Field(description="Uncached input tokens")
    output: UsdPerMillion = Field(description="Output tokens, including reasoning")
    cache_read: UsdPerMillion | None = Field(default=None, description="Input tokens read from the cache")
    cache_write: UsdPerMillion | None = Field(default=None, description="Input tokens written to the cache")


class ModelSettings(StrictRecord):
    """How a model is asked. What is not set is left to the provider."""

    max_tokens: int | None = Field(
        default=None, ge=1, le=10_000_000, description="Most tokens of one answer, including reasoning"
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, allow_inf_nan=False, description=f"Sampling temperature; not for {_NO_TEMPERATURE}"
    )
    reasoning_effort: Effort | None = Field(default=None, description="How long the model thinks before it answers")
    timeout_s: float | None = Field(
        default=None, gt=0, le=3600, allow_inf_nan=False, description="Seconds allowed for one answer, default 300"
    )
    stream: bool | None = Field(default=None, description="Receive answers piece by piece, default false")
    prompt_cache: bool | None = Field(
        default=None,
        description=f"Ask for prompt caching where it saves; only for {_CACHE_MARKS}, "
        "default true at the provider's own address",
    )


class Provider(ModelSettings):
    """How one provider is asked. With a `base_url` of one's own, only a key that `key_env` names is sent there."""

    base_url: UrlText | None = Field(default=None, description="Address of the API instead of the provider's own")
    headers: dict[Text, str] = Field(default={}, description="More HTTP headers; don't put keys here")
    key_env: VariableText | None = Field(default=None, description="Environment variable that holds the key")
    concurrency: int | None = Field(default=None, ge=1, le=1000, description="Most concurrent requests; default 8")
    prices: dict[Text, ModelPrice] = Field(default={}, description="Prices by model, instead of Evalward's own")
    models: dict[Text, ModelSettings] = Field(default={}, description="Other settings for single models, by name")

    def settings_for(self, model: str) -> ModelSettings:
        """The settings of a model: its own, and the provider's where it has none."""
        own = self.models.get(model, ModelSettings())
        names = ModelSettings.model_fields
        chosen = {name: getattr(self if getattr(own, name) is None else own, name) for name in names}
        return ModelSettings.model_construct(**chosen)


class _Providers(StrictRecord):
    """The providers by name; the target `openai/NAME` is asked as `openai` says."""

    @property
    def key_names(self) -> frozenset[str]:
        """The variables that are named for keys: what they hold is secret whatever they are called."""
        return frozenset(name for each in PROVIDERS if (name := self.named(each).key_env))

    def named(self, name: str) -> Provider:
        """The provider of this name; `KeyError` when there is none."""
        return cast(Provider, getattr(self, _attribute(PROVIDERS[name].name)))

    def at_once(self, most: Callable[[int | None], int]) -> Self:
        """The same with another `concurrency` of each provider: `most` of what is set now."""
        names = {_attribute(PROVIDERS[name].name): self.named(name) for name in PROVIDERS}
        limited = {
            name: given.model_copy(update={"concurrency": most(given.concurrency)}) for name, given in names.items()
        }
        return self.model_copy(update=limited)


def _attribute(provider: str) -> str:
    return provider.replace("-", "_")


def _entry(provider: str) -> Any:
    """The key of one provider: type and field."""
    alias = provider if _attribute(provider) != provider else None
    return Provider, Field(default=Provider(), alias=alias, description=PROVIDERS[provider].about)


if TYPE_CHECKING:
    Providers = _Providers
else:
    _FIELDS = {_attribute(name): _entry(name) for name in PROVIDERS}
    Providers = create_model("Providers", __base__=_Providers, __doc__=_Providers.__doc__, **_FIELDS)
