"""Fixes: a command that worked where another had failed, what was seen of it, and which failed.

Functions run inside a connection's thread.
"""

import sqlite3
from typing import NamedTuple

import msgspec

from hmd.core.changes import LearnFixes
from hmd.core.learning import FixRow

FIXES_KEPT = 2000  # of one project
FAILED_KEPT = 4096
SEEN_KEPT = 64


class ChangedFix(NamedTuple):
    """A fix that can be offered from now on (with all that is known of it) or, None, no more."""

    project: str
    id: str
    row: FixRow | None


def learn(connection: sqlite3.Connection, change: LearnFixes) -> list[ChangedFix]:
    """Records fixes and failed commands; returns the fixes that are offered in another way now."""
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
