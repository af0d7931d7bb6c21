"""An SDK without what nobody asks of it: the names that its packages list are looked up one by one, as they are used.

`import anthropic` loads over 3,000 modules, nearly all of them types of requests that we never make: most of the time
and half of the memory that asking a model takes. Its packages say in plain imports (`from .usage import Usage`) where
each name is, so that a name can be fetched when it is first asked for (PEP 562), and the module that has it only then.

What else an SDK's own package does when it is imported (it sets up logging as variables of the environment say, and
renames its classes' module) is done once somebody asks for what it doesn't list.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

_WHOLE = "__whole__"
"""A module below the SDK's package whose import loads all of it: by Python's own locks, once however many ask."""
_Origin = tuple[str, str]
"""The module below the package that has a name, and its name there; none where the module itself is meant."""


def load_on_demand(package: str, *names: str) -> None:
    """Import an SDK with those of its modules that `names` need; others follow when they are asked for.

    An SDK that has been imported stays as it is. One that can't be loaded this way (another version, built otherwise)
    is left to the next `import`, which loads it whole, and says what is wrong with it.
    """
    if package in sys.modules:
        return
    finder = _Finder(package)
    sys.meta_path.insert(0, finder)
    try:
        loaded = import_module(package)
        for name in names:
            getattr(loaded, name)
    except Exception:  # whatever it was: Python's own way of importing it decides
        sys.meta_path.remove(finder)
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
        if fullname == f"{self._package}.{_WHOLE}":
            return ModuleSpec(fullname, _WholeLoader(self._package))
        if not _within(self._package, fullname) or "._" in fullname:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.submodule_search_locations is None or type(spec.loader) is not SourceFileLoader:
            return None
        spec.loader = _ListLoader(fullname, spec.loader.path)
        return spec


class _ListLoader(SourceFileLoader):
    """Loads a package without the names that it lists; one within the SDK that does more is loaded as Python does."""

    def exec_module(self, module: ModuleType) -> None:
        """Put a look-up in the place of the names."""
        statements = ast.parse(self.get_data(self.path)).body
        origins, lists_only = dict(_listed(statements)), all(map(_lists, statements))
        if "." in self.name and not lists_only:
            super().exec_module(module)
            return
        if lists_only:
            module.__dict__["__all__"] = [name for name in origins if not name.startswith("_")]
        module.__dict__["__getattr__"] = lookup = _Lookup(module, origins, lists_only=lists_only)
        for name, (where, there) in origins.items():
            if where == there == name:  # a later import of the module would take the name for itself
                lookup(name)


class _WholeLoader(Loader):
    """Has a package's look-up do what else importing the package does."""

    def __init__(self, package: str) -> None:
        self._package = package

    def create_module(self, spec: ModuleSpec) -> None:
        """None: a module as any other."""

    def exec_module(self, module: ModuleType) -> None:
        """Do it, in the package; nothing is in this module."""
        del module
        sys.modules[self._package].__dict__["__getattr__"].load_whole()


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
    """A package's `__getattr__`: the names that it lists, its modules, and what it has once it is loaded whole."""

    def __init__(self, module: ModuleType, origins: Mapping[str, _Origin], *, lists_only: bool) -> None:
        self._module, self._origins, self._lists_only = module, origins, lists_only
        self._own: Callable[[str], object] | None = None  # the package's own `__getattr__`
        self._whole = f"{module.__name__}.{_WHOLE}"

    def __call__(self, name: str) -> object:
        """The value of a name, which stays. Raises `AttributeError`, and what importing its module raises."""
        if self._whole in sys.modules:  # another thread may be at it
            import_module(self._whole)
        package = self._module.__name__
        if name in self._origins:
            try:
                return self._listed(*self._origins[name], name)
            except ImportError:
                if self._lists_only:
                    raise  # else it may need what comes before it in the package
        elif PathFinder.find_spec(f"{package}.{name}", self._module.__path__) is not None:
            return import_module(f"{package}.{name}")
        if self._lists_only or (name.startswith("__") and name != "__all__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import_module(self._whole)
        if name in self._module.__dict__:
            return self._module.__dict__[name]
        if self._own is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return self._own(name)

    def _listed(self, where: str, there: str, name: str) -> object:
        found = import_module(f"{self._module.__name__}.{where}")
        value = self._module.__dict__[name] = getattr(found, there) if there else found
        return value

    def load_whole(self) -> None:
        """Run the package's own statements, in the package. What was set on it meanwhile stays."""
        names = self._module.__dict__
        before = dict(names)
        try:
            SourceFileLoader(self._module.__name__, str(self._module.__file__)).exec_module(self._module)
        except BaseException:
            for name in names.keys() - before.keys():
                del names[name]
            raise
        finally:
            own = names.get("__getattr__")
            self._own = None if own is self else own
            names.update(before)
