"""Where a path leads: the root, a home folder, the system, a device, or just somewhere ordinary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from fnmatch import fnmatchcase

from evalward.safety.words import PieceKind, Word, names


class PlaceKind(Enum):
    """Kinds of places, told apart because the same deed weighs differently in them."""

    ORDINARY = auto()
    TEMP = auto()
    LOCAL = auto()
    """Where administrators install things of their own: /usr/local, /opt, /srv."""
    CACHE = auto()
    LOG = auto()
    HERE = auto()
    """The folder the command starts in."""
    PARENT = auto()
    HOME = auto()
    PERSONAL = auto()
    """Folders of a home that hold what cannot be got again: documents, pictures, work."""
    PRIVATE = auto()
    """Keys, credentials and settings in a home folder."""
    STARTUP = auto()
    AUTOSTART = auto()
    """Folders of a home whose files say what starts when somebody logs in."""
    HISTORY = auto()
    REPOSITORY = auto()
    """The history of a version control system."""
    SYSTEM = auto()
    KERNEL = auto()
    """Live switches of the kernel: /proc/sys, /sys."""
    ELSEWHERE = auto()
    """Deeper below such a folder: data of which nothing is known."""
    TOP = auto()
    """A folder directly below the root that is no system folder, or the contents of a mount point."""
    ROOT = auto()
    DISK = auto()
    SINK = auto()
    """/dev/null and the like: nothing is lost in them."""
    NETWORK = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class PathTarget:
    """A place with its path; ``everything`` when a wildcard takes all that is in the folder ``path``."""

    place: PlaceKind
    path: str
    everything: bool = False

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rpartition("/")[2]


SYSTEM_TOPS = names(
    "etc usr bin sbin lib lib32 lib64 libx32 boot var root home dev proc sys opt srv run mnt media snap "
    "efi System Library Applications Users Volumes private cores nix Windows ProgramData"
)
_CRITICAL_TOPS = names("etc usr bin sbin lib lib32 lib64 libx32 boot dev System")
_DISK = re.compile(
    r"(?:[shv]d[a-z*?\[]|xvd[a-z]|nvme|mmcblk|disk|rdisk|md\d|dm-|mapper/|zd\d|sr\d|by-|r?disk|loop\d|[*?])"
    r"|(?:mem|kmem|port)\Z"
)
_SINKS = names("null zero full random urandom stdin stdout stderr tty console ptmx")
_MOUNTS = names("mnt media Volumes")
_PERSONAL = names(
    "Documents Desktop Downloads Pictures Photos Music Videos Movies Library Dropbox OneDrive Public "
    "documents projects workspace work code src repos dev git data backup backups Projects Backups"
)
_PRIVATE = names(
    ".ssh .gnupg .aws .azure .kube .docker .config .local .mozilla .thunderbird .password-store .netrc "
    ".pgpass .git-credentials .my.cnf .gitconfig .vault-token .keychain"
)
_STARTUP = names(
    ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zprofile .zshenv .zlogin .cshrc "
    ".kshrc .inputrc .xinitrc .xsessionrc .tmux.conf .vimrc config.fish"
)
_CACHES = names(".cache .npm .m2 .gradle .cargo .nuget .yarn .pnpm-store .rustup .nvm .pyenv .Trash")
_WORKSPACES = names("app workspace workspaces work builds build src code repo repos project projects github actions")
_DISPOSABLE = names(
    "build dist target out output tmp temp cache .cache node_modules coverage __pycache__ .venv venv .tox "
    "obj debug release .pytest_cache .next vendor"
)
_AUTOSTART = re.compile(
    r"(?:Library/LaunchAgents|\.config/(?:autostart|systemd/user)|\.local/share/systemd/user)(?:/.*)?"
)
_HISTORY = re.compile(r"\.(?:\w+_)?history\Z|\.histfile\Z")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_REPOSITORIES = frozenset({".git", ".hg", ".svn"})
_ANY = re.compile(r"\[[^\]]*\]|[*?.]|[@!+]\([^)]*\)")


def normalise(path: str, folder: str = ".") -> list[str]:
    """Return the components of ``path`` as seen from ``folder``: the first is ``/``, ``~`` or ``.``."""
    rooted = path[:1] in ("/", "~")
    parts = path.split("/") if rooted else [*folder.split("/"), *path.split("/")]
    base = parts[0] if parts[0] in ("~", ".", "..") else "/" if parts[0] == "" else "."
    found = [".."] if base == ".." else []
    base = "." if base == ".." else base
    for part in parts[0 if parts[0] not in ("", "~", ".", "..") else 1 :]:
        if part in ("", "."):
            continue
        if part != "..":
            found.append(part)
        elif found and found[-1] != "..":
            found.pop()
        elif base == "~":
            base, found = "/", ["home"]
        elif base == ".":
            found.append("..")
    return [base, *found]


def joined_path(components: list[str]) -> str:
    """Return components of ``normalise`` as one path."""
    base, rest = components[0], "/".join(components[1:])
    return "/" + rest if base == "/" else base if not rest else rest if base == "." else f"{base}/{rest}"


def takes_all(component: str) -> bool:
    """Say whether a wildcard component names practically everything in a folder."""
    has_wildcard = any(char in component for char in "*?[") or component.startswith(("!(", "@(", "+("))
    return has_wildcard and not _ANY.sub("", component).strip("^{},")


def locate(word: Word, folder: str | None = ".") -> PathTarget:
    """Return where ``word`` leads when it is used in ``folder``."""
    path = word.text
    if word.opaque:
        return _locate_opaque(word)
    if _DRIVE.match(path):
        path = path[2:].replace("\\", "/")
    if not word.home and path.startswith("~"):
        path = "./" + path
    if folder is None and path[:1] not in ("/", "~"):
        return PathTarget(PlaceKind.UNKNOWN, path)
    components = normalise(path, folder or ".")
    everything = False
    while len(components) > 1 and word.glob and takes_all(components[-1]):
        components.pop()
        everything = True
    path = joined_path(components)
    return PathTarget(_place(components, everything), path, everything)


def _locate_opaque(word: Word) -> PathTarget:
    """Judge what is known of a path: a name that has a fixed beginning of its own is narrow enough."""
    known: list[str] = []
    for piece in word.pieces:
        if piece.kind not in (PieceKind.TEXT, PieceKind.HOME):
            break
        known.append(piece.text)
    start = "".join(known)
    stem = start.rpartition("/")[2]
    if stem in ("", ".", "..", "~"):
        return PathTarget(PlaceKind.UNKNOWN, word.text)
    place = _place(normalise(start), False)
    return PathTarget(PlaceKind.UNKNOWN if place in (PlaceKind.TOP, PlaceKind.ROOT) else place, word.text)


def _place(components: list[str], everything: bool) -> PlaceKind:
    base, rest = components[0], components[1:]
    if base == "/":
        return _absolute(rest, everything)
    if base == "~":
        return _in_home(rest)
    if not rest:
        return PlaceKind.HERE
    if rest[-1] == "..":
        return PlaceKind.PARENT
    return _by_name(rest) or PlaceKind.ORDINARY


def _by_name(rest: list[str]) -> PlaceKind | None:
    """Places that are recognised by their name wherever they stand."""
    if _REPOSITORIES.intersection(rest[-2:]) and rest[-1] != "index.lock":
        return PlaceKind.REPOSITORY
    if rest[0] in _PRIVATE and rest[0] not in (".config", ".local", ".docker"):
        return PlaceKind.PRIVATE
    if _HISTORY.search(rest[-1]):
        return PlaceKind.HISTORY
    return PlaceKind.STARTUP if rest[-1] in _STARTUP else None


def _in_home(rest: list[str]) -> PlaceKind:
    if not rest:
        return PlaceKind.HOME
    named = _by_name(rest)
    if named:
        return named
    if _AUTOSTART.fullmatch("/".join(rest)):
        return PlaceKind.AUTOSTART
    if rest[0] in _CACHES or rest[:3] == [".local", "share", "Trash"]:
        return PlaceKind.CACHE
    if rest[0] in _PRIVATE and (len(rest) == 1 or rest[0] not in (".config", ".local")):
        return PlaceKind.PRIVATE
    if rest[:2] == ["Library", "Keychains"]:
        return PlaceKind.PRIVATE
    if rest in ([".local", "share"], [".local", "share", "containers"]):
        return PlaceKind.PERSONAL
    if rest[0] == "**":  # anywhere below: as bad as at the top
        rest = rest[1:]
    is_personal = len(rest) == 1 and (rest[0] in _PERSONAL or takes_all(rest[0]))
    return PlaceKind.PERSONAL if is_personal else PlaceKind.ORDINARY


def _absolute(rest: list[str], everything: bool) -> PlaceKind:
    if not rest:
        return PlaceKind.ROOT
    top = rest[0]
    if any(char in top for char in "*?["):
        return PlaceKind.ROOT if any(fnmatchcase(name, top) for name in SYSTEM_TOPS) else PlaceKind.TOP
    reader = _BY_TOP.get(top)
    if reader:
        return reader(rest, everything)
    if top in SYSTEM_TOPS:
        return PlaceKind.SYSTEM
    return PlaceKind.TOP if len(rest) == 1 else _by_name(rest) or _elsewhere(rest)


def _elsewhere(rest: list[str]) -> PlaceKind:
    """Tell working copies and what can be built again from data that is somewhere on a disk."""
    return PlaceKind.ORDINARY if rest[0] in _WORKSPACES or _DISPOSABLE.intersection(rest) else PlaceKind.ELSEWHERE


def is_disposable(target: PathTarget) -> bool:
    """Say whether a folder is one that is built again: a build's output, a cache, something temporary."""
    return target.place is PlaceKind.TEMP or (target.place is PlaceKind.ORDINARY and target.name in _DISPOSABLE)


def _device(rest: list[str], everything: bool) -> PlaceKind:
    path = "/".join(rest[1:])
    if path in _SINKS or path.startswith(("fd/", "pts/")):
        return PlaceKind.SINK
    if path.startswith(("tcp/", "udp/")):
        return PlaceKind.NETWORK
    if path.startswith("shm/"):
        return PlaceKind.TEMP
    return (
        PlaceKind.SYSTEM
        if not path and not everything
        else PlaceKind.DISK
        if _DISK.match(path or "*")
        else PlaceKind.ORDINARY
    )


def _kernel(rest: list[str], everything: bool) -> PlaceKind:
    return PlaceKind.KERNEL


def _temp(rest: list[str], everything: bool) -> PlaceKind:
    return PlaceKind.TEMP if len(rest) > 1 or everything else PlaceKind.SYSTEM


def _homes(rest: list[str], everything: bool) -> PlaceKind:
    if len(rest) == 1:
        return PlaceKind.SYSTEM
    return PlaceKind.HOME if len(rest) == 2 else _in_home(rest[2:])


def _root_home(rest: list[str], everything: bool) -> PlaceKind:
    return _in_home(rest[1:])


def _var(rest: list[str], everything: bool) -> PlaceKind:
    second = rest[1] if len(rest) > 1 else ""
    if second == "tmp":
        return _temp(rest[1:], everything)
    if second == "log":
        return PlaceKind.LOG
    if (second == "cache" and (len(rest) > 2 or everything)) or rest[1:4] == ["lib", "apt", "lists"]:
        return PlaceKind.CACHE
    return PlaceKind.LOCAL if second == "www" and len(rest) > 2 else PlaceKind.SYSTEM


def _local(rest: list[str], everything: bool) -> PlaceKind:
    return PlaceKind.LOCAL if len(rest) > 1 else PlaceKind.SYSTEM


def _usr(rest: list[str], everything: bool) -> PlaceKind:
    return PlaceKind.LOCAL if rest[1:2] == ["local"] and len(rest) > 2 else PlaceKind.SYSTEM


def _private(rest: list[str], everything: bool) -> PlaceKind:
    return _absolute(rest[1:], everything) if len(rest) > 1 else PlaceKind.SYSTEM


def _mount(rest: list[str], everything: bool) -> PlaceKind:
    if rest[:1] == ["mnt"] and len(rest) > 1 and rest[1] in ("c", "d"):  # a Windows drive in WSL
        return PlaceKind.SYSTEM if len(rest) <= 3 else PlaceKind.ORDINARY
    return PlaceKind.TOP if len(rest) <= 2 else _elsewhere(rest)


_BY_TOP = {
    "dev": _device,
    "proc": _kernel,
    "sys": _kernel,
    "tmp": _temp,
    "home": _homes,
    "Users": _homes,
    "root": _root_home,
    "var": _var,
    "usr": _usr,
    "opt": _local,
    "srv": _local,
    "private": _private,
    **dict.fromkeys(_MOUNTS, _mount),
}


def is_vital(target: PathTarget) -> bool:
    """Say whether the machine cannot live without this system folder."""
    components = normalise(target.path)
    return components[0] == "/" and len(components) > 1 and components[1] in _CRITICAL_TOPS
