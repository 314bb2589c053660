"""Facts in time: what changes do to rows of `fact`. Reading them is `facts_read`'s.

A fact is never overwritten: revising ends it (`closed_at` in the world, `closed_tx` when that was
learned) and adds its successor; forgetting sets `retracted_at`. Only erasing removes content.
Functions take a plain connection and run inside its thread, in a transaction of the caller's.
"""

import sqlite3
from typing import Any

import msgspec

from hmd.core import ids
from hmd.core.changes import (
    Change,
    CheckFacts,
    FactChange,
    ImportFacts,
    MarkFact,
    RememberFact,
    ReviseFact,
)
from hmd.core.errors import HmdError
from hmd.core.facts import FactContent, FactRow
from hmd.core.memory import AGENT_ACTORS, Actor, Authority, Origin
from hmd.core.similar import sketch
from hmd.core.times import format_time

CONTENT = (
    "subject predicate fact details confidence importance kind evidence source_agent source_ref "
    "commit path blob tags links sensitive"
).split()
# What erasing empties. Numbers and times stay: they say when something was known, not what.
TEXTS = "subject predicate fact details source_agent source_ref commit path blob".split()
_ORIGIN = "origin_project origin_worktree origin_session origin_host".split()
_TIME = (
    "valid_from valid_to recorded_at superseded_by closed_at closed_tx retracted_at erased_at"
).split()
_BESIDE = "pinned archived freshness checked_at checked_head".split()
_HEAD = "number id project_id seq actor authority".split()
_COLUMNS = [*_HEAD, *CONTENT, *_ORIGIN, *_TIME, *_BESIDE]
# `commit` is a word of SQL's own.
_INSERT = (
    "INSERT INTO fact (" + ", ".join(f'"{name}"' for name in _COLUMNS) + ", sketch) "
    f"VALUES ({', '.join('?' * len(_COLUMNS))}, ?)"
)
SELECT = (
    "SELECT " + ", ".join(f'f."{name}"' for name in _COLUMNS) + ", a.at "
    "FROM fact f LEFT JOIN fact_access a ON a.fact_id = f.id "
)
_LISTS = frozenset(["tags", "links"])

_encode = msgspec.json.encode
_strings = msgspec.json.Decoder(list[str]).decode


def authority_of(actor: Actor) -> Authority:
    """Who stands behind what `actor` records: a person at a terminal, or some automatic path."""
    return "human" if actor == "terminal" else "auto"


def apply(connection: sqlite3.Connection, seq: int, change: FactChange) -> FactRow | None:
    """Applies one change; returns the fact it recorded or marked. Raises HmdError."""
    match change:
        case RememberFact():
            return _remember(connection, seq, change)
        case ReviseFact():
            return _revise(connection, seq, change)
        case MarkFact():
            return _mark(connection, seq, change)
        case CheckFacts():
            _check(connection, change)
        case ImportFacts():
            _import(connection, seq, change)
    return None


# -- recording --------------------------------------------------------------------------------


def _remember(connection: sqlite3.Connection, seq: int, change: RememberFact) -> FactRow:
    since = change.at if change.valid_from is None else change.valid_from
    if change.valid_to is not None and change.valid_to <= since:
        raise HmdError("usage", "a fact cannot end before it begins", "valid_to")
    return _record(
        connection, seq, change, change.content, change.fact, change.project, change.origin,
        since, change.valid_to,
    )  # fmt: skip


def _record(
    connection: sqlite3.Connection,
    seq: int,
    change: Change,
    content: FactContent,
    identifier: str,
    project: str | None,
    origin: Origin,
    valid_from: int,
    valid_to: int | None,
) -> FactRow:
    row = FactRow(
        **msgspec.structs.asdict(content),
        id=identifier,
        number=_next_number(connection),
        project=project,
        actor=change.actor,
        authority=authority_of(change.actor),
        origin=origin,
        valid_from=valid_from,
        valid_to=valid_to,
        recorded_at=change.at,
    )
    insert(connection, seq, row)
    return row


def _next_number(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT max(number) FROM fact").fetchone()[0]
    return int(found or 0) + 1


def insert(connection: sqlite3.Connection, seq: int, row: FactRow) -> None:
    """Writes a whole row. Raises HmdError "refused" where its id is taken."""
    values: list[Any] = [row.number, row.id, row.project, seq, row.actor, row.authority]
    for name in CONTENT:
        value = getattr(row, name)
        values.append(_encode(value).decode() if name in _LISTS else value)
    origin = row.origin
    values += [origin.project, origin.worktree, origin.session, origin.host]
    values += [row.superseded_by or None if name == "superseded_by" else getattr(row, name)
               for name in _TIME]  # fmt: skip
    values += [getattr(row, name) for name in _BESIDE]
    values.append(sketch(row.fact))
    try:
        connection.execute(_INSERT, values)
    except sqlite3.IntegrityError as error:
        raise HmdError("refused", f"fact '{ids.short(row.id)}' cannot be stored: {error}") from None


def _revise(connection: sqlite3.Connection, seq: int, change: ReviseFact) -> FactRow:
    old = by_id(connection, change.old)
    if old is None:
        raise HmdError("not_found", f"no fact '{ids.short(change.old)}'")
    if old.superseded_by:
        raise _already_revised(connection, old)
    if old.erased_at is not None:
        raise HmdError("refused", f"fact '{ids.short(old.id)}' was erased", do="remember it anew")
    check_owner(change, old.authority, old.id)
    since = change.at if change.valid_from is None else change.valid_from
    _check_start(change, old, since)
    row = _record(
        connection, seq, change, change.content, change.fact, old.project, change.origin, since,
        None,
    )  # fmt: skip
    connection.execute(
        "UPDATE fact SET superseded_by = ?, closed_at = ?, closed_tx = ? WHERE number = ?",
        (row.id, since, change.at, old.number),
    )
    return row


def _already_revised(connection: sqlite3.Connection, old: FactRow) -> HmdError:
    """Names the direct successor and the head of the chain, with the head's words."""
    head = old
    while head.superseded_by:
        following = by_id(connection, head.superseded_by)
        assert following is not None  # a foreign key holds it
        head = following
    return HmdError(
        "usage",
        f"fact '{ids.short(old.id)}' was already revised by '{ids.short(old.superseded_by)}'",
        do=f"revise '{ids.short(head.id)}' ({head.fact})",
    )


def _check_start(change: ReviseFact, old: FactRow, since: int) -> None:
    """When a revision may begin (memharness, revise): not in the future; not before the real start
    of a fact that itself was recorded after the event."""
    if since > change.at:
        raise HmdError("usage", "a revision cannot begin in the future", "valid_from")
    if old.valid_from < old.recorded_at and since < old.valid_from:
        raise HmdError(
            "usage",
            f"the old fact was already true from {format_time(old.valid_from)}",
            "valid_from",
            "begin the new one there or later",
        )


def check_owner(change: Change, authority: Authority, identifier: str) -> None:
    """What a person said changes only by a person's hand. Raises HmdError "refused"."""
    if authority == "human" and change.actor != "terminal":
        raise HmdError(
            "refused",
            f"fact '{ids.short(identifier)}' is a person's, only a person changes it",
            do="open a proposal" if change.actor in AGENT_ACTORS else "",
        )


def note_event(connection: sqlite3.Connection, seq: int, identifier: str) -> None:
    """Lets `why` find a change that leaves no time of its own on the fact."""
    connection.execute("INSERT OR IGNORE INTO fact_event VALUES (?, ?)", (identifier, seq))


# -- what is kept beside a fact ---------------------------------------------------------------


def _mark(connection: sqlite3.Connection, seq: int, change: MarkFact) -> FactRow:
    row = by_id(connection, change.fact)
    if row is None:
        raise HmdError("not_found", f"no fact '{ids.short(change.fact)}'")
    if row.erased_at is not None:
        raise HmdError("refused", f"fact '{ids.short(row.id)}' was erased")
    check_owner(change, row.authority, row.id)
    given = {
        name: value
        for name in ("pinned", "archived", "sensitive", "importance", "tags", "links")
        if (value := getattr(change, name)) is not msgspec.UNSET
    }
    for name, value in given.items():
        stored = _encode(value).decode() if name in _LISTS else value
        connection.execute(f"UPDATE fact SET {name} = ? WHERE number = ?", (stored, row.number))
    note_event(connection, seq, row.id)
    return msgspec.structs.replace(row, **given)


def _check(connection: sqlite3.Connection, change: CheckFacts) -> None:
    for verdict in change.verdicts:
        connection.execute(
            "UPDATE fact SET freshness = ?, checked_at = ?, checked_head = ? WHERE id = ?",
            (verdict.freshness, change.at, change.head, verdict.fact),
        )
        if verdict.path:
            connection.execute(
                "UPDATE fact SET path = ? WHERE id = ? AND path = ''", (verdict.path, verdict.fact)
            )


# -- another store's facts --------------------------------------------------------------------


def _import(connection: sqlite3.Connection, seq: int, change: ImportFacts) -> None:
    """Those whose id is there already only get an end that they had not: importing twice changes
    nothing."""
    known = {row.id for row in change.rows if by_id(connection, row.id) is not None}
    there = known | {row.id for row in change.rows}
    fresh = [_linked(row, there) for row in change.rows if row.id not in known]
    number = _next_number(connection)
    for row in fresh:
        late = max(row.recorded_at, row.closed_tx or 0, row.retracted_at or 0)
        if late > change.at:
            raise HmdError("usage", "an imported fact is from the future", f"fact '{row.fact}'")
    numbers = {row.id: number + offset for offset, row in enumerate(fresh)}
    pending = {row.id: row for row in fresh}
    # Chains point forward: a successor is stored before what names it.
    for row in fresh:
        chain: list[FactRow] = []
        each: FactRow | None = row
        while each is not None and each.id in pending:
            chain.append(pending.pop(each.id))
            each = pending.get(each.superseded_by)
        for each in reversed(chain):
            insert(connection, seq, msgspec.structs.replace(each, number=numbers[each.id]))
    for row in change.rows:
        if row.id in known:
            _end_imported(connection, seq, row)


def _linked(row: FactRow, there: set[str]) -> FactRow:
    """Without a successor that was left out, because it was forgotten here."""
    if not row.superseded_by or row.superseded_by in there:
        return row
    return msgspec.structs.replace(
        row, valid_to=row.until, superseded_by="", closed_at=None, closed_tx=None
    )


def _end_imported(connection: sqlite3.Connection, seq: int, row: FactRow) -> None:
    if row.superseded_by:
        connection.execute(
            "UPDATE fact SET superseded_by = ?, closed_at = ?, closed_tx = ? "
            "WHERE id = ? AND superseded_by IS NULL",
            (row.superseded_by, row.closed_at, row.closed_tx, row.id),
        )
    connection.execute(
        "UPDATE fact SET retracted_at = ? WHERE id = ? AND retracted_at IS NULL",
        (row.retracted_at, row.id),
    )
    note_event(connection, seq, row.id)


# -- forgetting -------------------------------------------------------------------------------


def retract(connection: sqlite3.Connection, change: Change, found: list[str]) -> None:
    """Hides facts that are not hidden yet. Unknown ones are no error: forgetting is idempotent."""
    names = _encode(found).decode()
    fresh = "id IN (SELECT value FROM json_each(?)) AND retracted_at IS NULL AND erased_at IS NULL"
    if change.actor != "terminal":
        theirs = connection.execute(
            f"SELECT id FROM fact WHERE {fresh} AND authority = 'human' LIMIT 1", (names,)
        ).fetchone()
        if theirs:
            check_owner(change, "human", theirs[0])
    connection.execute(f"UPDATE fact SET retracted_at = ? WHERE {fresh}", (change.at, names))


def restore(connection: sqlite3.Connection, change: Change, found: list[str]) -> None:
    """Brings hidden facts back; that they were hidden stays known. Raises HmdError."""
    for identifier in found:
        row = by_id(connection, identifier)
        if row is None:
            raise HmdError("not_found", f"no fact '{ids.short(identifier)}'")
        if row.erased_at is not None:
            raise HmdError("refused", f"fact '{ids.short(identifier)}' was erased, it is gone")
        if row.retracted_at is None:
            raise HmdError("refused", f"fact '{ids.short(identifier)}' was not forgotten")
        connection.execute(
            "INSERT OR REPLACE INTO fact_gap VALUES (?, ?, ?)",
            (row.id, row.retracted_at, change.at),
        )
        connection.execute("UPDATE fact SET retracted_at = NULL WHERE number = ?", (row.number,))


def erase(connection: sqlite3.Connection, at: int, found: list[str]) -> None:
    """Empties the content of facts; their place in time and in their chains stays."""
    emptied = ", ".join(f"\"{name}\" = ''" for name in TEXTS)
    connection.executemany(
        f"UPDATE fact SET {emptied}, tags = '[]', links = '[]', origin_session = '', "
        "origin_worktree = '', checked_head = '', sketch = 0, "
        "retracted_at = coalesce(retracted_at, ?1), erased_at = coalesce(erased_at, ?1) "
        "WHERE id = ?2",
        [(at, identifier) for identifier in found],
    )


# -- one row ----------------------------------------------------------------------------------


def by_id(connection: sqlite3.Connection, identifier: str) -> FactRow | None:
    """A fact by its full id, whatever became of it."""
    found = connection.execute(SELECT + "WHERE f.id = ?", (identifier,)).fetchone()
    return row_of(found) if found else None


def find(connection: sqlite3.Connection, name: str) -> FactRow:
    """The fact that an id, a unique prefix or a number (`#12`) names. Raises HmdError."""
    written = name.strip()
    if written.startswith("#") and written[1:].isdecimal():
        number = min(int(written[1:20]), 2**63 - 1)  # more than SQLite counts is no fact's
        found = connection.execute(SELECT + "WHERE f.number = ?", (number,)).fetchone()
        if found is None:
            raise HmdError("not_found", f"no fact '{name}'")
        return row_of(found)
    wanted = ids.check_prefix(name, "fact")
    rows = connection.execute(
        SELECT + "WHERE f.id BETWEEN ? AND ? ORDER BY f.id LIMIT 4", (wanted, wanted + "g")
    )
    known = {row[1]: row for row in rows}
    return row_of(known[ids.one_of(sorted(known), name, "fact")])


def row_of(values: tuple[Any, ...]) -> FactRow:
    """A row as `SELECT` gives it."""
    # Written out: this runs for every fact of every answer, and takes a third of the time so.
    (
        number, name, project, _seq, actor, authority,
        subject, predicate, fact, details, confidence, importance, kind, evidence, source_agent,
        source_ref, commit, path, blob, tags, links, sensitive,
        origin_project, origin_worktree, origin_session, origin_host,
        valid_from, valid_to, recorded_at, superseded_by, closed_at, closed_tx, retracted_at,
        erased_at,
        pinned, archived, freshness, checked_at, checked_head, accessed_at,
    ) = values  # fmt: skip
    return FactRow(
        number=number, id=name, project=project, actor=actor, authority=authority,
        subject=subject, predicate=predicate, fact=fact, details=details, confidence=confidence,
        importance=importance, kind=kind, evidence=evidence, source_agent=source_agent,
        source_ref=source_ref, commit=commit, path=path, blob=blob,
        tags=[] if tags == "[]" else _strings(tags), links=[] if links == "[]" else _strings(links),
        sensitive=sensitive != 0,
        origin=Origin(
            project=origin_project, worktree=origin_worktree, session=origin_session,
            host=origin_host,
        ),
        valid_from=valid_from, valid_to=valid_to, recorded_at=recorded_at,
        superseded_by=superseded_by or "", closed_at=closed_at, closed_tx=closed_tx,
        retracted_at=retracted_at, erased_at=erased_at, pinned=pinned != 0,
        archived=archived != 0, freshness=freshness, checked_at=checked_at,
        checked_head=checked_head, accessed_at=accessed_at,
    )  # fmt: skip
