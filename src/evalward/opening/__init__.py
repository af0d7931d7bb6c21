"""Opening what a repository names: name by name below a folder, no link followed, nothing but files, within bounds.

A path in a configuration or a case was written by whoever wrote the pull request, and so was whatever lies there.
Checked as text it proves nothing: one committed link, and the path leads to any file of the machine.
"""

from evalward.opening.folders import FilesNear, FolderEntry, copy_inside, files_near, glob_inside, walk_inside
from evalward.opening.inside import MIB, Kind, Opened, inside, name_below, path_from, refused, why
from evalward.opening.reading import (
    MOST_BYTES,
    MOST_TEXT,
    beginning_inside,
    hash_inside,
    kind_inside,
    link_free,
    program_inside,
    read_inside,
    read_regular,
    read_text_inside,
)

__all__ = [
    "MIB",
    "MOST_BYTES",
    "MOST_TEXT",
    "FilesNear",
    "FolderEntry",
    "Kind",
    "Opened",
    "beginning_inside",
    "copy_inside",
    "files_near",
    "glob_inside",
    "hash_inside",
    "inside",
    "kind_inside",
    "link_free",
    "name_below",
    "path_from",
    "program_inside",
    "read_inside",
    "read_regular",
    "read_text_inside",
    "refused",
    "walk_inside",
    "why",
]
