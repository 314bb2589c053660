"""What ties a fact to code: a commit, a path, and the content of the file as git names it.

The content's name is the blob id of git (SHA-1 over `blob <length>\\0` and the bytes), so a file is
compared without asking git, also where it is in no repository.
"""

import re
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import trio

from hmd.app.context import Caller
from hmd.core.errors import HmdError

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_AT_COMMIT = re.compile(r"@([0-9a-f]{40}|[0-9a-f]{7,39}(?![0-9a-f]))(?![0-9a-f])(?::(\S.*))?")
_SAID = re.compile(r"\bcommit ([0-9a-f]{7,40})(?![0-9a-z])")
_BIGGEST = 32 * 1024 * 1024


class Anchor(NamedTuple):
    """`path` from the root of the working tree; "" for what is not known."""

    commit: str = ""
    path: str = ""
    blob: str = ""


def parse_ref(ref: str) -> Anchor:
    """The commit and path that a free-text source names; empty where it names none.

    A commit is what follows `@` or the word "commit", or hex digits that are all there is. Bare
    digits must hold a figure and a letter: `defaced` is a word, and the tail of a session's name is
    no commit.
    """
    text = ref.strip()
    found = _AT_COMMIT.search(text)
    if found:
        return Anchor(found[1], (found[2] or "").strip())
    said = _SAID.search(text)
    if said and _is_mixed(said[1]):
        return Anchor(said[1])
    if _COMMIT.fullmatch(text) and _is_mixed(text):
        return Anchor(text)
    return Anchor()


def _is_mixed(text: str) -> bool:
    return any(char.isdigit() for char in text) and any(char.isalpha() for char in text)


async def of_draft(caller: Caller, commit: str, path: str, ref: str) -> Anchor:
    """The anchor of a new fact: as given, else as its source says; with the content of the file
    where it lies in the caller's working tree. Raises HmdError."""
    commit, path = commit.strip(), path.strip()
    if not commit and not path:
        found = parse_ref(ref)
        commit, path = found.commit, found.path
    if commit and not _COMMIT.fullmatch(commit):
        raise HmdError("usage", f"'{commit}' is no commit", "commit", "give 7 to 40 hex digits")
    if not path:
        return Anchor(commit)
    root = caller.root or caller.cwd
    inside = relative(path, root)
    if not root or not inside:
        return Anchor(commit, path)
    return Anchor(commit, inside, await trio.to_thread.run_sync(blob_of, Path(root, inside)))


def relative(path: str, root: str) -> str:
    """`path` from `root` on, "" where it leads out of it."""
    try:
        return Path(root, path).relative_to(root).as_posix() if ".." not in path else ""
    except ValueError:
        return ""


def blob_of(path: Path) -> str:
    """The git blob id of a file's content; "" where it is absent or not to be read."""
    try:
        if not path.is_file() or path.stat().st_size > _BIGGEST:
            return ""
        data = path.read_bytes()
    except OSError:
        return ""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
