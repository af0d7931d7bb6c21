"""What is said of the walls, and when commands are refused."""

from __future__ import annotations

import resource
from dataclasses import replace

import pytest

from evalward.sandbox.process import Isolation, SandboxLimits, WorkspaceSettings, refusal
from evalward.sandbox.process.probe import Layers
from evalward.sandbox.process.users import passwd_with

NOTHING = Layers().isolation("none")
FULL = Layers(own_user=True, landlock=True, filtered=True).isolation("open")
IN_ACTIONS = {"GITHUB_ACTIONS": "true"}


@pytest.mark.parametrize(
    ("layers", "level"),
    [
        (Layers(own_user=True, namespaces=True, network=True), "full"),
        (Layers(namespaces=True), "full"),
        (Layers(own_user=True, landlock=True), "full"),
        (Layers(own_user=True), "partial"),
        (Layers(landlock=True), "partial"),
        (Layers(), "none"),
    ],
)
def test_levels(layers: Layers, level: str) -> None:
    assert layers.isolation("open").level == level


def test_the_network_that_is_told_is_the_one_in_force() -> None:
    assert Layers(namespaces=True, network=True).isolation("loopback").network == "loopback"
    assert Layers(namespaces=True).isolation("none").network == "open"


def test_words() -> None:
    assert NOTHING.words() == "no isolation, network open"
    walls = Layers(own_user=True, namespaces=True, network=True).isolation("none").words()
    means = "own user, own process and mount namespace, own network namespace"
    assert walls == f"full isolation ({means}), network off"

    container = replace(FULL, sockets=("/run/docker.sock",))
    means = "own user, Landlock, filtered system calls"
    assert container.words() == f"partial isolation ({means}), network open, /run/docker.sock open"


def test_a_refusal_says_what_was_tried() -> None:
    tried = Layers(landlock=True, note="no own process and mount namespace: not permitted").isolation("open")
    told = refusal(tried, WorkspaceSettings(), IN_ACTIONS)
    assert told is not None
    assert "with partial isolation (Landlock), network open only" in told
    assert "not permitted" in told


@pytest.mark.parametrize(
    ("isolation", "settings", "env", "refused"),
    [
        (NOTHING, WorkspaceSettings(), IN_ACTIONS, True),
        (NOTHING, WorkspaceSettings(allow_unisolated=True), IN_ACTIONS, False),
        (NOTHING, WorkspaceSettings(), {}, False),
        (Layers(own_user=True).isolation("open"), WorkspaceSettings(), IN_ACTIONS, True),
        (Layers(landlock=True).isolation("open"), WorkspaceSettings(), IN_ACTIONS, True),
        (Layers(landlock=True).isolation("open"), WorkspaceSettings(allow_unisolated=True), IN_ACTIONS, False),
        (Layers(landlock=True).isolation("open"), WorkspaceSettings(), {}, False),
        (FULL, WorkspaceSettings(), IN_ACTIONS, False),
        (replace(FULL, sockets=("/run/docker.sock",)), WorkspaceSettings(), IN_ACTIONS, True),
    ],
)
def test_refusal(isolation: Isolation, settings: WorkspaceSettings, env: dict[str, str], refused: bool) -> None:
    assert (refusal(isolation, settings, env) is not None) == refused


def test_the_number_of_processes_is_bounded_only_where_it_counts_nobody_elses() -> None:
    assert [resource.RLIMIT_NPROC, 256] in SandboxLimits().resource_limits(processes=True)
    assert resource.RLIMIT_NPROC not in [kind for kind, _ in SandboxLimits().resource_limits(processes=False)]
    unbounded = SandboxLimits(memory_mb=None).resource_limits(processes=True)
    assert resource.RLIMIT_DATA not in [kind for kind, _ in unbounded]


def test_the_commands_user_has_a_name() -> None:
    from pathlib import Path

    assert passwd_with(61000, Path("/h")).splitlines()[-1] == "eval:x:61000:61000::/h:/bin/sh"
