"""`hmctl import`: rules that were written down before, in CLAUDE.md and its kind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of
from hmd.core.errors import HmdError

if TYPE_CHECKING:
    from hmd.core.notes import NoteList, NoteRow, NotesWanted

USUAL = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", ".cursorrules")


def import_(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Default: CLAUDE.md, AGENTS.md, .cursorrules."),
    ] = None,
    auto_memory: Annotated[
        bool, typer.Option("--auto-memory", help="Also Claude Code's own notes on this project.")
    ] = False,
    memory_dir: Annotated[
        str, typer.Option("--memory-dir", metavar="DIRECTORY", help="Where those notes lie.")
    ] = "",
    include_project: Annotated[
        bool, typer.Option("--include-project", help="Notes of every type, not only feedback.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Take everything, unconfirmed.")] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="Retire what came from these files and is gone there.")
    ] = False,
    user_wide: Annotated[
        bool, typer.Option("--user-wide", help="For every project, not only this one.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what is there.")] = False,
    json: Json = False,
) -> None:
    """Take over rules from files. What you confirm one by one counts as checked by you."""
    from hmd.core.notes import Imported, NoteList, NotesWanted  # late

    session = session_of(ctx)
    session.refuse_agents("an agent cannot import rules")
    wanted = NotesWanted(
        paths=_paths(session, paths or [], auto_memory, memory_dir),
        kinds=["feedback"] if auto_memory and not include_project else [],
        sync=sync,
        user_wide=user_wide,
    )
    if not wanted.paths:
        raise HmdError("not_found", "no CLAUDE.md, AGENTS.md or .cursorrules here", session.cwd)
    if not yes or dry_run:
        found = session.call("notes.read", wanted, NoteList)
        if dry_run or json:
            _print(found, json)
            return
        if not _confirm(found, wanted):
            return
    done = session.call("notes.import", wanted, Imported)
    if json:
        show.json_answer(done)
        return
    retired = f", {done.retired} retired" if sync else ""
    show.answer(f"{done.added} imported, {done.known} known already{retired}")
    for line in [*done.refused, *done.skipped]:
        show.note("left out: " + show.line(line))


def _paths(session: Session, named: list[str], auto_memory: bool, memory_dir: str) -> list[str]:
    paths = [session.absolute(path) for path in named]
    if not named and not auto_memory:
        paths = [path for path in map(session.absolute, USUAL) if os.path.isfile(path)]
    if auto_memory or memory_dir:
        paths.append(session.absolute(memory_dir) if memory_dir else _notes_of(session))
    return paths


def _notes_of(session: Session) -> str:
    """Claude Code's notes on the project of this directory (named after its git root)."""
    from hmd.kernel.project import locate
    from hmd.setup.surroundings import claude_directory

    location = locate(session.cwd)
    root = location.root if location is not None else session.cwd
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in root)
    return os.path.join(claude_directory(session.env), "projects", slug, "memory")


def _print(found: NoteList, json: bool) -> None:
    if json:
        show.json_answer(found)
        return
    rows = [[row.state, row.ref, _mark(row), show.line(row.text)] for row in found.rows]
    show.answer(show.table(rows) if rows else "no rule found")
    for line in found.skipped:
        show.note("left out: " + show.line(line))


def _confirm(found: NoteList, wanted: NotesWanted) -> bool:
    """Goes through what is new with the person; False where nothing was chosen."""
    new = [row for row in found.rows if row.state == "new"]
    if not new and not wanted.sync:
        show.answer("nothing new")
        return False
    chosen: list[str] = []
    everything = False
    for number, row in enumerate(new, 1):
        if not everything:
            show.answer(f"{number}/{len(new)} {row.ref} {_mark(row)}\n  {show.line(row.text)}")
            key = typer.prompt("take it? [y]es, [n]o, [a]ll, [q]uit", default="y").strip().lower()
            if key.startswith("q"):
                return False
            everything = key.startswith("a")
            if not everything and not key.startswith("y"):
                continue
        chosen.append(row.ref)
    wanted.chosen, wanted.confirmed = chosen, True
    return bool(chosen) or wanted.sync


def _mark(row: NoteRow) -> str:
    marks = []
    if row.obliges:
        marks.append("hard")
    if row.problem:
        marks.append("waits: " + row.problem)
    return f"[{', '.join(marks)}]" if marks else ""
