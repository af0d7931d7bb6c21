"""What a runner that only plans may ask its keeper for."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

from evalward.commands.planning import SERVED, PlanBasis, announcing
from evalward.config.load import parse_config
from evalward.records.outline import OutlinedCase, OutlinedRun, PlanOutline
from evalward.records.policy import Policy
from support.showing import world_of

CONFIG = """\
version: 1
suites: [{name: s, kind: bash, cases: c.jsonl, targets: [anthropic/m]}]
"""


def announced(run: OutlinedRun, *, quiet: bool = False, **env: str) -> str:
    """What the log of a run begins with."""
    world = replace(world_of(Path()), env=env, quiet=quiet)
    basis = PlanBasis(parse_config(CONFIG, "evalward.yml", Path()), None, Policy(), compares=False)
    announcing(world, basis)(PlanOutline(runs=[run]))
    assert isinstance(world.err, StringIO)
    return world.err.getvalue()


RUN = OutlinedRun(suite="s", kind="bash", target="anthropic/m", trials=1, cases=[OutlinedCase(id="a", trials=1)])


def test_announcing__names_an_address_in_the_environment_that_is_not_asked() -> None:
    said = announced(RUN, ANTHROPIC_BASE_URL="https://llm.example.com", OPENAI_BASE_URL="https://llm.example.com")
    first, *rest = said.splitlines()
    assert first.startswith("note: ANTHROPIC_BASE_URL is set and not used: requests go to https://api.anthropic.com. ")
    assert not any("_BASE_URL" in line for line in rest)


def test_announcing__says_nothing_of_addresses_that_no_request_would_go_to() -> None:
    url = "https://llm.example.com"
    assert "_BASE_URL" not in announced(RUN)
    assert "_BASE_URL" not in announced(RUN.model_copy(update={"free": True}), ANTHROPIC_BASE_URL=url)
    assert "_BASE_URL" not in announced(RUN.model_copy(update={"not_measured": "no key"}), ANTHROPIC_BASE_URL=url)
    judged = RUN.model_copy(update={"free": True, "judges": ["openai/m"]})
    assert "note: OPENAI_BASE_URL is set" in announced(judged, OPENAI_BASE_URL=url)
    assert announced(judged, OPENAI_BASE_URL=url, quiet=True) == ""


def test_planning__no_service_that_spends_starts_or_writes_anything() -> None:
    assert set(SERVED) == {"planned", "unchanged", "find", "say", "close"}
