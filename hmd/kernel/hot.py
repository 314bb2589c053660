"""The hot index of a project: the block that SessionStart prints, as the daemon last wrote it.

First line: the ids of what it holds, with blanks between them; the rest is the text, printed as it
is. Daemon and stub read the same file, so a session gets the same bytes from both.
"""

from hmd.kernel import system
from hmd.kernel.address import Home

LIMIT = 65_536  # bytes


def read(home: Home, project: str) -> "tuple[list[str], str]":
    """(ids, text); empty where there is none."""
    try:
        descriptor = system.open(home.hot(project or "user"), system.O_RDONLY | system.O_CLOEXEC)
    except OSError:
        return [], ""
    try:
        data = system.read(descriptor, LIMIT)
    except OSError:
        return [], ""
    finally:
        system.close(descriptor)
    ids, _, text = data.decode("utf-8", "replace").partition("\n")
    return ids.split(), text


def encode(ids: "list[str]", text: str) -> bytes:
    """The file's bytes; b"" where there is nothing to say."""
    if not text:
        return b""
    return (" ".join(ids) + "\n" + text).encode("utf-8", "replace")
