"""The loopback proxy: agents ask their model through it, with a token of one trial instead of the key."""

from evalward.targets.agents.proxy.account import Account, Allowance
from evalward.targets.agents.proxy.server import Proxy

__all__ = ["Account", "Allowance", "Proxy"]
