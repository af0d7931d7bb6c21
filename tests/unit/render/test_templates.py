"""Templates are found in the checkout and in the package, and let nothing out unescaped."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader, UndefinedError

from evalward import packaged
from evalward.render import templates
from evalward.render.compiled import Compiled
from evalward.render.html import document
from evalward.starter import plan as starter

STARTER = "init/"
"""The folder of what `evalward init` writes: files of users, which are no pages."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of our layout, somewhere else."""
    module = tmp_path / "src" / "evalward" / "packaged.py"
    module.parent.mkdir(parents=True)
    monkeypatch.setattr(packaged, "__file__", str(module))
    return tmp_path


def test_folder__checkout_first(folder: Path) -> None:
    (folder / "templates").mkdir()
    (folder / "pyproject.toml").touch()

    assert templates.template_folder() == folder / "templates"


def test_folder__else_the_package(folder: Path) -> None:
    (folder / "templates").mkdir()  # without a pyproject beside it these are not ours

    assert templates.template_folder() == folder / "src" / "evalward" / "templates"


def test_every_template__compiles() -> None:
    made = {templates.MARKDOWN_SUFFIX: templates.environment(), document.SUFFIX: document.environment()}
    names = made[document.SUFFIX].list_templates()
    first = [name.removeprefix(STARTER) for name in names if name.startswith(STARTER)]

    assert names
    assert first
    for name in first:
        starter.environment().get_template(name)
    for name in (name for name in names if not name.startswith(STARTER)):
        (environment,) = [each for suffix, each in made.items() if name.endswith(suffix)]
        environment.get_template(name)


def test_what_no_filter_saw__is_escaped() -> None:
    template = templates.environment().from_string("{{ text }} {{ number }} {{ text | code }}")

    assert template.render(text="*@x*", number=3) == "`*@x*` 3 `*@x*`"


def test_a_missing_value__is_an_error() -> None:
    with pytest.raises(UndefinedError):
        templates.environment().from_string("{{ nothing }}").render()


def test_importing_the_renderers__loads_neither_jinja_nor_tabulate() -> None:
    import subprocess
    import sys

    code = (
        "import sys, evalward.render.markdown, evalward.render.terminal;"
        "print(sorted({'jinja2', 'tabulate', 'yaml', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytecode is kept, whatever the tests' own environment says of it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def compiled_in(folder: Path) -> Environment:
    """An environment that keeps what it compiles."""
    kept = Compiled(folder / "__pycache__", [folder / "filters"])
    return Environment(loader=FileSystemLoader(folder), bytecode_cache=kept)


@pytest.mark.usefixtures("keeping")
def test_a_compiled_template__is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "filters").touch()
    (tmp_path / "a.j2").write_text("one {{ 1 }}")
    compiled_in(tmp_path).get_template("a.j2")
    again = compiled_in(tmp_path)
    monkeypatch.setattr(again, "compile", None)  # would be called

    assert again.get_template("a.j2").render() == "one 1"


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize("changed", ["source", "filters", "jinja"])
def test_a_compiled_template__is_as_new_as_what_it_was_made_of(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "filters").touch()
    (tmp_path / "a.j2").write_text("one")
    compiled_in(tmp_path).get_template("a.j2")
    before = next(tmp_path.glob("__pycache__/*")).read_bytes()
    if changed == "source":
        (tmp_path / "a.j2").write_text("two")
    elif changed == "filters":
        (tmp_path / "filters").write_text("other")
    else:
        monkeypatch.setattr("jinja2.__version__", "0")

    assert compiled_in(tmp_path).get_template("a.j2").render() == ("two" if changed == "source" else "one")
    assert next(tmp_path.glob("__pycache__/*")).read_bytes() != before


@pytest.mark.usefixtures("keeping")
def test_where_nothing_can_be_kept__templates_work(tmp_path: Path) -> None:
    (tmp_path / "filters").touch()
    (tmp_path / "a.j2").write_text("one")
    (tmp_path / "__pycache__").touch()  # no folder can be made here

    assert compiled_in(tmp_path).get_template("a.j2").render() == "one"
