"""Deletes files whose time is over: ledgers that were read, raw answers, what was left behind."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from hmd.core.config import Retention
from hmd.core.learning import SessionRead
from hmd.kernel.address import Home
from hmd.learn.consolidate import Kept, outlived


def sweep(home: Home, retention: Retention, known: dict[str, SessionRead], now: int) -> int:
    """Returns how many files were deleted. `known` are the sessions as they were read."""
    items = list(_items(home, known))
    gone = outlived(items, retention, now)
    deleted = 0
    for name in gone:
        with contextlib.suppress(OSError):
            os.unlink(name)
            deleted += 1
        if name.startswith(home.ledgers):
            with contextlib.suppress(OSError):
                os.unlink(home.turn(Path(name).stem))
    return deleted


def _items(home: Home, known: dict[str, SessionRead]) -> Iterator[tuple[str, Kept, int, bool]]:
    for path, size, at in _files(home.ledgers, ".jsonl"):
        read = known.get(Path(path).stem)
        yield path, "ledger", at, read is not None and read.size == size and not read.open
    for path, _, at in _files(home.path + "/raw", ".json"):
        yield path, "raw", at, True
    for path, _, at in _files(home.turns, ""):
        if not path.endswith(".json"):
            yield path, "temporary", at, True


def _files(folder: str, ending: str) -> Iterator[tuple[str, int, int]]:
    """(path, size, last change in ms) of the files in a folder that end so."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        with contextlib.suppress(OSError):
            if entry.name.endswith(ending) and entry.is_file(follow_symlinks=False):
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns // 1_000_000
