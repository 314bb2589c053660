"""Imports of other programs' stores: which one it is, and what every import has in common.

The source is only read. Identifiers are kept, or derived from what the source says, so that a
second import changes nothing. What was forgotten here stays forgotten.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from hmd.app import import_harness_memory, import_harnmem, import_memharness
from hmd.app.context import App, Caller, only_people
from hmd.app.projects import ensure as ensure_project
from hmd.core.changes import AddMemory, ImportFacts
from hmd.core.database import ImportQuery, ImportReport
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.store import facts, memories

T = TypeVar("T")

CHUNK = 500


async def import_store(app: App, caller: Caller, wanted: ImportQuery) -> ImportReport:
    """Reads the store at `path` and records what is new of it. Raises HmdError."""
    only_people(caller, "import another program's store")
    path = Path(wanted.path)
    if not path.exists():
        raise HmdError("not_found", f"no file or folder '{wanted.path}'")
    report = ImportReport(kind=wanted.kind or await trio.to_thread.run_sync(kind_of, path))
    user_wide = wanted.user_wide or report.kind != "harness-memory"
    project = None if user_wide or wanted.dry_run else await ensure_project(app, caller)
    if report.kind == "harness-memory":
        rules = await trio.to_thread.run_sync(
            _from_copy, path, import_harness_memory.read, report, project, app.now()
        )
        await _record_rules(app, rules, report, dry_run=wanted.dry_run)
    else:
        if report.kind == "memharness":
            found = await trio.to_thread.run_sync(
                _from_copy, path, import_memharness.read, report, None, app.now()
            )
        else:
            found = await trio.to_thread.run_sync(import_harnmem.read, path, report, app.now())
        await _record_facts(app, caller, found, report, dry_run=wanted.dry_run)
    if wanted.dry_run:
        report.notes.append("nothing was recorded")
    return report


def kind_of(path: Path) -> str:
    """Which program's store it is, by what it holds. Raises HmdError."""
    if path.is_dir():
        return "harnmem"
    with copied(path) as connection:
        tables = {
            name: {column[1] for column in connection.execute(f'PRAGMA table_info("{name}")')}
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    if "summary" in tables.get("memories", ()):
        return "harness-memory"
    if import_memharness.table_in(tables):
        return "memharness"
    raise HmdError("usage", "neither a harness-memory nor a memharness database", str(path))


@contextmanager
def copied(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a private copy of a database, checked first: the owner may be writing it, or
    may have left it cut short. Raises HmdError."""
    with tempfile.TemporaryDirectory(prefix="hmd-import-") as folder:
        copy = Path(folder, "copy.sqlite")
        try:
            path = path.resolve()  # the log lies beside the file, not beside a link to it
            shutil.copyfile(path, copy)
            log = path.with_name(path.name + "-wal")
            if log.exists():
                shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
            connection = sqlite3.connect(copy)
        except OSError as error:
            raise HmdError("refused", f"cannot be read: {error.strerror}", str(path)) from error
        try:
            connection.row_factory = sqlite3.Row
            # A value outside of its range is that row's fault; the file is whole all the same.
            connection.execute("PRAGMA ignore_check_constraints = ON")
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise HmdError("damaged", f"the file is damaged: {found}", str(path))
            yield connection
        except sqlite3.DatabaseError as error:
            what = f"the file is no sound database: {error}"
            raise HmdError("damaged", what, str(path)) from None
        finally:
            connection.close()


def _from_copy(
    path: Path, read: Callable[[sqlite3.Connection, ImportReport, str | None, int], T],
    report: ImportReport, project: str | None, now: int,
) -> T:  # fmt: skip
    with copied(path) as connection:
        return read(connection, report, project, now)


# -- recording --------------------------------------------------------------------------------


async def _record_rules(
    app: App, rules: list[AddMemory], report: ImportReport, *, dry_run: bool
) -> None:
    for change in rules:
        known = await app.store.read(partial(_known_rule, change.memory))
        if known:
            report.known += 1
        elif dry_run:
            report.added += 1
        else:
            try:
                await app.make(change)
                report.added += 1
            except HmdError as error:
                if "forgotten" not in error.what:
                    raise
                report.forgotten += 1


async def _record_facts(
    app: App, caller: Caller, rows: list[FactRow], report: ImportReport, *, dry_run: bool
) -> None:
    """Whole chains at a time, so that no link is ever missing."""
    for part in _parts(rows):
        before = await app.store.read(partial(_known_facts, [row.id for row in part]))
        fresh = [row for row in part if row.id not in before]
        ended = [row for row in part if row.id in before and _says_more(row, before[row.id])]
        report.known += len(part) - len(fresh)
        report.added += len(fresh)
        if dry_run or not (fresh or ended):
            continue
        applied = await app.snapshots.commit(
            ImportFacts(actor="import", at=app.now(), rows=[*fresh, *ended])
        )
        report.forgotten += len(applied.skipped)
        report.added -= len(applied.skipped)


def _parts(rows: list[FactRow]) -> Iterator[list[FactRow]]:
    by_id = {row.id: row for row in rows}
    heads: dict[str, list[FactRow]] = {}
    for row in rows:
        head = row
        while head.superseded_by in by_id:
            head = by_id[head.superseded_by]
        heads.setdefault(head.id, []).append(row)
    part: list[FactRow] = []
    for chain in heads.values():
        part += chain
        if len(part) >= CHUNK:
            yield sorted(part, key=lambda row: row.number)
            part = []
    if part:
        yield sorted(part, key=lambda row: row.number)


def _known_rule(memory: str, connection: sqlite3.Connection) -> bool:
    return memories.current(connection, memory) is not None


def _known_facts(wanted: list[str], connection: sqlite3.Connection) -> dict[str, FactRow]:
    found = [facts.by_id(connection, one) for one in wanted]
    return {row.id: row for row in found if row is not None}


def _says_more(row: FactRow, before: FactRow) -> bool:
    """Whether the source has ended or forgotten a fact since it was imported."""
    if before.erased_at is not None:
        return False
    revised = bool(row.superseded_by) and not before.superseded_by
    return revised or (row.retracted_at is not None and before.retracted_at is None)
