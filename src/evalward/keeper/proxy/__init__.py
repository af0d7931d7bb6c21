"""The loopback proxy: agents ask their model through it, with a token of one trial instead of the key."""

from evalward.keeper.proxy.account import Allowance, TrialAccount
from evalward.keeper.proxy.server import Proxy

__all__ = ["Allowance", "Proxy", "TrialAccount"]
