"""Writes snapshot files: a new base, a line of the tail, the tail shortened after a new base.

The layout is `hmd/kernel/snapshot.py`'s. A base is written beside the old one and put in its place
atomically; a reader keeps the file that it has open. Lines of the tail are single writes, so a
reader sees whole lines or an unfinished last one, which it ignores.
"""

import json
import os
import struct
from binascii import crc32
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hmd.core import machine
from hmd.kernel.buckets import buckets_of
from hmd.kernel.snapshot import FORMAT, HEADER_BYTES, HEADER_TEXT, TAIL, TAIL_LIMIT

Record = dict[str, Any]

_SLOT = struct.Struct("<III")
_POSTING = struct.Struct("<IIII")
# Slots per filed name: collisions cost a reader 16 bytes each, an empty slot costs 12 on disk.
_SLOTS_PER_POSTING = 2
# Postings filed between two breaths: about 0.1 ms.
_BREATH = 64


def encode(record: Record) -> bytes:
    """One record as one line, without its LF."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


class BaseBuilder:
    """Builds a base piece by piece, so that a caller on an event loop can breathe in between.

    `add` every record, exhaust `finish`, then `write`. Records are written in the order of their
    ids, whatever the order they came in.
    """

    def __init__(self, kernel_hash: str, generation: int, project: str, built_ms: int) -> None:
        self._header: Record = {
            "format": FORMAT,
            "kernel": kernel_hash,
            "generation": generation,
            "project": project,
            "built": built_ms,
        }
        self._records: dict[str, tuple[bytes, list[str]]] = {}
        self._parts: list[bytes] = []

    def add(self, record: Record) -> None:
        """Of two records with one id the later one stays."""
        self._records[str(record["id"])] = (encode(record), buckets_of(record))

    def finish(self, settings: Record) -> Iterator[None]:
        """Makes the table and the header; yields wherever a caller may breathe."""
        count = sum(len(names) for _, names in self._records.values())
        slots = max(8, count * _SLOTS_PER_POSTING) | 1
        by_slot: dict[int, bytearray] = {}
        lines: list[bytes] = []
        offset = HEADER_BYTES
        for number, key in enumerate(sorted(self._records)):
            line, names = self._records[key]
            check = crc32(line)
            for name in names:
                bucket = crc32(name.encode("utf-8", "surrogatepass"))
                posting = _POSTING.pack(bucket, offset, len(line), check)
                by_slot.setdefault(bucket % slots, bytearray()).extend(posting)
            lines.append(line + b"\n")
            offset += len(line) + 1
            if number % _BREATH == 0:
                yield
        table, body = bytearray(slots * _SLOT.size), bytearray()
        for number, slot in enumerate(sorted(by_slot)):
            data = by_slot[slot]
            _SLOT.pack_into(
                table, slot * _SLOT.size, len(body), len(data) // _POSTING.size, crc32(data)
            )
            body += data
            if number % _BREATH == 0:
                yield
        size = offset + len(table) + len(body)
        places = {"table": offset, "slots": slots, "postings": count, "size": size}
        self._parts = [self._head(settings, places), *lines, bytes(table), bytes(body)]

    def _head(self, settings: Record, places: Record) -> bytes:
        header = {**self._header, "records": len(self._records), "settings": settings, **places}
        text = encode(header)
        if len(text) > HEADER_TEXT:
            raise ValueError(f"header of {len(text)} bytes")
        text = text.ljust(HEADER_TEXT)
        return b"%s%08x\n" % (text, crc32(text))

    def write(self, path: Path) -> None:
        """Puts the finished base at `path`. Raises OSError; the old base stays then."""
        replace_file(path, b"".join(self._parts))


def write_base(
    path: Path,
    records: Iterable[Record],
    *,
    kernel_hash: str,
    generation: int,
    settings: Record,
    project: str = "",
    built_ms: int = 0,
) -> None:
    """Writes a whole base at once; `records` in any order."""
    builder = BaseBuilder(kernel_hash, generation, project, built_ms)
    for record in records:
        builder.add(record)
    for _ in builder.finish(settings):
        pass
    builder.write(path)


def append_tail(path: Path, generation: int, memory_id: str, record: Record | None) -> int:
    """Adds one change (`record` None: the memory decides no more) and returns the tail's size.

    `path` is the base's; with an empty `memory_id` the line only moves the generation.
    Not fsynced: the journal is what lasts, and a snapshot older than it is built anew at start.
    """
    line = encode({"gen": generation, "id": memory_id, "record": record}) + b"\n"
    tail = _tail_path(path)
    tail.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(
        tail, os.O_WRONLY | os.O_CREAT | os.O_APPEND | machine.NOT_INHERITED, 0o600
    )
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        if size and not _ends_a_line(tail, size):
            line = b"\n" + line  # an unfinished line of a killed writer must not swallow ours
        written = os.write(descriptor, line)
        if written < len(line):
            os.ftruncate(descriptor, size)
            raise OSError(28, "tail could not be written whole", str(tail))
        return size + written
    finally:
        os.close(descriptor)


def tail_is_long(path: Path) -> bool:
    """True when a new base should be built."""
    try:
        return _tail_path(path).stat().st_size > TAIL_LIMIT
    except OSError:
        return False


def shorten_tail(path: Path, generation: int) -> None:
    """Drops the lines that a base of `generation` holds. Call after that base is in its place."""
    tail = _tail_path(path)
    try:
        data = tail.read_bytes()
    except FileNotFoundError:
        return
    kept = b"".join(_newer(data, generation))
    if kept:
        replace_file(tail, kept)
    else:
        tail.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Removes a base and its tail (base first: a tail alone says less than both)."""
    for file in (path, _tail_path(path)):
        file.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Writes `data` beside `path`, fsyncs it and renames it over. Mode 0600."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | machine.NOT_INHERITED
        descriptor = os.open(temporary, flags, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        machine.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _tail_path(path: Path) -> Path:
    return path.with_name(path.name + TAIL)


def _newer(data: bytes, generation: int) -> Iterator[bytes]:
    for line in data.split(b"\n")[:-1]:
        try:
            change = json.loads(line)
        except ValueError:
            continue
        if isinstance(change, dict) and change.get("gen", 0) > generation:
            yield line + b"\n"


def _ends_a_line(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == b"\n"
