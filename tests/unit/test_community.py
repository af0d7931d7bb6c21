"""What GitHub shows to those who come: valid by its own schemas, and with links that lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward import __version__

ROOT = Path(__file__).resolve().parents[2]
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
PAGES = ("SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_OURS = "https://github.com/evalward/evalward/blob/main/"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-issue-forms", ["bug.yml", "feature.yml"]),
        ("vendor.github-issue-config", ["config.yml"]),
        ("vendor.citation-file-format", ["../../CITATION.cff"]),
    ],
)
def test_they_are_what_github_reads(schema: str, files: list[str]) -> None:
    paths = [str(FORMS / name) for name in files]
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, "--force-filetype", "yaml", *paths]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_form_is_checked() -> None:
    assert {path.name for path in FORMS.iterdir()} == {"bug.yml", "feature.yml", "config.yml"}


def test_a_bug_report_asks_for_doctor() -> None:
    fields = {field["id"]: field for field in read(FORMS / "bug.yml")["body"]}
    assert "`evalward doctor`" in fields["doctor"]["attributes"]["description"]
    assert fields["doctor"]["validations"]["required"]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = [link.removeprefix(_OURS) for link in _LINK.findall((ROOT / page).read_text("utf-8"))]
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_the_version_stands_in_one_place() -> None:
    """In the package. What would need a second one has none: the citation, and the image's file."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert 'dynamic = ["version"]' in text
    assert 'path = "src/evalward/__init__.py"' in text
    assert "version" not in read(ROOT / "CITATION.cff")
    assert __version__ not in (ROOT / "Dockerfile").read_text("utf-8")
