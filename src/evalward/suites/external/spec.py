"""Suites of another harness's results, as the configuration has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from evalward.config.fields import SomeTexts, Text, TextList
from evalward.config.harness import HarnessSuite
from evalward.config.reading import get, items, texts
from evalward.config.targets import SomeTargets
from evalward.config.words import KeyPath, Value
from evalward.records.base import StrictRecord
from evalward.records.words import near_or_known, shown
from evalward.registry import FORMATS, has, installed
from evalward.suites.external.choice import Bounds, ScoreChoice

if TYPE_CHECKING:
    from evalward.config.yaml_positions import Mistake

_OURS = {
    "cases": "The harness has the cases: name its result files in results.",
    "targets": "The files say who is evaluated; where they don't, write target: NAME.",
    "system": "The harness has the prompts.",
}


class ScoreBounds(StrictRecord):
    """What a score has to be to pass, both ends included."""

    least: float | None = Field(default=None, alias="min", description="The least that passes")
    most: float | None = Field(default=None, alias="max", description="The most that passes")


class ExternalSuite(HarnessSuite):
    """Results that another harness measures: its files are read, and judged as ours are."""

    file_keys: ClassVar[Sequence[str]] = ("results",)

    of_base: ClassVar[Sequence[str]] = (*HarnessSuite.of_base, "format", "score", "lower_is_better", "target", "pool")

    kind: Literal["external"] = Field(description="The family of evaluation")
    cases: list[Text] = Field(default=[], max_length=0)
    listed: SomeTargets | list[Any] = Field(default=[], alias="targets", max_length=0)
    system: None = None
    format: Text | None = Field(default=None, description="The format of its files; else found by their content")
    results: SomeTexts = Field(description="Its result files, or folders of them; patterns such as logs/*.eval")
    score: Text | dict[Text, float | ScoreBounds] | None = Field(
        default=None,
        description="What decides whether a trial passed: a scorer by its name, or the least of scores by their names; "
        "else the harness's own verdict",
    )
    lower_is_better: TextList = Field(default=[], description="Scores of which less is better")
    target: Text | None = Field(default=None, description="What is evaluated, if the files don't say")
    pool: bool = Field(
        default=False,
        description="Several runs of the harness are counted together, as further trials; else they are refused",
    )

    @property
    def choice(self) -> ScoreChoice:
        """What decides whether a trial passed."""
        if not isinstance(self.score, dict):
            return ScoreChoice(self.score)
        limits = {
            name: Bounds(given.least, given.most)
            if isinstance(given, ScoreBounds)
            else Bounds(most=given)
            if name in self.lower_is_better
            else Bounds(least=given)
            for name, given in self.score.items()
        }
        return ScoreChoice(bounds=limits)

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """What belongs to the harness isn't said here; formats have names; a bound has an end."""
        from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

        yield from super().mistakes(suite, path)
        for key, remedy in _OURS.items():
            if get(suite, key) is not None:
                yield Mistake((*path, key), f"suites of kind external have no {key}", remedy)
        if get(suite, "trials") is not None and "{trials}" not in str(get(suite, "run")):
            yield Mistake((*path, "trials"), "no harness is asked for so many trials", "Write {trials} into run.")
        form = get(suite, "format")
        if isinstance(form, str) and form and not has(FORMATS, form):
            message = f"there is no format {shown(form)}"
            yield Mistake((*path, "format"), message, near_or_known(form, installed(FORMATS), "Formats"))
        for place, bounds in items(get(suite, "score"), *path, "score"):
            if isinstance(bounds, float) and not isfinite(bounds):
                yield Mistake(place, f"no score is at least {bounds}", "Write a finite number.")
            if isinstance(bounds, dict) and not bounds:
                yield Mistake(place, "this bound has no end", "Write min, max or both.")
            least, most = get(bounds, "min"), get(bounds, "max")
            if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
                yield Mistake(place, f"no score is at least {least} and at most {most}", "Turn the two round.")
        if get(suite, "score") == {}:
            yield Mistake((*path, "score"), "it names no score", "Name one, or leave the key out.")

    @classmethod
    def falling(cls, suite: Value) -> Sequence[str]:
        """The scorers where less is better."""
        from evalward.suites.pooling import SCORE  # noqa: PLC0415 - metrics, for a configuration that has rules

        return [SCORE + name for _, name in texts(get(suite, "lower_is_better"))]

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema without what a harness has and this suite hasn't."""
        found = handler(schema)
        properties = handler.resolve_ref_schema(found)["properties"]
        for key in _OURS:
            properties.pop(key, None)
        return found
