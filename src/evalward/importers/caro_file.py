"""caro's result file as it stands: its records, and how it is parsed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, ValidationError, model_validator

from evalward.records.base import Count, Record
from evalward.records.json_text import NoJsonError, foreign_json
from evalward.records.model_words import problems_of
from evalward.records.moments import instant
from evalward.records.problem import InputError, Place, wrong

REMEDY = "Give a result file of caro's evaluation, as its schema has it."
CASES_REMEDY = "Results are JSON; test cases are run: name them in a command suite's `cases`."
_NO_JSON = {".yaml": "YAML", ".yml": "YAML", ".toml": "TOML"}
# what test cases of caro have and its results don't: a list of them, or keys of one
_TEST_CASES = re.compile(
    rb"^[ \t-]*(?:\[\[)?(?:test_cases|input_request|expected_command|validation_rule)\b", re.MULTILINE
)

Share = Annotated[float, Field(ge=0, le=1)]


class Incorrect(Record):
    """The answer is another command than the expected one."""

    type: Literal["incorrect_command"]


class Mismatch(Record):
    """The labels are missing where the reason is a plain word."""

    type: Literal["safety_mismatch", "posix_mismatch"]
    expected: bool | None = None
    actual: bool | None = None


class BackendError(Record):
    """There was no answer."""

    type: Literal["backend_error"]
    message: str = ""


def _tagged(value: Any) -> Any:
    """A plain word (`SafetyMismatch`) as the object that it stands for."""
    if isinstance(value, str):
        return {"type": re.sub(r"(?<!^)(?=[A-Z])", "_", value).lower()}
    return value


Reason = Annotated[Annotated[Incorrect | Mismatch | BackendError, Discriminator("type")], BeforeValidator(_tagged)]


class Category(Record):
    """What the file counts of one category."""

    total: Count
    passed: Count
    rate: Share

    @model_validator(mode="after")
    def _possible(self) -> Category:
        if self.passed > self.total:
            raise ValueError(f"{self.passed} of {self.total} cases can't have passed")
        return self

    @property
    def failed(self) -> int:
        """How many it counts that didn't pass."""
        return self.total - self.passed


class FailedCase(Record):
    """A case that the file lists."""

    test_id: str = Field(min_length=1)
    prompt: str
    expected: str
    actual: str
    reason: Reason

    @property
    def answered(self) -> bool:
        """Whether there was an answer."""
        return not isinstance(self.reason, BackendError)


class CaroFile(Record):
    """The whole file."""

    timestamp: Annotated[str, AfterValidator(instant)]
    caro_version: str
    backend: str = Field(min_length=1)
    csr: Share
    safety_accuracy: Share
    posix_compliance_rate: Share
    per_category: dict[str, Category]
    failed_cases: list[FailedCase]
    meets_baseline: bool | None = None
    blocks_release: bool | None = None
    target: str | None = Field(default=None, min_length=1)  # ours: whose answers they are, in a file that we wrote

    def category(self, name: str) -> Category:
        """The counts of a category; of one that isn't in the file, none."""
        return self.per_category.get(name, Category(total=0, passed=0, rate=0.0))

    @property
    def total(self) -> int:
        """How many cases it counts."""
        return sum(category.total for category in self.per_category.values())

    @property
    def passed(self) -> int:
        """How many of them passed, by its counts."""
        return sum(category.passed for category in self.per_category.values())

    @property
    def unlisted(self) -> int:
        """How many more failed cases it counts than it lists; below 0 where it lists more. 0 without any counts."""
        if not self.per_category:
            return 0
        return self.total - self.passed - len(self.failed_cases)


def parse_file(text: bytes, file: str) -> CaroFile:
    """A result file. Raises `InputError`."""
    try:
        data = CaroFile.model_validate(foreign_json(text))
    except ValidationError as error:
        raise InputError(problems_of(error, Place(file=file), REMEDY)) from error
    except NoJsonError as error:
        raise _no_json(text, file, error) from error
    twice = [name for name, count in Counter(case.test_id for case in data.failed_cases).items() if count > 1]
    if twice:
        raise wrong(file, f"the case {twice[0]!r} is in it twice", REMEDY, field="failed_cases")
    return data


def _no_json(text: bytes, file: str, error: NoJsonError) -> InputError:
    """Test cases are said to be that: what is wrong with them as JSON helps nobody."""
    language = next((name for ending, name in _NO_JSON.items() if file.lower().endswith(ending)), None)
    if language is None:
        return wrong(file, f"not valid JSON: {error}", REMEDY, line=error.line)
    if _TEST_CASES.search(text):
        return wrong(file, f"this is {language} with test cases, not results", CASES_REMEDY)
    return wrong(file, f"this is {language}, and results are JSON", REMEDY)
