"""Where a path leads: the root, a home folder, the system, a device, or just somewhere ordinary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from fnmatch import fnmatchcase

from evalward.safety.words import Kind, Word, names


class Place(Enum):
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
class Target:
    """A place with its path; ``everything`` when a wildcard takes all that is in the folder ``path``."""

    place: Place
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


def locate(word: Word, folder: str | None = ".") -> Target:
    """Return where ``word`` leads when it is used in ``folder``."""
    path = word.text
    if word.opaque:
        return _locate_opaque(word)
    if _DRIVE.match(path):
        path = path[2:].replace("\\", "/")
    if not word.home and path.startswith("~"):
        path = "./" + path
    if folder is None and path[:1] not in ("/", "~"):
        return Target(Place.UNKNOWN, path)
    components = normalise(path, folder or ".")
    everything = False
    while len(components) > 1 and word.glob and takes_all(components[-1]):
        components.pop()
        everything = True
    path = joined_path(components)
    return Target(_place(components, everything), path, everything)


def _locate_opaque(word: Word) -> Target:
    """Judge what is known of a path: a name that has a fixed beginning of its own is narrow enough."""
    known: list[str] = []
    for piece in word.pieces:
        if piece.kind not in (Kind.TEXT, Kind.HOME):
            break
        known.append(piece.text)
    start = "".join(known)
    stem = start.rpartition("/")[2]
    if stem in ("", ".", "..", "~"):
        return Target(Place.UNKNOWN, word.text)
    place = _place(normalise(start), False)
    return Target(Place.UNKNOWN if place in (Place.TOP, Place.ROOT) else place, word.text)


def _place(components: list[str], everything: bool) -> Place:
    base, rest = components[0], components[1:]
    if base == "/":
        return _absolute(rest, everything)
    if base == "~":
        return _in_home(rest)
    if not rest:
        return Place.HERE
    if rest[-1] == "..":
        return Place.PARENT
    return _by_name(rest) or Place.ORDINARY


def _by_name(rest: list[str]) -> Place | None:
    """Places that are recognised by their name wherever they stand."""
    if _REPOSITORIES.intersection(rest[-2:]) and rest[-1] != "index.lock":
        return Place.REPOSITORY
    if rest[0] in _PRIVATE and rest[0] not in (".config", ".local", ".docker"):
        return Place.PRIVATE
    if _HISTORY.search(rest[-1]):
        return Place.HISTORY
    return Place.STARTUP if rest[-1] in _STARTUP else None


def _in_home(rest: list[str]) -> Place:
    if not rest:
        return Place.HOME
    named = _by_name(rest)
    if named:
        return named
    if rest[0] in _CACHES or rest[:3] == [".local", "share", "Trash"]:
        return Place.CACHE
    if rest[0] in _PRIVATE and (len(rest) == 1 or rest[0] not in (".config", ".local")):
        return Place.PRIVATE
    if rest[:2] == ["Library", "Keychains"]:
        return Place.PRIVATE
    if rest in ([".local", "share"], [".local", "share", "containers"]):
        return Place.PERSONAL
    if rest[0] == "**":  # anywhere below: as bad as at the top
        rest = rest[1:]
    is_personal = len(rest) == 1 and (rest[0] in _PERSONAL or takes_all(rest[0]))
    return Place.PERSONAL if is_personal else Place.ORDINARY


def _absolute(rest: list[str], everything: bool) -> Place:
    if not rest:
        return Place.ROOT
    top = rest[0]
    if any(char in top for char in "*?["):
        return Place.ROOT if any(fnmatchcase(name, top) for name in SYSTEM_TOPS) else Place.TOP
    reader = _BY_TOP.get(top)
    if reader:
        return reader(rest, everything)
    if top in SYSTEM_TOPS:
        return Place.SYSTEM
    return Place.TOP if len(rest) == 1 else _by_name(rest) or _elsewhere(rest)


def _elsewhere(rest: list[str]) -> Place:
    """Tell working copies and what can be built again from data that is somewhere on a disk."""
    return Place.ORDINARY if rest[0] in _WORKSPACES or _DISPOSABLE.intersection(rest) else Place.ELSEWHERE


def is_disposable(target: Target) -> bool:
    """Say whether a folder is one that is built again: a build's output, a cache, something temporary."""
    return target.place is Place.TEMP or (target.place is Place.ORDINARY and target.name in _DISPOSABLE)


def _device(rest: list[str], everything: bool) -> Place:
    path = "/".join(rest[1:])
    if path in _SINKS or path.startswith(("fd/", "pts/")):
        return Place.SINK
    if path.startswith(("tcp/", "udp/")):
        return Place.NETWORK
    if path.startswith("shm/"):
        return Place.TEMP
    return Place.SYSTEM if not path and not everything else Place.DISK if _DISK.match(path or "*") else Place.ORDINARY


def _kernel(rest: list[str], everything: bool) -> Place:
    return Place.KERNEL


def _temp(rest: list[str], everything: bool) -> Place:
    return Place.TEMP if len(rest) > 1 or everything else Place.SYSTEM


def _homes(rest: list[str], everything: bool) -> Place:
    if len(rest) == 1:
        return Place.SYSTEM
    return Place.HOME if len(rest) == 2 else _in_home(rest[2:])


def _root_home(rest: list[str], everything: bool) -> Place:
    return _in_home(rest[1:])


def _var(rest: list[str], everything: bool) -> Place:
    second = rest[1] if len(rest) > 1 else ""
    if second == "tmp":
        return _temp(rest[1:], everything)
    if second == "log":
        return Place.LOG
    if (second == "cache" and (len(rest) > 2 or everything)) or rest[1:4] == ["lib", "apt", "lists"]:
        return Place.CACHE
    return Place.LOCAL if second == "www" and len(rest) > 2 else Place.SYSTEM


def _local(rest: list[str], everything: bool) -> Place:
    return Place.LOCAL if len(rest) > 1 else Place.SYSTEM


def _usr(rest: list[str], everything: bool) -> Place:
    return Place.LOCAL if rest[1:2] == ["local"] and len(rest) > 2 else Place.SYSTEM


def _private(rest: list[str], everything: bool) -> Place:
    return _absolute(rest[1:], everything) if len(rest) > 1 else Place.SYSTEM


def _mount(rest: list[str], everything: bool) -> Place:
    if rest[:1] == ["mnt"] and len(rest) > 1 and rest[1] in ("c", "d"):  # a Windows drive in WSL
        return Place.SYSTEM if len(rest) <= 3 else Place.ORDINARY
    return Place.TOP if len(rest) <= 2 else _elsewhere(rest)


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


def is_vital(target: Target) -> bool:
    """Say whether the machine cannot live without this system folder."""
    components = normalise(target.path)
    return components[0] == "/" and len(components) > 1 and components[1] in _CRITICAL_TOPS
