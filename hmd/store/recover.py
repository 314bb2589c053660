"""What is done for a database that is absent, damaged, older or behind its journal.

Blocking; runs in the writer's thread before anything else does.
"""

import os
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.store import apply, db, migrate, redo
from hmd.store.journal import Damage, Journal

DAILY, BEFORE = "hmd-", "hmd-before-v"
KEPT_DAILY, KEPT_BEFORE = 7, 3
_STAMP = "%Y%m%dT%H%M%SZ"


class Opening:
    """One opening of the database at `path`; `problems` says what was found and done."""

    def __init__(self, path: Path, backups: Path, journal: Journal, now_ms: int) -> None:
        self.path = path
        self.backups = backups
        self.journal = journal
        self.now_ms = now_ms
        self.problems: list[str] = []
        self.newer = ""  # why writing is refused, or ""

    def connect(self) -> sqlite3.Connection:
        """A sound writer connection at the newest schema, level with the journal. Raises HmdError
        and sqlite3.Error."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _temporary(self.path).unlink(missing_ok=True)  # half a copy, left by a kill
            connection = self._sound_connection()
            try:
                self._bring_up(connection)
            except BaseException:
                connection.close()
                raise
        except OSError as error:
            what = f"the store cannot be opened: {error.strerror}"
            where = str(error.filename or self.path)
            raise HmdError("busy", what, where, "check the disk") from error
        return connection

    def _bring_up(self, connection: sqlite3.Connection) -> None:
        found = migrate.version(connection)
        if found > migrate.newest():
            self.newer = f"the database has schema {found}, this hmd knows {migrate.newest()}"
            return
        migrate.migrate(connection, lambda old: self._copy(connection, f"{BEFORE}{old}-"))
        redo.finish(self.journal.directory)
        self.journal.open()
        self._replay(connection)
        suspicion_of(self.path).unlink(missing_ok=True)

    def _sound_connection(self) -> sqlite3.Connection:
        suspicion = suspicion_of(self.path)
        if suspicion.exists() and self.path.exists():
            # Not every damage is seen by a check, and a copy may hold it as well.
            self._restore("it gave what was never written", self._whole_journal())
            return sound(self.path)
        try:
            return sound(self.path)
        except sqlite3.DatabaseError as error:
            if not db.is_damage(error):
                raise
            reason = str(error)
        self._restore(reason, journal_alone=False)
        return sound(self.path)

    def _restore(self, reason: str, journal_alone: bool) -> None:
        """Sets the database aside; a sound copy takes its place, or nothing does."""
        damaged = []
        for backup in [] if journal_alone else backups(self.backups):
            try:
                sound(backup, read_only=True).close()
            except sqlite3.DatabaseError:
                damaged.append(f"backup {backup.name} is damaged, too")
                continue
            aside = put_copy(backup, self.path, self.now_ms, "damaged")
            restored = f"restored from {backup.name} and the journal"
            break
        else:
            aside = set_aside(self.path, self.now_ms, "damaged")
            restored = "restored from the journal"
        kept = "" if aside is None else f" and set aside as {aside.name}"
        self.problems += [f"the database was damaged ({reason}){kept}", *damaged, restored]

    def _whole_journal(self) -> bool:
        """Whether everything can be built from the journal alone."""
        last = 0
        for entry in self.journal.entries(0):
            if isinstance(entry, Damage) or entry.seq != last + 1:
                return False
            last = entry.seq
        return last > 0

    def _copy(self, connection: sqlite3.Connection, prefix: str) -> None:
        copy(connection, self.backups / f"{prefix}{stamp(self.now_ms)}.sqlite")
        prune(self.backups)

    # -- the journal --

    def _replay(self, connection: sqlite3.Connection) -> None:
        """Applies every journal line that the database does not hold yet."""
        after = apply.get_meta(connection, "applied_seq")
        if self.journal.last_seq <= after:
            return
        db.transaction(connection, lambda: self._apply_entries(connection, after), db.commit)

    def _apply_entries(self, connection: sqlite3.Connection, after: int) -> None:
        done = after
        for entry in self.journal.entries(after):
            if isinstance(entry, Damage):
                if entry.newer:
                    self.newer = entry.what
                    return
                self.problems.append(f"{entry.what} ({entry.where})")
                continue
            if entry.seq <= done:
                self.problems.append(f"change {entry.seq} is in the journal twice")
                continue
            if entry.seq > done + 1:
                self.problems.append(
                    f"changes {done + 1} to {entry.seq - 1} are not in the journal"
                )
            done = entry.seq
            connection.execute("SAVEPOINT entry")
            try:
                apply.apply_change(connection, entry.seq, entry.change)
            except HmdError as error:
                # Only after a loss: the change rested on one that is gone.
                connection.execute("ROLLBACK TO entry")
                apply.set_meta(connection, "applied_seq", entry.seq)
                self.problems.append(f"change {entry.seq} could not be applied: {error}")
            connection.execute("RELEASE entry")


def sound(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection to a database that passes quick_check. Raises sqlite3.DatabaseError."""
    try:
        connection = db.patiently(lambda: db.connect(path, read_only=read_only))
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except BaseException:
            connection.close()
            raise
    except UnicodeDecodeError as error:
        raise db.damage_of(error) from error
    if found != "ok":
        connection.close()
        damage = sqlite3.DatabaseError(found)
        damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damage
    return connection


def suspicion_of(path: Path) -> Path:
    """A file beside the database that stands while it is suspected of damage."""
    return path.with_name(path.name + ".suspect")


# -- copies -----------------------------------------------------------------------------------


def stamp(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime(_STAMP)


def stamped_at(path: Path) -> int:
    """When a copy was made, from its name; 0 where the name does not say."""
    try:
        when = datetime.strptime(path.stem.rpartition("-")[2], _STAMP)
    except ValueError:
        return 0
    return int(when.replace(tzinfo=UTC).timestamp() * 1000)


def backups(directory: Path) -> list[Path]:
    """Every copy, newest first."""
    found = [path for path in directory.glob("hmd-*.sqlite") if stamped_at(path)]
    return sorted(found, key=lambda path: (stamped_at(path), path.name), reverse=True)


def prune(directory: Path) -> None:
    """Removes the oldest copies beyond what is kept of each sort."""
    found = backups(directory)
    before = [path for path in found if path.name.startswith(BEFORE)]
    daily = [path for path in found if path not in before]
    for path in [*daily[KEPT_DAILY:], *before[KEPT_BEFORE:]]:
        path.unlink(missing_ok=True)


def copy(connection: sqlite3.Connection, path: Path) -> None:
    """A consistent copy of an open database, on disk before its name appears."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = _temporary(path)
    temporary.unlink(missing_ok=True)
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | machine.NOT_INHERITED, 0o600))
        target = sqlite3.connect(temporary)
        try:
            connection.backup(target)
            # A copy is one file that anything can open, wherever it lies.
            target.execute("PRAGMA journal_mode = DELETE")
        finally:
            target.close()
        _sync(temporary)
        machine.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def set_aside(path: Path, now_ms: int, why: str) -> Path | None:
    """Renames a database with its logs; None where there is none."""
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.{why}-{stamp(now_ms)}")
    for suffix in ("-wal", "-shm", "-journal", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def put_copy(source: Path, path: Path, now_ms: int, why: str) -> Path | None:
    """Puts a copy of `source` in the place of a database, which is set aside only once the copy is
    whole and on disk; returns what became of the one before. Raises OSError."""
    temporary = _temporary(path)
    try:
        shutil.copyfile(source, temporary)
        temporary.chmod(0o600)
        _sync(temporary)
        aside = set_aside(path, now_ms, why)
        machine.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return aside


def _temporary(path: Path) -> Path:
    return path.with_name("." + path.name)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | machine.NOT_INHERITED)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
