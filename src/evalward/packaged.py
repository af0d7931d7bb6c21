"""Folders that lie at the top of the repository and come with the package: templates, and the demo's example."""

from __future__ import annotations

from pathlib import Path


def packaged(name: str) -> Path:
    """The folder of the checkout that this file is part of, else its copy in the installed package."""
    package = Path(__file__).resolve().parent
    checkout = package.parent.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    return package / name
