"""Variants: other guidance for the same task. They change the subject and never the definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalward.config.words import KeyPath
from evalward.config.yaml_positions import Mistake
from evalward.opening import MIB, MOST_TEXT, copy_inside, inside, path_from, read_inside, why
from evalward.records.problem import InputError, wrong
from evalward.records.words import shown
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.fixture import MOST_BYTES, Fixture, FixtureError, is_subject, read_fixture
from evalward.suites.scenario.model import Scenario, Variant


@dataclass(frozen=True)
class Guidance:
    """What a guidance says, in place of the fixture's own. `files`: path in the fixture → content, `None` for none."""

    name: str
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    system: str | None = None


def check_variants(scenario: Scenario, fixture: Fixture, binary: str, root: Path, folder: str) -> Iterator[Mistake]:
    """Files that are missing, that lie outside, or whose place in the fixture isn't under evaluation."""
    for name, variant in scenario.variants.items():
        place: KeyPath = ("variants", name)
        for path, file in variant.files.items():
            if not is_subject(path, binary, scenario.under_test):
                message = f"{shown(path)} is not guidance, so other content would make it another task"
                yield Mistake((*place, "files", path), message, "List it in under_test, or leave it out.")
            if file is None and path not in fixture.files:
                yield Mistake((*place, "files", path), f"the fixture has no {shown(path)} to leave out", "Remove it.")
            if file is not None:
                yield from _readable(root, folder, file, (*place, "files", path))
        if variant.system is not None:
            yield from _readable(root, folder, variant.system, (*place, "system"))


def _readable(root: Path, folder: str, name: str, place: KeyPath) -> Iterator[Mistake]:
    file = path_from(folder, name)
    if file is None:
        yield Mistake(place, f"the path {shown(name)} leads out of the configuration's folder", "Move the file.")
        return
    try:
        with inside(root, file) as found:
            if found.kind != "file":
                yield Mistake(place, f"{shown(name)} is a folder", "Name a file.")
            elif found.size > MOST_TEXT:
                message = f"the file {shown(name)} is larger than {MOST_TEXT // MIB} MiB"
                yield Mistake(place, message, "Guidance is a text that an agent reads.")
    except (FileNotFoundError, NotADirectoryError):
        yield Mistake(place, f"there is no file {shown(name)}", "Paths count from the scenario's folder.")
    except (InputError, OSError) as error:
        yield Mistake(place, why(error), "Name a file of the repository that is not a link.")


def load_variant(case: ScenarioCase, name: str) -> Guidance | None:
    """A scenario's variant of this name; `None` when it has none. Raises `InputError` for a file that can't be read."""
    variant: Variant | None = case.scenario.variants.get(name)
    if variant is None:
        return None
    files = {path: None if file is None else _read(case, file) for path, file in variant.files.items()}
    system = None if variant.system is None else _read(case, variant.system).decode("utf-8", "replace").strip()
    return Guidance(name, files, system)


def _read(case: ScenarioCase, name: str) -> bytes:
    try:
        return read_inside(case.root, path_from(case.folder, name) or name, MOST_TEXT)
    except OSError as error:
        raise wrong(name, f"can't be read: {error.strerror}", "Paths count from the scenario's folder.") from error


def with_guidance(case: ScenarioCase, guidance: Guidance, folder: Path) -> ScenarioCase:
    """The case with other guidance, its fixture a copy in `folder`, which must not exist yet. Its definition is the
    same. Raises `InputError` where a link would lead out of the copy.
    """
    copy_inside(case.fixture, ".", folder, MOST_BYTES)
    for path, content in guidance.files.items():
        _put(folder, path, content)
    try:
        fixture = read_fixture(folder, case.tool.binary, case.scenario.under_test)
    except FixtureError as error:  # an absolute link, which leads to the original
        raise wrong(str(case.place), str(error), "Let links in the fixture be relative.") from error
    return case.model_copy(
        update={
            "fixture": folder,
            "guidance": fixture.guidance,
            "tool_files": fixture.tool,
            "variant": guidance.name,
            "system": case.system if guidance.system is None else guidance.system,
        }
    )


def _put(folder: Path, path: str, content: bytes | None) -> None:
    file = folder / path
    if not file.parent.resolve().is_relative_to(folder.resolve()):
        raise wrong(path, "a link in the fixture leads out of it", "Make it a folder.")
    mode = file.stat().st_mode if file.is_file() and not file.is_symlink() else None
    file.unlink(missing_ok=True)
    if content is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    if mode is not None:
        file.chmod(mode & 0o777)
