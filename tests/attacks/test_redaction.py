"""Keys reach no file and no line: they are taken out when something is written, not at a run's good end."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from urllib.parse import quote, quote_plus

import markupsafe
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalward.cli import guarded
from evalward.commands.check import check
from evalward.commands.emitting import emit
from evalward.commands.exchange import export_file, import_files
from evalward.commands.options import CheckOptions
from evalward.commands.release import ReleaseOptions, release
from evalward.commands.report import show_reports
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.records.problem import wrong
from evalward.redaction import REDACTED, Redaction
from evalward.suites.judge.cache import JudgeCache
from support.git_repo import commit, init, write_files
from support.pages import unpacked

pytestmark = pytest.mark.cold

KEY = "canary/0123456789+not=usual"
CONFIG = """\
version: 1
suites:
  - {name: tools, kind: bash, cases: cases.jsonl, targets: [oracle]}
providers: {openai: {key_env: ACCESS_TO_THE_MODEL}}
policy: [{metric: pass_rate, floor: 0.9}]
"""
PACKED = re.compile(rb'<script type="application/json" class="texts">"([^"]*)"</script>')
FORMS = {
    "plain": KEY,
    "in a URL": quote(KEY, safe=""),
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "as a password of basic authentication": base64.b64encode(f"user:{KEY}".encode()).decode(),
}


def case(name: str) -> str:
    """A task whose run prints the key in every form, as a server might that sends back what it was asked with."""
    lines = "; ".join(f"echo '{form}'" for form in FORMS.values())
    checks = [{"check": "stdout_contains:never"}, {"check": f"stdout_contains:{KEY}"}]
    task = {
        "id": name,
        "category": "c",
        "prompt": KEY,
        "expectations": checks,
        "solution": f"{lines}; echo '{KEY}' >&2",
    }
    return json.dumps(task) + "\n"


def leaks(data: bytes) -> list[str]:
    """The forms that are found, of base64 the part that any text before the key leaves as it is; packed texts, too."""
    data += "\n".join(text for block in PACKED.findall(data) for text in unpacked(block.decode())).encode()
    parts = {name: form for name, form in FORMS.items() if name != "as a password of basic authentication"}
    parts["as a password of basic authentication"] = FORMS["as a password of basic authentication"][10:-4]
    return [name for name, form in parts.items() if form.encode() in data]


def left(folder: Path) -> dict[str, list[str]]:
    """Every file below a folder that holds the key."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): found for path in files if (found := leaks(path.read_bytes()))}


def world(variable: str = "ACCESS_TO_THE_MODEL") -> World:
    return World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env={variable: KEY})


def said(of: World) -> bytes:
    assert isinstance(of.out, StringIO)
    assert isinstance(of.err, StringIO)
    return (of.out.getvalue() + of.err.getvalue()).encode()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkout"
    write_files(folder, {"evalward.yml": CONFIG, "cases.jsonl": case("one") + case("two")})
    monkeypatch.chdir(folder)
    return folder


COMMANDS: dict[str, Callable[[World], int]] = {
    "run": lambda w: run(w, RunOptions(Path("evalward.yml"), Path("out"), verbose=True)),
    "run --record": lambda w: run(w, RunOptions(Path("evalward.yml"), Path("out"), record=Path("out2"))),
    "check": lambda w: check(w, CheckOptions(Path("evalward.yml"), Path("out"))),
}


@pytest.mark.parametrize("variable", ["ACCESS_TO_THE_MODEL", "SOME_TOKEN"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_leaves_and_says_no_key(command: str, variable: str, checkout: Path) -> None:
    here = world(variable)
    COMMANDS[command](here)
    (checkout / "cases.jsonl").unlink()  # the only file that had it
    assert left(checkout) == {}
    assert leaks(said(here)) == []
    assert REDACTED in (checkout / "out" / "report.json").read_text()
    assert REDACTED in (checkout / "out" / "report.html").read_text()
    assert len(list((checkout / "out" / "trials").rglob("*.json"))) == 2


def test_reports_that_hold_a_key_are_not_passed_on(checkout: Path) -> None:
    """A report that was made where the key was not known."""
    run(World(out=StringIO(), err=StringIO(), now=lambda: ""), RunOptions(Path("evalward.yml"), Path("dirty")))
    assert left(checkout / "dirty")
    commit(init(checkout), {})
    here = world("SOME_TOKEN")
    report = Path("dirty/report.json")
    release(here, ReleaseOptions(report, Path("evalward.yml"), Path("out")))
    export_file(here, "bashkit-eval", report, checkout / "out2" / "export.json", target=None)
    import_files(here, "bashkit-eval", [_exported_dirty(report)], checkout / "out3" / "report.json")
    emit(here, f"text {KEY}", None)
    emit(here, f"text {KEY}", checkout / "out4")
    emit_page(here, report, checkout / "out" / "page.html")
    assert "release-report.html" in {path.name for path in (checkout / "out").iterdir()}
    for name in ("out", "out2", "out3"):
        assert list((checkout / name).rglob("*.json"))
        assert left(checkout / name) == {}
    assert (checkout / "out4").read_text() == f"text {REDACTED}"
    assert leaks(said(here)) == []


def emit_page(here: World, report: Path, output: Path) -> None:
    """The page of a report with its trials, some of whose texts are long enough to be packed."""
    for path in (report.parent / "trials").rglob("*.json"):
        path.write_text(path.read_text().replace(KEY, f"{KEY} {'more ' * 2000}"))
    show_reports(here, [report], "html", output, verbose=False)
    assert PACKED.search(output.read_bytes())


def _exported_dirty(report: Path) -> Path:
    silent = World(out=StringIO(), err=StringIO(), now=lambda: "")
    export_file(silent, "bashkit-eval", report, Path("dirty/export.json"), target=None)
    return Path("dirty/export.json")


def test_answers_of_judges_are_kept_without_keys(tmp_path: Path) -> None:
    JudgeCache(tmp_path, Redaction({"A_KEY": KEY})).put(JudgeCache.key("x"), f"it says {KEY}")
    assert left(tmp_path) == {}
    assert JudgeCache(tmp_path).get(JudgeCache.key("x")) == f"it says {REDACTED}"


def test_what_goes_wrong_names_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistake(_: World) -> int:
        raise wrong("file", f"holds {KEY}")

    def fault(_: World) -> int:
        raise RuntimeError(KEY)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    here = world("SOME_TOKEN")
    assert (guarded(here, mistake), guarded(here, fault)) == (2, 3)
    assert leaks(said(here)) == []
    assert len(list(tmp_path.iterdir())) == 1
    assert left(tmp_path) == {}


KILLED = """\
import os, signal
from evalward.cli import main
from evalward.engine.store import Store

keep = Store.keep

def once(self, trial):
    keep(self, trial)
    os.kill(os.getpid(), signal.SIGKILL)

Store.keep = once
main(["{command}", "--output", "out"])
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_run_that_is_killed_after_its_first_trial_leaves_no_key(command: str, checkout: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ACCESS_TO_THE_MODEL": KEY}
    script = KILLED.format(command=command)
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, env=env, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    [trial] = (checkout / "out" / "trials").rglob("*.json")
    assert REDACTED in trial.read_text()
    assert left(checkout / "out") == {}
    assert leaks(done.stdout + done.stderr) == []


# --- forms ------------------------------------------------------------------------------------------------------------

secrets = st.text(st.characters(codec="utf-8"), min_size=8, max_size=40).filter(
    lambda text: len(text.strip()) >= 8 and "\0" not in text
)


@given(secrets, st.binary(max_size=4), st.binary(max_size=4))
@example('a"quote\\and\nline', b"", b"")
@example("p@ss wörd/+=&%", b"a", b"b")
def test_a_key_is_found_in_every_encoding(secret: str, before: bytes, after: bytes) -> None:
    redaction = Redaction({"A_KEY": secret})
    for text in (
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        html.escape(secret),
        str(markupsafe.escape(secret)),
        base64.b64encode(secret.encode()).decode(),
        base64.urlsafe_b64encode(secret.encode()).decode(),
        base64.b64encode(before + secret.encode() + after).decode(),
        base64.urlsafe_b64encode(before + secret.encode() + after).decode(),
    ):
        assert REDACTED in redaction.known(f"<{text}>")
        assert REDACTED.encode() in redaction.data(f"\xff{text}".encode("latin-1", "replace") + text.encode())
        in_json = redaction.json(json.dumps({text: [{"x": text}]}, ensure_ascii=False).encode())
        [(key, value)] = json.loads(in_json).items()
        assert REDACTED in key
        assert REDACTED in value[0]["x"]


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_other_texts_stay_as_they_are(text: str) -> None:
    redaction = Redaction({"A_KEY": KEY})
    whole = json.dumps({"x": text}).encode()
    assert (redaction.known(text), redaction.json(whole), redaction.data(text.encode())) == (text, whole, text.encode())


def test_what_it_costs_is_bounded() -> None:
    redaction = Redaction({f"K{n}_TOKEN": f"{n:04}" * 64 for n in range(50)})
    assert len(redaction._forms) <= 50 * 16
