"""What is done with a home's database while no daemon runs; the caller holds the home's lock."""

import sqlite3
from contextlib import closing
from pathlib import Path

from hmd.core.database import CheckReport
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.store import apply, db, migrate, recover
from hmd.store.journal import Damage, Journal


def check(home: Home) -> CheckReport:
    """Looks at database, journal and backups without changing anything; never raises for damage."""
    out = CheckReport()
    path = Path(home.database)
    if path.exists():
        try:
            _check_database(path, out)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            out.problems.append(f"the database cannot be read: {error}")
        if recover.suspicion_of(path).exists():
            out.problems.append("reading failed before: it is restored when hmd starts next")
    else:
        out.problems.append("there is no database yet")
    _check_journal(Journal(Path(home.journal)), out)
    for backup in recover.backups(Path(home.backups)):
        out.backups.append(backup.name)
        try:
            recover.sound(backup, read_only=True).close()
        except sqlite3.DatabaseError as error:
            out.problems.append(f"backup '{backup.name}' is damaged: {error}")
    return out


def _check_database(path: Path, out: CheckReport) -> None:
    connection = db.connect(path, read_only=True)
    try:
        out.schema = migrate.version(connection)
        if out.schema > migrate.newest():
            out.problems.append(
                f"the database has schema {out.schema}, this hmd knows {migrate.newest()}"
            )
        for (found,) in connection.execute("PRAGMA integrity_check(10)"):
            if found != "ok":
                out.problems.append(f"the database is damaged: {found}")
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            out.problems.append(f"row {row} of '{table}' names a row of '{parent}' that is gone")
        out.applied_seq = apply.get_meta(connection, "applied_seq")
        if out.schema >= 2:
            out.facts = connection.execute("SELECT count(*) FROM fact").fetchone()[0]
        out.memories = connection.execute("SELECT count(*) FROM memory").fetchone()[0]
    finally:
        connection.close()


def _check_journal(journal: Journal, out: CheckReport) -> None:
    last = 0
    for entry in journal.entries(0):
        if isinstance(entry, Damage):
            out.problems.append(f"{entry.what} ({entry.where})")
            continue
        if last and entry.seq != last + 1:
            out.problems.append(f"changes {last + 1} to {entry.seq - 1} are not in the journal")
        last = entry.seq
    out.journal_seq = last
    if last < out.applied_seq and last:
        out.problems.append(f"the journal ends at change {last}, the database at {out.applied_seq}")


def bring_up(home: Home, now_ms: int) -> list[str]:
    """Opens as the daemon does: restores what is damaged, migrates, replays; returns what was said.
    Raises HmdError."""
    found = recover.Opening(
        Path(home.database), Path(home.backups), Journal(Path(home.journal)), now_ms
    )
    try:
        found.connect().close()
    except sqlite3.Error as error:
        raise db.translate(error) from error
    finally:
        found.journal.close()
    if found.newer:
        raise HmdError("newer", found.newer, home.database, "upgrade hmd")
    return found.problems


def restore(home: Home, name: str, now_ms: int) -> list[str]:
    """Puts a backup (its file name, or a path; "" is the newest sound one) in the database's place
    and applies the journal over it; returns what was done. Raises HmdError."""
    backup = _choose(home, name, recover.backups(Path(home.backups)))
    said = _put(home, backup, now_ms)
    return [*said, *bring_up(home, now_ms)]


def rollback(home: Home, now_ms: int) -> list[str]:
    """Puts the newest copy from before a migration back, for an older hmd. Raises HmdError.

    The journal stays as it is: an older version applies what it knows of it and then only reads;
    this one, started again, migrates anew and loses nothing.
    """
    before = [
        path for path in recover.backups(Path(home.backups)) if path.name.startswith(recover.BEFORE)
    ]
    return _put(home, _choose(home, "", before), now_ms)


def _choose(home: Home, name: str, found: list[Path]) -> Path:
    if name:
        path = Path(name) if "/" in name else Path(home.backups, name)
        if not path.is_file():
            raise HmdError("not_found", f"no backup '{name}'", home.backups)
        found = [path]
    for path in found:
        try:
            with closing(recover.sound(path, read_only=True)) as connection:
                apply.get_meta(connection, "applied_seq")  # another program's has no such table
            return path
        except sqlite3.DatabaseError:
            continue
    if name:
        raise HmdError("damaged", "that is no sound copy of this database", str(found[0]))
    raise HmdError("not_found", "no sound backup", home.backups)


def _put(home: Home, backup: Path, now_ms: int) -> list[str]:
    try:
        aside = recover.put_copy(backup, Path(home.database), now_ms, "replaced")
    except OSError as error:
        what = f"the copy cannot be put in place: {error.strerror}"
        raise HmdError("busy", what, str(error.filename or backup), "check the disk") from error
    said = [f"the database is the copy '{backup.name}' now"]
    if aside is not None:
        said.append(f"the one before is kept as '{aside.name}'")
    return said
