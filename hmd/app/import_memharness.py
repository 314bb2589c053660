"""Facts of a memharness database, with their times and chains.

Its times of record become ours, so that questions about the past can be asked here too; when a
revision was learned, which it does not keep, is when its successor was recorded.
"""

import sqlite3
from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from hmd.core.database import ImportReport
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.core.memory import Origin
from hmd.core.times import parse_time
from hmd.kernel.redact import redact

KNOWN_SCHEMAS = range(1, 6)
_NEEDED = frozenset("id subject fact valid_from tx_at".split())
_COLUMNS = frozenset(
    "id subject predicate fact confidence importance kind valid_from valid_to tx_at superseded_by "
    "retracted_at source_agent source_ref source_commit source_path freshness checked_at "
    "checked_head last_accessed_at embedding embedding_dim embedding_model".split()
)
_KINDS = ("semantic", "episodic", "procedural")

Row = dict[str, Any]


def table_in(tables: Mapping[str, object]) -> str:
    """The table that holds facts, known by its columns; "" for none."""
    for name, columns in sorted(tables.items()):
        if isinstance(columns, (set, frozenset)) and columns >= _NEEDED:
            return name
    return ""


def read(
    connection: sqlite3.Connection, report: ImportReport, project: str | None, now: int
) -> list[FactRow]:
    """Its facts as rows of ours; fills the counts of `report`. Raises HmdError."""
    report.version = str(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = {
        name: {column[1] for column in connection.execute(f'PRAGMA table_info("{name}")')}
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    table = table_in(tables)
    if not table:
        raise HmdError("usage", "no table of facts in it")
    if int(report.version) not in KNOWN_SCHEMAS:
        report.notes.append(f"schema {report.version} is not known; read column by column")
    report.not_understood += [f"column {table}.{name}" for name in sorted(tables[table] - _COLUMNS)]
    rows = [dict(row) for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY id')]
    report.counted["facts"] = len(rows)
    named = {row["id"]: _identifier(row) for row in rows}
    times = {row["id"]: row["tx_at"] for row in rows}
    out: list[FactRow] = []
    for row in rows:
        try:
            out.append(_fact(row, named, times, now))
        except (HmdError, ValueError, TypeError) as error:
            report.skipped.append(f"fact {row['id']}: {error}")
    return _whole(out, report)


def _identifier(row: Row) -> str:
    """The same for the same fact in every copy of the database."""
    parts = ("memharness", row["id"], row["subject"], row["fact"], row["tx_at"])
    text = "\0".join(str(part) for part in parts)
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:32]


def _fact(row: Row, named: dict[int, str], times: dict[int, str], now: int) -> FactRow:
    recorded = parse_time(row["tx_at"])
    if recorded > now:
        raise ValueError("it was recorded in the future")
    successor: Any = row.get("superseded_by")
    end = parse_time(row["valid_to"]) if row.get("valid_to") else None
    is_closed = successor in named
    kind: Any = row.get("kind") or "semantic"
    freshness: Any = row.get("freshness") or ""
    return FactRow(
        id=named[row["id"]],
        number=int(row["id"]),
        subject=redact(str(row["subject"]).strip()),
        predicate=redact(str(row.get("predicate") or "")),
        fact=redact(str(row["fact"]).strip()),
        confidence=min(1.0, max(0.0, float(row.get("confidence", 1.0)))),
        importance=min(10, max(1, int(row.get("importance") or 5))),
        kind=kind if kind in _KINDS else "semantic",
        evidence="user_said",
        actor="import",
        authority="human",
        source_agent=str(row.get("source_agent") or "").strip(),
        source_ref=redact(str(row.get("source_ref") or "").strip()),
        commit=str(row.get("source_commit") or ""),
        path=str(row.get("source_path") or ""),
        origin=Origin(host="memharness"),
        valid_from=parse_time(row["valid_from"]),
        valid_to=None if is_closed else end,
        recorded_at=recorded,
        superseded_by=named[successor] if is_closed else "",
        closed_at=end if is_closed else None,
        closed_tx=parse_time(times[successor]) if is_closed else None,
        retracted_at=parse_time(row["retracted_at"]) if row.get("retracted_at") else None,
        freshness=freshness if freshness in ("current", "stale", "unresolved") else "",
        checked_head=str(row.get("checked_head") or ""),
    )


def _whole(rows: list[FactRow], report: ImportReport) -> list[FactRow]:
    """Without links to facts that could not be read."""
    there = {row.id for row in rows}
    for row in rows:
        if row.superseded_by and row.superseded_by not in there:
            row.valid_to, row.superseded_by, row.closed_at, row.closed_tx = (
                row.closed_at, "", None, None,
            )  # fmt: skip
            report.notes.append(f"fact {row.number}: its successor could not be read")
    return rows
