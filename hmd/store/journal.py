"""The journal: every acknowledged change, one fsynced line each, in files named by their first.

The database is a projection of it. A line counts once it ends with LF: an unfinished last line was
never acknowledged, is skipped by readers and cut off before the next one is written. Everything
here blocks and belongs into the database's writer thread.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from hmd.core import machine
from hmd.core.changes import Entry, decode_entry, encode
from hmd.core.errors import HmdError

ROTATE_BYTES = 8 * 1024 * 1024
_SUFFIX = ".jsonl"
_DIGITS = 12
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Damage(NamedTuple):
    """A line that cannot be read. `newer`: it is whole, but of a version after this one."""

    where: str
    what: str
    newer: bool = False


class _Head(msgspec.Struct):
    """What every version's lines have."""

    seq: int
    change: dict[str, object]


_decode_head = msgspec.json.Decoder(_Head).decode


class Journal:
    """The journal in `directory`. One process appends; the daemon's lock sees to that."""

    def __init__(self, directory: Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.directory = directory
        self.last_seq = 0
        self._rotate_bytes = rotate_bytes
        self._fd = -1
        self._path = directory
        self._size = 0
        self._undo_size = -1
        self._undo_seq = 0
        self._must_cut = False

    # -- reading --

    def files(self) -> list[Path]:
        """Oldest first."""
        try:
            found = [path for path in self.directory.iterdir() if path.suffix == _SUFFIX]
        except FileNotFoundError:
            return []
        return sorted(path for path in found if path.stem.isdigit())

    def entries(self, after: int) -> Iterator[Entry | Damage]:
        """Every change numbered above `after`, in order; what cannot be read comes as `Damage`."""
        paths = self.files()
        for path, following in zip(paths, [*paths[1:], None], strict=False):
            if following is not None and int(following.stem) <= after + 1:
                continue  # ends before what is wanted
            for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
                found = _parse(line, f"{path}:{number}")
                if isinstance(found, Damage) or found.seq > after:
                    yield found

    # -- appending --

    def open(self) -> None:
        """Prepares for `append`: cuts off an unfinished last line and finds the last number."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        paths = self.files()
        for path in reversed(paths):
            self.last_seq = max(self.last_seq, _last_seq(path))
            if self.last_seq:
                break
        if paths:
            self._use(paths[-1])

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def append(self, entry: Entry) -> None:
        """Writes one line and waits until it is on disk. Raises HmdError; nothing is left then."""
        line = encode(entry) + b"\n"
        self._undo_size = -1
        try:
            if self._must_cut:
                self._cut()
            full = self._size > 0 and self._size + len(line) > self._rotate_bytes
            if self._fd < 0 or full:
                self._begin_file(entry.seq)
            self._undo_size, self._undo_seq = self._size, self.last_seq
            _write_all(self._fd, line)
            os.fsync(self._fd)
        except OSError as error:
            self.undo()
            raise _failure(error, self._path) from error
        self._size += len(line)
        self.last_seq = entry.seq

    def undo(self) -> None:
        """Takes back the last `append`, whose transaction could not be committed."""
        if self._undo_size < 0:
            return
        self._size, self.last_seq = self._undo_size, self._undo_seq
        self._undo_size = -1
        try:
            self._cut()
        except OSError:
            # The line may still be there, and would be applied at the next start although nobody
            # was told so. A line written after it would make that certain: cut before it.
            self._must_cut = True

    def _cut(self) -> None:
        os.ftruncate(self._fd, self._size)
        os.fsync(self._fd)
        self._must_cut = False

    def _begin_file(self, seq: int) -> None:
        self.close()
        self._undo_size = -1
        self._use(self.directory / f"{seq:0{_DIGITS}}{_SUFFIX}")
        machine.sync_directory(self.directory)  # the name, too, must last

    def _use(self, path: Path) -> None:
        self._path = path
        self._fd = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_APPEND | machine.NOT_INHERITED, 0o600
        )
        size = os.fstat(self._fd).st_size
        self._size = _whole_lines(self._fd, size)
        if self._size < size:
            os.ftruncate(self._fd, self._size)
            os.fsync(self._fd)


def _parse(line: bytes, where: str) -> Entry | Damage:
    try:
        return decode_entry(line)
    except msgspec.MsgspecError as error:
        reason = str(error)
    try:
        head = _decode_head(line)
    except msgspec.MsgspecError:
        return Damage(where, "a damaged line of the journal was skipped: " + reason)
    return Damage(where, f"change {head.seq} is not known to this version: {reason}", newer=True)


def _last_seq(path: Path) -> int:
    last = 0
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            last = max(last, _decode_head(line).seq)
        except msgspec.MsgspecError:
            continue
    return last


def _whole_lines(descriptor: int, size: int) -> int:
    """Length of the part of a file that ends with its last LF."""
    step = 65536
    end = size
    while end > 0:
        start = max(0, end - step)
        at = machine.read_at(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _failure(error: OSError, path: Path) -> HmdError:
    if error.errno in _FULL:
        return HmdError(
            "busy",
            "the disk is full, nothing was changed",
            str(path),
            "free some space and try again",
        )
    return HmdError(
        "damaged", f"journal cannot be written: {error.strerror}", str(path), "check the disk"
    )
