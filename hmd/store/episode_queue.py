"""Episodes that wait for a model or were read by one, and how far sessions were read into them.

These rows are no knowledge: they can be made again from ledgers. Functions run inside a
connection's thread.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from hmd.core import ids
from hmd.core.learning import EpisodeRow, SessionRead

_EPISODE_FLAGS = ("correction", "remember", "decision")
_OPEN = "('queued', 'leased', 'waiting')"


def add_episodes(connection: sqlite3.Connection, rows: Iterable[EpisodeRow]) -> int:
    """Adds those that are not known yet; returns how many. One whose run is on record is done: a
    rebuilt database asks no model twice."""
    added = 0
    for row in rows:
        state, run = row.state, row.run
        done = connection.execute(
            "SELECT id FROM run WHERE episode = ? AND kind = 'extraction' AND status = 'ok'",
            (row.id,),
        ).fetchone()
        if done:
            state, run = "done", done[0]
        cursor = connection.execute(
            f"INSERT OR IGNORE INTO episode VALUES ({', '.join('?' * 20)})",
            (*msgspec.structs.astuple(msgspec.structs.replace(row, state=state, run=run)),),
        )
        added += cursor.rowcount
    return added


def episodes(
    connection: sqlite3.Connection, states: Iterable[str] = (), limit: int = 1000
) -> list[EpisodeRow]:
    """Episodes in some states (none given: all), those to be served first at the front."""
    wanted = list(states)
    where = f"WHERE state IN ({', '.join('?' * len(wanted))})" if wanted else ""
    rows = connection.execute(
        f"SELECT * FROM episode {where} ORDER BY correction DESC, ended, id LIMIT ?",
        [*wanted, limit],
    )
    return [episode_of(row) for row in rows]


def find_episode(connection: sqlite3.Connection, prefix: str) -> EpisodeRow:
    """The episode that a prefix names. Raises HmdError."""
    wanted = ids.check_prefix(prefix, "episode")
    rows = connection.execute(
        "SELECT * FROM episode WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 4", (wanted, wanted + "g")
    )
    found = {row[0]: episode_of(row) for row in rows}
    return found[ids.one_of(sorted(found), prefix, "episode")]


def episodes_of(connection: sqlite3.Connection, session: str) -> list[EpisodeRow]:
    rows = connection.execute(
        "SELECT * FROM episode WHERE session = ? ORDER BY turn, segment", (session,)
    )
    return [episode_of(row) for row in rows]


def queue_counts(connection: sqlite3.Connection) -> dict[str, int]:
    rows = connection.execute("SELECT state, count(*) FROM episode GROUP BY state")
    return {row[0]: row[1] for row in rows}


def lease(
    connection: sqlite3.Connection, now: int, until: int, exempt_only: bool
) -> EpisodeRow | None:
    """Takes the next episode that may be served, corrections first; a lease whose holder died has
    ended by itself. `exempt_only`: corrections alone (the daily cap is reached)."""
    row = connection.execute(
        f"SELECT * FROM episode WHERE state IN {_OPEN} AND not_before <= ?1 AND leased_until <= ?1 "
        "AND (correction = 1 OR ?2 = 0) ORDER BY correction DESC, ended, id LIMIT 1",
        (now, exempt_only),
    ).fetchone()
    if row is None:
        return None
    episode = episode_of(row)
    connection.execute(
        "UPDATE episode SET state = 'leased', leased_until = ? WHERE id = ?", (until, episode.id)
    )
    return msgspec.structs.replace(episode, state="leased", leased_until=until)


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the earliest open episode may be served, None where there is none."""
    found = connection.execute(
        f"SELECT min(max(not_before, leased_until)) FROM episode WHERE state IN {_OPEN}"
    ).fetchone()[0]
    return None if found is None else int(found)


def put_episode(connection: sqlite3.Connection, row: EpisodeRow) -> None:
    """Writes an episode back as it is now."""
    connection.execute(
        "UPDATE episode SET state = ?, attempts = ?, not_before = ?, leased_until = ?, reason = ?, "
        "summary = ?, told = ?, run = ? WHERE id = ?",
        (
            row.state,
            row.attempts,
            row.not_before,
            row.leased_until,
            row.reason,
            row.summary,
            row.told,
            row.run,
            row.id,
        ),
    )


def episode_of(row: tuple[Any, ...]) -> EpisodeRow:
    """An episode of a row of its table, column by column."""
    values = dict(zip(EpisodeRow.__struct_fields__, row, strict=True))
    return EpisodeRow(**{**values, **{name: bool(values[name]) for name in _EPISODE_FLAGS}})


def put_session(connection: sqlite3.Connection, row: SessionRead) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO session_read VALUES (?, ?, ?, ?)",
        (row.session, row.size, row.ended, row.open),
    )


def sessions(connection: sqlite3.Connection) -> dict[str, SessionRead]:
    rows = connection.execute("SELECT session, size, ended, open FROM session_read")
    return {
        row[0]: SessionRead(session=row[0], size=row[1], ended=row[2], open=bool(row[3]))
        for row in rows
    }
