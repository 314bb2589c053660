"""Receipts: what each rule did in each session and week. Functions run inside a connection's
thread; the rows can be made again from ledgers."""

import sqlite3
from collections.abc import Iterable

import msgspec

from hmd.core.learning import ReceiptRow


def put_receipts(connection: sqlite3.Connection, session: str, rows: Iterable[ReceiptRow]) -> None:
    """Replaces what is known of a session: reading it again counts nothing twice."""
    connection.execute("DELETE FROM receipt WHERE session = ?", (session,))
    connection.executemany(
        f"INSERT INTO receipt VALUES ({', '.join('?' * 9)})",
        [msgspec.structs.astuple(row) for row in rows],
    )


def receipts(
    connection: sqlite3.Connection, memory: str = "", since: int = 0, *, by_week: bool = False
) -> list[ReceiptRow]:
    """Sums for each memory (and week), over all sessions, by memory id."""
    group = "memory, week" if by_week else "memory"
    rows = connection.execute(
        f"SELECT memory, '', {'week' if by_week else '0'}, sum(fired), sum(heeded), sum(avoided), "
        "sum(overridden), sum(false_alarm), max(last) FROM receipt "
        f"WHERE (?1 = '' OR memory = ?1) AND week >= ?2 GROUP BY {group} ORDER BY {group}",
        (memory, since),
    )
    return [ReceiptRow(**dict(zip(ReceiptRow.__struct_fields__, row, strict=True))) for row in rows]


def receipted(connection: sqlite3.Connection, since: int) -> dict[str, tuple[str, str, bool, bool]]:
    """(summary, status, forgotten, hidden) today of every memory that has a receipt from a week
    since `since`. `hidden`: it belongs to a forgotten project."""
    rows = connection.execute(
        "SELECT v.memory_id, v.summary, v.status, v.note = 'erased' OR EXISTS "
        "(SELECT 1 FROM trash t WHERE t.memory_id = v.memory_id), EXISTS (SELECT 1 FROM project p "
        "WHERE p.id = v.project_id AND p.forgotten_at IS NOT NULL) FROM memory_version v "
        "WHERE v.superseded_at IS NULL AND v.memory_id IN "
        "(SELECT memory FROM receipt WHERE week >= ?)",
        (since,),
    )
    return {row[0]: (row[1], row[2], bool(row[3]), bool(row[4])) for row in rows}
