"""The calls that `hmd.kernel.system` takes from `posix`, on Windows.

Windows opens files in text mode and appends in two steps (seek, then write); neither will do here.
"""

import sys

assert sys.platform == "win32"

import os  # noqa: E402
from os import (  # noqa: E402
    O_APPEND,
    O_CREAT,
    O_EXCL,
    O_RDONLY,
    O_TRUNC,
    O_WRONLY,
    close,
    fstat,
    getpid,
    link,
    lstat,
    mkdir,
    read,
    stat,
    unlink,
    urandom,
    write,
)

__all__ = [
    "O_APPEND",
    "O_CLOEXEC",
    "O_CREAT",
    "O_EXCL",
    "O_RDONLY",
    "O_TRUNC",
    "O_WRONLY",
    "absolute",
    "close",
    "fstat",
    "getpid",
    "link",
    "lstat",
    "mkdir",
    "open",
    "pread",
    "read",
    "replace",
    "resolved",
    "stat",
    "unlink",
    "urandom",
    "write",
]

O_CLOEXEC = os.O_NOINHERIT


def open(path: str, flags: int, mode: int = 0o777) -> int:
    """A descriptor in binary mode; one for appending appends in one step, and one for reading
    lets others replace the file."""
    if not flags & (O_WRONLY | O_CREAT):
        from hmd.kernel.windows import open_to_read  # late, as below: ctypes is not cheap

        return open_to_read(path)
    if flags & O_APPEND and not flags & O_EXCL:
        from hmd.kernel.windows import open_to_append

        if not flags & O_CREAT:
            stat(path)  # it has to be there
        return open_to_append(path)
    return os.open(path, flags | os.O_BINARY, mode)


def replace(fresh: str, path: str) -> None:
    """Renames over a file, whoever reads it."""
    from hmd.kernel.windows import replace as rename  # late

    rename(fresh, path)


def pread(descriptor: int, size: int, offset: int) -> bytes:
    """Reads at a place; unlike its namesake it moves the position, which nobody here relies on."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def absolute(path: str) -> bool:
    """Whether a path begins at a drive, at a share or at the root of the current drive."""
    return path[:1] in ("/", "\\") or path[1:3] in (":/", ":\\")


def resolved(path: str) -> str:
    """The path behind all links, with forward slashes, as all paths are written that we compare.
    Raises OSError or ValueError."""
    from ntpath import realpath  # late: as on POSIX

    return realpath(path).replace("\\", "/")
