"""Logs of inspect (inspect_ai): `.eval` archives and `.json` documents, whole, cut short or still being written."""

from evalward.suites.external.formats.inspect.format import FORMAT

__all__ = ["FORMAT"]
