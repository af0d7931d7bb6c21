"""What can be added to Evalward, and where each part lies: ours by name below, others' by their entry points.

A distribution adds a kind of suite, an importer or an exporter by an entry point of the group; nothing else
of ours knows one by its name. A part is loaded when it is used, so that what is installed costs nothing until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

KINDS, IMPORTERS, EXPORTERS = "evalward.kinds", "evalward.importers", "evalward.exporters"

_OURS: Mapping[str, Mapping[str, str]] = {
    KINDS: {
        "bash": "evalward.suites.bash:BASH",
        "command": "evalward.suites.command:COMMAND",
        "scenario": "evalward.suites.scenario:SCENARIO",
        "speedup": "evalward.suites.speedup.kind:SPEEDUP",
    },
    IMPORTERS: {
        "bashkit-eval": "evalward.importers.bashkit_eval:read",
        "caro": "evalward.importers.caro:read",
        "llm-tool-test": "evalward.importers.llm_tool_test:read",
        "fc-eval": "evalward.importers.fc_eval:FC_EVAL",
    },
    EXPORTERS: {
        "bashkit-eval": "evalward.importers.bashkit_eval:write",
        "caro": "evalward.importers.caro_export:write",
        "fc-eval": "evalward.importers.fc_eval_export:write",
    },
}


def ours(group: str) -> Mapping[str, str]:
    """Name → `module:attribute` of our own parts of a group; asks nothing of the distributions that are installed."""
    return _OURS[group]


@cache
def installed(group: str) -> Mapping[str, str]:
    """Name → `module:attribute` of every part of a group; ours first, and no other takes one of our names."""
    ours = dict(_OURS[group])
    others = {point.name: point.value for point in entry_points(group=group)}
    return MappingProxyType(ours | others | ours)


@cache
def load(group: str, name: str) -> Any:
    """The part of this name. Raises `KeyError` when there is none, and whatever its own module raises."""
    module, _, attribute = installed(group)[name].partition(":")
    return getattr(import_module(module), attribute)
