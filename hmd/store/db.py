"""Connections to the database: one that writes, one that only reads, each in its own thread.

Work is handed over as whole functions that run in aiosqlite's own thread with the plain connection,
and each result comes back to the waiting trio task directly: by way of an asyncio loop it took more
than twice as long (some 0.25 ms against 0.1), and what joins such a loop to trio does not exist for
every Python that is served. A function that was begun runs to its end, whatever is cancelled.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import aiosqlite
import outcome
import trio
from aiosqlite.core import _STOP_RUNNING_SENTINEL

from hmd.core.errors import HmdError

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

# How long SQLite itself waits for another process's lock, and how often that is repeated. Together
# less than what callers have (10 s): a change is refused while somebody still hears of it.
BUSY_TIMEOUT_S = 2.0
BUSY_ATTEMPTS = 4
# Half of SQLite's own: forgetting 180 facts takes 2.7 ms of CPU time instead of 4.7, of which half
# is the index that this change left out; smaller pages were no better.
PAGE_BYTES = 2048
# How much of the write-ahead log is gathered before a commit carries it into the database.
WAL_BYTES = 8 * 1024 * 1024
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

# File systems on which shared memory or its locks cannot be relied on (SQLite, "WAL": all
# processes must be on the same host).
_NETWORK = frozenset(
    "9p afs afpfs beegfs ceph cifs davfs fuse.davfs fuse.gvfsd-fuse fuse.rclone fuse.sshfs "
    "fuse.s3fs gfs2 glusterfs fuse.glusterfs lustre ncpfs nfs nfs3 nfs4 ocfs2 smb3 smbfs "
    "vboxsf prl_fs virtiofs webdav drvfs".split()
)


class _Thread(aiosqlite.Connection):
    """aiosqlite's thread and queue, fed whole functions instead of single statements."""

    async def open(self) -> None:
        """Starts the thread, which makes its connection. Raises what that raises."""
        self._thread.start()
        try:
            self._connection = await self._call(self._connector)
        except BaseException:
            self._leave()
            raise

    async def end(self) -> None:
        """Closes the connection, after all that is queued, and ends the thread."""
        connection, self._connection = self._conn, None
        try:
            await self._call(connection.close)
        finally:
            self._leave()

    def _leave(self) -> None:
        self._tx.put_nowait((None, lambda: _STOP_RUNNING_SENTINEL))

    async def run(self, work: Work[T]) -> T:
        """The result of `work`, which cannot be cancelled once it is queued. No checkpoint."""
        connection: sqlite3.Connection = self._conn  # raises ValueError where it was closed
        return await self._call(partial(work, connection))

    async def _call(self, function: Callable[[], T]) -> T:
        task = trio.lowlevel.current_task()
        wake = trio.lowlevel.current_trio_token().run_sync_soon

        def there() -> None:
            wake(trio.lowlevel.reschedule, task, outcome.capture(function))

        # Without a future: aiosqlite's thread then calls the function and reports to nobody.
        self._tx.put_nowait((None, there))
        result: T = await trio.lowlevel.wait_task_rescheduled(_until_done)
        return result


def _until_done(_: object) -> trio.lowlevel.Abort:
    return trio.lowlevel.Abort.FAILED


class Database:
    """Both connections, open. Use `write` and `read`; errors come as HmdError."""

    def __init__(self, writer: _Thread, reader: _Thread) -> None:
        self._writer = writer
        self._reader = reader

    async def write(self, work: Work[T]) -> T:
        """Runs `work` in the writer's thread; see `transaction` for what it should do there."""
        return await self._run(self._writer, work)

    async def read(self, work: Work[T]) -> T:
        """Runs `work` on the read-only connection."""
        return await self._run(self._reader, work)

    async def _run(self, thread: _Thread, work: Work[T]) -> T:
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            return await thread.run(work)
        except sqlite3.Error as error:
            raise translate(error) from error
        except UnicodeDecodeError as error:
            damage = damage_of(error)
            raise translate(damage) from damage


@asynccontextmanager
async def open_database(
    connect_writer: Callable[[], sqlite3.Connection],
    connect_reader: Callable[[], sqlite3.Connection],
) -> AsyncIterator[Database]:
    """Opens the writer, then the reader; both functions run in their connection's thread.

    They must return connections in autocommit mode. What they raise is raised here.
    """
    threads: list[_Thread] = []
    try:
        for connect in (connect_writer, connect_reader):
            thread = _Thread(connect, iter_chunk_size=64)
            await thread.open()
            threads.append(thread)
        yield Database(*threads)
    except sqlite3.Error as error:
        raise translate(error) from error
    finally:
        for thread in reversed(threads):
            await thread.end()


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode with this project's settings."""
    mode = "ro" if read_only else "rwc"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    if not read_only:
        # Counts for a new file only. Changes touch few bytes on many pages.
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute(f"PRAGMA journal_mode = {journal_mode(path)}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_BYTES // PAGE_BYTES}")
        # The journal is fsynced before a commit; SQLite need not wait for the disk again.
        connection.execute("PRAGMA synchronous = NORMAL")
        # What is erased must not stay in unused parts of the file.
        connection.execute("PRAGMA secure_delete = ON")
    return connection


def transaction(connection: sqlite3.Connection, work: Callable[[], T], commit: Work[None]) -> T:
    """Runs `work` and then `commit` inside BEGIN IMMEDIATE; on any error everything is undone.

    Waits while another process holds the lock, up to BUSY_TIMEOUT_S × BUSY_ATTEMPTS.
    """
    patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        result = work()
        commit(connection)
        return result
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def commit(connection: sqlite3.Connection) -> None:
    """COMMIT, waiting for readers where the journal mode makes them block it."""
    patiently(lambda: connection.execute("COMMIT"))


def patiently(statement: Callable[[], T]) -> T:
    """Runs a statement again while the database is locked (SQLite waits inside each attempt)."""
    for _ in range(BUSY_ATTEMPTS - 1):
        try:
            return statement()
        except sqlite3.OperationalError as error:
            if primary_code(error) not in _LOCKED:
                raise
    return statement()


def primary_code(error: sqlite3.Error) -> int:
    """The primary result code (the extended one's low byte); 0 where there is none."""
    code = getattr(error, "sqlite_errorcode", 0) or 0
    return int(code) & 0xFF


def is_damage(error: sqlite3.Error) -> bool:
    """True when the file itself is not a sound database. Text that is none is told by Python, not
    by SQLite, and has no code; all that is written is UTF-8."""
    return primary_code(error) in _BROKEN or str(error).startswith("Could not decode to UTF-8")


def damage_of(error: UnicodeDecodeError) -> sqlite3.DatabaseError:
    """SQLite's own words quote a schema that is no text any more: what Python makes of them."""
    damage = sqlite3.DatabaseError(f"the schema is no text: {error.reason}")
    damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return damage


def translate(error: sqlite3.Error) -> HmdError:
    """The one place where SQLite's errors become ours."""
    code = primary_code(error)
    if code in _LOCKED:
        return HmdError("busy", "the database is locked by another process", do="try again")
    if code == sqlite3.SQLITE_FULL:
        return HmdError(
            "busy", "the disk is full, nothing was changed", do="free some space and try again"
        )
    if is_damage(error):
        return HmdError(
            "damaged",
            f"the database is damaged: {error}",
            do="restart hmd: it restores the last good copy and the journal",
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return HmdError("damaged", f"the database cannot be used: {error}", do="check the disk")
    return HmdError("internal", f"the database refused: {error}")


def journal_mode(path: Path) -> str:
    """WAL, or a rollback journal where the file lies on a network file system."""
    return "DELETE" if file_system_of(path) in _NETWORK else "WAL"


def file_system_of(path: Path, mounts: str | None = None) -> str:
    """The type of the file system that holds `path`, from a mount table as Linux writes it
    (proc(5), /proc/mounts); "" where there is none to read."""
    if mounts is None:
        try:
            mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return ""
    place = path.absolute()
    best, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_unescape(fields[1]))
        if place.is_relative_to(point) and len(point.parts) >= best:  # later mounts lie on top
            best, kind = len(point.parts), fields[2]
    return kind


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text
