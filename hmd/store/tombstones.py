"""Tombstones: what was forgotten must not come back by itself, and nobody may read it from us.

A tombstone is a keyed hash (BLAKE2b, 16 bytes) of a statement, a session, a source or a file. The
key lies in the home and is no part of the database, a backup or the journal, so none of these
alone tells whether some text was once known. Every change that brings text in carries its marks.
"""

import os
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec

from hmd.core import machine
from hmd.core.changes import (
    AddMemory,
    AnyChange,
    Batch,
    EditMemory,
    ImportFacts,
    OpenProposal,
    RememberFact,
    ReviseFact,
    ReviseMemory,
)
from hmd.core.errors import HmdError
from hmd.core.facts import FactContent
from hmd.core.memory import Content

KEY_NAME = "tombstone.key"
_KEY_BYTES = 32
_MARK_BYTES = 16
_OPEN, _CLOSE = " \t\r\n\"'`([{<", " \t\r\n\"'`)]}>.!?;:,。、！？"

_BRINGS_TEXT = (AddMemory, EditMemory, ReviseMemory, RememberFact, ReviseFact)

C = TypeVar("C", bound=AnyChange)


class Marks:
    """Makes marks with the home's key, which is created where it is absent."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of(cls, directory: Path) -> "Marks":
        """With the key in `directory`. Raises OSError."""
        path = directory / KEY_NAME
        try:
            key = path.read_bytes()
        except FileNotFoundError:
            key = b""
        if len(key) != _KEY_BYTES:
            key = os.urandom(_KEY_BYTES)
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = path.with_name("." + KEY_NAME)
            with open(temporary, "wb", opener=_private) as file:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            machine.replace(temporary, path)
        return cls(key)

    def mark(self, kind: str, text: str) -> str:
        """The mark of a `text`, `session`, `source` or `file`; "" for a blank one."""
        plain = normal(text) if kind == "text" else text.strip()
        if not plain:
            return ""
        return blake2b(
            f"{kind}\0{plain}".encode("utf-8", "surrogatepass"),
            digest_size=_MARK_BYTES,
            key=self._key,
        ).hexdigest()

    def of_fact(self, content: FactContent, session: str) -> list[str]:
        """Marks of everything by which a fact may have been forgotten."""
        return self._marks(
            [content.fact, content.details], session, content.source_ref, content.path
        )

    def of_memory(self, content: Content, session: str) -> list[str]:
        ref = content.source_ref
        return self._marks([content.summary, content.details], session, ref, "")

    def _marks(self, texts: Iterable[str], session: str, source: str, path: str) -> list[str]:
        found = {self.mark("text", text) for text in texts}
        found |= {self.mark("session", session), self.mark("session", source)}
        found |= {self.mark("source", source), self.mark("file", path)}
        place, _, line = source.rpartition(":")
        found.add(self.mark("file", place if line.isdecimal() else source))
        return sorted(found - {""})

    def stamp(self, change: C) -> C:
        """The change with the marks of what it brings in, also inside batches and proposals."""
        match change:
            case RememberFact() | ReviseFact():
                marks = self.of_fact(change.content, change.origin.session)
                return msgspec.structs.replace(change, marks=marks)
            case AddMemory():
                marks = self.of_memory(change.content, change.origin.session)
                return msgspec.structs.replace(change, marks=marks)
            case EditMemory():
                texts = (change.patch.summary, change.patch.details)
                found = {self.mark("text", text) for text in texts if isinstance(text, str)}
                return msgspec.structs.replace(change, marks=sorted(found - {""}))
            case ReviseMemory():
                return msgspec.structs.replace(change, marks=self.of_memory(change.content, ""))
            case ImportFacts():
                rows = [self.of_fact(row, row.origin.session) for row in change.rows]
                return msgspec.structs.replace(change, marks=rows)
            case Batch() | OpenProposal():
                inner = [self.stamp(each) for each in change.changes]
                return msgspec.structs.replace(change, changes=inner)
        return change


def normal(text: str) -> str:
    """What counts of a statement: neither case, width, spacing nor the marks around it."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = " ".join(plain.casefold().split())
    return folded.lstrip(_OPEN).rstrip(_CLOSE)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# -- in the database --------------------------------------------------------------------------


def add(connection: sqlite3.Connection, marks: Iterable[str], at: int) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO tombstone VALUES (?, ?)", [(mark, at) for mark in marks]
    )


def lift(connection: sqlite3.Connection, marks: Iterable[str]) -> None:
    connection.executemany("DELETE FROM tombstone WHERE mark = ?", [(mark,) for mark in marks])


def known(connection: sqlite3.Connection, marks: Iterable[str]) -> bool:
    """Whether one of `marks` was forgotten."""
    find = "SELECT 1 FROM tombstone WHERE mark = ?"
    return any(connection.execute(find, (mark,)).fetchone() for mark in marks)


def admit(connection: sqlite3.Connection, change: AnyChange, *, direct: bool) -> None:
    """Refuses what was forgotten, whoever brings it; a person who says it anew at a terminal
    (`direct`: not by accepting what something else proposed) lifts the tombstone instead."""
    if not isinstance(change, _BRINGS_TEXT) or not change.marks:
        return
    if direct and change.actor == "terminal":
        lift(connection, change.marks)
    elif known(connection, change.marks):
        raise HmdError(
            "refused",
            "this was forgotten on purpose",
            do="a person can say it anew: hmctl fact remember",
        )


def filter_rows(
    connection: sqlite3.Connection, change: ImportFacts, skip: Callable[[int], None]
) -> ImportFacts:
    """An import without what was forgotten; `skip` hears the position of each row left out."""
    rows = []
    for number, row in enumerate(change.rows):
        if number < len(change.marks) and known(connection, change.marks[number]):
            skip(number)
        else:
            rows.append(row)
    return msgspec.structs.replace(change, rows=rows)
