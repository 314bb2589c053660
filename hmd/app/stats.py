"""Figures about memories and about review: is this worth its keep?"""

import sqlite3
from functools import partial

from hmd.app.context import DAY_MS, App, Caller
from hmd.core.receipts import MemoryStats, StatsWanted
from hmd.store import rule_receipts


async def stats(app: App, caller: Caller, wanted: StatsWanted) -> MemoryStats:
    since = app.now() - wanted.days * DAY_MS
    found = await app.store.read(partial(_count, since=since))
    found.receipts = await app.store.read(partial(rule_receipts.receipts, since=since - 7 * DAY_MS))
    for row in found.receipts:
        name = "3 or more" if row.overridden >= 3 else str(row.overridden)
        found.overrides[name] = found.overrides.get(name, 0) + 1
    return found


def _count(connection: sqlite3.Connection, since: int) -> MemoryStats:
    found = MemoryStats()
    for name, into in (
        ("status", found.by_status),
        ("authority", found.by_authority),
        ("type", found.by_type),
    ):
        into.update(
            connection.execute(
                f"SELECT {name}, count(*) FROM memory_version WHERE superseded_at IS NULL "
                f"GROUP BY {name}"
            ).fetchall()
        )
    # A version that is active and automatic where the one before was not: an activation.
    activated = {
        row[0]
        for row in connection.execute(
            "SELECT memory_id FROM memory_version v WHERE v.status = 'active' "
            "AND v.authority = 'auto' AND v.recorded_at >= ? AND NOT EXISTS (SELECT 1 "
            "FROM memory_version p WHERE p.memory_id = v.memory_id AND p.seq < v.seq "
            "AND p.status = 'active')",
            (since,),
        )
    }
    found.activated = len(activated)
    for memory in activated:
        row = connection.execute(
            "SELECT status FROM memory_version WHERE memory_id = ? AND superseded_at IS NULL",
            (memory,),
        ).fetchone()
        found.activated_rejected += row is not None and row[0] == "rejected"
    decided = connection.execute(
        "SELECT count(*) FROM proposal WHERE decided_at >= ? AND decided_by = 'terminal'", (since,)
    ).fetchone()[0]
    found.reviewed = decided
    found.active_days = connection.execute(
        "SELECT count(DISTINCT ended / ?) FROM episode WHERE ended >= ?", (DAY_MS, since)
    ).fetchone()[0]
    return found
