"""Rows of `project` and `project_location`. Runs inside a connection's thread."""

import sqlite3

import msgspec

from hmd.core import ids
from hmd.core.changes import (
    CreateProject,
    DisableProject,
    EnableProject,
    ForgetProject,
    MergeProjects,
    MoveProject,
    ProjectChange,
)
from hmd.core.errors import HmdError
from hmd.core.memory import MemoryRow
from hmd.core.projects import ProjectRow
from hmd.store import memories

_SELECT = (
    "SELECT p.id, p.name, p.enabled, p.remote, p.root_commit, p.created, p.merged_into, "
    "p.forgotten_at, (SELECT count(*) FROM memory_version v WHERE v.project_id = p.id "
    "AND v.superseded_at IS NULL AND v.status IN ('candidate', 'active', 'stale')) FROM project p "
)
_LIVE = "p.merged_into IS NULL AND p.forgotten_at IS NULL"


def apply(
    connection: sqlite3.Connection, seq: int, change: ProjectChange
) -> list[tuple[MemoryRow, MemoryRow]]:
    """Applies a change of a project; returns the memories that it moved (before, after)."""
    match change:
        case CreateProject():
            _create(connection, change)
        case EnableProject() | DisableProject():
            _live(connection, change.project)
            connection.execute(
                "UPDATE project SET enabled = ? WHERE id = ?",
                (isinstance(change, EnableProject), change.project),
            )
        case MoveProject():
            _live(connection, change.project)
            connection.execute(
                "DELETE FROM project_location WHERE project_id = ?", (change.project,)
            )
            _add_location(connection, change.project, change.location, change.at)
        case MergeProjects():
            return _merge(connection, seq, change)
        case ForgetProject():
            _live(connection, change.project)
            connection.execute(
                "DELETE FROM project_location WHERE project_id = ?", (change.project,)
            )
            connection.execute(
                "UPDATE project SET forgotten_at = ?, enabled = 0 WHERE id = ?",
                (change.at, change.project),
            )
    return []


def _create(connection: sqlite3.Connection, change: CreateProject) -> None:
    try:
        connection.execute(
            "INSERT INTO project (id, name, enabled, remote, root_commit, created) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                change.project,
                change.name,
                change.enabled,
                change.remote,
                change.root_commit,
                change.at,
            ),
        )
    except sqlite3.IntegrityError:
        raise HmdError(
            "refused", f"project '{ids.short(change.project)}' is there already"
        ) from None
    _add_location(connection, change.project, change.location, change.at)


def _add_location(connection: sqlite3.Connection, project: str, location: str, at: int) -> None:
    try:
        connection.execute("INSERT INTO project_location VALUES (?, ?, ?)", (location, project, at))
    except sqlite3.IntegrityError:
        raise HmdError(
            "refused", f"'{location}' is another project's already", do="merge the two"
        ) from None


def _merge(
    connection: sqlite3.Connection, seq: int, change: MergeProjects
) -> list[tuple[MemoryRow, MemoryRow]]:
    _live(connection, change.source)
    _live(connection, change.into)
    if change.source == change.into:
        raise HmdError("refused", "a project cannot be merged into itself")
    moved = []
    for row in memories.of_project(connection, change.source):
        version = change.versions.get(row.id)
        if version is None:
            raise HmdError(
                "busy", f"project '{ids.short(change.source)}' changed meanwhile", do="try again"
            )
        moved.append((row, memories.move(connection, seq, change, row, version, change.into)))
    for table in ("project_location", "fact"):
        connection.execute(
            f"UPDATE {table} SET project_id = ? WHERE project_id = ?", (change.into, change.source)
        )
    connection.execute(
        "UPDATE project SET merged_into = ?, enabled = 0 WHERE id = ?", (change.into, change.source)
    )
    return moved


def _live(connection: sqlite3.Connection, project: str) -> None:
    found = connection.execute(
        f"SELECT 1 FROM project p WHERE p.id = ? AND {_LIVE}", (project,)
    ).fetchone()
    if not found:
        raise HmdError("not_found", f"no project '{ids.short(project)}'")


def touched(connection: sqlite3.Connection, seq: int, project: str) -> None:
    """Notes the newest change that concerns a project's snapshot."""
    connection.execute("UPDATE project SET last_seq = ? WHERE id = ?", (seq, project))


def last_seq(connection: sqlite3.Connection, project: str) -> int:
    row = connection.execute("SELECT last_seq FROM project WHERE id = ?", (project,)).fetchone()
    return int(row[0]) if row else 0


def select(connection: sqlite3.Connection) -> list[ProjectRow]:
    """Every project that is neither merged away nor forgotten, by name."""
    rows = connection.execute(_SELECT + f"WHERE {_LIVE} ORDER BY p.name, p.id").fetchall()
    places: dict[str, list[str]] = {}
    for project, location in connection.execute(
        "SELECT project_id, location FROM project_location ORDER BY added, location"
    ):
        places.setdefault(project, []).append(location)
    return [
        msgspec.structs.replace(_row(row), locations=places.get(str(row[0]), [])) for row in rows
    ]


def get(connection: sqlite3.Connection, project: str) -> ProjectRow | None:
    """A project by its full id, also one that is merged or forgotten."""
    row = connection.execute(_SELECT + "WHERE p.id = ?", (project,)).fetchone()
    if row is None:
        return None
    places = connection.execute(
        "SELECT location FROM project_location WHERE project_id = ? ORDER BY added, location",
        (project,),
    )
    return msgspec.structs.replace(_row(row), locations=[place[0] for place in places])


def _row(row: tuple[object, ...]) -> ProjectRow:
    names = "id name enabled remote root_commit created merged_into forgotten_at memories".split()
    return msgspec.convert(dict(zip(names, row, strict=True)), ProjectRow, strict=False)
