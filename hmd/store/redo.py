"""Overwriting lines of a file in place, all or none of them, even when the power fails between two.

What is to be written lies beside the file, whole and on disk, until it is done.
"""

import json
import os
from pathlib import Path

from hmd.core import machine

SUFFIX = ".erase"


def overwrite(path: Path, lines: list[tuple[int, bytes]]) -> None:
    """Writes (offset, bytes) pairs in place. Raises OSError."""
    plan_file = path.with_name(path.name + SUFFIX)
    plan = [[offset, line.decode("utf-8", "surrogateescape")] for offset, line in lines]
    with open(plan_file, "w", encoding="utf-8", errors="surrogateescape", opener=_private) as file:
        json.dump(plan, file)
        file.flush()
        os.fsync(file.fileno())
    _carry_out(path, plan_file)


def finish(directory: Path) -> None:
    """Completes what a crash interrupted. Called before a journal is read."""
    for redo in sorted(directory.glob(f"*{SUFFIX}")):
        _carry_out(redo.with_name(redo.name.removesuffix(SUFFIX)), redo)


def _carry_out(path: Path, redo: Path) -> None:
    try:
        plan = json.loads(redo.read_text(encoding="utf-8", errors="surrogateescape"))
        descriptor = os.open(path, os.O_WRONLY | machine.NOT_INHERITED)
    except (ValueError, FileNotFoundError):
        redo.unlink(missing_ok=True)  # it was never complete: nothing was begun
        return
    try:
        for offset, text in plan:
            machine.write_at(descriptor, text.encode("utf-8", "surrogateescape"), offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    redo.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
