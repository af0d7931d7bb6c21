"""What must not leave this machine: found by variable, by form, and hidden wherever we write."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from evalward.records.base import Record

SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
LEAST_SECRET = 8  # characters: a shorter value would blank out ordinary words
# Forms in which keys are known to come, whoever wrote them into an answer.
SECRET_FORMS = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abpr]-[\w-]{10,})"
    r"|(?<=Bearer )[\w.~+/-]{16,}=*"
)
REDACTED = "[redacted]"

R = TypeVar("R", bound="Record")


class Redaction:
    """What must not leave this machine: values of secret-looking variables, keys by their form, the home folder.

    `names` are variables that hold a secret whatever they are called. A value is also found as base64, as a part of a
    URL and as a part of a JSON text.
    """

    def __init__(self, env: Mapping[str, str], names: Iterable[str] = ()) -> None:
        known = set(names)
        values = {
            v for k, v in env.items() if (k in known or SECRET_NAMES.search(k.upper())) and len(v) >= LEAST_SECRET
        }
        self.values = sorted(values, key=len, reverse=True)  # a secret that contains another one goes first
        forms = {form for value in values for form in _forms(value)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._bytes = [form.encode("utf-8", "surrogateescape") for form in self._forms]
        self._in_json = [
            json.dumps(form, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape") for form in self._forms
        ]
        home = env.get("HOME", "").rstrip("/")
        self._home = home if home.count("/") >= 1 and home != "/home/eval" else ""  # that one is the virtual shell's

    def text(self, text: str) -> str:
        """The text without them."""
        text = SECRET_FORMS.sub(REDACTED, self.known(text))
        return re.sub(rf"{re.escape(self._home)}(?![\w.-])", "~", text) if self._home else text

    def known(self, text: str) -> str:
        """The text without the values of variables; what only looks like a key stays."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def data(self, data: bytes) -> bytes:
        """Whatever a file holds, without the values of variables."""
        for form in self._bytes:
            data = data.replace(form, REDACTED.encode())
        return data

    def file(self, name: str, text: str) -> bytes:
        """A text as it is written to a file of this name: without the values of variables."""
        return self.json(text.encode()) if name.endswith(".json") else self.known(text).encode()

    def json(self, data: bytes) -> bytes:
        """A JSON text without the values of variables in any string, keys of objects included; else as it was."""
        if not self._in(data):
            return data
        text = data.decode()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self.known(text).encode()
        return json.dumps(_mapped(value, self.known), indent=1, ensure_ascii=False).encode() + b"\n"

    def _in(self, data: bytes) -> bool:
        """Whether one of them is in a JSON text."""
        return any(form in data for form in self._in_json)

    def absent(self, data: bytes) -> bool:
        """True where no value of a variable is in a JSON text. False where its escapes are not those that we write."""
        return not self._in(data) and b"\\u" not in data and b"\\/" not in data

    def value(self, value: Any) -> Any:
        """The JSON value without them, keys of objects included."""
        return _mapped(value, self.text)

    def record(self, record: R) -> R:
        """The record without the values of variables."""
        with suppress(ValueError):  # of a text that can't be written as UTF-8
            if not self._in(record.__pydantic_serializer__.to_json(record, by_alias=True)):
                return record
        return type(record).model_validate(_mapped(record.model_dump(mode="json", by_alias=True), self.known))


NOTHING = Redaction({})
"""Hides nothing but what looks like a key, where even that is asked for."""


def _forms(value: str) -> Iterator[str]:
    """The value as it is, and as encodings write it that programs put keys into."""
    for plain in {value, value.strip()}:
        if len(plain) < LEAST_SECRET:
            continue
        yield plain
        yield quote(plain, errors="surrogateescape")
        yield quote(plain, safe="", errors="surrogateescape")
        yield quote_plus(plain, errors="surrogateescape")
        yield json.dumps(plain)[1:-1]
        yield json.dumps(plain, ensure_ascii=False)[1:-1]
        yield html.escape(plain)
        yield html.escape(plain).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")  # as Jinja writes it
        yield from _in_base64(plain.encode("utf-8", "surrogateescape"))


def _in_base64(value: bytes) -> Iterator[str]:
    """What base64 makes of it, alone and wherever it stands in a longer text: the characters that it alone decides."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(value).decode()
        yield whole
        yield whole.rstrip("=")
        for before in range(3):
            encoded = encode(b"\0" * before + value).decode()
            start = (0, 2, 3)[before]
            end = (before + len(value)) * 8 // 6
            yield encoded[start:end]


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _mapped(item, change) for key, item in value.items()}
    return [_mapped(item, change) for item in value] if isinstance(value, list) else value
