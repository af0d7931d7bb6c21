"""The records themselves, for programs."""

from __future__ import annotations

from evalward.records.base import Record
from evalward.records.release import ReleaseReport
from evalward.records.report import REPORT_FILE, Reports
from evalward.render.outputs.base import JUDGEMENT_FILE, RELEASE_FILE, OutputFormat, ShownReports, Writer
from evalward.render.sentences import with_sentences


def _reports(shown: ShownReports) -> Record:
    if len(shown.reports) == 1:
        return shown.reports[0]
    return Reports(reports=list(shown.reports), findings=list(shown.findings or ()))


def _spoken(found: ReleaseReport) -> ReleaseReport:
    """The report with the sentences of both judgements."""
    tag = found.against_tag
    update = {"against_branch": with_sentences(found.against_branch), "against_tag": tag and with_sentences(tag)}
    return found.model_copy(update=update)


JSON = OutputFormat(
    "json",
    judgement=Writer.of_record(lambda shown: with_sentences(shown.judgement), JUDGEMENT_FILE),
    reports=Writer.of_record(_reports, REPORT_FILE),
    release=Writer.of_record(lambda shown: _spoken(shown.found), RELEASE_FILE),
)
