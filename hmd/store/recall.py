"""Rows that recall keeps in memory, read page by page, and the vectors beside them.

Vectors are no knowledge: they are made again where they are lost. Functions run inside a
connection's thread.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactRow
from hmd.core.learning import EpisodeRow
from hmd.store.episode_queue import episode_of
from hmd.store.facts import SELECT, row_of
from hmd.store.facts_read import NOW, THEN, VISIBLE, narrow, present

_MANY = 400  # placeholders of one statement
# The parameter is a JSON array, so that the statement is the same for any number of them.
_GIVEN = "(SELECT value FROM json_each(?))"


class VectorRow(NamedTuple):
    """A stored vector; `digest` names the text it was made of."""

    item: str
    digest: str
    scale: float
    data: bytes


def facts_after(
    connection: sqlite3.Connection, project: str | None, after: tuple[int, int], limit: int
) -> list[FactRow]:
    """Facts of a project (None: the user's) in the order of recording, whatever became of them,
    beyond a (recorded_at, number)."""
    rows = connection.execute(
        SELECT + "WHERE f.project_id IS ? AND (f.recorded_at, f.number) > (?, ?) "
        "AND f.erased_at IS NULL ORDER BY f.recorded_at, f.number LIMIT ?",
        (project, *after, limit),
    )
    return [row_of(row) for row in rows]


def facts_by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> list[FactRow]:
    """Those of `ids` that are facts."""
    rows = connection.execute(
        SELECT + f"WHERE f.id IN {_GIVEN}", (msgspec.json.encode(ids).decode(),)
    )
    return [row_of(row) for row in rows]


class FactPlace(NamedTuple):
    """Whose a fact is, and whether what it said is erased."""

    id: str
    project: str | None
    erased: bool


def fact_places(connection: sqlite3.Connection, ids: Sequence[str]) -> list[FactPlace]:
    """The same, without what they say."""
    rows = connection.execute(
        f"SELECT id, project_id, erased_at IS NOT NULL FROM fact WHERE id IN {_GIVEN}",
        (msgspec.json.encode(ids).decode(),),
    )
    return [FactPlace(identifier, project, bool(erased)) for identifier, project, erased in rows]


def told_episodes(connection: sqlite3.Connection, project: str, keep: int) -> list[EpisodeRow]:
    """The newest episodes of a project that have a summary."""
    rows = connection.execute(
        "SELECT * FROM episode WHERE project = ? AND summary <> '' ORDER BY ended DESC LIMIT ?",
        (project, keep),
    )
    return [episode_of(row) for row in rows]


def vectors(connection: sqlite3.Connection, model: str, after: str, limit: int) -> list[VectorRow]:
    """Vectors of a model by item, from one name on."""
    rows = connection.execute(
        "SELECT item, digest, scale, data FROM vector WHERE model = ? AND item > ? "
        "ORDER BY item LIMIT ?",
        (model, after, limit),
    )
    return [VectorRow(*row) for row in rows]


def put_vectors(connection: sqlite3.Connection, model: str, rows: Iterable[VectorRow]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO vector VALUES (?, ?, ?, ?, ?)",
        [(row.item, model, row.digest, row.scale, row.data) for row in rows],
    )


def drop_vectors(connection: sqlite3.Connection, items: Iterable[str]) -> None:
    """Whatever any model made of these texts: they are gone."""
    connection.executemany("DELETE FROM vector WHERE item = ?", [(item,) for item in items])


def drop_models(connection: sqlite3.Connection, kept: str) -> int:
    """The vectors of every other model; how many there were."""
    return connection.execute("DELETE FROM vector WHERE model <> ?", (kept,)).rowcount


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How many vectors of each model there are."""
    return dict(connection.execute("SELECT model, count(*) FROM vector GROUP BY model"))


def believed(
    connection: sqlite3.Connection, ids: Sequence[str], valid: int, known: int
) -> list[FactRow]:
    """Those of `ids` that were true at `valid` as the store knew it at `known`."""
    out: list[FactRow] = []
    for start in range(0, len(ids), _MANY):
        part = ids[start : start + _MANY]
        marks = ", ".join(f":i{number}" for number in range(len(part)))
        values = {f"i{number}": name for number, name in enumerate(part)}
        rows = connection.execute(
            SELECT + f"WHERE f.id IN ({marks}) AND {THEN} AND {VISIBLE} AND f.sensitive = 0",
            {**values, "valid": valid, "known": known},
        )
        out += [row_of(row) for row in rows]
    return out


def matching(
    connection: sqlite3.Connection,
    wanted: FactQuery,
    numbers: Sequence[int],
    now: int,
    past: tuple[int, int] | None,
    project: str,
    enough: int,
) -> list[FactRow]:
    """Those of the facts of `numbers` that pass the filter of a question (its words aside), first
    to last until there are `enough`. `past` is (valid, known); null: the present."""
    where, values = _condition(connection, wanted, now, past, project)
    out: list[FactRow] = []
    start, size = 0, enough
    while start < len(numbers) and len(out) < enough:
        part = numbers[start : start + min(size, _MANY)]
        start += len(part)
        size *= 2
        names = {f"n{place}": number for place, number in enumerate(part)}
        marks = ", ".join([f":{name}" for name in names])
        rows = connection.execute(
            SELECT + f"WHERE f.number IN ({marks}) AND {where}", {**values, **names}
        )
        found = {row[0]: row for row in rows}
        out += [row_of(found[number]) for number in part if number in found]
    return out[:enough]


def newest_matching(
    connection: sqlite3.Connection,
    wanted: FactQuery,
    now: int,
    past: tuple[int, int] | None,
    project: str,
    enough: int,
) -> list[FactRow]:
    """The newest records that pass the filter of a question."""
    where, values = _condition(connection, wanted, now, past, project)
    rows = connection.execute(
        SELECT + f"WHERE {where} ORDER BY f.recorded_at DESC, f.number DESC LIMIT :limit",
        {**values, "limit": enough},
    )
    return [row_of(row) for row in rows]


def _condition(
    connection: sqlite3.Connection,
    wanted: FactQuery,
    now: int,
    past: tuple[int, int] | None,
    project: str,
) -> tuple[str, dict[str, Any]]:
    valid, known = past or (present(connection, now),) * 2
    values: dict[str, Any] = {"valid": valid, "known": known}
    terms = [THEN if past else NOW, VISIBLE]
    narrow(replace(wanted, query=""), project, past is not None, terms, values)
    return " AND ".join(terms), values
