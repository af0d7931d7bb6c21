"""What a command knows while it runs: variables, functions, aliases, folder, and files it has written."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalward.safety.syntax import Node
from evalward.safety.words import Flow, PieceKind, Word, WordPiece, literal, make_word, unknown

_NUMBER = literal("12345")
_HOME = make_word((WordPiece(PieceKind.HOME, "~"),))
_ENVIRONMENT = {
    "HOME": _HOME,
    "PWD": literal("."),
    "IFS": literal(" "),
    "TMPDIR": literal("/tmp"),
    "TMP": literal("/tmp"),
    "TEMP": literal("/tmp"),
    "RUNNER_TEMP": literal("/tmp/runner"),
    "XDG_CACHE_HOME": make_word((WordPiece(PieceKind.HOME, "~"), WordPiece(PieceKind.TEXT, "/.cache"))),
    "XDG_CONFIG_HOME": make_word((WordPiece(PieceKind.HOME, "~"), WordPiece(PieceKind.TEXT, "/.config"))),
    "USER": literal("user"),
    "LOGNAME": literal("user"),
    "USERNAME": literal("user"),
    "HOSTNAME": literal("host"),
    "SHELL": literal("/bin/sh"),
    "BASH": literal("/bin/bash"),
    "EDITOR": literal("editor"),
    "VISUAL": literal("editor"),
    "PAGER": literal("less"),
    "BROWSER": literal("browser"),
    "PYTHON": literal("python3"),
    "MAKE": literal("make"),
    "CC": literal("cc"),
    "CXX": literal("c++"),
    **dict.fromkeys(("RANDOM", "UID", "EUID", "PPID", "LINENO", "SECONDS", "COLUMNS", "$", "!"), _NUMBER),
    **dict.fromkeys(("#", "?"), literal("0")),
}
"""Variables of the environment whose value is known well enough to judge where a path leads."""

_SECRET_NAMES = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY")


def is_secret_name(name: str) -> bool:
    """Say whether a variable of this name usually holds a credential."""
    return any(part in name.upper() for part in _SECRET_NAMES)


@dataclass(slots=True)
class Scope:
    """The state of one shell. ``folders`` are the folders it may be in, relative to where it started.

    Several folders are possible after a ``cd`` that was not checked; ``None`` is a folder that is not known.
    """

    variables: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    folders: tuple[str | None, ...] = (".",)
    doubted: tuple[str | None, ...] = ()
    files: dict[str, Flow] = field(default_factory=dict)
    stops_on_error: bool = False
    calling: frozenset[str] = frozenset()

    def child(self) -> Scope:
        """Return a copy for a subshell, whose changes do not come back."""
        return Scope(
            dict(self.variables),
            dict(self.functions),
            dict(self.aliases),
            self.folders,
            self.doubted,
            self.files,
            self.stops_on_error,
            self.calling,
        )

    def lookup(self, name: str) -> tuple[Word, ...] | None:
        """Return the value of a variable, a list for arrays and ``$@``, or ``None`` when it is not known."""
        if name in self.variables:
            return self.variables[name]
        if name in ("@", "*"):
            return None
        known = _ENVIRONMENT.get(name)
        return (known,) if known is not None else None

    def enter(self, folder: str | None, checked: bool) -> None:
        """Change the folder. Unless ``checked``, that may fail unnoticed and the old one stay current."""
        self.doubted = () if checked or self.stops_on_error else self.folders
        self.folders = (folder,)

    def settle(self, succeeded: bool) -> None:
        """Decide a doubtful change of folder: it is known to have succeeded, or both remain possible."""
        if self.doubted and not succeeded:
            self.folders = tuple(dict.fromkeys((*self.folders, *self.doubted)))
        self.doubted = ()

    def set_arguments(self, words: tuple[Word, ...]) -> None:
        """Set ``$1``, ``$2`` … and ``$@``."""
        for number in range(1, 10):
            self.variables.pop(str(number), None)
        for number, word in enumerate(words[:9], start=1):
            self.variables[str(number)] = (word,)
        self.variables["@"] = self.variables["*"] = words
        self.variables["#"] = (literal(str(len(words))),)


def unknown_variable(name: str) -> Word:
    """Return the value of a variable nothing is known about."""
    return unknown("$" + name)
