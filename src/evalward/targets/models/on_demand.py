"""An SDK without what nobody asks of it: the names that its packages list are looked up one by one, as they are used.

`import anthropic` loads over 3,000 modules, nearly all of them types of requests that we never make: most of the time
and half of the memory that asking a model takes. Its packages say in plain imports (`from .usage import Usage`) where
each name is, so that a name can be fetched when it is first asked for (PEP 562), and the module that has it only then.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

_Origin = tuple[str, str]
"""The module below the package that has a name, and its name there; none where the module itself is meant."""


def load_on_demand(package: str, *names: str) -> None:
    """Import an SDK with those of its modules that `names` need; others follow when they are asked for.

    An SDK that has been imported stays as it is. One that can't be loaded this way (another version, built otherwise)
    is left to the next `import`, which loads it whole.
    """
    if package in sys.modules:
        return
    finder = _Finder(package)
    sys.meta_path.insert(0, finder)
    try:
        loaded = import_module(package)
        for name in names:
            getattr(loaded, name)
    except (ImportError, AttributeError):
        sys.meta_path.remove(finder)
        _forget(package)


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if _within(package, name)]:
        del sys.modules[name]


def _within(package: str, name: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


class _Finder(MetaPathFinder):
    """Finds the SDK's packages where Python does, and has them loaded by their lists of names."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a package with such a loader; None for everything else, which Python finds itself.

        Its private packages too: some are imported to see whether what they need is installed.
        """
        if not _within(self._package, fullname) or "._" in fullname:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.submodule_search_locations is None or type(spec.loader) is not SourceFileLoader:
            return None
        spec.loader = _ListLoader(fullname, spec.loader.path)
        return spec


class _ListLoader(SourceFileLoader):
    """Loads a package without the names that it lists.

    A package within the SDK that does more than list names is loaded as Python does. The SDK's own does more (it sets
    up logging, for one); it is loaded whole as soon as something is asked of it that it doesn't list.
    """

    def exec_module(self, module: ModuleType) -> None:
        """Put a look-up in the place of the names."""
        statements = ast.parse(self.get_data(self.path)).body
        origins = dict(_listed(statements))
        whole = super().exec_module
        if all(map(_lists, statements)):
            module.__dict__["__all__"] = [name for name in origins if not name.startswith("_")]
            module.__dict__["__getattr__"] = _Lookup(module, origins)
        elif "." not in self.name:
            module.__dict__["__getattr__"] = _Lookup(module, origins, whole)
        else:
            whole(module)


def _listed(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, _Origin]]:
    for each in statements:
        if isinstance(each, ast.ImportFrom) and each.level == 1:
            for alias in each.names:
                if alias.name != "*":
                    yield alias.asname or alias.name, (each.module, alias.name) if each.module else (alias.name, "")


def _lists(statement: ast.stmt) -> bool:
    """Whether a statement only says where names are, or which ones are public, or nothing at all."""
    match statement:
        case ast.ImportFrom(module="__future__", level=0) | ast.Expr(value=ast.Constant()):
            return True
        case ast.ImportFrom(level=1, names=names):
            return all(alias.name != "*" for alias in names)
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case _:
            return False


class _Lookup:
    """A package's `__getattr__`: the listed names, its modules, and what it has once it is loaded whole."""

    def __init__(
        self, module: ModuleType, origins: Mapping[str, _Origin], whole: Callable[[ModuleType], None] | None = None
    ) -> None:
        self._module, self._origins, self._whole = module, origins, whole

    def __call__(self, name: str) -> object:
        """The value of a name, which stays. Raises `AttributeError`."""
        package = self._module.__name__
        if name in self._origins:
            where, there = self._origins[name]
            found = import_module(f"{package}.{where}")
            value = getattr(found, there) if there else found
            self._module.__dict__[name] = value
            return value
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if PathFinder.find_spec(f"{package}.{name}", self._module.__path__) is not None:
            return import_module(f"{package}.{name}")
        if self._whole is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        del self._module.__dict__["__getattr__"]
        self._whole(self._module)
        return getattr(self._module, name)
