"""Memories in time: rows of `memory`, `memory_version` and `evidence`.

A change never overwrites: it ends what was believed (`superseded_at`) and writes a new version.
Functions here take a plain connection and run inside its thread, those that write inside a
transaction.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from hmd.core import ids
from hmd.core.changes import (
    AddMemory,
    Change,
    Demote,
    EditMemory,
    Enforce,
    MemoryChange,
    Promote,
    Restore,
    ReviseMemory,
    SetStatus,
)
from hmd.core.errors import HmdError
from hmd.core.memory import KEPT_CORRECTION, Evidence, MemoryRow, Origin, Signature, Trigger
from hmd.core.memory_calls import MemoryFilter

DAY_MS = 86_400_000
# What a restored automatic row whose time had run out is given anew.
RESTORED_DAYS = 30
LIVE = ("candidate", "active", "stale")

# Which status may follow which. Restoring (rejected, superseded → active) is for people only.
_NEXT: dict[str, frozenset[str]] = {
    "candidate": frozenset(["active", "rejected", "superseded", "stale"]),
    "active": frozenset(["candidate", "stale", "superseded", "rejected"]),
    "stale": frozenset(["active", "superseded", "rejected"]),
    "superseded": frozenset(["active"]),
    "rejected": frozenset(["active"]),
}
# What the automatic path may change of a row that a person wrote: what is known about it, not it.
_AUTO_ON_HUMAN = frozenset(["contested", "validations"])

_PLAIN = (
    "type summary details scope level authority evidence confidence importance policy status note "
    "loaded source source_ref knowledge validations expires"
).split()
_FLAGS = ["baseline", "unconfirmed", "contested"]
_LISTS = ["triggers", "tools", "sig", "aliases"]
_OWN = "seq actor change valid_from valid_to recorded_at superseded_at".split()
_SAME = _PLAIN + _FLAGS + _LISTS + _OWN
_COLUMNS = ["id", "memory_id", "project_id", *_SAME]
_INSERT = (
    f"INSERT INTO memory_version ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
)
_SELECT = (
    f"SELECT {', '.join('v.' + name for name in _COLUMNS)}, m.created, m.origin_project, "
    "m.origin_worktree, m.origin_session, m.origin_host "
    "FROM memory_version v JOIN memory m ON m.id = v.memory_id "
)
# Memories of forgotten projects are on no surface.
_VISIBLE = (
    "(v.project_id IS NULL OR EXISTS (SELECT 1 FROM project p WHERE p.id = v.project_id "
    "AND p.forgotten_at IS NULL))"
)

_encode = msgspec.json.encode
_triggers = msgspec.json.Decoder(list[Trigger]).decode
_strings = msgspec.json.Decoder(list[str]).decode
_signature = msgspec.json.Decoder(Signature).decode


# -- writing ----------------------------------------------------------------------------------


def add(connection: sqlite3.Connection, seq: int, change: AddMemory) -> MemoryRow:
    """Raises HmdError "refused" when the id is taken."""
    origin = change.origin
    try:
        connection.execute(
            "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?)",
            (
                change.memory,
                change.at,
                origin.project,
                origin.worktree,
                origin.session,
                origin.host,
            ),
        )
    except sqlite3.IntegrityError:
        raise HmdError("refused", f"memory '{ids.short(change.memory)}' is there already") from None
    row = MemoryRow(
        **msgspec.structs.asdict(change.content),
        id=change.memory,
        version=change.version,
        project=change.project,
        actor=change.actor,
        change="add_memory",
        seq=seq,
        created=change.at,
        valid_from=change.at if change.valid_from is None else change.valid_from,
        recorded_at=change.at,
        origin=origin,
    )
    _insert(connection, row)
    _add_evidence(connection, row, change.evidence)
    return row


def change_memory(
    connection: sqlite3.Connection, seq: int, change: MemoryChange
) -> tuple[MemoryRow, MemoryRow]:
    """Applies an edit or a change of status; returns the version before and the one after.

    Raises HmdError "not_found", or "refused" where the row's state or authority forbids it.
    """
    before = current(connection, change.memory)
    if before is None:
        raise HmdError("not_found", f"no memory '{ids.short(change.memory)}'")
    _check_not_forgotten(connection, before)
    values = _values(connection, before, change)
    _check_authority(before, change, values)
    return before, _new_version(connection, seq, change, before, change.version, values)


def _check_not_forgotten(connection: sqlite3.Connection, row: MemoryRow) -> None:
    if row.note == "erased":
        raise HmdError("refused", f"memory '{ids.short(row.id)}' was erased, it is gone")
    if connection.execute("SELECT 1 FROM trash WHERE memory_id = ?", (row.id,)).fetchone():
        raise HmdError(
            "refused", f"memory '{ids.short(row.id)}' was forgotten", do="hmctl fact restore"
        )


def set_apart(
    connection: sqlite3.Connection,
    seq: int,
    change: Change,
    before: MemoryRow,
    version: str,
    status: str,
    note: str,
) -> MemoryRow:
    """A version with another status, whatever the status was: forgetting and bringing back."""
    values = {"status": status, "note": note}
    return _new_version(connection, seq, change, before, version, values)


def move(
    connection: sqlite3.Connection,
    seq: int,
    change: Change,
    before: MemoryRow,
    version: str,
    to: str,
) -> MemoryRow:
    """A new version of `before` that belongs to project `to`."""
    return _new_version(connection, seq, change, before, version, {"project": to})


def _values(
    connection: sqlite3.Connection, before: MemoryRow, change: MemoryChange
) -> dict[str, Any]:
    """The fields that `change` sets on `before`."""
    match change:
        case EditMemory():
            patch = msgspec.structs.asdict(change.patch)
            patch["project"] = change.project
            return {key: value for key, value in patch.items() if value is not msgspec.UNSET}
        case ReviseMemory():
            return msgspec.structs.asdict(change.content)
        case SetStatus():
            return _status(before, change.status) | {"note": change.note}
        case Enforce():
            return {
                "level": change.level,
                "authority": "human",
                "unconfirmed": False,
                "expires": None,
            }
        case Promote():
            values = {} if before.status == "active" else _status(before, "active")
            human = {"authority": "human", "unconfirmed": False, "expires": None}
            return values | human | {"note": change.note}
        case Demote():
            return _status(before, "candidate") | {"note": change.note}
        case Restore():
            values = _status(before, "active") | {"note": change.note}
            if before.expires is not None and before.expires <= change.at:
                values["expires"] = change.at + RESTORED_DAYS * DAY_MS
            return values


def _status(before: MemoryRow, status: str) -> dict[str, Any]:
    if status not in _NEXT[before.status]:
        how = "already" if status == before.status else f"{before.status}, it cannot become"
        raise HmdError("refused", f"memory '{ids.short(before.id)}' is {how} {status}")
    return {"status": status}


def _check_authority(before: MemoryRow, change: Change, values: dict[str, Any]) -> None:
    if change.actor == "extraction" and before.authority == "human":
        touched = {key for key, value in values.items() if value != getattr(before, key)}
        if touched - _AUTO_ON_HUMAN:
            raise HmdError(
                "refused",
                f"memory '{ids.short(before.id)}' is a person's, only a person changes it",
                do="open a proposal",
            )


def _new_version(
    connection: sqlite3.Connection,
    seq: int,
    change: Change,
    before: MemoryRow,
    version: str,
    values: dict[str, Any],
) -> MemoryRow:
    # An edit without a date corrects what was written; everything else is true from now on.
    correction = isinstance(change, EditMemory) and change.valid_from is None
    since = change.valid_from if isinstance(change, EditMemory) else change.at
    after = msgspec.structs.replace(
        before,
        **values,
        version=version,
        actor=change.actor,
        change=change.__struct_config__.tag,
        seq=seq,
        valid_from=before.valid_from if since is None else since,
        valid_to=None,
        recorded_at=change.at,
        superseded_at=None,
    )
    connection.execute(
        "UPDATE memory_version SET superseded_at = ?, valid_to = ? WHERE id = ?",
        (change.at, None if correction else since, before.version),
    )
    _insert(connection, after)
    if isinstance(change, (EditMemory, ReviseMemory)):
        _add_evidence(connection, after, change.evidence)
    return after


def _insert(connection: sqlite3.Connection, row: MemoryRow) -> None:
    values = [row.version, row.id, row.project]
    for name in _SAME:
        value = getattr(row, name)
        values.append(_encode(value).decode() if name in _LISTS and value is not None else value)
    try:
        connection.execute(_INSERT, values)
    except sqlite3.IntegrityError as error:
        raise HmdError(
            "refused", f"memory '{ids.short(row.id)}' cannot be stored: {error}"
        ) from None


def _add_evidence(
    connection: sqlite3.Connection, row: MemoryRow, evidence: Iterable[Evidence]
) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                each.id,
                row.id,
                row.version,
                each.kind,
                each.ref,
                each.excerpt,
                each.session,
                each.weight,
                row.recorded_at,
            )
            for each in evidence
        ],
    )


# -- reading ----------------------------------------------------------------------------------


def current(connection: sqlite3.Connection, memory_id: str) -> MemoryRow | None:
    """What is believed now of a memory, whatever its status."""
    rows = connection.execute(
        _SELECT + "WHERE v.memory_id = ? AND v.superseded_at IS NULL", (memory_id,)
    )
    found = rows.fetchone()
    return _row(found) if found else None


def find(connection: sqlite3.Connection, prefix: str) -> MemoryRow:
    """The current version of the memory that `prefix` names. Raises HmdError."""
    wanted = ids.check_prefix(prefix)
    rows = connection.execute(
        _SELECT + f"WHERE v.memory_id BETWEEN ? AND ? AND v.superseded_at IS NULL AND {_VISIBLE} "
        "ORDER BY v.memory_id LIMIT 4",
        (wanted, wanted + "g"),
    ).fetchall()
    found = {row[1]: row for row in rows}
    return _row(found[ids.one_of(sorted(found), prefix)])


def history(connection: sqlite3.Connection, memory_id: str) -> list[MemoryRow]:
    """Every version, oldest first."""
    rows = connection.execute(_SELECT + "WHERE v.memory_id = ? ORDER BY v.seq", (memory_id,))
    return [_row(row) for row in rows]


def evidence_of(connection: sqlite3.Connection, memory_id: str) -> list[Evidence]:
    rows = connection.execute(
        "SELECT id, kind, ref, excerpt, session, weight FROM evidence WHERE memory_id = ? "
        "ORDER BY recorded_at, id",
        (memory_id,),
    )
    return [
        Evidence(id=row[0], kind=row[1], ref=row[2], excerpt=row[3], session=row[4], weight=row[5])
        for row in rows
    ]


def select(connection: sqlite3.Connection, wanted: MemoryFilter) -> tuple[list[MemoryRow], int]:
    """Current rows that pass the filter, newest change first, and how many there are in all."""
    where, values = _where(wanted)
    total = connection.execute(
        f"SELECT count(*) FROM memory_version v WHERE {where}", values
    ).fetchone()[0]
    rows = connection.execute(
        _SELECT + f"WHERE {where} ORDER BY v.recorded_at DESC, v.memory_id LIMIT ?",
        [*values, wanted.limit],
    )
    return [_row(row) for row in rows], int(total)


def _where(wanted: MemoryFilter) -> tuple[str, list[Any]]:
    terms = ["v.superseded_at IS NULL", _VISIBLE]
    values: list[Any] = []
    if wanted.status != "all":
        statuses = [wanted.status] if wanted.status else list(LIVE)
        terms.append(f"v.status IN ({', '.join('?' * len(statuses))})")
        values += statuses
    for column in ("type", "authority", "source", "scope"):
        value = getattr(wanted, column)
        if value:
            terms.append(f"v.{column} = ?")
            values.append(value)
    terms += [
        f"v.{column} = 1" for column in ("unconfirmed", "contested") if getattr(wanted, column)
    ]
    if wanted.user_wide:
        terms.append("v.project_id IS NULL")
    elif wanted.project is not None and wanted.project != "all":
        terms.append("(v.project_id IS NULL OR v.project_id = ?)")
        values.append(wanted.project)
    return " AND ".join(terms), values


# `hmd.core.memory.is_in_force` in SQL.
_IN_FORCE = (
    "(v.status = 'active' OR (v.status = 'candidate' AND v.source = 'guard' AND v.note = ?1))"
)


def active(
    connection: sqlite3.Connection, project: str | None, after: str, limit: int
) -> list[MemoryRow]:
    """Rows in force of one snapshot with ids above `after`, in their order. None: user-wide."""
    rows = connection.execute(
        _SELECT + "WHERE v.superseded_at IS NULL AND " + _IN_FORCE + " AND v.project_id IS ?2 "
        "AND v.memory_id > ?3 ORDER BY v.memory_id LIMIT ?4",
        (KEPT_CORRECTION, project, after, limit),
    )
    return [_row(row) for row in rows]


def active_at(connection: sqlite3.Connection, project: str | None, at: int) -> list[MemoryRow]:
    """The rows that a snapshot held at an instant, by id."""
    rows = connection.execute(
        _SELECT + "WHERE v.recorded_at <= ?2 AND (v.superseded_at IS NULL OR v.superseded_at > ?2) "
        "AND " + _IN_FORCE + " AND v.project_id IS ?3 ORDER BY v.memory_id",
        (KEPT_CORRECTION, at, project),
    )
    return [_row(row) for row in rows]


def of_project(connection: sqlite3.Connection, project: str) -> list[MemoryRow]:
    """Every current row of a project, whatever its status."""
    rows = connection.execute(
        _SELECT + "WHERE v.superseded_at IS NULL AND v.project_id = ? ORDER BY v.memory_id",
        (project,),
    )
    return [_row(row) for row in rows]


def _row(values: tuple[Any, ...]) -> MemoryRow:
    fields = dict(zip(_SAME, values[3:], strict=False))
    for name in _FLAGS:
        fields[name] = bool(fields[name])
    fields["triggers"] = _triggers(fields["triggers"])
    fields["aliases"] = _strings(fields["aliases"])
    fields["tools"] = None if fields["tools"] is None else _strings(fields["tools"])
    fields["sig"] = None if fields["sig"] is None else _signature(fields["sig"])
    created, project, worktree, session, host = values[len(_COLUMNS) :]
    return MemoryRow(
        **fields,
        id=values[1],
        version=values[0],
        project=values[2],
        created=created,
        origin=Origin(project=project, worktree=worktree, session=session, host=host),
    )
