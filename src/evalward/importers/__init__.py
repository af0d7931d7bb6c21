"""Other tools' result files: read as reports, written for whoever reads them today. One file per format."""

from __future__ import annotations

from evalward.importers.base import (
    Exported,
    Exporter,
    FileImporter,
    Imported,
    Importer,
    SourceFile,
    batch_importer,
    exporter_named,
    importer_named,
    importers_of,
    knowing_importer,
    known_exporters,
    known_importers,
    read_files,
)

__all__ = [
    "Exported",
    "Exporter",
    "FileImporter",
    "Imported",
    "Importer",
    "SourceFile",
    "batch_importer",
    "exporter_named",
    "importer_named",
    "importers_of",
    "knowing_importer",
    "known_exporters",
    "known_importers",
    "read_files",
]
