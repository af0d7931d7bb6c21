"""Where a key may go from the command line: not wherever the branch says that happens to be checked out.

In the action the base says it. Here somebody may have checked out a stranger's branch, whose configuration names a host
of its own. So a host counts that is the provider's own, this machine, named by the configuration of the default branch,
or named in the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from evalward.commands.default_branch import default_config
from evalward.config import LoadedConfig
from evalward.config.providers import Providers
from evalward.records.problem import InputError, Place, Problem
from evalward.records.providers import PROVIDERS

VARIABLE = "EVALWARD_HOSTS"


def refuse_foreign_hosts(loaded: LoadedConfig, env: Mapping[str, str]) -> None:
    """Raises `InputError` where a key that is set would go to a host that nobody but the checkout names."""
    foreign = {name: host for name, host in _hosts(loaded.config.providers, env).items() if not _is_here(host)}
    if not foreign:
        return
    known = {host.strip() for host in env.get(VARIABLE, "").split(",")} | _of_default_branch(loaded, env)
    problems = [
        Problem(
            place=Place(file=loaded.file),
            field=f"providers.{name}.base_url",
            message=f"a key would go to {host}, which only this checkout names",
            remedy=f"If that is meant, set {VARIABLE}={host}.",
        )
        for name, host in foreign.items()
        if host not in known
    ]
    if problems:
        raise InputError(problems)


def _hosts(providers: Providers, env: Mapping[str, str]) -> dict[str, str]:
    """The hosts instead of the providers' own that get a key of `env`, by provider."""
    found = {}
    for name in PROVIDERS:
        given = providers.named(name)
        if given.base_url and given.key_env and env.get(given.key_env, "").strip():
            found[name] = urlsplit(given.base_url).netloc.rpartition("@")[2]
    return found


def _is_here(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _of_default_branch(loaded: LoadedConfig, env: Mapping[str, str]) -> set[str]:
    """The hosts that the default branch's configuration names; none where there is no such thing."""
    config = default_config(loaded, env)
    if config is None:
        return set()
    urls = [config.providers.named(name).base_url for name in PROVIDERS]
    return {urlsplit(url).netloc.rpartition("@")[2] for url in urls if url}
