"""Connections: locks are waited for, cancellation loses nothing, errors have one language."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from hmd.core.errors import HmdError
from hmd.store import db


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[db.Database]:
    def connect() -> sqlite3.Connection:
        connection = db.connect(path)
        connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
        return connection

    async with db.open_database(connect, lambda: db.connect(path, read_only=True)) as database:
        yield database


def insert(value: int) -> db.Work[None]:
    def work(connection: sqlite3.Connection) -> None:
        db.transaction(
            connection, lambda: connection.execute("INSERT INTO t VALUES (?)", (value,)), db.commit
        )

    return work


def values(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT x FROM t ORDER BY x")]


async def test_reader_sees_what_was_committed_and_cannot_write(tmp_path: Path) -> None:
    """Guards the split: one connection writes, the other cannot even by mistake."""
    async with opened(tmp_path / "a.sqlite") as database:
        await database.write(insert(1))
        assert await database.read(values) == [1]
        with pytest.raises(HmdError, match="cannot be used"):
            await database.read(lambda connection: connection.execute("DELETE FROM t"))


async def test_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    """Guards "all or nothing", also when committing fails."""

    def fails(connection: sqlite3.Connection) -> None:
        raise HmdError("refused", "no")

    def work(connection: sqlite3.Connection) -> None:
        db.transaction(connection, lambda: connection.execute("INSERT INTO t VALUES (1)"), fails)

    async with opened(tmp_path / "a.sqlite") as database:
        with pytest.raises(HmdError, match="no"):
            await database.write(work)
        await database.write(insert(2))
        assert await database.read(values) == [2]


async def test_begun_work_ends_whatever_is_cancelled(tmp_path: Path) -> None:
    """Guards acknowledged changes: a caller that goes away in the middle loses and doubles none."""
    begun = trio.Event()
    token = trio.lowlevel.current_trio_token()

    def work(connection: sqlite3.Connection) -> None:
        trio.from_thread.run_sync(begun.set, trio_token=token)
        insert(1)(connection)

    async with opened(tmp_path / "a.sqlite") as database:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(database.write, work)
            await begun.wait()
            nursery.cancel_scope.cancel()
        assert await database.read(values) == [1]


async def test_work_of_a_caller_already_cancelled_does_not_begin(tmp_path: Path) -> None:
    """Guards the checkpoint before the shield."""
    async with opened(tmp_path / "a.sqlite") as database:
        with trio.CancelScope() as scope:
            scope.cancel()
            await database.write(insert(1))
        assert await database.read(values) == []


async def test_errors_inside_the_block_come_out_as_they_are(tmp_path: Path) -> None:
    """Guards callers against exception groups of the loop underneath."""
    with pytest.raises(HmdError, match="mine"):
        async with opened(tmp_path / "a.sqlite"):
            raise HmdError("refused", "mine")


async def test_lock_of_another_process_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards case O-12: a write that meets a lock is repeated until the lock is gone."""
    monkeypatch.setattr(db, "BUSY_TIMEOUT_S", 0.01)
    path = tmp_path / "a.sqlite"
    async with opened(path) as database:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        failures = []
        plain = db.primary_code

        def release_at_the_third(error: sqlite3.Error) -> int:
            failures.append(plain(error))
            if len(failures) == 3:
                other.execute("ROLLBACK")
            return plain(error)

        monkeypatch.setattr(db, "primary_code", release_at_the_third)
        await database.write(insert(1))
        assert failures == [sqlite3.SQLITE_BUSY] * 3
        assert await database.read(values) == [1]
        other.close()


async def test_lock_that_stays_is_busy_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the other end: it is said (exit 75), and nothing pretends to be stored."""
    monkeypatch.setattr(db, "BUSY_TIMEOUT_S", 0.001)
    path = tmp_path / "a.sqlite"
    async with opened(path) as database:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HmdError) as caught:
            await database.write(insert(1))
        assert (caught.value.code, caught.value.exit_code) == ("busy", 75)
        other.execute("ROLLBACK")
        other.close()
        assert await database.read(values) == []


MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
server:/export /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/local xfs rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
short line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/x", "ext4"),
        ("/home/me/.local/share/hmd/db/hmd.sqlite", "nfs4"),
        ("/home/local/me", "xfs"),
        ("/homework", "ext4"),
        ("/mnt/my share/db", "cifs"),
    ],
)
def test_file_system_of_a_path(path: str, kind: str) -> None:
    """Guards the choice of journal mode: the deepest mount counts, whole names only."""
    assert db.file_system_of(Path(path), MOUNTS) == kind


def test_network_file_system_gets_a_rollback_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards WAL's shared memory against NFS and its kind."""
    assert db.journal_mode(tmp_path) in ("WAL", "DELETE")
    monkeypatch.setattr(db, "file_system_of", lambda path: "nfs4")
    connection = db.connect(tmp_path / "a.sqlite")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        (sqlite3.SQLITE_BUSY, "busy"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "busy"),
        (sqlite3.SQLITE_FULL, "busy"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_NOTADB, "damaged"),
        (sqlite3.SQLITE_IOERR_WRITE, "damaged"),
        (sqlite3.SQLITE_ERROR, "internal"),
    ],
)
def test_errors_are_translated(code: int, ours: str) -> None:
    """Guards what the person at the other end reads, extended codes included."""
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    assert db.translate(error).code == ours
