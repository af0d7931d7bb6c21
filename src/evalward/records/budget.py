"""What a run may use, and what of that is kept until its planned trials are done."""

from __future__ import annotations

from msgspec import Struct

CONFIRM_SHARE = 0.25
"""Of a budget: what is kept for the confirm stage where one may follow."""


class Budget(Struct, frozen=True):
    """What one invocation may use: US dollars, and tokens read and written. `None` is no limit.

    `kept` is the share of both that may not be used yet.
    """

    usd: float | None = None
    tokens: int | None = None
    kept: float = 0.0

    @classmethod
    def planned(cls, usd: float | None, tokens: int | None, *, confirms: bool) -> Budget:
        """A budget for the planned trials. `confirms`: a confirm stage may follow, and keeps its share."""
        return cls(usd, tokens, CONFIRM_SHARE if confirms else 0.0)

    @property
    def whole(self) -> Budget:
        """The same with nothing kept."""
        return Budget(self.usd, self.tokens)

    @property
    def usd_now(self) -> float | None:
        """The dollars that may be used now."""
        return None if self.usd is None else self.usd * (1 - self.kept)

    @property
    def tokens_now(self) -> int | None:
        """The tokens that may be used now: at least one, where any are allowed."""
        return None if self.tokens is None else max(min(1, self.tokens), int(self.tokens * (1 - self.kept)))

    def spent(self, usd: float, tokens: int) -> str | None:
        """Why nothing more may be used now, after so much, if so."""
        if self.usd is not None and self.usd_now is not None and usd >= self.usd_now:
            rest = _REST if usd < self.usd else ""
            return f"budget: ${usd:.4f} of ${self.usd:g} is spent{rest}"
        if self.tokens is not None and self.tokens_now is not None and tokens >= self.tokens_now:
            rest = _REST if tokens < self.tokens else ""
            return f"budget: {tokens:,} of {self.tokens:,} tokens are used{rest}"
        return None


_REST = "; the rest is kept for the confirm stage"
