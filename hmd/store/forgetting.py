"""Forgetting, bringing back and erasing: what the three changes do to rows.

Forgotten things stay in the trash; erasing empties the content of every version, of the evidence
and of the proposals that speak of it. Files are `hmd.store.scrub`'s.
"""

import sqlite3
from collections.abc import Callable
from typing import Any

import msgspec

from hmd.core import ids
from hmd.core.changes import (
    AddMemory,
    Erase,
    Forget,
    RememberFact,
    ReviseFact,
    Unforget,
    decode_changes,
    encode,
)
from hmd.core.errors import HmdError
from hmd.core.facts import ERASED
from hmd.core.memory import AGENT_ACTORS, MemoryRow
from hmd.store import blank, facts, memories, tombstones

Moved = list[tuple[MemoryRow, MemoryRow]]


def forget(connection: sqlite3.Connection, seq: int, change: Forget) -> Moved:
    """Hides facts and memories at once; returns the memories before and after."""
    if change.actor in AGENT_ACTORS and (change.memories or change.by != "id"):
        # It would lift a rule that holds it, or keep a session from being learned from.
        raise HmdError("refused", "an agent forgets only facts of its own, one by one")
    facts.retract(connection, change, change.facts)
    moved: Moved = []
    for memory, version in change.memories.items():
        row = memories.current(connection, memory)
        if row is None or _in_trash(connection, memory) or row.note == "erased":
            continue
        facts.check_owner(change, row.authority, memory)
        connection.execute("INSERT INTO trash VALUES (?, ?, ?)", (memory, change.at, row.status))
        moved.append(
            (
                row,
                memories.set_apart(connection, seq, change, row, version, "rejected", "forgotten"),
            )
        )
    tombstones.add(connection, change.marks, change.at)
    return moved


def unforget(connection: sqlite3.Connection, seq: int, change: Unforget) -> Moved:
    """Raises HmdError where something is not in the trash."""
    facts.restore(connection, change, change.facts)
    moved: Moved = []
    for memory, version in change.memories.items():
        row = memories.current(connection, memory)
        kept = connection.execute(
            "SELECT status FROM trash WHERE memory_id = ?", (memory,)
        ).fetchone()
        if row is None or kept is None:
            raise HmdError("refused", f"memory '{ids.short(memory)}' was not forgotten")
        connection.execute("DELETE FROM trash WHERE memory_id = ?", (memory,))
        after = memories.set_apart(connection, seq, change, row, version, kept[0], "restored")
        moved.append((row, after))
    tombstones.lift(connection, change.marks)
    return moved


def erase(connection: sqlite3.Connection, seq: int, change: Erase) -> Moved:
    """Empties what was chosen, in every version; returns memories that were in force."""
    facts.erase(connection, change.at, change.facts)
    moved: Moved = []
    for memory in change.memories:
        row = memories.current(connection, memory)
        if row is None:
            continue
        _erase_memory(connection, memory)
        after = memories.current(connection, memory)
        assert after is not None  # erasing removes no row
        moved.append((row, after))
    _erase_proposals(connection, change)
    tombstones.add(connection, change.marks, change.at)
    connection.execute(
        "INSERT OR IGNORE INTO erasure VALUES (?, ?, ?, ?, ?, NULL)",
        (
            change.erasure,
            change.at,
            change.actor,
            encode(change.facts).decode(),
            encode(change.memories).decode(),
        ),
    )
    return moved


def _erase_memory(connection: sqlite3.Connection, memory: str) -> None:
    connection.execute(
        "UPDATE memory_version SET summary = ?, details = '', sig = NULL, aliases = '[]', "
        "note = 'erased', source_ref = '', loaded = '', scope = '**', baseline = 0, knowledge = '',"
        " status = CASE WHEN superseded_at IS NULL THEN 'rejected' ELSE status END "
        "WHERE memory_id = ?",
        (ERASED, memory),
    )
    connection.execute(
        "UPDATE evidence SET ref = '', excerpt = '', session = '' WHERE memory_id = ?", (memory,)
    )
    connection.execute(
        "UPDATE memory SET origin_session = '', origin_worktree = '' WHERE id = ?", (memory,)
    )
    connection.execute(
        "UPDATE learned SET key = '', supports = '[]', replay = '' WHERE memory_id = ?", (memory,)
    )
    connection.execute("DELETE FROM trash WHERE memory_id = ?", (memory,))


def _erase_proposals(connection: sqlite3.Connection, change: Erase) -> None:
    """Empties proposals that would bring it back or speak of it; open ones expire."""
    gone = {*change.facts, *change.memories}
    rows = connection.execute("SELECT id, target, candidate, changes FROM proposal").fetchall()
    for identifier, target, candidate, stored in rows:
        # By name, not by content: in a journal that was gone through it is empty already.
        if not {target, candidate} & gone and not any(one in stored for one in gone):
            continue
        after = [blank.emptied(each, gone) for each in decode_changes(stored)]
        connection.execute(
            "UPDATE proposal SET changes = ?, reason = '', claim = '', note = '', "
            "state = CASE state WHEN 'open' THEN 'expired' ELSE state END, "
            "decided_at = coalesce(decided_at, ?) WHERE id = ?",
            (encode(after).decode(), change.at, identifier),
        )


def _in_trash(connection: sqlite3.Connection, memory: str) -> bool:
    row = connection.execute("SELECT 1 FROM trash WHERE memory_id = ?", (memory,)).fetchone()
    return row is not None


# -- reading ----------------------------------------------------------------------------------


def trashed_memories(
    connection: sqlite3.Connection, before: int | None = None
) -> list[tuple[MemoryRow, int]]:
    """(memory, when it was forgotten), oldest first; with `before` only older ones."""
    out = []
    for memory, at in connection.execute(
        "SELECT memory_id, forgotten_at FROM trash WHERE ?1 IS NULL OR forgotten_at <= ?1 "
        "ORDER BY forgotten_at, memory_id",
        (before,),
    ).fetchall():
        row = memories.current(connection, memory)
        if row is not None:
            out.append((row, int(at)))
    return out


def chosen_memories(
    connection: sqlite3.Connection, by: str, value: str, *, trash: bool = False
) -> list[MemoryRow]:
    """Current memories (not erased; in the trash only with `trash`) that match as
    `facts_read.chosen` says. A text also where a signature or an alias of it says it."""
    like = _like(value)
    choices: dict[str, tuple[str, list[Any]]] = {
        "source": ("v.source_ref = ?", [value]),
        "session": (
            "m.origin_session = ?1 OR v.source_ref = ?1 OR EXISTS "
            "(SELECT 1 FROM evidence e WHERE e.memory_id = v.memory_id AND e.session = ?1)",
            [value],
        ),
        "file": (
            "v.source_ref = ? OR substr(v.source_ref, 1, ?) = ?",
            [value, len(value) + 1, value + ":"],
        ),
        "text": (
            "(v.summary || char(10) || v.details || char(10) || v.knowledge) LIKE ?1 ESCAPE '\\' "
            "OR (coalesce(v.sig, '') || v.aliases) LIKE ?2 ESCAPE '\\'",
            [like, _like(_escaped(value))],
        ),
    }
    where, values = choices[by]
    living = "" if trash else "AND v.memory_id NOT IN (SELECT memory_id FROM trash)"
    found = connection.execute(
        "SELECT DISTINCT v.memory_id FROM memory_version v JOIN memory m ON m.id = v.memory_id "
        f"WHERE ({where}) AND v.note <> 'erased' {living} ORDER BY v.memory_id",
        values,
    ).fetchall()
    rows = [memories.current(connection, memory) for (memory,) in found]
    return [row for row in rows if row is not None]


def _like(text: str) -> str:
    return "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def _escaped(text: str) -> str:
    """As it stands inside a JSON value."""
    return encode([text]).decode()[2:-2]


def tagged(connection: sqlite3.Connection, text: str) -> list[str]:
    """Ids of facts that are not erased and have a tag that says `text`."""
    rows = connection.execute(
        "SELECT id FROM fact WHERE tags LIKE ? ESCAPE '\\' AND erased_at IS NULL",
        (_like(_escaped(text)),),
    )
    return [one for (one,) in rows]


def proposed(
    connection: sqlite3.Connection, marks: set[str], says: Callable[[str], bool]
) -> list[str]:
    """Identifiers under which proposals that nobody accepted would record the same again."""
    out: list[str] = []
    for (stored,) in connection.execute(
        "SELECT changes FROM proposal WHERE state <> 'accepted' ORDER BY id"
    ):
        for change in decode_changes(stored):
            if not isinstance(change, (AddMemory, RememberFact, ReviseFact)):
                continue
            if marks.intersection(change.marks) or says(_spoken(encode(change.content))):
                out.append(change.memory if isinstance(change, AddMemory) else change.fact)
    return out


def open_saying(connection: sqlite3.Connection, says: Callable[[str], bool]) -> list[str]:
    """Open proposals that say what a person wants erased, whomever they are about."""
    rows = connection.execute(
        "SELECT id, reason, claim, changes FROM proposal WHERE state = 'open' ORDER BY id"
    )
    return [one for one, *said, stored in rows if says("\n".join([*said, _spoken(stored)]))]


def _spoken(stored: str | bytes) -> str:
    """Every text in some JSON, free of its escapes."""
    found: list[str] = []
    waiting = [msgspec.json.decode(stored)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
    return "\n".join(found)


def pending(connection: sqlite3.Connection) -> list[tuple[str, list[str], list[str]]]:
    """(id, facts, memories) of erasings whose files were not all gone through."""
    rows = connection.execute(
        "SELECT id, facts, memories FROM erasure WHERE done_at IS NULL ORDER BY at, id"
    )
    return [
        (one, msgspec.json.decode(first), msgspec.json.decode(second))
        for one, first, second in rows
    ]
