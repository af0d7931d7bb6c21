"""The first thing that happens in our process: what it may import, what it may know, and who may look into it.

Only the standard library is loaded here: this is what every command starts with.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

SOURCE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120 - pathlib costs as much as all of this
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from evalward.entry import main; main()"

FEWER_COLLECTIONS = 200_000
"""Objects between two searches for garbage: modules are none, and what a short command loads and makes is fewer."""

EXIT_INTERRUPTED = 130
"""As shells say it: 128 and the number of SIGINT."""

HARMLESS = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "CI", "SYSTEMROOT"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    }
)
"""Variables that hold no secret. A list of what is harmless: nobody knows all names of secrets."""
SCREEN = frozenset({"PAGER", "LESS", "BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"})
"""Variables by which a pager or browser finds the user's screen. No secrets, but only for commands that show something:
what another process does with the user's screen is nobody's to allow but theirs.
"""
NO_PLUGINS: Mapping[str, str] = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""Else the first record would look through all that is installed for code to load into processes of ours."""
SET = "EVALWARD_SET"
"""Names, joined by commas: variables that are set and kept from this process, which asks no more than that."""
_GROUPS = re.compile(
    r"(GITHUB|RUNNER|XDG)_[A-Z0-9_]*|LC_[A-Z]+|(EVALWARD|LLM_TOOL_TEST)_JUDGE(_CACHE)?"
)  # a prefix is no promise
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|_PAT$")


def harmless(env: Mapping[str, str]) -> dict[str, str]:
    """What of an environment holds no secret."""
    return {
        name: value
        for name, value in env.items()
        if (name in HARMLESS or _GROUPS.fullmatch(name)) and not _SECRET.search(name)
    }


def enter(
    arguments: Sequence[str],
    *,
    keys: bool,
    kept: frozenset[str] = frozenset(),
    named: frozenset[str] = frozenset(),
) -> None:
    """Begin anew where this process is not as it has to be: without the user's and the folder's modules, and without
    secrets where the command needs none (`keys` is false). Returns when it is. `kept` are variables that it needs,
    `named` those of which it needs to know whether they are set.

    A process that needs keys lets nobody read its memory, and has them no longer where its children would inherit them:
    see `taken_environment`.
    """
    open_streams()
    env = os.environ if keys else {**harmless(os.environ), **_of(os.environ, kept)}
    begun = PROGRAM in sys.orig_argv  # once is enough, whatever the system adds to an environment
    if not begun and (not sys.flags.isolated or len(env) != len(os.environ)):
        options = ["-I", "-X", "utf8", *(["-u"] if os.environ.get("PYTHONUNBUFFERED") else [])]
        names = {SET: ",".join(sorted(name for name in named if os.environ.get(name)))} if named else {}
        os.execve(  # noqa: S606 - ourselves
            sys.executable, [sys.executable, *options, "-c", PROGRAM, SOURCE, *arguments], {**env, **names}
        )
    if keys:
        hide()


def open_streams() -> None:
    """Streams that were closed lead nowhere: otherwise the next file that is opened would get what is said.

    What is written to standard output, which a program reads, fails as it did before.
    """
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # it gets the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _of(env: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name in names}


def set_variables(env: Mapping[str, str], names: frozenset[str]) -> frozenset[str]:
    """Which of these variables are set: here, or where this process was started without them (see `enter`)."""
    said = env.get(SET, "").split(",")
    return frozenset(name for name in names if env.get(name) or name in said)


def taken_environment(kept: frozenset[str] = frozenset()) -> dict[str, str]:
    """The environment; afterwards only what is harmless is left in this process's own, and the variables `kept`."""
    taken = dict(os.environ)
    for name in taken.keys() - harmless(taken).keys() - kept:
        del os.environ[name]
    return taken


def hide() -> None:
    """Let no other process of our user read our memory and the environment that we were started with."""
    if sys.platform != "linux":
        return
    from ctypes import CDLL  # noqa: PLC0415 - only who holds keys pays for it

    CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
