"""Questions about facts: what is and was believed, what changed, where a belief came from.

Two axes are kept apart: `valid_at` in the world, `known_at` in the store. What was learned after
`known_at` (an end, a retraction) does not count, so an answer about the past never changes.
"""

import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from hmd.core.errors import HmdError
from hmd.core.fact_queries import (
    FactDiff,
    FactEvent,
    FactPair,
    FactQuery,
    FactStats,
    FactWhy,
    SubjectCount,
)
from hmd.core.facts import FactRow
from hmd.store import facts
from hmd.store.facts import SELECT, row_of

TOP_SUBJECTS = 10

_integers = msgspec.json.Decoder(list[int]).decode

# Conditions on `fact f`. Facts of forgotten projects are on no surface.
VISIBLE = (
    "(f.project_id IS NULL OR f.project_id NOT IN "
    "(SELECT p.id FROM project p WHERE p.forgotten_at IS NOT NULL))"
)
# Half-open everywhere: true from its first millisecond, no longer in its last.
_STANDING = (
    "f.superseded_by IS NULL AND f.erased_at IS NULL "
    "AND f.valid_from <= :valid AND (f.valid_to IS NULL OR f.valid_to > :valid)"
)
NOW = f"{_STANDING} AND f.retracted_at IS NULL"
THEN = (
    "f.recorded_at <= :known AND f.valid_from <= :valid "
    "AND (f.valid_to IS NULL OR f.valid_to > :valid) "
    "AND (f.closed_tx IS NULL OR f.closed_tx > :known OR f.closed_at > :valid) "
    "AND (f.retracted_at IS NULL OR f.retracted_at > :known) "
    "AND NOT EXISTS (SELECT 1 FROM fact_gap g WHERE g.fact_id = f.id "
    "AND g.retracted_at <= :known AND g.restored_at > :known)"
)


def present(connection: sqlite3.Connection, now: int) -> int:
    """`now`, or the newest record where that is later: a reader sees what has been written."""
    return max(now, int(connection.execute("SELECT max(recorded_at) FROM fact").fetchone()[0] or 0))


def believed(
    connection: sqlite3.Connection,
    wanted: FactQuery,
    now: int,
    valid: int | None = None,
    known: int | None = None,
    project: str = "",
) -> tuple[list[FactRow], int]:
    """Beliefs that pass the filter, newest record first, and how many there are in all.

    `valid` and `known` null: the present. The order depends on nothing that changes later.
    """
    past = valid is not None or known is not None
    today = present(connection, now)
    values: dict[str, Any] = {
        "valid": today if valid is None else valid,
        "known": today if known is None else known,
        "limit": wanted.limit,
    }
    terms = [THEN if past else NOW, VISIBLE]
    narrow(wanted, project, past, terms, values)
    where = " AND ".join(terms)
    rows = connection.execute(
        SELECT + f"WHERE {where} ORDER BY f.recorded_at DESC, f.number DESC LIMIT :limit", values
    ).fetchall()
    total = len(rows)
    if total == wanted.limit:
        total = connection.execute(f"SELECT count(*) FROM fact f WHERE {where}", values).fetchone()[
            0
        ]
    return [row_of(row) for row in rows], int(total)


def narrow(
    wanted: FactQuery, project: str, past: bool, terms: list[str], values: dict[str, Any]
) -> None:
    """Adds the terms of a question's filter, and their values."""
    if subject := wanted.subject.strip():
        terms.append("f.subject = :subject")
        values["subject"] = subject
    if wanted.kind:
        terms.append("f.kind = :kind")
        values["kind"] = wanted.kind
    if wanted.tag:
        terms.append("EXISTS (SELECT 1 FROM json_each(f.tags) t WHERE t.value = :tag)")
        values["tag"] = wanted.tag
    if wanted.freshness:
        terms.append("f.freshness = :freshness")
        values["freshness"] = wanted.freshness
    if wanted.pinned:
        terms.append("f.pinned = 1")
    # Archiving is no part of what was believed: it hides nothing of the past.
    if not wanted.archived and not past:
        terms.append("f.archived = 0")
    if not wanted.sensitive:
        terms.append("f.sensitive = 0")
    if project:
        terms.append("(f.project_id IS NULL OR f.project_id = :project)")
        values["project"] = project
    for number, word in enumerate(wanted.query.split()):
        # Every word, anywhere; ASCII letters in either case (SQLite, LIKE).
        terms.append(
            "(f.subject || char(10) || f.predicate || char(10) || f.fact || char(10) || f.details) "
            f"LIKE :word{number} ESCAPE '\\'"
        )
        values[f"word{number}"] = f"%{_literal(word)}%"


def _literal(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


# -- what changed -----------------------------------------------------------------------------


def diff(
    connection: sqlite3.Connection, since: int, until: int | None = None, subject: str = ""
) -> FactDiff:
    """What was learned, revised and retracted in [since, until), as the store knew it at `until`.

    By the time of record on every list, so that a correction of the past shows on the day it was
    made. A fact that was forgotten and brought back within the span is as if it had been left; one
    that was brought back after it was forgotten at `until`.
    """
    end = 2**62 if until is None else until
    values = {"since": since, "end": end, "subject": subject.strip()}
    mine = f"{VISIBLE} AND (:subject = '' OR f.subject = :subject)"
    learned = connection.execute(
        SELECT + "WHERE f.recorded_at >= :since AND f.recorded_at < :end "
        "AND (f.closed_tx IS NULL OR f.closed_tx >= :end) "
        f"AND (f.retracted_at IS NULL OR f.retracted_at >= :end) AND {mine} "
        "AND NOT EXISTS (SELECT 1 FROM fact_gap g WHERE g.fact_id = f.id "
        "AND g.retracted_at < :end AND g.restored_at >= :end) "
        "ORDER BY f.recorded_at, f.number",
        values,
    )
    revised = connection.execute(
        SELECT + f"WHERE f.closed_tx >= :since AND f.closed_tx < :end AND {mine} "
        "ORDER BY f.closed_tx, f.number",
        values,
    )
    retracted = connection.execute(
        SELECT + f"WHERE f.retracted_at >= :since AND f.retracted_at < :end AND {mine} "
        "ORDER BY f.retracted_at, f.number",
        values,
    )
    return FactDiff(
        since=since,
        until=until,
        learned=[row_of(row) for row in learned],
        revised=[_pair(connection, row_of(row)) for row in revised.fetchall()],
        retracted=_in_time([row_of(row) for row in retracted], _hidden_then(connection, values)),
    )


def _hidden_then(connection: sqlite3.Connection, values: dict[str, Any]) -> list[FactRow]:
    """Facts that were forgotten in [since, end) and brought back later, as they were at `end`."""
    gaps = connection.execute(
        "SELECT g.fact_id, g.retracted_at FROM fact_gap g JOIN fact f ON f.id = g.fact_id "
        "WHERE g.retracted_at >= :since AND g.retracted_at < :end AND g.restored_at >= :end "
        f"AND {VISIBLE} AND (:subject = '' OR f.subject = :subject)",
        values,
    ).fetchall()
    found = [(facts.by_id(connection, one), at) for one, at in gaps]
    return [msgspec.structs.replace(row, retracted_at=at) for row, at in found if row is not None]


def _in_time(*parts: list[FactRow]) -> list[FactRow]:
    rows = [row for part in parts for row in part]
    return sorted(rows, key=lambda row: (row.retracted_at or 0, row.number))


def _pair(connection: sqlite3.Connection, old: FactRow) -> FactPair:
    new = facts.by_id(connection, old.superseded_by)
    assert new is not None  # a foreign key holds it
    return FactPair(old=old, new=new)


# -- where it came from -----------------------------------------------------------------------


def why(connection: sqlite3.Connection, name: str) -> FactWhy:
    """A fact with its whole chain. Forgetting a link does not break the walk. Raises HmdError."""
    row = facts.find(connection, name)
    return FactWhy(
        fact=row,
        ancestors=ancestors(connection, row),
        descendants=descendants(connection, row),
        backlinks=_backlinks(connection, row.id),
        changes=_events(connection, row),
    )


def ancestors(connection: sqlite3.Connection, row: FactRow) -> list[FactRow]:
    """What it replaced, nearest first."""
    out: list[FactRow] = []
    while True:
        found = connection.execute(SELECT + "WHERE f.superseded_by = ?", (row.id,)).fetchone()
        if found is None:
            return out
        row = row_of(found)
        out.append(row)


def descendants(connection: sqlite3.Connection, row: FactRow) -> list[FactRow]:
    """What replaced it, nearest first."""
    out: list[FactRow] = []
    while row.superseded_by:
        following = facts.by_id(connection, row.superseded_by)
        if following is None:
            raise HmdError("damaged", f"fact '{row.id}' names a successor that is not there")
        row = following
        out.append(row)
    return out


def chain(connection: sqlite3.Connection, row: FactRow) -> list[FactRow]:
    """All revisions of one fact, oldest first, the fact among them."""
    return [*reversed(ancestors(connection, row)), row, *descendants(connection, row)]


def _backlinks(connection: sqlite3.Connection, identifier: str) -> list[FactRow]:
    rows = connection.execute(
        SELECT + "WHERE f.links <> '[]' AND instr(f.links, ?) "
        "AND f.superseded_by IS NULL AND f.retracted_at IS NULL ORDER BY f.number LIMIT 100",
        (f'"{identifier}"',),
    )
    return [row_of(row) for row in rows]


def _events(connection: sqlite3.Connection, row: FactRow) -> list[FactEvent]:
    """The changes that left a time on the fact, and those that were noted for it."""
    times = {row.recorded_at, row.closed_tx, row.retracted_at, row.erased_at, row.checked_at}
    for gap in connection.execute(
        "SELECT retracted_at, restored_at FROM fact_gap WHERE fact_id = ?", (row.id,)
    ):
        times.update(gap)
    known = sorted(time for time in times if time is not None)
    rows = connection.execute(
        "SELECT seq, at, actor, kind FROM change_log "
        f"WHERE at IN ({', '.join('?' * len(known))}) OR seq IN "
        "(SELECT seq FROM fact WHERE id = ? UNION SELECT seq FROM fact_event WHERE fact_id = ?) "
        "ORDER BY seq",
        (*known, row.id, row.id),
    )
    return [FactEvent(seq=seq, at=at, actor=actor, kind=kind) for seq, at, actor, kind in rows]


# -- counting ---------------------------------------------------------------------------------


def stats(connection: sqlite3.Connection, now: int, schema: int) -> FactStats:
    """Counts, and the subjects with most current beliefs, by count and then name."""
    today = present(connection, now)
    found = _living_by_subject(connection, today)
    for name, count in _hidden(connection, today).items():
        found[name] -= count
    gone, erased = connection.execute(
        "SELECT count(*), count(erased_at) FROM fact WHERE retracted_at IS NOT NULL"
    ).fetchone()
    subjects = sorted((row for row in found.items() if row[1]), key=lambda row: (-row[1], row[0]))
    return FactStats(
        total=_number(connection, "SELECT count(*) FROM fact"),
        current=sum(count for _, count in subjects),
        trash=gone - erased,
        erased=erased,
        stale=_number(
            connection,
            "SELECT count(*) FROM fact INDEXED BY fact_anchored WHERE superseded_by IS NULL "
            "AND retracted_at IS NULL AND (\"commit\" <> '' OR path <> '') AND freshness = 'stale'",
        ),
        schema=schema,
        top_subjects=[
            SubjectCount(subject=name, count=count) for name, count in subjects[:TOP_SUBJECTS]
        ],
    )


def _living_by_subject(connection: sqlite3.Connection, valid: int) -> dict[str, int]:
    """How many facts that are neither replaced nor forgotten were true at `valid`, by subject.

    Two indices answer without a look at rows: what stands at all, less what is in the trash.
    """
    found = connection.execute(
        "SELECT f.subject, count(*) FROM fact f INDEXED BY fact_current "
        f"WHERE {_STANDING} GROUP BY 1",
        {"valid": valid},
    )
    counts = dict(found.fetchall())
    trash = connection.execute(
        "SELECT f.subject, count(*) FROM fact f INDEXED BY fact_retracted "
        f"WHERE f.retracted_at IS NOT NULL AND {_STANDING} GROUP BY 1",
        {"valid": valid},
    )
    for name, count in trash.fetchall():
        counts[name] -= count
    return counts


def _hidden(connection: sqlite3.Connection, today: int) -> dict[str, int]:
    """Current beliefs of forgotten projects, counted by subject."""
    if not connection.execute(
        "SELECT 1 FROM project WHERE forgotten_at IS NOT NULL LIMIT 1"
    ).fetchone():
        return {}
    rows = connection.execute(
        f"SELECT f.subject, count(*) FROM fact f WHERE {NOW} AND NOT {VISIBLE} GROUP BY 1",
        {"valid": today},
    )
    return dict(rows.fetchall())


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


# -- for near-duplicates, checks and forgetting -----------------------------------------------


def about(
    connection: sqlite3.Connection, subject: str, now: int, limit: int, may: Callable[[int], bool]
) -> list[tuple[str, int, str]]:
    """(id, number, statement) of those of the newest `limit` beliefs about exactly `subject` that
    are current and whose sketches `may` lets through, in no order."""
    # One row for all, so that the interpreter's lock is not given up and taken again for each.
    numbers, sketches = connection.execute(
        "SELECT json_group_array(number), json_group_array(sketch) FROM "
        "(SELECT f.number, f.sketch FROM fact f INDEXED BY fact_current "
        f"WHERE f.subject = :subject AND {_STANDING} AND {VISIBLE} AND f.archived = 0 "
        "ORDER BY f.number DESC LIMIT :limit)",
        {"subject": subject, "valid": present(connection, now), "limit": limit},
    ).fetchone()
    pairs = zip(_integers(numbers), _integers(sketches), strict=True)
    left = [number for number, sketch in pairs if may(sketch)]
    if not left:
        return []
    return connection.execute(
        "SELECT id, number, fact FROM fact WHERE number IN (SELECT value FROM json_each(?)) "
        "AND retracted_at IS NULL",
        (msgspec.json.encode(left).decode(),),
    ).fetchall()


def subjects(connection: sqlite3.Connection) -> list[str]:
    """Every subject of a fact that is neither replaced nor forgotten, by name."""
    rows = connection.execute(
        "SELECT DISTINCT subject FROM fact WHERE superseded_by IS NULL AND retracted_at IS NULL "
        "AND erased_at IS NULL ORDER BY subject"
    )
    return [row[0] for row in rows]


def long(connection: sqlite3.Connection, characters: int) -> list[FactRow]:
    """Living facts of at least so many characters, by number."""
    rows = connection.execute(
        SELECT + "WHERE f.superseded_by IS NULL AND f.retracted_at IS NULL "
        f"AND f.erased_at IS NULL AND length(f.fact) >= ? AND {VISIBLE} ORDER BY f.number",
        (characters,),
    )
    return [row_of(row) for row in rows]


def living(connection: sqlite3.Connection) -> list[FactRow]:
    """Every fact that is neither replaced nor forgotten, in the order of their numbers."""
    rows = connection.execute(
        SELECT + "WHERE f.superseded_by IS NULL AND f.retracted_at IS NULL "
        f"AND f.erased_at IS NULL AND {VISIBLE} ORDER BY f.number"
    )
    return [row_of(row) for row in rows]


def anchored(connection: sqlite3.Connection, after: int, limit: int) -> list[FactRow]:
    """Live facts that name a commit or a path, by number from `after` on: a page to check."""
    rows = connection.execute(
        SELECT + "WHERE f.number > ? AND f.superseded_by IS NULL AND f.retracted_at IS NULL "
        "AND (f.\"commit\" <> '' OR f.path <> '') ORDER BY f.number LIMIT ?",
        (after, limit),
    )
    return [row_of(row) for row in rows]


class Said(NamedTuple):
    """What forgetting must know of a fact."""

    id: str
    fact: str
    details: str
    authority: str
    retracted_at: int | None


_SAID = "SELECT f.id, f.fact, f.details, f.authority, f.retracted_at FROM fact f "


def said(row: FactRow) -> Said:
    return Said(row.id, row.fact, row.details, row.authority, row.retracted_at)


def chosen(connection: sqlite3.Connection, by: str, value: str) -> list[Said]:
    """Facts that are not erased and match: by `source` or `session` exactly, by `file` (a path,
    also before a line number), by `text` anywhere in what they say."""
    choices: dict[str, tuple[str, list[Any]]] = {
        # The second half lets the partial indexes be used (SQLite, "Partial Indexes", 3).
        "source": ("f.source_ref = ? AND f.source_ref <> ''", [value]),
        "session": (
            "(f.origin_session = ? AND f.origin_session <> '') "
            "OR (f.source_ref = ? AND f.source_ref <> '')",
            [value, value],
        ),
        "file": (
            "f.path = ? OR f.source_ref = ? OR substr(f.source_ref, 1, ?) = ?",
            [value, value, len(value) + 1, value + ":"],
        ),
        "text": (
            "(f.subject || char(10) || f.predicate || char(10) || f.fact || char(10) || f.details) "
            "LIKE ? ESCAPE '\\'",
            [f"%{_literal(value)}%"],
        ),
    }
    where, values = choices[by]
    rows = connection.execute(
        _SAID + f"WHERE ({where}) AND f.erased_at IS NULL ORDER BY f.number", values
    )
    return [Said(*row) for row in rows]


def trashed(connection: sqlite3.Connection) -> list[FactRow]:
    """Forgotten facts whose text is still there, oldest first."""
    rows = connection.execute(
        SELECT + "WHERE f.retracted_at IS NOT NULL AND f.erased_at IS NULL "
        "ORDER BY f.retracted_at, f.number"
    )
    return [row_of(row) for row in rows]


def due(connection: sqlite3.Connection, before: int, limit: int) -> list[Said]:
    """Forgotten facts to erase, oldest first: in the trash since `before`. What came forgotten from
    another store is there since it was imported."""
    rows = connection.execute(
        _SAID + "JOIN change_log l ON l.seq = f.seq WHERE f.retracted_at <= ?1 "
        "AND f.erased_at IS NULL AND l.at <= ?1 ORDER BY f.retracted_at, f.number LIMIT ?2",
        (before, limit),
    )
    return [Said(*row) for row in rows]
