"""The verdict as a badge."""

from __future__ import annotations

from evalward.render.badge import badge
from evalward.render.outputs.base import BADGE_FILE, OutputFormat, Writer

BADGE = OutputFormat("badge", judgement=Writer(lambda shown: badge(shown.judgement.verdict), BADGE_FILE))
