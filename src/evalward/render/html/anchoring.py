"""Which element of the page is the place of a case: the first that shows it, and no other."""

from __future__ import annotations

from msgspec import Struct, field

from evalward.render.anchors import case_anchor


class AnchorBook(Struct):
    """Gives each case's anchor away once: an id stands in a document once."""

    taken: set[str] = field(default_factory=set)

    def take(self, suite: str, target: str, case: str) -> str:
        """The id for an element, empty where another element has it."""
        anchor = case_anchor(suite, target, case)
        if anchor in self.taken:
            return ""
        self.taken.add(anchor)
        return anchor
