"""What a session, or a text that a person named, left in rows that are no fact and no memory of it:
summaries of turns, fixes, cited lines, notes, proposals, runs.

The same is taken out of the rows and out of the journal's lines, so that a database which is built
anew equals the one that was cleaned.
"""

import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from hmd.core import ids
from hmd.core.changes import AnyChange, Batch, LearnFixes, decode_changes, encode
from hmd.store.mask import Words

_replace = msgspec.structs.replace
# Fields that hold words of people, models and programs; all others name, count or decide.
_SPOKEN = frozenset(
    "subject predicate fact details summary tags aliases excerpt ref note reason claim message "
    "replay".split()
)
# Columns of the same fields in tables whose rows stay. Those of facts and memories that say it are
# erased as a whole before.
_COLUMNS = (
    ("memory_version", "id", "note"),
    ("evidence", "id", "excerpt"),
    ("evidence", "id", "ref"),
    ("proposal", "id", "reason"),
    ("proposal", "id", "claim"),
    ("proposal", "id", "note"),
    ("run", "id", "message"),
    ("learned", "memory_id", "replay"),
)
_FIX_TEXTS = ("key", "failure", "signature", "fix", "fix_key")
_decode_change: "msgspec.json.Decoder[AnyChange]" = msgspec.json.Decoder(AnyChange)


class Left(NamedTuple):
    """What to look for: texts, the keys of sessions, and the times of what these recorded (ms)."""

    words: Words
    sessions: frozenset[str] = frozenset()
    times: frozenset[int] = frozenset()


NOTHING_LEFT = Left(Words(()))

# -- rows -------------------------------------------------------------------------------------


def clean_rows(connection: sqlite3.Connection, left: Left) -> None:
    """Inside a transaction of the caller's. A database of an older schema is cleaned as far as it
    has the tables."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if "episode" in tables:
        _clean_episodes(connection, left)
    if "fix" in tables:
        _clean_fixes(connection, left)
    if not left.words.asked:
        return
    for table, key, column in _COLUMNS:
        if table in tables:
            _mask(connection, left.words, table, key, column)
    if "proposal" in tables:
        # Their words stand in JSON, which spells some of them otherwise.
        rows = connection.execute("SELECT id, changes FROM proposal WHERE changes <> '[]'")
        connection.executemany(
            "UPDATE proposal SET changes = ? WHERE id = ?",
            [(_clean_proposed(stored, left), one) for one, stored in rows.fetchall()],
        )


def _clean_episodes(connection: sqlite3.Connection, left: Left) -> None:
    """Summaries can be made again from what is left of a ledger."""
    empty = "UPDATE episode SET summary = '', told = ''"
    said = "instr(summary, ?1) OR instr(told, ?1)"
    for text in sorted(left.words.texts):
        connection.execute(f"{empty} WHERE {said}", (text,))
    if left.words.asked:
        for one, _ in _saying(connection, left.words, "episode", "id", "summary"):
            connection.execute(f"{empty} WHERE id = ?", (one,))
    for session in sorted(left.sessions):
        connection.execute(
            f"{empty}, state = CASE WHEN state IN ('queued', 'leased', 'waiting') THEN 'dropped' "
            "ELSE state END WHERE session = ?",
            (session,),
        )


def _clean_fixes(connection: sqlite3.Connection, left: Left) -> None:
    for session in sorted(left.sessions):
        connection.execute("DELETE FROM fix_seen WHERE session = ?", (session,))
    connection.executemany(
        "DELETE FROM fix_failed WHERE at = ?", [(at,) for at in sorted(left.times)]
    )
    if left.words.asked:
        for name in _FIX_TEXTS:
            for one, _ in _saying(connection, left.words, "fix", "id", name):
                connection.execute("DELETE FROM fix_seen WHERE fix_id = ?", (one,))
        for key, _ in _saying(connection, left.words, "fix_failed", "key", "key"):
            connection.execute("DELETE FROM fix_failed WHERE key = ?", (key,))
    if left.sessions or left.words.asked:
        connection.execute(
            "DELETE FROM fix WHERE NOT EXISTS (SELECT 1 FROM fix_seen s "
            "WHERE s.project_id = fix.project_id AND s.fix_id = fix.id)"
        )


def _saying(
    connection: sqlite3.Connection, words: Words, table: str, key: str, column: str
) -> list[tuple[str, str]]:
    """(key, value) of rows whose column says what a person named."""
    query = f"SELECT {key}, {column} FROM {table} WHERE {column} <> ''"
    values = []
    if words.asked.isascii() and words.asked.replace(" ", "").isalnum():
        query += f" AND {column} LIKE ?"  # no other rows need be looked at by Python
        values.append(f"%{words.asked}%")
    rows = connection.execute(query, values)
    return [(one, value) for one, value in rows if words.says(value)]


def _mask(connection: sqlite3.Connection, words: Words, table: str, key: str, column: str) -> None:
    connection.executemany(
        f"UPDATE {table} SET {column} = ? WHERE {key} = ?",
        [(words.mask(value), one) for one, value in _saying(connection, words, table, key, column)],
    )


def _clean_proposed(stored: str, left: Left) -> str:
    try:
        changes = decode_changes(stored)
    except msgspec.MsgspecError:
        return "[]"  # of another version: none can be accepted here
    return encode([cleaned(each, left) for each in changes]).decode()


# -- changes ----------------------------------------------------------------------------------


def cleaned(change: AnyChange, left: Left) -> AnyChange:
    """`change` without what `left` names, never longer than before."""
    match change:
        case LearnFixes():
            return _clean_learned(change, left)
        case Batch():
            return _replace(change, changes=[cleaned(each, left) for each in change.changes])
    if not left.words.asked:
        return change
    plain = msgspec.json.decode(encode(change))
    return _decode_change.decode(msgspec.json.encode(_masked(plain, left.words.mask, "")))


def _clean_learned(change: LearnFixes, left: Left) -> LearnFixes:
    fixes = []
    for fix in change.fixes:
        if any(left.words.says(getattr(fix, name)) for name in _FIX_TEXTS):
            continue
        seen = {name: one for name, one in fix.seen.items() if one[0] not in left.sessions}
        if seen or not fix.seen:
            fixes.append(_replace(fix, seen=seen))
    failed = {
        key: at
        for key, at in change.failed.items()
        if at not in left.times and not left.words.says(key)
    }
    return _replace(change, fixes=fixes, failed=failed)


def _masked(value: Any, mask: Callable[[str], str], field: str) -> Any:
    """Plain data with the spoken fields masked; identifiers stay, whatever they are called."""
    if isinstance(value, dict):
        return {name: _masked(one, mask, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_masked(one, mask, field) for one in value]
    if isinstance(value, str) and field in _SPOKEN and not ids.is_id(value):
        return mask(value)
    return value
