"""A pull request that commits links, pipes and huge files wherever a path can be named: nothing is read of them."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from evalward.config.load import load_config
from evalward.records.problem import InputError
from evalward.suites.judge.cache import JudgeCache
from evalward.suites.judge.who import make_cache
from support.checkouts import (
    CANARY,
    FOLDERS,
    RUBRIC,
    SLOTS,
    Checkout,
    clear,
    environments_of_the_processes,
    replace_by_link,
    secret_file,
    sparse,
    write_checkout,
)
from support.git_repo import write_files

FILES = [(kind, slot) for kind, slots in SLOTS.items() for slot in slots]
WITH_FOLDERS = [*FILES, *((kind, slot) for kind, slots in FOLDERS.items() for slot in slots)]
BELOW = [(kind, slot) for kind, slot in WITH_FOLDERS if "/" in slot]
LEFT_OUT = {"patches/p/tiny.patch", "logs/tiny-l.log"}  # found by a pattern: what is no file is no patch
REFUSED = "is a symbolic link, and links are not followed"


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    (tmp_path / "elsewhere").mkdir()
    return Checkout(tmp_path / "checkout", tmp_path / "elsewhere", capsys, monkeypatch)


@pytest.mark.parametrize("kind", SLOTS)
def test_the_checkout_is_sound_without_links(checkout: Checkout, kind: str) -> None:
    write_checkout(checkout.root, kind)
    done = checkout.run("validate", "--no-prove", "evalward.yml")
    assert done.code == 0, done.said


@pytest.mark.parametrize(("kind", "slot"), FILES)
def test_a_link_to_the_environment(checkout: Checkout, kind: str, slot: str) -> None:
    refuses_the_environment(checkout, kind, slot)


@pytest.mark.cold  # with the environment that it was started with
@pytest.mark.parametrize("kind", SLOTS)
def test_a_link_to_the_environment_of_a_runner_as_users_have_it(checkout: Checkout, kind: str) -> None:
    refuses_the_environment(checkout, kind, SLOTS[kind][0])


def refuses_the_environment(checkout: Checkout, kind: str, slot: str) -> None:
    write_checkout(checkout.root, kind)
    replace_by_link(checkout.root / slot, Path("/proc/self/environ"))
    done = checkout.run()
    assert done.code == 2
    assert REFUSED in done.said
    assert Path(slot).name in done.said
    assert not [word for word in environments_of_the_processes() if word in done.said or word.encode() in done.left]


@pytest.mark.parametrize("kind", SLOTS)
def test_links_are_told_by_validate(checkout: Checkout, kind: str) -> None:
    secret = secret_file(checkout.outside / "key")
    for slot in SLOTS[kind]:
        shutil.rmtree(checkout.root, ignore_errors=True)
        write_checkout(checkout.root, kind)
        replace_by_link(checkout.root / slot, secret)
        done = checkout.run("validate", "--no-prove", "evalward.yml")
        assert (done.code, REFUSED in done.said, CANARY in done.said) == (2, True, False), (slot, done.said)


@pytest.mark.parametrize(("kind", "slot"), WITH_FOLDERS)
def test_a_link_to_the_same_thing_elsewhere(checkout: Checkout, kind: str, slot: str) -> None:
    """The rule needs no judgement of where a link leads: a sound file behind one is refused as well."""
    write_checkout(checkout.root, kind)
    place, moved = checkout.root / slot, checkout.outside / Path(slot).name
    if place.exists():
        place.rename(moved)
    else:
        secret_file(moved)
    replace_by_link(place, moved)
    done = checkout.run()
    assert (done.code, REFUSED in done.said) == (2, True), done.said


@pytest.mark.parametrize(("kind", "slot"), BELOW)
def test_a_link_on_the_way(checkout: Checkout, kind: str, slot: str) -> None:
    write_checkout(checkout.root, kind)
    above, moved = checkout.root / Path(slot).parts[0], checkout.outside / "folder"
    if above.exists():
        above.rename(moved)
    else:
        secret_file(moved / Path(slot).name)
    above.symlink_to(moved)
    done = checkout.run()
    assert done.code == 2, done.said
    assert f"{above.name} is a symbolic link, and links are not followed" in done.said
    assert CANARY not in done.said


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
@pytest.mark.parametrize(("kind", "slot"), [one for one in FILES if one[1] not in LEFT_OUT])
def test_what_is_no_file(checkout: Checkout, kind: str, slot: str, what: str) -> None:
    write_checkout(checkout.root, kind)
    place = checkout.root / slot
    place.parent.mkdir(parents=True, exist_ok=True)
    clear(place)
    if what == "pipe":
        os.mkfifo(place)
    elif what == "device":
        _device(place)
    else:
        place.mkdir()
    done = checkout.run()
    assert done.code == 2, done.said
    assert Path(slot).name in done.said or Path(slot).parts[0] in done.said


def _device(place: Path) -> None:
    try:
        os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero: it never ends
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize(("kind", "slot"), [one for one in FILES if not one[1].startswith("programs/")])
def test_what_is_larger_than_any_memory(checkout: Checkout, kind: str, slot: str) -> None:
    """A program is started and not read; all others are refused before they are read."""
    write_checkout(checkout.root, kind)
    place = checkout.root / slot
    place.parent.mkdir(parents=True, exist_ok=True)
    sparse(place)
    place.chmod(0o755)
    words = ("validate", "--no-prove", "evalward.yml") if slot not in LEFT_OUT else ()
    done = checkout.run(*words)
    assert done.code != 0, done.said
    assert Path(slot).name in done.said or Path(slot).parts[0] in done.said


def test_a_configuration_in_a_linked_folder(checkout: Checkout) -> None:
    write_checkout(checkout.outside, "command")
    checkout.root.mkdir()
    (checkout.root / "evals").symlink_to(checkout.outside)
    done = checkout.run("validate", "--no-prove", "evals/evalward.yml")
    assert done.code == 2
    assert "evals is a symbolic link" in done.said


def test_a_history_behind_a_link_is_not_read(checkout: Checkout) -> None:
    """It decides nothing, so it is only a warning; but what is behind the link stays there."""
    write_checkout(checkout.root, "command")
    suite = {"name": "command", "kind": "command", "cases": "command/*.yaml", "targets": ["oracle"]}
    checkout.edit_config(history={"folder": "past"}, suites=[suite])
    secret_file(checkout.outside / "history.jsonl")
    (checkout.root / "past").symlink_to(checkout.outside)
    done = checkout.run()
    assert "past is a symbolic link" in done.said
    assert CANARY not in done.said
    assert CANARY.encode() not in done.left


def test_answers_of_a_judge_are_not_kept_behind_a_link(checkout: Checkout) -> None:
    write_checkout(checkout.root, "command")
    checkout.edit_config(judge={"model": "anthropic/x", "cache": "kept/answers"})
    (checkout.root / "kept").symlink_to(checkout.outside)
    with pytest.raises(InputError, match="kept is a symbolic link"):
        make_cache(load_config(checkout.root / "evalward.yml"), {})


def test_nothing_is_kept_through_links_in_the_folder_of_answers(checkout: Checkout) -> None:
    folder, key = checkout.root / "answers", f"sha256:{'ab' * 32}"
    folder.mkdir(parents=True)
    (folder / "ab").symlink_to(checkout.outside)
    (folder / ".gitignore").symlink_to(checkout.outside / "made")
    cache = JudgeCache(folder)
    cache.put(key, "{}")
    assert list(checkout.outside.iterdir()) == []
    assert cache.get(key) is None
    (folder / "ab").unlink()
    (folder / "ab").mkdir()
    os.mkfifo(folder / "ab" / f"{'ab' * 32}.json")
    assert cache.get(key) is None


@pytest.mark.parametrize("what", ["rubric", "labelled"])
def test_what_a_judge_is_held_against(checkout: Checkout, what: str) -> None:
    write_checkout(checkout.root, "scenario")
    line = {"id": "one", "task": "do it", "transcript": "done", "label": "pass"}
    write_files(checkout.root, {"labelled.jsonl": json.dumps(line) + "\n", "rubric.yaml": RUBRIC})
    place = checkout.root / ("labelled.jsonl" if what == "labelled" else "rubric.yaml")
    replace_by_link(place, secret_file(checkout.outside / "key"))
    done = checkout.run("judge", "check", "rubric.yaml", "labelled.jsonl")
    assert (done.code, REFUSED in done.said, CANARY in done.said) == (2, True, False), done.said


@pytest.mark.parametrize("name", ["prompts/../../elsewhere/key", "/etc/passwd", ".git/config", "./.git/config"])
def test_paths_that_lead_elsewhere_by_their_text(checkout: Checkout, name: str) -> None:
    write_checkout(checkout.root, "bash")
    secret_file(checkout.outside / "key")
    secret_file(checkout.root / ".git" / "config")
    config = (checkout.root / "evalward.yml").read_text("utf-8")
    (checkout.root / "evalward.yml").write_text(config.replace("prompts/bash.md", name))
    done = checkout.run()
    assert done.code == 2
    assert CANARY not in done.said


@pytest.mark.parametrize("place", ["/proc/self", "/sys/kernel"])
def test_the_system_s_own_files_are_no_checkout(checkout: Checkout, place: str) -> None:
    checkout.root.mkdir()
    name = "environ" if "proc" in place else "uevent_seqnum"
    done = checkout.run("validate", f"{place}/{name}")
    assert done.code == 2
    assert "one of the system's" in done.said
