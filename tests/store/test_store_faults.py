"""A store whose disk, journal, database or backup fails it, and one of a newer version."""

import os
import sqlite3
from pathlib import Path

import pytest

from hmd.core.clock import FakeClock
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.store import migrate, recover
from hmd.store.store import BACKUP_EVERY_MS
from tests.store.helpers import add, dump, opened, remove_database, status


async def test_change_that_cannot_be_journaled_is_not_made(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a full disk: an error, the same rows, and the next change takes the same number."""
    async with opened(home) as store:
        await store.apply(add(1))
        before = dump(home)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", _disk_full)
            with pytest.raises(HmdError, match="disk is full"):
                await store.apply(add(2))
        assert dump(home) == before
        assert (await store.apply(add(3))).seq == 2
    live = dump(home)
    remove_database(home)
    async with opened(home) as store:
        assert store.problems == []
        assert dump(home) == live


def _disk_full(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


async def test_change_that_cannot_be_committed_is_taken_back(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards that an unacknowledged change does not come back from the journal."""

    def fails(connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    async with opened(home) as store:
        await store.apply(add(1))
        with monkeypatch.context() as patched:
            patched.setattr("hmd.store.db.commit", fails)
            with pytest.raises(HmdError, match="disk is full"):
                await store.apply(add(2))
    remove_database(home)
    async with opened(home) as store:
        assert (await store.list_memories()).total == 1


async def test_lines_above_the_database_are_applied_at_start(home: Home) -> None:
    """Guards a crash between journal and commit: the change is there after the next start."""
    async with opened(home) as store:
        await store.apply(add(1))
    behind = Path(home.database).read_bytes()
    change = add(2)
    async with opened(home) as store:
        await store.apply(change)
    live = dump(home)
    remove_database(home)
    Path(home.database).write_bytes(behind)
    async with opened(home) as store:
        assert dump(home) == live
        assert (await store.get_memory(change.memory)).seq == 2
        assert (await store.apply(add(3))).seq == 3


@pytest.mark.parametrize("damage", ["text", "middle", "header"])
@pytest.mark.parametrize("with_backup", [True, False])
async def test_damaged_database_is_restored(home: Home, damage: str, with_backup: bool) -> None:
    """Guards the promise: set aside, last good copy, journal; nothing acknowledged is missing."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        for number in range(60):
            await store.apply(add(number, details="x" * 2000))
        if with_backup:
            await store.backup()
        await store.apply(add(61))
        live = dump(home)
    for copy in Path(home.backups).glob("*"):
        if not with_backup:
            copy.unlink()
    path = Path(home.database)
    data = bytearray(path.read_bytes())
    if damage == "text":
        data = bytearray(b"this is no database " * 500)
    elif damage == "middle":
        data[len(data) // 2 : len(data) // 2 + 20000] = b"\xa5" * 20000
    else:
        data[0:64] = bytes(64)
    path.write_bytes(data)
    async with opened(home, clock) as store:
        assert dump(home) == live
        assert "damaged" in store.problems[0]
        expected = "restored from hmd-" if with_backup else "restored from the journal"
        assert store.problems[1].startswith(expected)
        assert (await store.apply(add(99))).seq == 62
    aside = [each.name for each in path.parent.iterdir() if ".damaged-" in each.name]
    assert aside


async def test_damaged_backup_is_passed_over(home: Home) -> None:
    """Guards against restoring from a copy that is no better."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        await store.apply(add(1))
        good = await store.backup()
        clock.advance(5000)
        bad = await store.backup()
        assert recover.backups(Path(home.backups)) == [bad, good]
        live = dump(home)
    bad.write_bytes(b"nothing" * 1000)
    Path(home.database).write_bytes(b"nothing" * 1000)
    async with opened(home, clock) as store:
        assert dump(home) == live
        assert f"backup {bad.name} is damaged, too" in store.problems
        assert f"restored from {good.name} and the journal" in store.problems


async def test_lost_journal_lines_are_named(home: Home) -> None:
    """Guards that a gap is said: what rested on a lost line cannot be, the rest is applied."""
    first, second = add(1), add(2)
    async with opened(home) as store:
        await store.apply(first)
        await store.apply(second)
        await store.apply(status(first.memory, "active"))
    [path] = Path(home.journal).glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b'{"seq":1,"chan\n' + b"".join(lines[1:]))
    remove_database(home)
    async with opened(home) as store:
        text = "\n".join(store.problems)
        assert "damaged line" in text
        assert "changes 1 to 1 are not in the journal" in text
        assert "change 3 could not be applied: no memory" in text
        assert (await store.get_memory(second.memory)).summary == second.content.summary
        assert (await store.apply(add(9))).seq == 4


async def test_database_of_a_newer_version_reads_but_does_not_write(home: Home) -> None:
    """Guards a downgrade: everything can be looked at, nothing is changed, and it says so."""
    change = add(1)
    async with opened(home) as store:
        await store.apply(change)
    connection = sqlite3.connect(home.database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = dump(home)
    async with opened(home) as store:
        assert (await store.get_memory(change.memory)).id == change.memory
        assert (await store.status()).state == "newer"
        with pytest.raises(HmdError, match="schema 99") as caught:
            await store.apply(add(2))
        assert caught.value.code == "newer"
        assert "upgrade" in caught.value.do
    assert dump(home) == before


async def test_journal_of_a_newer_version_stops_writing(home: Home) -> None:
    """Guards an unknown change: applying what follows it could be wrong, so nothing is."""
    async with opened(home) as store:
        await store.apply(add(1))
    [path] = Path(home.journal).glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"seq":2,"change":{"kind":"paint","actor":"terminal","at":1}}\n')
    async with opened(home) as store:
        assert (await store.list_memories()).total == 1
        with pytest.raises(HmdError) as caught:
            await store.apply(add(2))
        assert caught.value.code == "newer"


async def test_database_is_copied_before_it_is_migrated(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards an upgrade: the old database is kept as it was, and the new one has all its rows."""
    change = add(1)
    async with opened(home) as store:
        await store.apply(change)
    old = migrate.newest()
    longer = (*migrate.steps(), migrate.Step(old + 1, "CREATE TABLE later (x);"))
    monkeypatch.setattr(migrate, "steps", lambda: longer)
    async with opened(home) as store:
        assert (await store.status()).schema == old + 1
        assert (await store.get_memory(change.memory)).seq == 1
    [copy] = Path(home.backups).glob(f"{recover.BEFORE}{old}-*.sqlite")
    connection = sqlite3.connect(copy)
    assert migrate.version(connection) == old
    assert connection.execute("SELECT id FROM memory").fetchall() == [(change.memory,)]
    connection.close()


async def test_backups_daily_and_pruned(home: Home) -> None:
    """Guards that a copy is made once a day of use and that only the newest are kept."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        for day in range(10):
            change = add(day)
            change.at = clock.now_ms()
            await store.apply(change)
            again = add(100 + day)
            again.at = clock.now_ms()
            await store.apply(again)
            async with store._copying:  # it is made beside the changes
                clock.advance(BACKUP_EVERY_MS + 1000)
    found = recover.backups(Path(home.backups))
    assert len(found) == recover.KEPT_DAILY
    connection = sqlite3.connect(found[0])
    # made after the first change of the last day
    [seq] = connection.execute("SELECT value FROM meta WHERE key = 'applied_seq'").fetchone()
    assert int(seq) >= 19
    connection.close()
    assert all(path.stat().st_mode & 0o077 == 0 for path in found)


async def test_failed_backup_does_not_fail_the_change(home: Home) -> None:
    """Guards that a change which is on disk is acknowledged whatever becomes of the copy."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        Path(home.backups).write_text("a file where the directory should be")
        change = add(1)
        change.at = clock.now_ms()
        assert (await store.apply(change)).seq == 1
    assert any("backup failed" in line for line in store.problems)


async def test_clock_never_goes_behind_the_store(home: Home) -> None:
    """Guards the order of changes over a restart with the clock set back."""
    clock = FakeClock(5_000_000)
    async with opened(home, clock) as store:
        change = add()
        change.at = clock.now_ms()
        await store.apply(change)
    earlier = FakeClock(1_000)
    async with opened(home, earlier):
        assert earlier.now_ms() > 5_000_000
