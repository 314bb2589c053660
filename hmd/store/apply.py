"""Applies one change to the database, inside a transaction of the caller's.

The same function serves a change just made and one read from the journal, so that a database
built from the journal equals the one that grew with it.
"""

import sqlite3
from typing import NamedTuple

import msgspec

from hmd.core import changes as ch
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.core.memory import AGENT_ACTORS, MemoryRow, is_in_force
from hmd.core.proposals import ProposalRow
from hmd.store import (
    facts,
    forgetting,
    known_fixes,
    learning,
    memories,
    projects,
    proposals,
    tombstones,
)

_MEMORY = (
    ch.EditMemory,
    ch.ReviseMemory,
    ch.SetStatus,
    ch.Enforce,
    ch.Promote,
    ch.Demote,
    ch.Restore,
)
_PROJECT = (
    ch.CreateProject,
    ch.EnableProject,
    ch.DisableProject,
    ch.MoveProject,
    ch.MergeProjects,
    ch.ForgetProject,
)
_FACT = (ch.RememberFact, ch.ReviseFact, ch.MarkFact, ch.CheckFacts, ch.ImportFacts)
_LEARNING = (ch.SetLearned, ch.SetClaims, ch.LearnFixes, ch.RecordRun)
# What an agent may do itself: facts advise nobody by themselves, and what a person said is checked
# where the fact is known (facts.check_owner).
_AGENTS_OWN = (
    ch.OpenProposal,
    ch.CreateProject,
    ch.RememberFact,
    ch.ReviseFact,
    ch.MarkFact,
    ch.CheckFacts,
    ch.Forget,
)


class Touched(NamedTuple):
    """A memory before (None: it is new) and after a change."""

    before: MemoryRow | None
    after: MemoryRow


class Applied:
    """What a change did: its number, the memories it touched in order, projects and proposal."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.memories: list[Touched] = []
        self.projects: list[str] = []
        self.proposal: ProposalRow | None = None
        self.fact: FactRow | None = None
        self.fixes: list[known_fixes.ChangedFix] = []
        self.skipped: list[int] = []  # rows of an import that were forgotten before

    @property
    def memory(self) -> MemoryRow | None:
        """The last memory that was touched, as it is now."""
        return self.memories[-1].after if self.memories else None

    @property
    def snapshots(self) -> list[str | None]:
        """Every project (None: user-wide) whose active memories or fixes changed."""
        places: dict[str | None, None] = {}
        for before, after in self.memories:
            for row in (before, after):
                if row is not None and is_in_force(row):
                    places[row.project] = None
        places.update(dict.fromkeys(fix.project for fix in self.fixes))
        return list(places)


def apply_change(connection: sqlite3.Connection, seq: int, change: ch.AnyChange) -> Applied:
    """Raises HmdError where the change cannot be; the caller then undoes the transaction."""
    applied = Applied(seq)
    _apply(connection, change, applied)
    for project in {*applied.snapshots, *applied.projects}:
        if project is not None:
            projects.touched(connection, seq, project)
    if None in applied.snapshots:
        set_meta(connection, "user_seq", seq)
    _log(connection, seq, change, applied)
    set_meta(connection, "applied_seq", seq)
    return applied


def _apply(
    connection: sqlite3.Connection, change: ch.AnyChange, applied: Applied, *, direct: bool = True
) -> None:
    # Recording that a project exists changes nothing of what is remembered.
    if change.actor in AGENT_ACTORS and not isinstance(change, _AGENTS_OWN):
        raise HmdError("refused", "an agent can only propose changes")
    tombstones.admit(connection, change, direct=direct)
    if isinstance(change, ch.AddMemory):
        applied.memories.append(Touched(None, memories.add(connection, applied.seq, change)))
    elif isinstance(change, _MEMORY):
        applied.memories.append(Touched(*memories.change_memory(connection, applied.seq, change)))
    elif isinstance(change, _PROJECT):
        moved = projects.apply(connection, applied.seq, change)
        applied.memories += [Touched(*pair) for pair in moved]
        if isinstance(change, ch.MergeProjects):
            applied.projects += [change.source, change.into]
        else:
            applied.projects.append(change.project)
    elif isinstance(change, _LEARNING):
        applied.fixes += learning.apply(connection, change)
    elif isinstance(change, ch.Batch):
        for each in change.changes:
            _apply(connection, each, applied, direct=direct)
    elif isinstance(change, _FACT):
        if isinstance(change, ch.ImportFacts):
            change = tombstones.filter_rows(connection, change, applied.skipped.append)
        applied.fact = facts.apply(connection, applied.seq, change)
    elif isinstance(change, (ch.Forget, ch.Unforget, ch.Erase)):
        applied.memories += [Touched(*pair) for pair in _forget(connection, applied.seq, change)]
    else:
        proposal, accepted = proposals.apply(connection, change)
        applied.proposal = proposal
        for each in accepted:
            _apply(connection, each, applied, direct=False)


def _forget(
    connection: sqlite3.Connection, seq: int, change: ch.ForgetChange
) -> list[tuple[MemoryRow, MemoryRow]]:
    if isinstance(change, ch.Forget):
        return forgetting.forget(connection, seq, change)
    if isinstance(change, ch.Unforget):
        return forgetting.unforget(connection, seq, change)
    return forgetting.erase(connection, seq, change)


def _log(connection: sqlite3.Connection, seq: int, change: ch.AnyChange, applied: Applied) -> None:
    names = msgspec.structs.asdict(change)
    connection.execute(
        "INSERT INTO change_log VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            seq,
            change.at,
            change.actor,
            change.__struct_config__.tag,
            names.get("memory"),
            names.get("source") or names.get("project") or None,
            names.get("proposal"),
        ),
    )


def get_meta(connection: sqlite3.Connection, key: str) -> int:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(row[0]) if row else 0


def set_meta(connection: sqlite3.Connection, key: str, value: int) -> None:
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, str(value)),
    )
