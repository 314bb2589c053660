"""Rows of `proposal`: what waits for a person. Runs inside a connection's thread."""

import sqlite3

import msgspec

from hmd.core import ids
from hmd.core.changes import (
    AcceptProposal,
    AnyChange,
    ExpireProposal,
    OpenProposal,
    ProposalChange,
    RejectProposal,
    SettleProposal,
    decode_changes,
    encode,
)
from hmd.core.errors import HmdError
from hmd.core.proposals import ProposalFilter, ProposalRow

_NAMES = (
    "id kind target candidate project reason actor state support opened_at expires_at decided_at"
).split()
_SELECT = (
    "SELECT id, kind, target, candidate, project_id, reason, actor, state, support, opened_at, "
    "expires_at, decided_at, changes FROM proposal "
)
_STATES = {
    RejectProposal: "rejected",
    ExpireProposal: "expired",
    AcceptProposal: "accepted",
    SettleProposal: "accepted",
}


def apply(
    connection: sqlite3.Connection, change: ProposalChange
) -> tuple[ProposalRow, list[AnyChange]]:
    """Opens or decides a proposal; returns it and the changes that an acceptance now applies."""
    if isinstance(change, OpenProposal):
        return _open(connection, change), []
    row = connection.execute(_SELECT + "WHERE id = ?", (change.proposal,)).fetchone()
    if row is None:
        raise HmdError("not_found", f"no proposal '{ids.short(change.proposal)}'")
    if row[7] != "open":
        raise HmdError("refused", f"proposal '{ids.short(change.proposal)}' is already {row[7]}")
    note = "" if isinstance(change, ExpireProposal) else change.note
    connection.execute(
        "UPDATE proposal SET state = ?, decided_at = ?, decided_by = ?, note = ? WHERE id = ?",
        (_STATES[type(change)], change.at, change.actor, note, change.proposal),
    )
    decided = get(connection, change.proposal)
    if not isinstance(change, AcceptProposal):
        return decided, []
    return decided, [_taken_over(each, change) for each in decode_changes(row[12])]


def _taken_over(change: AnyChange, by: AcceptProposal) -> AnyChange:
    """A proposed change as the person's who accepts it, at the time of accepting."""
    return msgspec.structs.replace(change, actor=by.actor, at=by.at)


def _open(connection: sqlite3.Connection, change: OpenProposal) -> ProposalRow:
    # Additions have neither target nor candidate: two of them are never the same claim.
    if change.target or change.candidate:
        same = connection.execute(
            "SELECT id FROM proposal WHERE state = 'open' AND kind = ? AND target = ? "
            "AND candidate = ? AND claim = ?",
            (change.proposes, change.target, change.candidate, change.claim),
        ).fetchone()
        if same:
            connection.execute("UPDATE proposal SET support = support + 1 WHERE id = ?", (same[0],))
            return get(connection, same[0])
    connection.execute(
        "INSERT INTO proposal (id, kind, target, candidate, claim, project_id, reason, actor, "
        "changes, support, state, opened_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'open', ?, ?)",
        (
            change.proposal,
            change.proposes,
            change.target,
            change.candidate,
            change.claim,
            change.project,
            change.reason,
            change.actor,
            encode(change.changes).decode(),
            change.at,
            change.expires_at,
        ),
    )
    return get(connection, change.proposal)


def get(connection: sqlite3.Connection, proposal: str) -> ProposalRow:
    """A proposal by its full id. Raises HmdError "not_found"."""
    row = connection.execute(_SELECT + "WHERE id = ?", (proposal,)).fetchone()
    if row is None:
        raise HmdError("not_found", f"no proposal '{ids.short(proposal)}'")
    return _row(row)


def find(connection: sqlite3.Connection, prefix: str) -> ProposalRow:
    """The proposal that `prefix` names. Raises HmdError."""
    wanted = ids.check_prefix(prefix, "proposal")
    rows = connection.execute(
        _SELECT + "WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 4", (wanted, wanted + "g")
    )
    found = {row[0]: row for row in rows}
    return _row(found[ids.one_of(sorted(found), prefix, "proposal")])


def changes_of(connection: sqlite3.Connection, proposal: str) -> list[AnyChange]:
    """What accepting the proposal would apply."""
    row = connection.execute("SELECT changes FROM proposal WHERE id = ?", (proposal,)).fetchone()
    return decode_changes(row[0]) if row else []


def select(connection: sqlite3.Connection, wanted: ProposalFilter) -> list[ProposalRow]:
    """Oldest first. `state` "all" is every state."""
    terms, values = ["1 = 1"], []
    if wanted.state != "all":
        terms.append("state = ?")
        values.append(wanted.state)
    if wanted.kind:
        terms.append("kind = ?")
        values.append(wanted.kind)
    rows = connection.execute(
        _SELECT + f"WHERE {' AND '.join(terms)} ORDER BY opened_at, id LIMIT ?",
        [*values, wanted.limit],
    )
    return [_row(row) for row in rows]


def _row(row: tuple[object, ...]) -> ProposalRow:
    values = dict(zip(_NAMES, row, strict=False))
    values["changes"] = [describe(each) for each in decode_changes(str(row[12]))]
    return msgspec.convert(values, ProposalRow)


def describe(change: AnyChange) -> str:
    """One line for the review: what would be done, in the journal's words."""
    values = msgspec.to_builtins(change)
    subject = values.get("memory") or values.get("project") or values.get("proposal") or ""
    detail = values.get("level") or values.get("status") or ""
    if "content" in values:
        content = values["content"]
        detail = content.get("fact") or f"{content.get('type', '')}: {content.get('summary', '')}"
    elif "patch" in values:
        detail = ", ".join(f"{key}={value}" for key, value in values["patch"].items())
    return " ".join(part for part in (values["kind"], ids.short(str(subject)), detail) if part)
