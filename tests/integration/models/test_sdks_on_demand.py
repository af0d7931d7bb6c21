"""The real SDKs, loaded by the names that we take: in processes of their own, where nothing else has imported them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

MODULES = {"anthropic": "anthropic", "openai": "openai_client"}
OURS = """
from evalward.targets.models import {module}
from evalward.targets.models.settings import LiveSettings, Secret

client = {module}.make_client(LiveSettings("{sdk}", "some-model", "https://h/v1", None), Secret("key"))
"""
COUNTED = """
import json, sys
print(json.dumps(sum(name.split(".")[0] == "{sdk}" for name in sys.modules)))
"""
NAMES = """
import inspect, json, {sdk}
def named(value):
    return f"{{value.__module__}}.{{value.__qualname__}}" if inspect.isclass(value) else type(value).__name__
print(json.dumps({{name: named(getattr({sdk}, name)) for name in {sdk}.__all__}}))
"""


def answered(*parts: str, sdk: str) -> Any:
    """What a process prints that runs these parts."""
    script = "".join(parts).format(sdk=sdk, module=MODULES[sdk])
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("sdk", MODULES)
def test_a_client_takes_less_than_half_of_its_sdk(sdk: str) -> None:
    whole = answered("import {sdk}", COUNTED, sdk=sdk)
    assert answered(OURS, COUNTED, sdk=sdk) < whole / 2


@pytest.mark.parametrize("sdk", MODULES)
def test_all_of_an_sdk_is_still_there_for_who_asks(sdk: str) -> None:
    assert answered(OURS, NAMES, sdk=sdk) == answered(NAMES, sdk=sdk)


def test_what_openai_makes_when_it_is_first_used_is_there() -> None:
    """Its module needs what the package itself has after it."""
    made = "import json, openai; print(json.dumps([type(openai.chat).__name__, type(openai.responses).__name__]))"
    assert answered(OURS, made, sdk="openai") == ["ChatProxy", "ResponsesProxy"]


@pytest.mark.parametrize(("sdk", "resource"), [("anthropic", "messages.batches"), ("openai", "chat.completions")])
def test_resources_of_a_client_are_still_there(sdk: str, resource: str) -> None:
    shown = f"import json; print(json.dumps(type(client.{resource}).__name__))"
    assert answered(OURS, shown, sdk=sdk).startswith("Async")
