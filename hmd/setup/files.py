"""Reads and writes files of somebody else: through links, in one step, or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from dataclasses import dataclass

from hmd.core import machine

NIX_STORE = "/nix/store/"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file may not be written: the reason, and the file it is about."""

    reason: str
    path: str


def read_text(path: str) -> str | None:
    """The text of a file, line ends as they are; None when there is none. Raises OSError."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def refusal(path: str, nix_store: str = NIX_STORE) -> Refusal | None:
    """Why `write_through(path)` must not be tried, or None.

    The permission bits count also for root: a file its owner made read-only is left alone.
    """
    real = os.path.realpath(path)
    if real.startswith(nix_store):
        return Refusal("is managed by Nix", real)
    for place, what in (
        (real, "is read-only"),
        (os.path.dirname(real), "is in a closed directory"),
    ):
        try:
            mode = os.stat(place).st_mode
        except FileNotFoundError:
            continue
        except OSError:
            return Refusal("cannot be reached", real)
        if not mode & 0o222 or not os.access(place, os.W_OK):
            return Refusal(what, real)
    if os.path.exists(real) and not stat.S_ISREG(os.stat(real).st_mode):
        return Refusal("is no regular file", real)
    return None


def make_directories(path: str, mode: int = 0o700) -> list[str]:
    """Makes `path` and what is missing above it; returns what it made, outermost first."""
    missing: list[str] = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for directory in reversed(missing):
        os.mkdir(directory, mode)
    return missing[::-1]


def write_through(path: str, text: str, mode: int = 0o600) -> None:
    """Replaces the content of `path` in one step. A link stays a link: its target is replaced.

    The target keeps its mode and its owner (a new file gets `mode`). A file of several names
    (hard links) is written in place, which keeps them one. Raises OSError; in the first case with
    the old content intact.
    """
    real = os.path.realpath(path)
    data = text.encode("utf-8", "surrogateescape")
    try:
        before: os.stat_result | None = os.stat(real)
    except FileNotFoundError:
        before = None
    if before is not None and before.st_nlink > 1:
        with open(real, "r+b") as file:
            file.write(data)
            file.truncate()
        return
    handle, temporary = tempfile.mkstemp(prefix=".hmd-", dir=os.path.dirname(real))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            machine.keep_owner(temporary, before)
        os.chmod(temporary, mode if before is None else stat.S_IMODE(before.st_mode))
        machine.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise


def remove_empty(directories: list[str]) -> list[str]:
    """Removes those of `directories` that are empty, innermost first; returns the removed ones."""
    removed = []
    for directory in reversed(directories):
        try:
            os.rmdir(directory)
        except OSError:
            continue
        removed.append(directory)
    return removed
