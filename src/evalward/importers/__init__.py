"""Other tools' result files: read as reports, written for whoever reads them today. One file per format."""

from __future__ import annotations

from evalward.importers.base import Exporter, Imported, Importer, exporter_named, importer_named, known_exporters
from evalward.importers.base import known_importers as known_importers
from evalward.importers.base import read_files as read_files

__all__ = [
    "Exporter",
    "Imported",
    "Importer",
    "exporter_named",
    "importer_named",
    "known_exporters",
    "known_importers",
    "read_files",
]
