"""Erases content from every file that may hold a copy: journal, database pages, backups, ledgers,
raw answers and logs.

Journal lines and other lines are overwritten in place by something of equal length, so that offsets
stay valid and a concurrent append is not lost. Each step may be repeated after a
kill.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

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
from hmd.core.facts import ERASED
from hmd.kernel.address import Home
from hmd.store import blank, db, forgetting, recover, redo
from hmd.store.facts import TEXTS
from hmd.store.journal import Journal

FILLER = b"x"
# Shorter words are blanked only where they are a whole value: "go" is in every log.
SHORTEST = 8
BLOCK = 1 << 20
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


def files(home: Home, journal: Journal, wanted: Task, words: set[str]) -> list[str]:
    """Goes through backups, all other files and the journal; returns the paths of those that were
    changed. Needs no connection: nobody waits for it."""
    changed = scrub_backups(Path(home.backups), wanted.facts, wanted.memories, words)
    changed += _scrub_files(Path(home.path), words)
    # The journal last: it is where the words are found again after a kill.
    changed += scrub_journal(journal, wanted.gone)
    return [str(path) for path in changed]


def done(connection: sqlite3.Connection, wanted: Task) -> None:
    """Notes that all was gone through, and lets no page of before survive."""
    with _transaction(connection):
        connection.execute(
            "UPDATE erasure SET done_at = (SELECT max(at) FROM change_log) WHERE id = ?",
            (wanted.erasure,),
        )
    clean_pages(connection)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    db.patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    db.patiently(lambda: connection.execute("COMMIT"))


def episodes(connection: sqlite3.Connection, words: set[str]) -> None:
    """The database's own texts that are no changes."""
    with _transaction(connection):
        _scrub_episodes(connection, words)


def _scrub_episodes(connection: sqlite3.Connection, words: set[str]) -> None:
    """Summaries of past turns that say it; they can be made again from what is left of a ledger."""
    for word in sorted(words):
        if len(word) >= SHORTEST:
            connection.execute(
                "UPDATE episode SET summary = '', told = '' "
                "WHERE instr(summary, ?1) OR instr(told, ?1)",
                (word,),
            )


def scrub_sessions(home: Home, keys: list[str]) -> list[str]:
    """Overwrites the ledgers of sessions by blanks, line by line, and drops their turns; returns
    the paths. `keys` as in `hmd.kernel.address.session_key`."""
    changed = []
    for key in keys:
        path = Path(home.ledger(key))
        if not path.is_file():
            continue
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        blanks = b"\n".join(b" " * len(line) for line in whole.split(b"\n"))
        if blanks != whole:
            redo.overwrite(path, [(0, blanks)])
            changed.append(str(path))
        Path(home.turn(key)).unlink(missing_ok=True)
    return changed


def clean_pages(connection: sqlite3.Connection) -> None:
    """Lets no page image of before survive: neither freed parts of pages nor the write-ahead log
    (SQLite, "PRAGMA secure_delete", "VACUUM", "wal_checkpoint")."""
    db.patiently(lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())


# -- the words --------------------------------------------------------------------------------


def _words_of(change: AnyChange, gone: set[str]) -> Iterator[str]:
    match change:
        case RememberFact() | ReviseFact():
            if change.fact in gone:
                yield from (change.content.fact, change.content.details)
        case ImportFacts():
            for row in change.rows:
                if row.id in gone:
                    yield from (row.fact, row.details)
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


def scrub_journal(journal: Journal, gone: set[str]) -> list[Path]:
    """Overwrites each line that speaks of `gone` by the same change without its content."""
    changed = []
    for path in journal.files():
        lines = list(_emptied_lines(path, gone))
        if lines:
            redo.overwrite(path, lines)
            changed.append(path)
    return changed


def _emptied_lines(path: Path, gone: set[str]) -> Iterator[tuple[int, bytes]]:
    for offset, entry, length in _lines_about(path, gone):
        change = blank.emptied(entry.change, gone)
        if change != entry.change:
            # JSON may end in blanks (RFC 8259, 2), so the line keeps its length.
            yield offset, encode(Entry(seq=entry.seq, change=change)).ljust(length)


def _lines_about(path: Path, gone: set[str]) -> Iterator[tuple[int, Entry, int]]:
    """(offset, entry, length) of each line that names one of `gone`."""
    names = {one.encode() for one in gone}
    offset = 0
    for line in path.read_bytes().split(b"\n")[:-1]:
        if not names.isdisjoint(_IDENTIFIER.findall(line)):
            try:
                yield offset, decode_entry(line), len(line)
            except msgspec.MsgspecError:
                pass  # damaged, or of a newer version: its words are not ours to read
        offset += len(line) + 1


# -- backups ----------------------------------------------------------------------------------


def scrub_backups(
    directory: Path, facts: list[str], memories: list[str], words: set[str]
) -> list[Path]:
    """Erases from every copy of the database, on a copy of it that then takes its place."""
    changed = []
    for path in directory.glob(".hmd-*"):
        path.unlink(missing_ok=True)  # half a copy, left by a kill
    for path in recover.backups(directory):
        temporary = path.with_name("." + path.name)
        temporary.write_bytes(path.read_bytes())
        temporary.chmod(0o600)
        try:
            if not _scrub_database(temporary, facts, memories, words):
                continue
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        except sqlite3.DatabaseError:
            # Damaged itself: what can be read in it goes.
            if not _scrub_bytes(path, words):
                continue
        finally:
            temporary.unlink(missing_ok=True)
        changed.append(path)
    return changed


def _scrub_database(path: Path, facts: list[str], memories: list[str], words: set[str]) -> bool:
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
        if "episode" in tables:
            _scrub_episodes(connection, words)
        if "proposal" in tables:
            _scrub_proposals(connection, {*facts, *memories})
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


def _scrub_files(home: Path, words: set[str]) -> list[Path]:
    """Ledgers, turns, logs, answers, and databases that were set aside."""
    if not words:
        return []
    found = [path for path in (home / "db").glob("*.sqlite.*") if path.is_file()]
    for folder in sorted(home.iterdir()):
        if folder.name not in _APART and folder.is_dir() and not folder.is_symlink():
            found += [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in found if not path.is_symlink() and _scrub_bytes(path, words)]


def _scrub_bytes(path: Path, words: set[str]) -> bool:
    """Overwrites each occurrence of a word, as it is or as JSON writes it, by filler."""
    try:
        data = path.read_bytes()
        spans = sorted(set(_spans(data, words)))
        if not spans:
            return False
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for start, length in spans:
            os.pwrite(descriptor, FILLER * length, start)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True


def _spans(data: bytes, words: set[str]) -> Iterator[tuple[int, int]]:
    """Looks through a block at a time, so that other threads get their turn."""
    forms = sorted({form for word in words for form in _forms(word)})
    longest = max((len(form) for form in forms), default=0)
    for begin in range(0, len(data), BLOCK):
        end = begin + BLOCK + longest
        for form in forms:
            start = data.find(form, begin, end)
            while start >= 0:
                quoted = form.startswith(b'"')
                yield (start + 1, len(form) - 2) if quoted else (start, len(form))
                start = data.find(form, start + len(form), end)


def _forms(word: str) -> set[bytes]:
    """The spellings of a text in our files: plain, and inside JSON with and without escapes."""
    escaped = {json.dumps(word), json.dumps(word, ensure_ascii=False)}
    whole = {each.encode("utf-8", "surrogatepass") for each in escaped}
    if len(word) < SHORTEST:
        return whole
    return {word.encode("utf-8", "surrogatepass"), *(each[1:-1] for each in whole)}
