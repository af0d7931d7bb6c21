"""Other tools' result files: read as reports, written for whoever reads them today. One file per format."""

from __future__ import annotations

from evalward.importers.base import (
    Exporter,
    Imported,
    Importer,
    SourceFile,
    batch_importer,
    exporter_named,
    importer_named,
    known_exporters,
    known_importers,
    read_files,
)

__all__ = [
    "Exporter",
    "Imported",
    "Importer",
    "SourceFile",
    "batch_importer",
    "exporter_named",
    "importer_named",
    "known_exporters",
    "known_importers",
    "read_files",
]
