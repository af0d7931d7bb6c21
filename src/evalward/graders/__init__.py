"""A user's own check of a trial: what it is given, and what it answers. See docs/graders.md.

This is all that a grader needs to import, and it loads nothing but the standard library.
"""

from evalward.graders.record import Call, Grade, Graded

__all__ = ["Call", "Grade", "Graded"]
