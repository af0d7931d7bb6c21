"""What a shard left goes through an archive unchanged, and an archive brings nothing else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from evalward.cluster import packing
from evalward.cluster.packing import PackingError, packed, unpacked


def archive(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return buffer.getvalue()


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shard(folder: Path, **more: bytes) -> dict[str, bytes]:
    kept = {"report.json": b"{}", "trials/a/b.1.json": b"[1]", "artifacts/a/b.1/out.bin": bytes(range(256))}
    for name, data in {**kept, **more}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return kept


def test_report_trials_and_artifacts__arrive_as_they_were(tmp_path: Path) -> None:
    kept = shard(tmp_path / "part", **{"report.html": b"<html>", "report.md": b"#"})
    unpacked(packed(tmp_path / "part"), tmp_path / "back")
    assert files(tmp_path / "back") == kept


def test_links_in_what_a_shard_left__are_not_followed(tmp_path: Path) -> None:
    kept = shard(tmp_path / "part")
    (tmp_path / "secret").write_text("secret", "utf-8")
    (tmp_path / "part" / "trials" / "link.json").symlink_to(tmp_path / "secret")
    unpacked(packed(tmp_path / "part"), tmp_path / "back")
    assert files(tmp_path / "back") == kept


@pytest.mark.parametrize(
    "name",
    [
        *("../report.json", "/tmp/report.json", "trials/../../x.json", "trials//x.json", "trials/./x.json", "trials/"),
        *("report.html", "judgement.json", "artifacts", "x"),
    ],
)
def test_an_archive__brings_only_what_a_shard_leaves(tmp_path: Path, name: str) -> None:
    with pytest.raises(PackingError):
        unpacked(archive(**{name: b"x"}), tmp_path / "back")
    assert {path.name for path in tmp_path.rglob("*")} <= {"back", "trials"}


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no archive", archive(**{"report.json": b"x" * 999})[:-30]])
def test_what_is_no_archive__is_said(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(PackingError, match="can't be unpacked"):
        unpacked(data, tmp_path / "back")


def test_a_name_that_comes_twice__is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("report.json", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("report.json", b"2")
    with pytest.raises((PackingError, FileExistsError)):
        unpacked(buffer.getvalue(), tmp_path / "back")


def test_an_archive_that_grows_without_end__is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_BYTES", 1000)
    bomb = archive(**{"report.json": bytes(1_000_000)})
    with pytest.raises(PackingError, match="too large"):
        unpacked(bomb, tmp_path / "back")
    assert not files(tmp_path)


def test_many_files_or_bytes__are_refused_where_they_are_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard(tmp_path / "part")
    monkeypatch.setattr(packing, "MOST_FILES", 2)
    with pytest.raises(PackingError, match="too large"):
        packed(tmp_path / "part")
    monkeypatch.setattr(packing, "MOST_FILES", 3)
    monkeypatch.setattr(packing, "MOST_BYTES", 100)
    with pytest.raises(PackingError, match="too large"):
        packed(tmp_path / "part")
