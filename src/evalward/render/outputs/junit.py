"""JUnit XML, for the test pages of CI systems."""

from __future__ import annotations

from evalward.render.junit import junit
from evalward.render.outputs.base import JUNIT_FILE, OutputFormat, Writer

JUNIT = OutputFormat(
    "junit",
    judgement=Writer(lambda shown: junit(shown.judgement.comparison, shown.judgement.verdict), JUNIT_FILE),
    reports=Writer(lambda shown: junit(shown.alone(shown.reports[0])), several=False),
)
