"""Facts of a memharness database, with their times and chains.

Its times of record become ours, so that questions about the past can be asked here too; when a
revision was learned, which it does not keep, is when its successor was recorded.
"""

import sqlite3
from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from hmd.app.import_chains import whole
from hmd.app.import_values import Row, moment, number, text
from hmd.core.database import ImportReport
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.core.memory import Origin
from hmd.kernel.redact import redact

KNOWN_SCHEMAS = range(1, 6)
_NEEDED = frozenset("id subject fact valid_from tx_at".split())
_COLUMNS = frozenset(
    "id subject predicate fact confidence importance kind valid_from valid_to tx_at superseded_by "
    "retracted_at source_agent source_ref source_commit source_path freshness checked_at "
    "checked_head last_accessed_at embedding embedding_dim embedding_model".split()
)
_KINDS = ("semantic", "episodic", "procedural")

# Characters; its own limit for a fact is 1,500.
MOST, MOST_NAME = 8_000, 500


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
    by_id: dict[Any, Row] = {row["id"]: row for row in rows}
    out: list[FactRow] = []
    for row in rows:
        try:
            out.append(_fact(row, named, by_id, now))
        except ValueError as error:
            report.skipped.append(f"fact {row['id']!s:.80}: {error}")
    return whole(out, report)


def _identifier(row: Row) -> str:
    """The same for the same fact in every copy of the database."""
    parts = ("memharness", row["id"], row["subject"], row["fact"], row["tx_at"])
    text = "\0".join(str(part) for part in parts)
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:32]


def _fact(row: Row, named: dict[Any, str], by_id: dict[Any, Row], now: int) -> FactRow:
    recorded, begun = moment(row, "tx_at"), moment(row, "valid_from")
    if recorded is None or begun is None:
        raise ValueError("it has no time")
    successor: Any = row.get("superseded_by")
    end = moment(row, "valid_to")
    is_closed = successor in named
    learned = moment(by_id[successor], "tx_at") if is_closed else None
    if is_closed and end is None:
        end = moment(by_id[successor], "valid_from")
    retracted = moment(row, "retracted_at")
    if max(recorded, learned or 0, retracted or 0) > now:
        raise ValueError("it was recorded in the future")
    kind: Any = row.get("kind") or "semantic"
    freshness: Any = row.get("freshness") or ""
    found = FactRow(
        id=named[row["id"]],
        number=int(number(row, "id", 0, 0, 2**53)),
        subject=redact(text(row, "subject", limit=MOST_NAME).strip()),
        predicate=redact(text(row, "predicate", limit=MOST_NAME).strip()),
        fact=redact(text(row, "fact", limit=MOST).strip()),
        confidence=number(row, "confidence", 1.0, 0.0, 1.0),
        importance=int(number(row, "importance", 5, 1, 10)),
        kind=kind if kind in _KINDS else "semantic",
        evidence="user_said",
        actor="import",
        authority="human",
        source_agent=text(row, "source_agent", limit=MOST_NAME).strip(),
        source_ref=redact(text(row, "source_ref", limit=MOST_NAME).strip()),
        commit=text(row, "source_commit", limit=MOST_NAME),
        path=text(row, "source_path", limit=MOST_NAME),
        origin=Origin(host="memharness"),
        valid_from=begun,
        valid_to=None if is_closed else end,
        recorded_at=recorded,
        superseded_by=named[successor] if is_closed else "",
        closed_at=(begun if end is None else end) if is_closed else None,
        closed_tx=max(recorded, learned or 0) if is_closed else None,
        retracted_at=retracted,
        freshness=freshness if freshness in ("current", "stale", "unresolved") else "",
        checked_head=text(row, "checked_head", limit=MOST_NAME),
    )
    if not found.subject or not found.fact:
        raise ValueError("it says nothing")
    return found
