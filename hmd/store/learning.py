"""Rows of learning: what memories rest on, fixes, runs, the queue of episodes, receipts.

The first half applies changes of the journal; the second half keeps rows that are no knowledge and
can be made again from ledgers. Functions run inside a connection's thread.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from hmd.core import ids
from hmd.core.changes import LearnFixes, RecordRun, SetClaims, SetLearned
from hmd.core.errors import HmdError
from hmd.core.learning import (
    ClaimRow,
    EpisodeRow,
    FixRow,
    LearnedRow,
    ReceiptRow,
    RunRow,
    SessionRead,
    SupportRow,
)

FIXES_KEPT = 2000  # of one project
FAILED_KEPT = 4096
SEEN_KEPT = 64

_encode = msgspec.json.encode
_supports = msgspec.json.Decoder(list[SupportRow]).decode
_counts = msgspec.json.Decoder(dict[str, int]).decode

LearningChange = SetLearned | SetClaims | LearnFixes | RecordRun


class ChangedFix(NamedTuple):
    """A fix that can be offered from now on (with all that is known of it) or, None, no more."""

    project: str
    id: str
    row: FixRow | None


# -- changes ----------------------------------------------------------------------------------


def apply(connection: sqlite3.Connection, change: LearningChange) -> list[ChangedFix]:
    """Applies a change; returns the fixes that snapshots must hold otherwise than before."""
    if isinstance(change, SetLearned):
        _set_learned(connection, change)
    elif isinstance(change, SetClaims):
        _set_claims(connection, change)
    elif isinstance(change, LearnFixes):
        return _learn_fixes(connection, change)
    else:
        _record_run(connection, change)
    return []


def _set_learned(connection: sqlite3.Connection, change: SetLearned) -> None:
    row = change.row
    if change.add:
        known = learned(connection, [row.memory]).get(row.memory, LearnedRow(memory=row.memory))
        new = {one.episode: one for one in [*row.supports, *known.supports]}
        supports = sorted(new.values(), key=lambda one: (one.at, one.episode))
        row = msgspec.structs.replace(known, supports=supports)
    try:
        connection.execute(
            "INSERT OR REPLACE INTO learned VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row.memory,
                row.key,
                _encode(row.supports).decode(),
                row.revalidate_at,
                row.replay,
                row.replaces,
                row.lowered_at,
            ),
        )
    except sqlite3.IntegrityError:
        raise HmdError("not_found", f"no memory '{ids.short(row.memory)}'") from None


def _set_claims(connection: sqlite3.Connection, change: SetClaims) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO proposal_claim VALUES (?, ?, ?, ?, ?)",
        [(change.proposal, one.session, one.at, one.human, one.observed) for one in change.claims],
    )
    connection.execute(
        "UPDATE proposal SET support = max(1, (SELECT count(*) FROM proposal_claim "
        "WHERE proposal_id = id)) WHERE id = ?",
        (change.proposal,),
    )


def _learn_fixes(connection: sqlite3.Connection, change: LearnFixes) -> list[ChangedFix]:
    project = change.project
    connection.executemany(
        "INSERT INTO fix_failed VALUES (?, ?, ?) "
        "ON CONFLICT (project_id, key) DO UPDATE SET at = max(at, excluded.at)",
        [(project, key, at) for key, at in change.failed.items()],
    )
    touched: dict[str, None] = {}
    for fix in change.fixes:
        touched[fix.id] = None
        _merge_fix(connection, project, fix)
    for key in change.failed:
        for (found,) in connection.execute(
            "SELECT id FROM fix WHERE project_id = ? AND fix_key = ?", (project, key)
        ):
            touched[found] = None
    _forget_oldest(connection, project, touched)
    live = {row.id: row for row in fixes(connection, project, list(touched))}
    return [ChangedFix(project, name, live.get(name)) for name in touched]


def _merge_fix(connection: sqlite3.Connection, project: str, fix: FixRow) -> None:
    connection.execute(
        "INSERT INTO fix VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, id) "
        # The shortest spelling, whichever session is read first.
        "DO UPDATE SET fix = excluded.fix WHERE (length(excluded.fix), excluded.fix) "
        "< (length(fix.fix), fix.fix)",
        (project, fix.id, fix.tool, fix.key, fix.failure, fix.signature, fix.fix, fix.fix_key),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO fix_seen VALUES (?, ?, ?, ?, ?)",
        [(project, fix.id, name, session, at) for name, (session, at) in fix.seen.items()],
    )
    connection.execute(
        "DELETE FROM fix_seen WHERE project_id = ?1 AND fix_id = ?2 AND name NOT IN (SELECT name "
        "FROM fix_seen WHERE project_id = ?1 AND fix_id = ?2 ORDER BY at DESC, name LIMIT ?3)",
        (project, fix.id, SEEN_KEPT),
    )


def _forget_oldest(connection: sqlite3.Connection, project: str, touched: dict[str, None]) -> None:
    gone = connection.execute(
        "SELECT f.id FROM fix f WHERE f.project_id = ?1 ORDER BY (SELECT max(at) FROM fix_seen s "
        "WHERE s.project_id = ?1 AND s.fix_id = f.id) DESC, f.id LIMIT -1 OFFSET ?2",
        (project, FIXES_KEPT),
    ).fetchall()
    for (name,) in gone:
        touched[name] = None
        connection.execute("DELETE FROM fix WHERE project_id = ? AND id = ?", (project, name))
        connection.execute(
            "DELETE FROM fix_seen WHERE project_id = ? AND fix_id = ?", (project, name)
        )
    connection.execute(
        "DELETE FROM fix_failed WHERE project_id = ?1 AND key NOT IN (SELECT key FROM fix_failed "
        "WHERE project_id = ?1 ORDER BY at DESC, key LIMIT ?2)",
        (project, FAILED_KEPT),
    )


def _record_run(connection: sqlite3.Connection, change: RecordRun) -> None:
    run = change.run
    connection.execute(
        f"INSERT OR IGNORE INTO run VALUES ({', '.join('?' * 16)})",
        (
            run.id,
            run.kind,
            run.episode,
            run.project,
            run.provider,
            run.model,
            run.status,
            run.message,
            run.started,
            run.duration_ms,
            run.input_tokens,
            run.output_tokens,
            run.cached_tokens,
            run.cost_usd,
            run.exempt,
            _encode(run.counts).decode(),
        ),
    )


# -- reading what changes made ----------------------------------------------------------------


def learned(connection: sqlite3.Connection, memories: Iterable[str]) -> dict[str, LearnedRow]:
    """By memory id; memories that learning does not know are absent."""
    out = {}
    for memory in memories:
        row = connection.execute("SELECT * FROM learned WHERE memory_id = ?", (memory,)).fetchone()
        if row is not None:
            out[memory] = LearnedRow(
                memory=row[0],
                key=row[1],
                supports=_supports(row[2]),
                revalidate_at=row[3],
                replay=row[4],
                replaces=row[5],
                lowered_at=row[6],
            )
    return out


def claims(connection: sqlite3.Connection, proposal: str) -> list[ClaimRow]:
    rows = connection.execute(
        "SELECT session, at, human, observed FROM proposal_claim WHERE proposal_id = ? "
        "ORDER BY session",
        (proposal,),
    )
    return [
        ClaimRow(session=row[0], at=row[1], human=bool(row[2]), observed=bool(row[3]))
        for row in rows
    ]


def fixes(
    connection: sqlite3.Connection, project: str, wanted: list[str] | None = None
) -> list[FixRow]:
    """Fixes that may be offered (their own command never failed), by id; all or the wanted ones."""
    out = []
    names = wanted if wanted is not None else _fix_names(connection, project)
    for name in sorted(names):
        row = connection.execute(
            "SELECT id, tool, key, failure, signature, fix, fix_key FROM fix f "
            "WHERE project_id = ? AND id = ? AND NOT EXISTS (SELECT 1 FROM fix_failed x "
            "WHERE x.project_id = f.project_id AND x.key = f.fix_key)",
            (project, name),
        ).fetchone()
        if row is None:
            continue
        fix = FixRow(**dict(zip(FixRow.__struct_fields__, row, strict=False)))
        seen = connection.execute(
            "SELECT name, session, at FROM fix_seen WHERE project_id = ? AND fix_id = ?",
            (project, name),
        )
        fix.seen = {one[0]: (one[1], one[2]) for one in seen}
        out.append(fix)
    return out


def _fix_names(connection: sqlite3.Connection, project: str) -> list[str]:
    rows = connection.execute("SELECT id FROM fix WHERE project_id = ?", (project,))
    return [row[0] for row in rows]


def _run_of(row: tuple[Any, ...]) -> RunRow:
    values = dict(zip(RunRow.__struct_fields__, row, strict=True))
    values["counts"] = _counts(values["counts"])
    values["exempt"] = bool(values["exempt"])
    return RunRow(**values)


def runs(connection: sqlite3.Connection, since: int, limit: int = 1000) -> list[RunRow]:
    """Runs that began at `since` or later, newest first."""
    rows = connection.execute(
        "SELECT * FROM run WHERE started >= ? ORDER BY started DESC, id LIMIT ?", (since, limit)
    )
    return [_run_of(row) for row in rows]


def get_run(connection: sqlite3.Connection, run: str) -> RunRow | None:
    row = connection.execute("SELECT * FROM run WHERE id = ?", (run,)).fetchone()
    return None if row is None else _run_of(row)


def latest_run(connection: sqlite3.Connection, provider: str, kind: str = "") -> RunRow | None:
    """The newest run of a provider ("" for any), of one kind or of any."""
    row = connection.execute(
        "SELECT * FROM run WHERE (?1 = '' OR provider = ?1) AND (?2 = '' OR kind = ?2) "
        "ORDER BY started DESC, id LIMIT 1",
        (provider, kind),
    ).fetchone()
    return None if row is None else _run_of(row)


# -- the queue --------------------------------------------------------------------------------

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


def _episode_of(row: tuple[Any, ...]) -> EpisodeRow:
    values = dict(zip(EpisodeRow.__struct_fields__, row, strict=True))
    return EpisodeRow(**{**values, **{name: bool(values[name]) for name in _EPISODE_FLAGS}})


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
    return [_episode_of(row) for row in rows]


def find_episode(connection: sqlite3.Connection, prefix: str) -> EpisodeRow:
    """The episode that a prefix names. Raises HmdError."""
    wanted = ids.check_prefix(prefix, "episode")
    rows = connection.execute(
        "SELECT * FROM episode WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 4", (wanted, wanted + "g")
    )
    found = {row[0]: _episode_of(row) for row in rows}
    return found[ids.one_of(sorted(found), prefix, "episode")]


def episodes_of(connection: sqlite3.Connection, session: str) -> list[EpisodeRow]:
    rows = connection.execute(
        "SELECT * FROM episode WHERE session = ? ORDER BY turn, segment", (session,)
    )
    return [_episode_of(row) for row in rows]


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
    episode = _episode_of(row)
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


# -- sessions and receipts --------------------------------------------------------------------


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


# -- small questions --------------------------------------------------------------------------


def unknown_fixes(connection: sqlite3.Connection, change: LearnFixes) -> LearnFixes | None:
    """The part of a change that says something new, None where nothing does."""
    fixes_ = []
    for fix in change.fixes:
        known = {
            row[0]
            for row in connection.execute(
                "SELECT name FROM fix_seen WHERE project_id = ? AND fix_id = ?",
                (change.project, fix.id),
            )
        }
        if not known.issuperset(fix.seen):
            fixes_.append(fix)
    failed = {}
    for key, at in change.failed.items():
        row = connection.execute(
            "SELECT at FROM fix_failed WHERE project_id = ? AND key = ?", (change.project, key)
        ).fetchone()
        if row is None or row[0] < at:
            failed[key] = at
    if not fixes_ and not failed:
        return None
    return msgspec.structs.replace(change, fixes=fixes_, failed=failed)


def tombstones(connection: sqlite3.Connection) -> list[str]:
    """The marks of what must not come back."""
    return [row[0] for row in connection.execute("SELECT mark FROM tombstone")]


def expiring(connection: sqlite3.Connection, memories: list[str]) -> list[tuple[str, str]]:
    """(memory, project) of those that are active, automatic and have an end."""
    out = []
    for memory in memories:
        row = connection.execute(
            "SELECT project_id FROM memory_version WHERE memory_id = ? AND superseded_at IS NULL "
            "AND status = 'active' AND authority = 'auto' AND expires IS NOT NULL",
            (memory,),
        ).fetchone()
        if row is not None:
            out.append((memory, row[0] or ""))
    return out


def extended_at(connection: sqlite3.Connection, memory: str) -> int:
    """When the current version was written."""
    row = connection.execute(
        "SELECT recorded_at FROM memory_version WHERE memory_id = ? AND superseded_at IS NULL",
        (memory,),
    ).fetchone()
    return int(row[0]) if row else 0


def consolidated_at(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT value FROM meta WHERE key = 'consolidated_at'").fetchone()
    return int(row[0]) if row else 0


def set_consolidated(connection: sqlite3.Connection, at: int) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('consolidated_at', ?)", (str(at),))


def queue_counts(connection: sqlite3.Connection) -> dict[str, int]:
    rows = connection.execute("SELECT state, count(*) FROM episode GROUP BY state")
    return {row[0]: row[1] for row in rows}
