"""What a gardener would look at among facts. Only looks; a person decides."""

import re
import sqlite3

from hmd.app.context import App, Caller
from hmd.core.fact_queries import FactQuery, FactTidy
from hmd.core.facts import FactRow
from hmd.store import facts_read

# A description of code rather than a fact (memharness, gardener).
LONG, PATHS = 200, 3
MOST = 50
_PATH = re.compile(r"(?<![\w/])(?:[\w.-]+/)+[\w-]+\.\w+")


async def tidy(app: App, caller: Caller, _: object) -> FactTidy:
    now = app.store.clock.peek_ms()
    return await app.store.read(lambda connection: _look(connection, now))


def _look(connection: sqlite3.Connection, now: int) -> FactTidy:
    stale, _ = facts_read.believed(connection, FactQuery(freshness="stale", limit=MOST), now)
    spellings: dict[str, list[str]] = {}
    for subject in facts_read.subjects(connection):
        spellings.setdefault(plain(subject), []).append(subject)
    return FactTidy(
        fragmented=sorted(names for key, names in spellings.items() if key and len(names) > 1),
        long=[row for row in facts_read.long(connection, LONG) if is_code_map(row)][:MOST],
        stale=stale,
    )


def plain(subject: str) -> str:
    """A subject without what people write differently: case, blanks and marks."""
    return "".join(char for char in subject.casefold() if char.isalnum())


def is_code_map(row: FactRow) -> bool:
    """Whether a long fact mostly names files and is tied to none."""
    return not row.commit and not row.path and len(set(_PATH.findall(row.fact))) >= PATHS
