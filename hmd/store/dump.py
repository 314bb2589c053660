"""The whole database as SQL text that any SQLite client reads, the same text for the same rows."""

import sqlite3
from collections.abc import Iterator

# When answers were given is no knowledge, and differs with every question.
_LEFT_OUT = frozenset(["fact_access", "sqlite_sequence"])


def lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Statements in a fixed order: tables by name, rows by primary key, then indexes."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    yield "PRAGMA foreign_keys = OFF;"
    yield "BEGIN;"
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
    ).fetchall()
    tables = [(name, sql) for kind, name, sql in found if kind == "table"]
    for name, sql in tables:
        yield f"{sql};"
        if name not in _LEFT_OUT:
            yield from _rows(connection, name)
    for kind, _, sql in found:
        if kind != "table":
            yield f"{sql};"
    yield f"PRAGMA user_version = {version};"
    yield "COMMIT;"


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    names = [column[1] for column in columns]
    key = [column[1] for column in sorted(columns, key=lambda column: column[5]) if column[5]]
    quoted = ", ".join(f'quote("{name}")' for name in names)
    order = ", ".join(f'"{name}"' for name in key or names)
    listed = ", ".join(f'"{name}"' for name in names)
    for row in connection.execute(f'SELECT {quoted} FROM "{table}" ORDER BY {order}'):
        yield f'INSERT INTO "{table}" ({listed}) VALUES ({", ".join(row)});'
