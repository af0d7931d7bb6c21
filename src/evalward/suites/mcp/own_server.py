"""The tools of a suite's own server: read from its snapshot, or listed by the server itself."""

from __future__ import annotations

from evalward.config import LoadedConfig
from evalward.records.base import clean_text
from evalward.records.problem import Problem
from evalward.records.trace import Trace
from evalward.sandbox.base import SandboxError
from evalward.suites.base import TrialBrokenError
from evalward.suites.mcp.catalogue import Catalogue, read_catalogue
from evalward.suites.mcp.spec import McpSuite

NOT_LISTED = "server_not_listed"
"""The reason of trials whose server never listed its tools: nothing can be said of a model then."""
_REMEDY = "Start it by hand to see what is wrong; `evalward mcp snapshot` tries it alone."


def load_own(spec: McpSuite, config: LoadedConfig) -> Catalogue | Problem:
    """The tools of the suite's server; the problem of one that lists none, which makes all its trials errors.

    Blocking: a server is started or reached, and ended. Raises `InputError` for a wrong snapshot, program or folder.
    """
    if spec.server.snapshot is not None:
        return read_catalogue(config.root, spec.server.snapshot, spec.server.name)
    from evalward.suites.mcp.server.failures import ServerError  # noqa: PLC0415 - a snapshot needs no server
    from evalward.suites.mcp.server.listing import listed  # noqa: PLC0415
    from evalward.suites.mcp.server.place import place_of  # noqa: PLC0415
    from evalward.suites.mcp.server.traffic import bounds_for  # noqa: PLC0415

    place = place_of(spec, config)
    try:
        found = listed(place, bounds_for(spec.timeout_s))
    except (ServerError, SandboxError) as error:
        return _unlisted(spec, config, f"the server didn't list its tools: {clean_text(str(error))}")
    if not found.tools:
        return _unlisted(spec, config, "the server lists no tools")
    return found if spec.server.name is None else found.model_copy(update={"server": spec.server.name})


def _unlisted(spec: McpSuite, config: LoadedConfig, message: str) -> Problem:
    from evalward.suites.mcp.server.place import at_server  # noqa: PLC0415

    place, field = at_server(spec, config)
    return Problem(place=place, field=field, message=message, remedy=_REMEDY)


def walls_of(spec: McpSuite) -> list[str]:
    """What has to be said of the walls around a program. Raises `SandboxError` where that can't be known."""
    if spec.server.command is None:
        return []
    from evalward.sandbox.process import available  # noqa: PLC0415 - only a program has walls
    from evalward.suites.isolation import shortcomings  # noqa: PLC0415

    return shortcomings(spec, available(), "servers")


def refuse_unlisted(unlisted: Problem | None) -> None:
    """Raises `TrialBrokenError` where the suite's server listed no tools."""
    if unlisted is not None:
        raise TrialBrokenError(Trace(), NOT_LISTED, unlisted.message)
