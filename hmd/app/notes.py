"""Rules that were written down before (CLAUDE.md and its kind): read, shown, taken over.

A bullet becomes a memory that advises, as it stands. Its identity is project, file and text, so
that importing again adds nothing; a bullet that moved to another line is the same one.
"""

import os

from hmd.app.context import App, Caller, only_people
from hmd.app.jobs import Bullet, Notes, ReadNotes, Worker
from hmd.core import ids
from hmd.core.changes import AddMemory, AnyChange, Batch, SetStatus
from hmd.core.errors import HmdError
from hmd.core.memory import Content, Evidence, MemoryRow, Origin
from hmd.core.memory_calls import MemoryFilter
from hmd.core.notes import Imported, NoteList, NoteRow, NotesWanted
from hmd.kernel.address import digest
from hmd.learn.schema import SUMMARY_MAX

CONFIDENCE, IMPORTANCE = 0.9, 0.6
# Changes in one journal line. Each is one transaction, and one new base of the snapshot.
_BATCH = 400


async def read(
    app: App, worker: Worker, caller: Caller, wanted: NotesWanted
) -> tuple[Notes, dict[str, MemoryRow]]:
    """The bullets of files, and the memories that were imported before, by id."""
    home = app.store.home
    paths = [os.path.join(caller.cwd, path) for path in wanted.paths]
    if not paths:
        raise HmdError("usage", "no file is named")
    job = ReadNotes(
        home=home.path, machine=home.machine, paths=paths, root=caller.root, kinds=wanted.kinds
    )
    notes = await worker.run(job, Notes)
    rows = await app.store.list_memories(
        MemoryFilter(status="all", source="import", project="all", limit=100_000)
    )
    return notes, {row.id: row for row in rows.rows}


async def show(app: App, worker: Worker, caller: Caller, wanted: NotesWanted) -> NoteList:
    """What an import would find, with what is known of it."""
    notes, known = await read(app, worker, caller, wanted)
    project = _project(caller, wanted)
    rows = []
    for bullet in notes.bullets:
        row = known.get(_identity(bullet, project))
        state = "new" if row is None else "known" if row.status != "rejected" else "rejected"
        rows.append(
            NoteRow(
                ref=f"{bullet.file}:{bullet.line}",
                text=bullet.text,
                heading=bullet.heading,
                loaded=bullet.loaded,
                obliges=bullet.obliges,
                problem=bullet.problem,
                state=state,
            )
        )
    return NoteList(rows=rows, skipped=notes.skipped)


async def import_(app: App, worker: Worker, caller: Caller, wanted: NotesWanted) -> Imported:
    """Takes bullets over; with `sync` retires what was imported from these files and is gone."""
    only_people(caller, "import rules")
    notes, known = await read(app, worker, caller, wanted)
    project = _project(caller, wanted)
    done = Imported(skipped=notes.skipped)
    changes: list[AnyChange] = []
    present: set[str] = set()
    for bullet in notes.bullets:
        name = _identity(bullet, project)
        if name in present:
            continue
        present.add(name)
        if wanted.chosen is not None and f"{bullet.file}:{bullet.line}" not in wanted.chosen:
            continue
        if name in known:
            done.known += 1
            continue
        changes.append(_add(app, caller, bullet, name, project, wanted))
    if wanted.sync:
        files = {bullet.file for bullet in notes.bullets} | set(_shown(caller, wanted))
        changes += _retire(app, caller, known, present, files, project, done)
    await _make(app, caller, changes, done)
    return done


def _project(caller: Caller, wanted: NotesWanted) -> str | None:
    if wanted.user_wide:
        return None
    if not caller.project:
        raise HmdError("usage", "this is no project", caller.cwd, "run it in one, or --user-wide")
    return caller.project


def _identity(bullet: Bullet, project: str | None) -> str:
    return digest(f"import\x1f{project or ''}\x1f{bullet.file}\x1f{bullet.text}", 32)


def _add(
    app: App,
    caller: Caller,
    bullet: Bullet,
    name: str,
    project: str | None,
    wanted: NotesWanted,
) -> AddMemory:
    summary = bullet.text
    if len(summary) > SUMMARY_MAX:
        summary = summary[: SUMMARY_MAX - 1] + "…"
    obliges = bullet.obliges and wanted.confirmed
    ref = f"{bullet.file}:{bullet.line}"
    content = Content(
        type="policy" if obliges else "workflow",
        summary=summary,
        details=bullet.text if summary != bullet.text else bullet.heading,
        scope="**",
        triggers=["before_model", "session_start"],
        level="advise",
        authority="human",
        evidence="user_said",
        confidence=CONFIDENCE,
        importance=IMPORTANCE,
        policy="hard" if obliges else "soft" if bullet.obliges else None,
        # Text that speaks to the machine is kept and shown, but waits for a person.
        status="candidate" if bullet.problem else "active",
        note=f"the scanner found: {bullet.problem}" if bullet.problem else "imported",
        loaded=bullet.loaded,
        source="import",
        source_ref=ref,
        unconfirmed=not wanted.confirmed,
    )
    return AddMemory(
        actor="import",
        at=app.now(),
        memory=name,
        version=ids.new_id(),
        content=content,
        project=project,
        origin=Origin(project=project or "", worktree=caller.root),
        evidence=[Evidence(id=ids.new_id(), kind="import", ref=ref, excerpt=bullet.text)],
    )


def _retire(
    app: App,
    caller: Caller,
    known: dict[str, MemoryRow],
    present: set[str],
    files: set[str],
    project: str | None,
    done: Imported,
) -> list[AnyChange]:
    changes: list[AnyChange] = []
    for name, row in known.items():
        file = row.source_ref.rpartition(":")[0]
        if name in present or row.project != project or file not in files:
            continue
        if row.status in ("active", "candidate"):
            done.retired += 1
            changes.append(
                SetStatus(
                    actor="import",
                    at=app.now(),
                    memory=name,
                    version=ids.new_id(),
                    status="stale" if row.status == "active" else "rejected",
                    note=f"it is no longer in {file}",
                )
            )
    return changes


def _shown(caller: Caller, wanted: NotesWanted) -> list[str]:
    """The named files as bullets name them: a file that lost its last bullet counts, too."""
    out = []
    for path in wanted.paths:
        full = os.path.join(caller.cwd, path)
        base = caller.root.rstrip("/") + "/"
        out.append(full[len(base) :] if caller.root and full.startswith(base) else full)
    return out


async def _make(app: App, caller: Caller, changes: list[AnyChange], done: Imported) -> None:
    for at in range(0, len(changes), _BATCH):
        part = changes[at : at + _BATCH]
        try:
            await app.make(Batch(actor="import", at=app.now(), changes=part))
            done.added += sum(isinstance(one, AddMemory) for one in part)
        except HmdError as error:
            if error.code != "refused":
                raise
            for one in part:  # one of them was forgotten: the others come in
                await _make_one(app, one, done)


async def _make_one(app: App, change: AnyChange, done: Imported) -> None:
    try:
        await app.make(change)
        done.added += isinstance(change, AddMemory)
    except HmdError as error:
        if error.code != "refused":
            raise
        ref = change.content.source_ref if isinstance(change, AddMemory) else ""
        done.refused.append(f"{ref}: {error.what}")
