"""The records themselves, for programs."""

from __future__ import annotations

from evalward.records.base import json_text
from evalward.records.report import REPORT_FILE, Reports
from evalward.render.outputs.base import JUDGEMENT_FILE, RELEASE_FILE, OutputFormat, ShownReports, Writer
from evalward.render.sentences import dump_judgement


def _reports(shown: ShownReports) -> str:
    if len(shown.reports) == 1:
        return json_text(shown.reports[0])
    return json_text(Reports(reports=list(shown.reports), findings=list(shown.findings or ())))


JSON = OutputFormat(
    "json",
    judgement=Writer(lambda shown: dump_judgement(shown.judgement), JUDGEMENT_FILE),
    reports=Writer(_reports, REPORT_FILE),
    release=Writer(lambda shown: json_text(shown.found), RELEASE_FILE),
)
