"""action.yml, the settings, the outputs and docs/action-reference.md say the same."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.github.runner_files import OUTPUT_NAMES
from evalward.github.settings import INPUT_NAMES, ActionInputs, read_settings

ROOT = Path(__file__).resolve().parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
REFERENCE = (ROOT / "docs" / "action-reference.md").read_text("utf-8")


def test_inputs__are_the_settings() -> None:
    assert tuple(ACTION["inputs"]) == INPUT_NAMES


def test_inputs__defaults_are_the_settings_defaults() -> None:
    defaults = {f"INPUT_{name.upper()}": item["default"] for name, item in ACTION["inputs"].items()}
    assert defaults.pop("INPUT_GITHUB-TOKEN") == "${{ github.token }}"

    assert read_settings(defaults) == ActionInputs()
    assert all(field.default is not MISSING for field in fields(ActionInputs))


def test_outputs__are_those_that_are_written() -> None:
    assert tuple(ACTION["outputs"]) == OUTPUT_NAMES


def test_inputs_and_outputs__are_described() -> None:
    for item in [*ACTION["inputs"].values(), *ACTION["outputs"].values()]:
        assert item["description"].endswith(".")


def test_runs__the_dockerfile() -> None:
    assert ACTION["runs"] == {"using": "docker", "image": "Dockerfile"}
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    words = {line.split(" ", 1)[0] for line in dockerfile[dockerfile.index("FROM python:3.12-slim${BASE_DIGEST}") :]}
    [entry] = [json.loads(line.removeprefix("ENTRYPOINT ")) for line in dockerfile if line.startswith("ENTRYPOINT ")]
    assert entry == ["/usr/local/bin/python3", "-I", "-u", "-X", "utf8", "-m", "evalward", "action"]
    assert not words & {"USER", "WORKDIR"}, "the runner's mounts ask for root and set the folder"


@pytest.mark.parametrize("name", [*INPUT_NAMES, *OUTPUT_NAMES])
def test_the_reference__has_every_input_and_output(name: str) -> None:
    assert re.search(rf"^\|[^|]*`{name}`", REFERENCE, re.MULTILINE)


def test_runs__what_is_locked_and_nothing_else() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    installs = re.findall(r"pip install (.*?)(?:&&|$)", dockerfile, re.MULTILINE)
    assert 'locked="--no-deps --no-build-isolation --require-hashes"' in dockerfile
    assert len(installs) == 3
    assert [words for words in installs if "$locked " not in words] == [installs[-1]]
    assert {"--no-deps", "--no-build-isolation", "."} <= set(installs[-1].split()), "Evalward itself, from this folder"
    assert len(re.findall(r"^FROM python:3\.12-slim\$\{BASE_DIGEST\}", dockerfile, re.MULTILINE)) == 2
