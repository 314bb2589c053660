"""Rules in time: which memories were in force at an instant of the past."""

import sqlite3

from hmd.app.context import App, Caller
from hmd.app.snapshots import record_of
from hmd.core.fact_queries import RulesAt, RulesList
from hmd.core.times import parse_time
from hmd.store import memories


async def rules_at(app: App, caller: Caller, wanted: RulesAt) -> RulesList:
    """The user-wide rules and those of the caller's project, as snapshots held them then.

    The content of erased rules is gone: they are left out. Raises HmdError.
    """
    at = parse_time(wanted.at)

    def work(connection: sqlite3.Connection) -> list[dict[str, object]]:
        rows = memories.active_at(connection, None, at)
        if caller.project:
            rows += memories.active_at(connection, caller.project, at)
        living = [row for row in rows if row.note != "erased"]
        return [{**record_of(row), "project": row.project or ""} for row in living]

    return RulesList(at=at, project=caller.project, records=await app.store.read(work))
