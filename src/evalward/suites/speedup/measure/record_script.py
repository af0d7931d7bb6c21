"""Runs in a process that benchmarks a task's code: writes down what the code's functions gave there.

Python's own library only, and nothing of ours but the capture script beside it. It is laid where the task's Python
looks for `sitecustomize`, so that it comes before all code of the task.
"""

import atexit
import functools
import hashlib
import importlib
import json
import os
import sys
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
MOST_CALLS = 20  # of each function, with arguments of their own
MOST_BYTES = 4_000_000  # of what is written down of them together
CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
NAMES = (*CLOCKS, *(f"{name}_ns" for name in CLOCKS))


class Recorder:
    """What has been called so far, whether the clocks are still Python's, and when the first call came."""

    def __init__(self, asked: dict[str, Any], capture: Any) -> None:
        self.asked, self.capture = asked, capture
        self.clocks = {name: getattr(time, name) for name in NAMES if hasattr(time, name)}
        self.now = time.monotonic
        self.begun = self.now()
        self.first: Any = None
        self.calls: dict[str, Any] = {}
        self.files: set[str] = set()
        self.turned: set[str] = set()
        self.room = MOST_BYTES

    def look(self) -> None:
        """Are the clocks the ones that were there before any code of the task?"""
        self.turned |= {name for name, clock in self.clocks.items() if getattr(time, name, None) is not clock}
        timeit = sys.modules.get("timeit")
        if timeit is not None and getattr(timeit, "default_timer", None) is not self.clocks["perf_counter"]:
            self.turned.add("timeit.default_timer")

    def hook(self, module: Any) -> None:
        """Wrap the module's functions."""
        if self.first is None:
            self.first = self.now() - self.begun
        self.look()
        self.files.add(str(getattr(module, "__file__", "")))
        names = self.asked["modules"][module.__name__]
        for name, value in list(vars(module).items()):
            own = getattr(value, "__module__", None) == module.__name__ and not isinstance(value, type)
            if callable(value) and (name in names or (not names and own and not name.startswith("_"))):
                setattr(module, name, self.wrapped(f"{module.__name__}:{name}", value))

    def wrapped(self, name: str, function: Any) -> Any:
        """The function, whose calls from elsewhere are written down."""

        @functools.wraps(function)
        def recorded(*words: Any, **named: Any) -> Any:
            if sys._getframe(1).f_code.co_filename in self.files:
                return function(*words, **named)
            key = self.key(name, words, named)
            value = function(*words, **named)
            self.look()
            if key is not None:
                self.keep(f"{name}#{key}", value, words)
            return value

        return recorded

    def key(self, name: str, words: Any, named: Any) -> Any:
        """What tells these arguments from others; `None` where nothing more is written down."""
        if self.room <= 0 or sum(1 for each in self.calls if each.startswith(name + "#")) >= MOST_CALLS:
            return None
        try:
            text = json.dumps(self.capture.encode([words, named]))
        except BaseException:
            return None
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
        return None if f"{name}#{key}" in self.calls else key

    def keep(self, name: str, value: Any, words: Any) -> None:
        """A value, with the arguments as they were left."""
        try:
            call = {"value": self.capture.encode([value, words])}
            self.room -= len(json.dumps(call))
        except BaseException:
            return
        if self.room > 0:
            self.calls[name] = call

    def write(self) -> None:
        """One line for each process."""
        self.look()
        record = {"calls": self.calls, "turned": sorted(self.turned), "first": self.first}
        with open(os.path.join(HERE, "found.jsonl"), "a", encoding="utf-8") as file:  # noqa: PTH118, PTH123
            file.write(json.dumps(record) + "\n")


class Loader:
    """A module's own loader, and a word with us when it has done."""

    def __init__(self, own: Any, recorder: Recorder) -> None:
        self.own, self.recorder = own, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def create_module(self, spec: Any) -> Any:
        """As it does."""
        return self.own.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """As it does, and then the functions are wrapped."""
        self.own.exec_module(module)
        self.recorder.hook(module)


class Finder:
    """Finds what others find, of the modules that are asked for."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """See `importlib.abc.MetaPathFinder`."""
        if name not in self.recorder.asked["modules"]:
            return None
        for other in sys.meta_path:
            spec = None if other is self else getattr(other, "find_spec", lambda *_: None)(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, self.recorder)
                return spec
        return None


def begin() -> None:
    """Look over the shoulder of whatever this process imports."""
    with open(os.path.join(HERE, "asked.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        asked = json.load(file)
    capture: Any = importlib.import_module("evalward_capture")  # laid beside this file

    capture.MOST_ITEMS = 0  # an iterator that is looked at is used up
    recorder = Recorder(asked, capture)
    sys.meta_path.insert(0, Finder(recorder))
    atexit.register(recorder.write)


if __name__ == "sitecustomize":
    begin()
