"""Brings a database to this version's schema, one numbered step after another."""

import re
import sqlite3
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_NAME = re.compile(r"(\d{4})_\w+\.sql")


class Step(NamedTuple):
    """`sql` takes a database from version `number - 1` to `number`."""

    number: int
    sql: str


@cache
def steps() -> tuple[Step, ...]:
    """The migrations shipped with this version, in order, numbered without a gap from 1."""
    found = []
    for entry in files("hmd.store").joinpath("migrations").iterdir():
        match = _NAME.fullmatch(entry.name)
        if match:
            found.append(Step(int(match[1]), entry.read_text(encoding="utf-8")))
    found.sort()
    if [step.number for step in found] != list(range(1, len(found) + 1)):
        raise RuntimeError(f"migrations have gaps: {[step.number for step in found]}")
    return tuple(found)


def newest() -> int:
    """The schema version that this program writes."""
    return len(steps())


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(
    connection: sqlite3.Connection,
    backup: Callable[[int], None],
    wanted: tuple[Step, ...] | None = None,
) -> int:
    """Applies what is missing and returns the version reached.

    `backup(version)` is called first for a database that has content. Each step is one
    transaction, so a database is always at a whole version. A newer database is left alone.
    `connection` must be in autocommit mode.
    """
    missing = [step for step in wanted or steps() if step.number > version(connection)]
    if missing and version(connection) > 0:
        backup(version(connection))
    for step in missing:
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{step.sql}\nPRAGMA user_version = {step.number};\nCOMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return version(connection)
