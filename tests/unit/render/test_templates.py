"""Templates are found in the checkout and in the package, and let nothing out unescaped."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from evalward.render import templates


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of our layout, somewhere else."""
    module = tmp_path / "src" / "evalward" / "render" / "templates.py"
    module.parent.mkdir(parents=True)
    monkeypatch.setattr(templates, "__file__", str(module))
    return tmp_path


def test_folder__checkout_first(folder: Path) -> None:
    (folder / "templates").mkdir()
    (folder / "pyproject.toml").touch()

    assert templates.template_folder() == folder / "templates"


def test_folder__else_the_package(folder: Path) -> None:
    (folder / "templates").mkdir()  # without a pyproject beside it these are not ours

    assert templates.template_folder() == folder / "src" / "evalward" / "templates"


def test_every_template__compiles() -> None:
    environment = templates._environment()

    assert environment.list_templates()
    for name in environment.list_templates():
        environment.get_template(name)


def test_what_no_filter_saw__is_escaped() -> None:
    template = templates._environment().from_string("{{ text }} {{ number }} {{ text | code }}")

    assert template.render(text="*@x*", number=3) == "`*@x*` 3 `*@x*`"


def test_a_missing_value__is_an_error() -> None:
    with pytest.raises(UndefinedError):
        templates._environment().from_string("{{ nothing }}").render()


def test_importing_the_renderers__loads_neither_jinja_nor_tabulate() -> None:
    import subprocess
    import sys

    code = (
        "import sys, evalward.render.markdown, evalward.render.terminal;"
        "print(sorted({'jinja2', 'tabulate', 'yaml', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
