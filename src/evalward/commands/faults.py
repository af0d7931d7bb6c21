"""Our own faults: a traceback in a log file, one sentence for people."""

from __future__ import annotations

import tempfile
import traceback

from evalward.redaction import NOTHING, Redaction
from evalward.wire.errors import RunnerGoneError


def internal_error(error: Exception, redaction: Redaction = NOTHING) -> str:
    """Write the log, without secrets; the sentence that names it. A runner that was killed leaves none."""
    if isinstance(error, RunnerGoneError) and not error.said:
        return (
            f"The process that runs the suites ended unexpectedly ({error.how}), perhaps for want of memory. "
            "Finished trials are kept: go on with --resume, or run it again."
        )
    text = redaction.known("".join(traceback.format_exception(error)))
    try:
        with tempfile.NamedTemporaryFile("wb", prefix="evalward-", suffix=".log", delete=False) as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as why:
        return f"internal error: {type(error).__name__}. Please report it; no log could be written: {why.strerror}."
    name = type(error).__name__
    return f"internal error: {name}. Please report it with the log {file.name}, and with what `evalward doctor` says."
