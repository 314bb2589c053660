"""Rows of learning about memories: what they rest on, claims of proposals, when it was tidied.

Applies the changes of learning; those about fixes and runs are handed on. Functions run inside a
connection's thread.
"""

import sqlite3
from collections.abc import Iterable

import msgspec

from hmd.core import ids
from hmd.core.changes import LearnFixes, RecordRun, SetClaims, SetLearned
from hmd.core.errors import HmdError
from hmd.core.learning import ClaimRow, LearnedRow, SupportRow
from hmd.store import known_fixes, provider_runs

_encode = msgspec.json.encode
_supports = msgspec.json.Decoder(list[SupportRow]).decode
LearningChange = SetLearned | SetClaims | LearnFixes | RecordRun


def apply(connection: sqlite3.Connection, change: LearningChange) -> list[known_fixes.ChangedFix]:
    """Applies a change; returns the fixes that snapshots must hold otherwise than before."""
    if isinstance(change, SetLearned):
        _set_learned(connection, change)
    elif isinstance(change, SetClaims):
        _set_claims(connection, change)
    elif isinstance(change, LearnFixes):
        return known_fixes.learn(connection, change)
    else:
        provider_runs.record(connection, change)
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


def tombstones(connection: sqlite3.Connection) -> list[str]:
    """The marks of what must not come back."""
    return [row[0] for row in connection.execute("SELECT mark FROM tombstone")]
