"""`program:NAME` is a stranger's code: it runs behind walls, sees no secret, and leaves nothing running."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from evalward.config.load import parse_config
from evalward.records.case import Case
from evalward.records.target_id import target_id
from evalward.sandbox.process.probe import Layers
from evalward.targets.base import NoAnswerError, Request
from evalward.targets.context import TargetContext
from evalward.targets.failures import Cause, TargetError
from evalward.targets.programs import ProgramTarget, load_program
from support.processes import processes
from support.sandboxes import use, walls_named

pytestmark = pytest.mark.cold

CONFIG = """
version: 1
suites:
  - {name: commands, kind: command, cases: evals/*.yaml, targets: ["program:mine"]}
programs:
  mine: {command: [./assistant, "{prompt}"], timeout_s: 20NETWORK}
"""
SECRET = "canary-3f9a17c2"


@pytest.fixture
def checkout() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="evalward-checkout-"))
    for name in (".git/config", "vendor/lib/.git/config", "evals/cases.yaml"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(SECRET)
    (folder / "notes.txt").write_text("readable")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def target(folder: Path, script: str, network: str = "") -> ProgramTarget:
    (folder / "assistant").write_text(script)
    (folder / "assistant").chmod(0o755)
    text = CONFIG.replace("NETWORK", network)
    loaded = parse_config(text, "evalward.yml", folder)
    return load_program(target_id("program:mine"), TargetContext(loaded, {"PATH": os.environ["PATH"], "KEY": SECRET}))


class Asked:
    """A case with a prompt."""

    def written(self) -> dict[str, Any]:
        return {"prompt": "x"}


def said(program: ProgramTarget) -> str:
    case: Case = Asked()  # type: ignore[assignment]
    reply = asyncio.run(program.open(case, 1).send(Request("", ())))
    (block,) = reply.message.content
    return str(getattr(block, "text", ""))


def test_it_finds_its_folder_and_neither_keys_nor_answers(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    thief = f"""#!/bin/sh
cat notes.txt
for file in /proc/{os.getpid()}/environ /proc/1/environ .git/config vendor/lib/.git/config evals/cases.yaml; do
  cat $file 2>/dev/null
done
env
touch new 2>/dev/null && echo wrote
true
"""
    found = said(target(checkout, thief))
    assert found.startswith("readable")
    assert SECRET not in found
    assert "wrote" not in found
    assert not (checkout / "new").exists()


def test_nothing_that_it_leaves_outlives_the_call(checkout: Path) -> None:
    mark = f"31{uuid4().int}"
    daemon = f"#!/bin/sh\nsetsid sleep {mark} >/dev/null 2>&1 </dev/null &\necho up\n"
    assert said(target(checkout, daemon)) == "up\n"
    assert processes(mark) == []


def test_every_call_has_a_home_of_its_own(checkout: Path) -> None:
    program = target(
        checkout, "#!/bin/sh\nls -A $HOME; echo left > $HOME/left; ls -A .. | wc -l >/dev/null\necho end\n"
    )
    assert said(program) == "end\n"
    assert said(program) == "end\n"


def test_the_network_is_open_only_where_it_is_asked_for(checkout: Path) -> None:
    assert target(checkout, "").settings.network == "none"
    assert target(checkout, "", ", network: open").settings.network == "open"


def test_a_workflow_without_all_walls_starts_nothing(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Layers(own_user=False))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with pytest.raises(TargetError, match="next to the keys") as caught:
        said(target(checkout, "#!/bin/sh\necho ran\n"))
    assert caught.value.cause is Cause.SANDBOX


def test_with_landlock_alone_it_works_too(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, walls_named("own user, Landlock"))
    found = said(target(checkout, "#!/bin/sh\ncat notes.txt .git/config evals/cases.yaml 2>/dev/null; true\n"))
    assert found == "readable"


def test_a_link_that_leads_out_of_the_repository_is_no_program(checkout: Path) -> None:
    from evalward.records.problem import InputError

    program = checkout / "assistant"
    program.symlink_to(sys.executable)
    loaded = parse_config(CONFIG.replace("NETWORK", ""), "evalward.yml", checkout)
    with pytest.raises(InputError, match="is a symbolic link"):
        load_program(target_id("program:mine"), TargetContext(loaded, {"PATH": os.environ["PATH"]}))


def test_what_it_does_wrong_is_its_own_failure(checkout: Path) -> None:
    for script, message in (
        ("#!/bin/sh\necho broke >&2; exit 3\n", "exit code 3: broke"),
        ("#!/nowhere/interpreter\n", "could not be started"),
        ("#!/bin/sh\nkill -9 $$\n", "exit code 137"),
    ):
        with pytest.raises(NoAnswerError, match=message):
            said(target(checkout, script))
