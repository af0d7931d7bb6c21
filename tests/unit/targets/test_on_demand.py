"""An SDK loaded by the names that are asked for, on a made-up one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from evalward.targets.models.on_demand import load_on_demand

FILES = {
    "__init__.py": """
from . import types
from ._client import Client as Client, Stream
from ._version import __version__
from .lib import *
MARK = "whole"
setting = None
def started(): return MARK
from ._proxies import proxy as proxy
""",
    "_proxies.py": "from . import started\nproxy = started()\n",
    "_client.py": (
        "from . import _errors\nfrom .types import Message\nclass Client: message = Message\nclass Stream: pass\n"
    ),
    "_errors.py": "class Broken(Exception): pass\n",
    "_version.py": "__version__ = '1.2'\n",
    "types/__init__.py": (
        '"""Types."""\nfrom __future__ import annotations\n'
        "from .message import Message as Message\nfrom .usage import (Usage as Usage, _Hidden)\n"
        "from .beta import Beta as B\n"
        "__all__ = ['Message', 'Usage']\n"
    ),
    "types/message.py": "class Message: pass\n",
    "types/usage.py": "class Usage: pass\nclass _Hidden: pass\n",
    "types/beta/__init__.py": "from .beta import Beta\n",
    "types/beta/beta.py": "class Beta: pass\n",
    "lib/__init__.py": "from .extra import Extra\n",
    "lib/extra.py": "class Extra: pass\n",
    "busy/__init__.py": "from .work import Work\nREADY = True\n",
    "busy/work.py": "class Work: pass\n",
    "run/__init__.py": "from .run import run\n",
    "run/run.py": "def run(): pass\n",
    "_vendor/__init__.py": "from .fast import Fast, Faster\n",
    "_vendor/fast.py": "class Fast: pass\n",
}


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What the made-up SDK is called; it is forgotten afterwards."""
    name, finders = "made_up_sdk", list(sys.meta_path)
    for path, text in FILES.items():
        file = tmp_path / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.meta_path[:] = finders
    for each in loaded(name):
        del sys.modules[each]


def loaded(name: str) -> set[str]:
    return {each for each in sys.modules if each == name or each.startswith(f"{name}.")}


def below(name: str, *modules: str) -> set[str]:
    return {name, *(f"{name}.{each}" for each in modules)}


def sdk(name: str, *names: str) -> ModuleType:
    load_on_demand(name, *names)
    return importlib.import_module(name)


def test_only_modules_that_names_need_are_loaded(name: str) -> None:
    package = sdk(name, "Client")
    assert loaded(name) == below(name, "_client", "_errors", "types", "types.message")
    assert package.Client.message is importlib.import_module(f"{name}.types.message").Message


def test_other_names_follow_when_they_are_asked_for(name: str) -> None:
    package = sdk(name, "Client")
    assert package.types.Usage.__name__ == "Usage"
    assert package.types.B.__name__ == "Beta"
    assert package.__version__ == "1.2"
    assert "usage" in package.types.usage.__name__  # a module, as an import of all would have left it
    assert f"{name}.lib" not in sys.modules


def test_a_name_stays_what_it_was(name: str) -> None:
    package = sdk(name)
    assert package.Stream is package.Stream
    assert "Stream" in vars(package)


def test_what_the_package_does_not_list_has_it_loaded_whole(name: str) -> None:
    package = sdk(name, "Client")
    client = package.Client
    assert package.Extra.__name__ == "Extra"
    assert package.MARK == "whole"
    assert package.Client is client


def test_what_needs_the_whole_gets_it(name: str) -> None:
    package = sdk(name)
    assert package.proxy == "whole"
    assert package.proxy == "whole"


def test_what_was_set_on_a_package_stays_when_it_is_loaded_whole(name: str) -> None:
    package = sdk(name, "Client")
    vars(package).update(setting="mine", Client="replaced")
    assert package.MARK == "whole"
    assert (package.setting, package.Client) == ("mine", "replaced")


def test_names_that_the_package_finds_itself_are_there(name: str, tmp_path: Path) -> None:
    start = tmp_path / name / "__init__.py"
    more = "def __getattr__(name):\n    if name == 'LATE': return 'late'\n    raise AttributeError(name)\n"
    start.write_text(f"{start.read_text('utf-8')}{more}", "utf-8")
    package = sdk(name, "Client")
    assert package.LATE == "late"
    with pytest.raises(AttributeError, match="Nothing"):
        package.Nothing  # noqa: B018


def test_a_load_that_failed_is_tried_again(name: str, tmp_path: Path) -> None:
    start = tmp_path / name / "__init__.py"
    text = start.read_text("utf-8")
    package = sdk(name)
    start.write_text(f"{text}\nraise RuntimeError('not yet')\n", "utf-8")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not yet"):
            package.MARK  # noqa: B018
    start.write_text(f"{text}\n'now it goes'\n", "utf-8")
    assert package.MARK == "whole"


def test_threads_that_ask_at_once_all_get_what_is_there(name: str, tmp_path: Path) -> None:
    """Some while another one has all of it loaded."""
    (tmp_path / name / "lib" / "extra.py").write_text("import time\ntime.sleep(0.2)\nclass Extra: pass\n", "utf-8")
    package = sdk(name)
    asked = ["nothing", "MARK", "Extra", "Stream", "__version__", "types", "setting", "MARK"]
    with ThreadPoolExecutor(len(asked)) as pool:
        found = list(pool.map(lambda each: getattr(package, each, "missing"), asked))
    assert [each for each, value in zip(asked, found, strict=True) if value == "missing"] == ["nothing"]


def test_a_name_that_its_module_has_too_stays_the_name(name: str) -> None:
    sdk(name)
    importlib.import_module(f"{name}.run.run")
    assert callable(importlib.import_module(f"{name}.run").run)


def test_a_star_takes_what_it_would_take_of_the_whole(name: str) -> None:
    sdk(name)
    taken: dict[str, object] = {}
    exec(f"from {name} import *", taken)
    assert {"types", "Client", "Stream", "Extra", "MARK"} <= set(taken)
    exec(f"from {name}.types import *", taken)
    assert {"Message", "Usage"} <= set(taken)
    assert "_Hidden" not in taken


def test_a_name_that_is_nowhere_is_a_mistake(name: str) -> None:
    package = sdk(name)
    for at in (package, package.types):
        with pytest.raises(AttributeError, match="'Nothing'"):
            at.Nothing  # noqa: B018
        with pytest.raises(AttributeError, match="'__wrapped__'"):
            at.__wrapped__  # noqa: B018
    with pytest.raises(ImportError):
        exec(f"from {name}.types import Nothing")


def test_a_package_that_does_more_than_list_names_is_loaded_as_it_is(name: str) -> None:
    sdk(name)
    busy = importlib.import_module(f"{name}.busy")
    assert {"READY", "Work"} <= set(vars(busy))


def test_what_is_imported_to_see_whether_it_can_be_is_loaded_at_once(name: str) -> None:
    sdk(name)
    with pytest.raises(ImportError, match="Faster"):
        exec(f"from {name}._vendor import Fast")


def test_an_sdk_that_was_imported_stays_as_it_is(name: str) -> None:
    package = importlib.import_module(name)
    before, finders = loaded(name), list(sys.meta_path)
    assert sdk(name, "Client") is package
    assert loaded(name) == before
    assert sys.meta_path == finders


@pytest.mark.parametrize(
    "client",
    [
        "class Client: pass\n",
        "from ._first import MADE\nMADE['client']\nclass Client: pass\n",
        "raise OSError('broken')\n",
    ],
    ids=["a name that isn't there", "modules in an order", "any mistake"],
)
def test_what_cannot_be_loaded_by_names_is_left_to_python(name: str, client: str, tmp_path: Path) -> None:
    (tmp_path / name / "_client.py").write_text(client, "utf-8")
    (tmp_path / name / "_first.py").write_text("MADE = {}\n", "utf-8")
    start = "from ._first import MADE\nMADE['client'] = 1\n" if "MADE" in client else ""
    (tmp_path / name / "__init__.py").write_text(f"{start}from ._client import Client\n", "utf-8")
    finders = list(sys.meta_path)
    load_on_demand(name, "Client", *([] if start else ["Stream"]))
    assert not loaded(name)
    assert sys.meta_path == finders
    if "OSError" in client:
        with pytest.raises(OSError, match="broken"):
            importlib.import_module(name)
    else:
        assert importlib.import_module(name).Client.__name__ == "Client"
