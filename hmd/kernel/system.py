"""The calls of the operating system that a hook process needs, without `os`: that and `posixpath`
take a fresh process a millisecond to load.

The functions on paths mean what their namesakes in `os` and `posixpath` mean; where a path holds
anything out of the ordinary, those do the work.
"""

import sys

if sys.platform == "win32":
    from hmd.kernel.system_windows import (
        O_APPEND,
        O_CLOEXEC,
        O_CREAT,
        O_EXCL,
        O_RDONLY,
        O_TRUNC,
        O_WRONLY,
        absolute,
        close,
        fstat,
        getpid,
        link,
        lstat,
        mkdir,
        open,
        pread,
        read,
        replace,
        resolved,
        stat,
        unlink,
        urandom,
        write,
    )
else:
    from posix import (
        O_APPEND,
        O_CLOEXEC,
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
        open,
        pread,
        read,
        replace,
        stat,
        unlink,
        urandom,
        write,
    )

    def absolute(path: str) -> bool:
        return path[:1] == "/"

    def resolved(path: str) -> str:
        """The path behind all links. Raises OSError or ValueError."""
        from posixpath import realpath  # late: links are rare

        return realpath(path)


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
    "dirname",
    "exists",
    "fstat",
    "getpid",
    "is_directory",
    "is_file",
    "join",
    "link",
    "make_directories",
    "normal",
    "open",
    "pread",
    "read",
    "real",
    "replace",
    "resolved",
    "stat",
    "unlink",
    "urandom",
    "write",
]

_KIND, _LINK, _DIRECTORY, _FILE = 0o170000, 0o120000, 0o040000, 0o100000  # inode(7)


def exists(path: str) -> bool:
    return _kind(path) != 0


def is_directory(path: str) -> bool:
    return _kind(path) == _DIRECTORY


def is_file(path: str) -> bool:
    return _kind(path) == _FILE


def _kind(path: str) -> int:
    """The type of what `path` leads to, 0 where it leads nowhere."""
    try:
        return stat(path).st_mode & _KIND
    except (OSError, ValueError):
        return 0


def dirname(path: str) -> str:
    head = path[: path.rfind("/") + 1]
    return head.rstrip("/") or head


def join(path: str, more: str) -> str:
    if absolute(more):
        return more
    return path + more if not path or path.endswith("/") else path + "/" + more


def normal(path: str) -> str:
    """Without `.`, `..`, doubled and trailing slashes (`posixpath.normpath`)."""
    lead = ""
    if path.startswith("/"):
        # POSIX, 4.13: exactly two leading slashes may mean something else than one.
        lead = "//" if path.startswith("//") and not path.startswith("///") else "/"
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != ".." or (not lead and not parts) or (parts and parts[-1] == ".."):
            parts.append(part)
        elif parts:
            parts.pop()
    return lead + "/".join(parts) or "."


def real(path: str) -> str:
    """The path behind all links. Raises OSError or ValueError."""
    if path.startswith("/") and path == normal(path) and not _leads_elsewhere(path):
        return path
    return resolved(path)


def _leads_elsewhere(path: str) -> bool:
    end = 0
    while end >= 0:
        end = path.find("/", end + 1)
        try:
            kind = lstat(path if end < 0 else path[:end]).st_mode & _KIND
        except FileNotFoundError:
            return False  # nor does anything below it exist
        except (OSError, ValueError):
            return True
        if kind == _LINK:
            return True
    return False


def make_directories(path: str) -> None:
    """The directory and those above it that are missing, for this user alone. Raises OSError."""
    if is_directory(path):
        return
    above = dirname(path)
    if above != path and not is_directory(above):
        make_directories(above)
    try:
        mkdir(path, 0o700)
    except FileExistsError:
        if not is_directory(path):
            raise
