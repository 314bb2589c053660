"""Erases content from every file that may hold a copy: journal, database pages, backups, ledgers,
raw answers and logs.

Journal lines and other lines are overwritten in place by something of equal length, so that offsets
stay valid and a concurrent append is not lost. Each step may be repeated after a kill.
"""

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from hmd.core import machine
from hmd.core.changes import (
    AddMemory,
    AnyChange,
    Batch,
    EditMemory,
    Entry,
    ImportFacts,
    OpenProposal,
    RememberFact,
    ReviseFact,
    ReviseMemory,
    decode_entry,
    encode,
)
from hmd.core.errors import HmdError
from hmd.core.facts import ERASED, FactContent
from hmd.kernel.address import Home
from hmd.store import blank, db, forgetting, leftovers, mask, recover, redo
from hmd.store.facts import TEXTS
from hmd.store.journal import Journal
from hmd.store.leftovers import Left
from hmd.store.mask import Pace, Words

_IDENTIFIER = re.compile(rb"[0-9a-f]{32}")
# What holds no copies, or is gone through in its own way.
_APART = frozenset(["app", "db", "journal", "backup", "run", "snapshot", "models", "projects"])


class Task(NamedTuple):
    """One erasing whose files have still to be gone through."""

    erasure: str
    facts: list[str]
    memories: list[str]

    @property
    def gone(self) -> set[str]:
        return {*self.facts, *self.memories}


def task(connection: sqlite3.Connection, erasure: str) -> Task | None:
    """What an erasing is about; None where it is done or unknown."""
    found = {one: Task(one, *rest) for one, *rest in forgetting.pending(connection)}
    return found.get(erasure)


def words_of(journal: Journal, wanted: Task) -> set[str]:
    """Every text of the erased things that the journal still holds."""
    words: set[str] = set()
    for path in journal.files():
        for _, entry, _ in _lines_about(path, wanted.gone):
            words.update(_words_of(entry.change, wanted.gone))
    return {word for word in words if word.strip() and word != ERASED}


def files(home: Home, journal: Journal, wanted: Task, left: Left) -> list[str]:
    """Goes through backups, all other files and the journal; returns the paths of those that were
    changed. Needs no connection: nobody waits for it."""
    changed = scrub_backups(Path(home.backups), wanted.facts, wanted.memories, left)
    changed += _scrub_files(Path(home.path), left.words)
    # The journal last: it is where the words are found again after a kill.
    changed += scrub_journal(journal, wanted.gone, left)
    return [str(path) for path in changed]


def done(connection: sqlite3.Connection, wanted: Task) -> None:
    """Lets no page of before survive, and then notes that all was gone through. Raises HmdError
    "busy" where a reader in another process keeps them: to be done again, at the next start too."""
    clean_pages(connection)
    with _transaction(connection):
        connection.execute(
            "UPDATE erasure SET done_at = (SELECT max(at) FROM change_log) WHERE id = ?",
            (wanted.erasure,),
        )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    db.patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    db.patiently(lambda: connection.execute("COMMIT"))


def rows(connection: sqlite3.Connection, left: Left) -> None:
    """The database's own texts that are no changes."""
    with _transaction(connection):
        leftovers.clean_rows(connection, left)


def clean_pages(connection: sqlite3.Connection) -> None:
    """Lets no page image of before survive: neither freed parts of pages nor the write-ahead log
    (SQLite, "PRAGMA secure_delete", "wal_checkpoint": its first column is 1 where somebody still
    reads an older state)."""
    for _ in range(db.BUSY_ATTEMPTS):
        found = db.patiently(
            lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        )
        if not found or found[0] == 0:
            return
    raise HmdError(
        "busy",
        "the write-ahead log still holds what was erased: another program reads the database",
        do="end that program; it is tried again at the next start",
    )


# -- the words --------------------------------------------------------------------------------


def texts_of(said: FactContent) -> tuple[str, ...]:
    """What a fact says, also as it is given to models: with its subject."""
    told = f"{said.predicate} {said.fact}".strip()
    return (said.fact, said.details, f"{said.subject}: {told}", f"{said.subject} {told}")


def _words_of(change: AnyChange, gone: set[str]) -> Iterator[str]:
    match change:
        case RememberFact() | ReviseFact():
            if change.fact in gone:
                yield from texts_of(change.content)
        case ImportFacts():
            for row in change.rows:
                if row.id in gone:
                    yield from texts_of(row)
        case AddMemory() | ReviseMemory():
            if change.memory in gone:
                yield from (change.content.summary, change.content.details)
                yield from (each.excerpt for each in change.evidence)
        case EditMemory():
            if change.memory in gone:
                texts = (change.patch.summary, change.patch.details)
                yield from (text for text in texts if isinstance(text, str))
        case Batch() | OpenProposal():
            for each in change.changes:
                yield from _words_of(each, gone)


# -- the journal ------------------------------------------------------------------------------


def scrub_journal(journal: Journal, gone: set[str], left: Left) -> list[Path]:
    """Overwrites each line that speaks of `gone`, or says what `left` names, by the same change
    without its content."""
    changed = []
    for path in journal.files():
        lines = list(_emptied_lines(path, gone, left))
        if lines:
            redo.overwrite(path, lines)
            changed.append(path)
    return changed


def _emptied_lines(path: Path, gone: set[str], left: Left) -> Iterator[tuple[int, bytes]]:
    for offset, entry, length in _lines_about(path, gone, left):
        change = leftovers.cleaned(blank.emptied(entry.change, gone), left)
        if change != entry.change:
            # JSON may end in blanks (RFC 8259, 2), so the line keeps its length.
            yield offset, encode(Entry(seq=entry.seq, change=change)).ljust(length)


def _lines_about(
    path: Path, gone: set[str], left: "Left | None" = None
) -> Iterator[tuple[int, Entry, int]]:
    """(offset, entry, length) of each line that names one of `gone` or concerns `left`."""
    names = {one.encode() for one in gone}
    data = path.read_bytes()
    pace = Pace()
    offset = 0
    while (end := data.find(b"\n", offset)) >= 0:
        line = data[offset:end]
        if not names.isdisjoint(_IDENTIFIER.findall(line)) or _concerns(line, left):
            try:
                yield offset, decode_entry(line), len(line)
            except msgspec.MsgspecError:
                pass  # damaged, or of a newer version: its words are not ours to read
        offset = end + 1
        pace.step()


def _concerns(line: bytes, left: "Left | None") -> bool:
    if left is None:
        return False
    if (left.sessions or left.times) and b'"learn_fixes"' in line:
        return True
    return bool(left.words.asked) and bool(left.words.spans(line))


# -- backups ----------------------------------------------------------------------------------


def scrub_backups(directory: Path, facts: list[str], memories: list[str], left: Left) -> list[Path]:
    """Erases from every copy of the database, on a copy of it that then takes its place."""
    changed = []
    for path in directory.glob(".hmd-*"):
        path.unlink(missing_ok=True)  # half a copy, left by a kill
    for path in recover.backups(directory):
        temporary = path.with_name("." + path.name)
        shutil.copyfile(path, temporary)
        temporary.chmod(0o600)
        try:
            if not _scrub_database(temporary, facts, memories, left):
                continue
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            machine.replace(temporary, path)
        except sqlite3.DatabaseError:
            # Damaged itself: what can be read in it goes.
            if not mask.overwrite(path, left.words):
                continue
        finally:
            temporary.unlink(missing_ok=True)
        changed.append(path)
    return changed


def _scrub_database(path: Path, facts: list[str], memories: list[str], left: Left) -> bool:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA journal_mode = MEMORY")
        before = connection.total_changes
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        connection.execute("BEGIN")
        if "fact" in tables:
            names = ", ".join(f"\"{name}\" = ''" for name in TEXTS)
            connection.executemany(
                f"UPDATE fact SET {names}, tags = '[]', links = '[]', origin_session = '', "
                "origin_worktree = '' WHERE id = ? AND fact <> ''",
                [(one,) for one in facts],
            )
        for memory in memories:
            _scrub_memory(connection, memory)
        if "proposal" in tables:
            _scrub_proposals(connection, {*facts, *memories})
        leftovers.clean_rows(connection, left)
        connection.execute("COMMIT")
        return connection.total_changes > before
    finally:
        connection.close()


def _scrub_memory(connection: sqlite3.Connection, memory: str) -> None:
    connection.execute(
        "UPDATE memory_version SET summary = ?, details = '', sig = NULL, aliases = '[]', "
        "note = '', source_ref = '', loaded = '', scope = '**', knowledge = '' "
        "WHERE memory_id = ? AND summary <> ?",
        (ERASED, memory, ERASED),
    )
    connection.execute(
        "UPDATE evidence SET ref = '', excerpt = '', session = '' "
        "WHERE memory_id = ? AND excerpt || ref || session <> ''",
        (memory,),
    )


def _scrub_proposals(connection: sqlite3.Connection, gone: set[str]) -> None:
    rows = connection.execute("SELECT id, changes FROM proposal").fetchall()
    connection.executemany(
        "UPDATE proposal SET changes = '[]', reason = '', claim = '' WHERE id = ?",
        [(one,) for one, changes in rows if any(each in changes for each in gone)],
    )


# -- everything else --------------------------------------------------------------------------


def _scrub_files(home: Path, words: Words) -> list[Path]:
    """Ledgers, turns, logs, answers, and databases that were set aside."""
    if not words:
        return []
    found = [path for path in (home / "db").glob("*.sqlite.*") if path.is_file()]
    for folder in sorted(home.iterdir()):
        if folder.name not in _APART and folder.is_dir() and not folder.is_symlink():
            found += [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in found if not path.is_symlink() and mask.overwrite(path, words)]
