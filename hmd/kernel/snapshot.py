"""Reads a snapshot file: the memories that decide, filed so that few are touched.

Layout (docs/internals.md, "Snapshot file"). Everything a reader uses carries its own CRC-32, so
damage is found where it matters without reading the whole file; wherever the table cannot be
trusted, all records are read instead and the answer is still right. `hmd/store/snapshot_file.py`
writes through the constants and `buckets_of` below.
"""

from binascii import crc32

from hmd.kernel import jsontext, system
from hmd.kernel.buckets import buckets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Record = dict[str, Any]

FORMAT = 1
USER = "user"  # the file of user-wide memories; the others are named by their project
TAIL_LIMIT = 65536  # bytes of tail above which a new base is built
HEADER_BYTES = 4096  # JSON padded with blanks, eight hex digits of its CRC-32, LF
HEADER_TEXT = HEADER_BYTES - 9
SLOT_BYTES = 12  # u32 postings offset, u32 count, u32 CRC-32 of these postings
POSTING_BYTES = 16  # u32 CRC-32 of the bucket's name, u32 offset, u32 length, u32 CRC-32
TAIL = ".tail"


def parse_object(data: bytes) -> "Record | None":
    """The JSON object in `data` , or None where there is none."""
    try:
        value = jsontext.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# -- reading --------------------------------------------------------------------------------


def open_snapshot(path: str, kernel_hash: str, cache: int = 0) -> "Snapshot | None":
    """The snapshot at `path`, or None where there is neither a base nor a tail.

    `kernel_hash` is the reader's own: a base filed by another kernel is filed anew. `cache` is how
    many parsed buckets to keep (a hook process keeps none). Damage never raises: see `problem`.
    """
    snapshot = Snapshot(path, kernel_hash, cache)
    snapshot.refresh()
    return snapshot if snapshot.exists else None


class Snapshot:
    """One snapshot file with its tail.

    `problem` is "" or says in one line what is damaged; what could be read is still served.
    `generation` numbers the last change it holds; `settings` are those of the base.
    """

    __slots__ = (
        "_base_generation",
        "_base_stat",
        "_cache",
        "_cache_size",
        "_fd",
        "_filed",
        "_header",
        "_index",
        "_kernel",
        "_tail",
        "_tail_buckets",
        "_tail_stat",
        "generation",
        "path",
        "problem",
    )

    def __init__(self, path: str, kernel_hash: str, cache: int = 0) -> None:
        self.path = path
        self.problem = ""
        self.generation = 0
        self._kernel = kernel_hash
        self._cache_size = cache
        self._cache: dict[str, list[tuple[str, Record]]] = {}
        self._fd = -1
        self._index = b""  # table and postings, where buckets are kept; else read as needed
        self._header: Record = {}
        self._base_generation = 0
        self._base_stat: tuple[int, ...] | None = None
        self._tail_stat: tuple[int, ...] | None = None
        # id → record or None (removed), in the order of the tail
        self._tail: dict[str, Record | None] = {}
        self._tail_buckets: dict[str, list[str]] = {}
        # bucket → (id, record); filled where the table of the base is of no use
        self._filed: dict[str, list[tuple[str, Record]]] | None = None

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        if self._fd >= 0:
            system.close(self._fd)
            self._fd = -1

    @property
    def exists(self) -> bool:
        return self._base_stat is not None or self._tail_stat is not None

    @property
    def unreadable(self) -> bool:
        """There is a base and it could not be opened: what it holds is not in force."""
        return self._base_stat is not None and self._fd < 0

    @property
    def settings(self) -> "Record":
        value = self._header.get("settings")
        return value if isinstance(value, dict) else {}

    @property
    def header(self) -> "Record":
        """The base's header as written; {} where there is no readable base."""
        return self._header

    def refresh(self) -> bool:
        """Takes in a new base or tail; true if there was one. Two `stat` calls when nothing is new.

        The tail is read first: a writer replaces the base before it shortens the tail, so a tail
        seen short is never combined with the base from before.
        """
        seen = (_stat(self.path + TAIL), _stat(self.path))
        if seen == (self._tail_stat, self._base_stat):
            return False
        self._tail_stat = seen[0]
        data = _read_whole(self.path + TAIL) if seen[0] else b""
        base_stat = _stat(self.path)
        if base_stat != self._base_stat:
            self._open_base(base_stat)
        self._take_tail(data)
        return True

    # -- looking up --

    def records_for(self, buckets: "Iterable[str]") -> "list[Record]":
        """The memories filed under any of `buckets`, each once, in the order of their ids."""
        found: dict[str, Record] = {}
        wanted = set(buckets)
        for name in wanted:
            for key, record in self._base_bucket(name):
                found[key] = record
        for key, changed in self._tail.items():
            found.pop(key, None)
            if changed is not None and not wanted.isdisjoint(self._tail_buckets[key]):
                found[key] = changed
        return [found[key] for key in sorted(found)]

    def all_records(self) -> "list[Record]":
        """Every memory, in the order of their ids. Reads the whole file."""
        found = dict(self._scan())
        for key, changed in self._tail.items():
            if changed is None:
                found.pop(key, None)
            else:
                found[key] = changed
        return [found[key] for key in sorted(found)]

    def _base_bucket(self, name: str) -> "list[tuple[str, Record]]":
        if self._filed is not None:
            return self._filed.get(name, [])
        if not self._cache_size:
            return self._read_bucket(name)
        rows = self._cache.pop(name, None)
        if rows is None:
            rows = self._read_bucket(name)
            if len(self._cache) >= self._cache_size:
                del self._cache[next(iter(self._cache))]
        self._cache[name] = rows  # last: the most recently used
        return rows

    def _read_bucket(self, name: str) -> "list[tuple[str, Record]]":
        if self._fd < 0:
            return []
        postings = self._postings(crc32(name.encode("utf-8", "surrogatepass")))
        if postings is None:
            self.problem = "snapshot: the table is damaged, all records are read instead"
            self._file_all()
            return self._base_bucket(name)
        rows = []
        for offset, length, check in postings:
            data = self._pread(length, offset)
            record = parse_object(data) if crc32(data) == check else None
            if record is None or "id" not in record:
                self.problem = f"snapshot: the record at byte {offset} is damaged"
            else:
                rows.append((str(record["id"]), record))
        return rows

    def _postings(self, name: int) -> "list[tuple[int, int, int]] | None":
        """(offset, length, CRC-32) of each record in the bucket; None if the table is damaged."""
        header = self._header
        slots = header["slots"]
        slot = self._pread_index(SLOT_BYTES, name % slots * SLOT_BYTES)
        if len(slot) < SLOT_BYTES:
            return None
        start, count, check = _u32(slot, 0), _u32(slot, 4), _u32(slot, 8)
        if not count:
            return None if check else []  # the CRC of nothing is 0
        if count > header["postings"]:
            return None
        size = count * POSTING_BYTES
        data = self._pread_index(size, slots * SLOT_BYTES + start) if size else b""
        if len(data) < size or crc32(data) != check:
            return None
        return [
            (_u32(data, at + 4), _u32(data, at + 8), _u32(data, at + 12))
            for at in range(0, size, POSTING_BYTES)
            if _u32(data, at) == name
        ]

    # -- the base --

    def _open_base(self, stat: "tuple[int, ...] | None") -> None:
        self.close()
        self._header = {}
        self._index = b""
        self._base_generation = 0
        self._filed = None
        self._cache.clear()
        self.problem = ""
        self._base_stat = stat
        if stat is None:
            return
        try:
            self._fd = system.open(self.path, system.O_RDONLY | system.O_CLOEXEC)
        except OSError as error:
            self.problem = f"snapshot: cannot be opened: {error.strerror}"
            return
        # The file that was opened may be newer than the one that was seen.
        opened = system.fstat(self._fd)
        self._base_stat = (opened.st_ino, opened.st_size, opened.st_mtime_ns)
        self._header, self.problem = _read_header(self._pread(HEADER_BYTES, 0), opened.st_size)
        generation = self._header.get("generation")
        self._base_generation = generation if isinstance(generation, int) else 0
        if self.problem or self._foreign:
            self._file_all()
        elif self._cache_size:
            table = self._header["table"]
            self._index = self._pread(opened.st_size - table, table)

    @property
    def _foreign(self) -> bool:
        """Another kernel filed this base, or it cannot be told which."""
        return self._base_stat is not None and self._header.get("kernel") != self._kernel

    def _file_all(self) -> None:
        filed: dict[str, list[tuple[str, Record]]] = {}
        foreign = self._foreign
        for key, record in self._scan():
            if foreign:
                _parse_anew(record)
            for name in buckets_of(record):
                filed.setdefault(name, []).append((key, record))
        self._filed = filed

    def _scan(self) -> "list[tuple[str, Record]]":
        """Every readable record of the base. Without a header, every line that could be one."""
        if self._fd < 0:
            return []
        known = not _header_problem(self._header)
        size = system.fstat(self._fd).st_size
        end = self._header["table"] if known else size
        data = self._pread(end - HEADER_BYTES, HEADER_BYTES)
        rows = []
        damaged = 0
        for line in data.split(b"\n"):
            record = parse_object(line) if line.startswith(b"{") else None
            if record is not None and "id" in record:
                rows.append((str(record["id"]), record))
            elif line:
                damaged += 1
        if known and damaged and not self.problem:
            self.problem = f"snapshot: {damaged} damaged record(s) skipped"
        return rows

    def _pread_index(self, size: int, at: int) -> bytes:
        """`size` bytes from `at` on, counted from the table's first."""
        if self._index:
            return self._index[at : at + size]
        return self._pread(size, self._header["table"] + at)

    def _pread(self, size: int, offset: int) -> bytes:
        try:
            return system.pread(self._fd, size, offset) if size > 0 else b""
        except OSError:
            return b""

    # -- the tail --

    def _take_tail(self, data: bytes) -> None:
        """Reads `{"gen", "id", "record" | null}` lines; what follows the last LF is not written
        to its end. Lines that the base already holds are skipped."""
        self._tail = {}
        self._tail_buckets = {}
        self.generation = self._base_generation
        for line in data.split(b"\n")[:-1]:
            change = parse_object(line)
            if change is None or "id" not in change or not isinstance(change.get("gen"), int):
                if line:
                    self.problem = "snapshot: a line of the tail is damaged"
                continue
            if change["gen"] <= self._base_generation:
                continue
            self.generation = max(self.generation, change["gen"])
            self._take_change(str(change["id"]), change.get("record"))

    def _take_change(self, key: str, record: object) -> None:
        if not key:
            return  # a line without a memory only moves the generation
        found = record if isinstance(record, dict) else None
        if found is not None and self._foreign:
            _parse_anew(found)
        self._tail[key] = found
        self._tail_buckets[key] = buckets_of(found) if found else []


def _parse_anew(record: "Record") -> None:
    """Reads a command signature with this kernel: the parsed form is private to the one that
    wrote it."""
    sig = record.get("sig")
    if isinstance(sig, dict) and sig.get("kind") == "cmd":
        from hmd.kernel.shell.signature import parse_signature, to_plain  # late: rare and big

        parsed = parse_signature(str(sig.get("pattern") or ""))
        sig["plain"] = None if parsed.problem else to_plain(parsed)


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _stat(path: str) -> "tuple[int, ...] | None":
    try:
        found = system.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _read_whole(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _read_header(data: bytes, size: int) -> "tuple[Record, str]":
    """(header, problem) of a base of `size` bytes; the header is {} unless its CRC holds."""
    text, check = data[:HEADER_TEXT], data[HEADER_TEXT : HEADER_BYTES - 1]
    if len(data) < HEADER_BYTES or b"%08x" % crc32(text) != check:
        return {}, "snapshot: the header is damaged"
    header = parse_object(text)
    if header is None:
        return {}, "snapshot: the header is damaged"
    problem = _header_problem(header)
    if problem:
        return {}, problem
    if header["size"] != size:
        return header, f"snapshot: {size} bytes long instead of {header['size']}"
    return header, ""


def _header_problem(header: "Record") -> str:
    if not header:
        return "snapshot: no header"
    if header.get("format") != FORMAT:
        return f"snapshot: format {header.get('format')} is not known here"
    for name in ("size", "table", "slots", "postings"):
        if not isinstance(header.get(name), int):
            return "snapshot: the header is damaged"
    return "" if header["slots"] > 0 else "snapshot: the header is damaged"
