"""Commands of other harnesses as the keeper starts them: real processes in a folder of the test's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalward.config import Config, HarnessSuite
from evalward.keeper.harness import Harnesses
from evalward.redaction import Redaction
from evalward.wire.messages import HarnessDone, HarnessOrder

KEY = "key-0123456789abcdef"
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
PYTHON = sys.executable


def harness_suite(name: str = "s", **keys: Any) -> HarnessSuite:
    """A suite of no kind of ours, as far as its commands go."""
    whole = {"name": name, "kind": "external", "cases": "c", "targets": ["t"], "results": "out/*.json", **keys}
    return HarnessSuite.model_validate(whole)


def config_of(*suites: HarnessSuite) -> Config:
    """A configuration of these suites."""
    return Config(version=1, suites=list(suites))


def python(code: str, *arguments: str) -> list[str]:
    """The words of a program in Python."""
    return [PYTHON, "-c", code, *arguments]


@dataclass
class Bench:
    """A keeper's side that runs commands in `folder`, and what it said to people."""

    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)
    withheld: Mapping[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    names: frozenset[str] = frozenset()

    def harnesses(self, **keys: Any) -> Harnesses:
        """Who runs the commands of a suite `s` with these keys."""
        env = {**ENV, **self.env}
        redaction = Redaction(env, self.names)
        config = config_of(harness_suite(**keys))
        return Harnesses(config, str(self.folder), env, self.said.append, redaction, self.withheld)

    def run(self, user: int | None = None, order: HarnessOrder | None = None, **keys: Any) -> HarnessDone:
        """Run `run` of such a suite, or what is ordered."""
        return self.harnesses(**keys).run(order or HarnessOrder(suite="s"), user)
