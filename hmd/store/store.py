"""The store: applies changes durably and answers questions about what is stored.

A change is acknowledged once its journal line is on disk and its transaction committed. The
daemon alone opens a store to write, under the home's lock.
"""

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

import trio

from hmd.core.changes import AnyChange, Entry
from hmd.core.clock import Clock
from hmd.core.errors import HmdError
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryFilter, MemoryHistory, MemoryList, MemoryView
from hmd.core.patience import PATIENCE, Patience
from hmd.core.projects import ProjectRow
from hmd.core.proposals import ProposalFilter, ProposalRow
from hmd.core.status import Counts, StoreStatus
from hmd.kernel.address import Home
from hmd.store import apply, db, memories, migrate, projects, proposals, recover, scrub
from hmd.store.apply import Applied
from hmd.store.journal import Journal
from hmd.store.leftovers import NOTHING_LEFT, Left
from hmd.store.tombstones import Marks

T = TypeVar("T")

BACKUP_EVERY_MS = 24 * 60 * 60 * 1000
EXPIRING_MS = 7 * 24 * 60 * 60 * 1000
# Answers whose time is noted before it is written down; a kill loses at most these.
MOST_UNWRITTEN = 1000


class Store:
    """An open store. `problems` are lines for doctor: what was found damaged and what was done."""

    def __init__(
        self,
        home: Home,
        clock: Clock,
        kernel_hash: str,
        database: db.Database,
        found: recover.Opening,
    ) -> None:
        self.home = home
        self.clock = clock
        self.kernel_hash = kernel_hash
        self.problems = found.problems
        self._db = database
        self._journal = found.journal
        self._backups = found.backups
        self._newer = found.newer
        newest = recover.backups(self._backups)
        self._last_backup = recover.stamped_at(newest[0]) if newest else 0
        self.marks = Marks.of(Path(home.path))
        self._accessed: dict[str, int] = {}
        self._copying = trio.Lock()
        self._background: trio.Nursery | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, home: Home, clock: Clock, kernel_hash: str) -> "AsyncIterator[Store]":
        """Opens the home's store; brings the database up to date first. Raises HmdError."""
        path = Path(home.database)
        found = recover.Opening(
            path, Path(home.backups), Journal(Path(home.journal)), clock.now_ms()
        )
        try:
            async with db.open_database(
                found.connect, lambda: db.connect(path, read_only=True)
            ) as database:
                store = cls(home, clock, kernel_hash, database, found)
                clock.observe(await store._read(_newest_time))
                async with store._running():
                    yield store
        finally:
            found.journal.close()

    @asynccontextmanager
    async def _running(self) -> "AsyncIterator[None]":
        """What goes on beside the caller: the daily copy. A copy that was begun is ended."""
        failure: Exception | None = None
        try:
            async with trio.open_nursery() as self._background:
                try:
                    yield
                except Exception as error:
                    failure = error  # raised below: the nursery would wrap it into a group
        finally:
            self._background = None
            with trio.CancelScope(shield=True):
                await self._write_accesses()
        if failure is not None:
            raise failure

    # -- writing --

    async def apply(self, change: AnyChange) -> Applied:
        """Makes `change` last. Raises HmdError; nothing was changed then.

        Once begun it runs to its end, whatever happens to the caller. It is not begun where its
        caller has been told meanwhile that it was not done (`hmd.core.patience`).
        """
        if self._newer:
            raise HmdError(
                "newer", self._newer, self.home.database, "upgrade hmd to change anything"
            )
        stamped = self.marks.stamp(change)
        patience = PATIENCE.get()
        try:
            applied = await self._db.write(
                lambda connection: self._apply(connection, stamped, patience)
            )
        except HmdError as error:
            self._suspect(error)
            raise
        if len(self._accessed) >= MOST_UNWRITTEN:
            await self._write_accesses()
        if change.at - self._last_backup >= BACKUP_EVERY_MS and self._background is not None:
            self._last_backup = self.clock.peek_ms()  # not again with every change
            self._background.start_soon(self._try_backup)
        return applied

    def _apply(
        self, connection: sqlite3.Connection, change: AnyChange, patience: Patience | None
    ) -> Applied:
        def work() -> Applied:
            if patience is not None:
                patience.begin()
            newest = max(apply.get_meta(connection, "applied_seq"), self._journal.last_seq)
            applied = apply.apply_change(connection, newest + 1, change)
            # Last: what the database refuses must not be in the journal.
            self._journal.append(Entry(seq=applied.seq, change=change))
            return applied

        def commit(connection: sqlite3.Connection) -> None:
            try:
                db.commit(connection)
            except BaseException:
                self._journal.undo()
                raise

        if patience is not None:
            patience.check()  # those behind it need not wait for a lock in vain
        return db.transaction(connection, work, commit)

    def _suspect(self, error: HmdError) -> None:
        """Has the database restored at the next start where it is damaged in a way that the check
        at a start does not see."""
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and db.is_damage(cause):
            with contextlib.suppress(OSError):
                recover.suspicion_of(Path(self.home.database)).touch()

    async def operate(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a function of `hmd.store` in a transaction of its own, beside the journal: for rows
        that are no knowledge and can be made again. Raises HmdError."""
        if self._newer:
            raise HmdError("newer", self._newer, self.home.database, "upgrade hmd")
        return await self._db.write(
            lambda connection: db.transaction(connection, lambda: work(connection), db.commit)
        )

    async def backup(self) -> Path:
        """Copies the database to `backup/` and returns the copy's path. Raises HmdError."""
        now = self.clock.peek_ms()
        path = self._backups / f"{recover.DAILY}{recover.stamp(now)}.sqlite"

        def work() -> None:
            try:
                with closing(db.connect(Path(self.home.database), read_only=True)) as connection:
                    recover.copy(connection, path)
                recover.prune(self._backups)
            except OSError as error:
                raise HmdError(
                    "busy", f"backup failed: {error.strerror}", str(path), "check the disk"
                ) from error
            except sqlite3.Error as error:
                raise db.translate(error) from error

        # By a connection of its own: nobody who asks or changes something waits for it.
        async with self._copying:
            await trio.to_thread.run_sync(work)
        self._last_backup = now
        return path

    async def left_by(self, erasure: str, left: Left = NOTHING_LEFT) -> Left:
        """`left`, and every text of what was erased that the journal still holds."""
        wanted = await self.read(lambda connection: scrub.task(connection, erasure))
        if wanted is None:
            return left
        told = await trio.to_thread.run_sync(scrub.words_of, self._journal, wanted)
        return left._replace(words=left.words.add(told))

    async def scrub(
        self, erasure: str, left: Left, rebuild: Callable[[], Awaitable[object]]
    ) -> list[str]:
        """Removes the content of an erasing, and what `left_by` says, from database pages, journal,
        backups and files; returns their paths. `rebuild` makes files anew that are made from rows.
        Done twice it does nothing the second time. Raises HmdError: it is tried again at the next
        start."""
        wanted = await self.read(lambda connection: scrub.task(connection, erasure))
        if wanted is None:
            return []
        async with self._copying:  # a copy that is being made would keep what goes
            await self._db.write(lambda connection: scrub.rows(connection, left))
            await rebuild()
            changed = await trio.to_thread.run_sync(
                scrub.files, self.home, self._journal, wanted, left
            )
            await self._db.write(lambda connection: scrub.done(connection, wanted))
        return changed

    def note_access(self, facts: list[str], at: int) -> None:
        """Remembers when facts were last given as an answer. No reader ever waits for that."""
        self._accessed.update(dict.fromkeys(facts, at))

    def accessed(self, fact: str) -> int | None:
        """When a fact was last given, where that is not written down yet."""
        return self._accessed.get(fact)

    async def _write_accesses(self) -> None:
        noted, self._accessed = self._accessed, {}
        if noted and not self._newer:
            await self._db.write(lambda connection: _note_accesses(connection, noted))

    async def _try_backup(self) -> None:
        try:
            await self.backup()
        except HmdError as error:
            self.problems.append(str(error))

    # -- reading --

    async def list_memories(self, wanted: MemoryFilter | None = None) -> MemoryList:
        """Rows that pass the filter (default: everything that lives), newest change first."""
        filter_ = wanted or MemoryFilter()
        rows, total = await self._read(lambda connection: memories.select(connection, filter_))
        return MemoryList(rows=rows, total=total)

    async def get_memory(self, prefix: str) -> MemoryRow:
        """The memory that an id or a unique prefix names. Raises HmdError."""
        return await self._read(lambda connection: memories.find(connection, prefix))

    async def view_memory(self, prefix: str) -> MemoryView:
        """The same, with what it rests on."""

        def work(connection: sqlite3.Connection) -> MemoryView:
            row = memories.find(connection, prefix)
            return MemoryView(row=row, evidence=memories.evidence_of(connection, row.id))

        return await self._read(work)

    async def history(self, prefix: str) -> MemoryHistory:
        """Every version of a memory, oldest first. Raises HmdError."""

        def work(connection: sqlite3.Connection) -> MemoryHistory:
            found = memories.find(connection, prefix).id
            return MemoryHistory(
                id=found,
                versions=memories.history(connection, found),
                evidence=memories.evidence_of(connection, found),
            )

        return await self._read(work)

    async def active_memories(
        self, project: str | None, after: str = "", limit: int = 1_000_000
    ) -> tuple[int, list[MemoryRow]]:
        """(newest change in them, rows) of one snapshot, by id; None: the user-wide one.

        To read page by page, give the last id that was read as `after`. Pages may be of different
        states: the first one's number is what all of them hold at least.
        """

        def work(connection: sqlite3.Connection) -> tuple[int, list[MemoryRow]]:
            connection.execute("BEGIN")  # both statements see one state
            try:
                seq = apply.get_meta(connection, "applied_seq")
                return seq, memories.active(connection, project, after, limit)
            finally:
                connection.execute("COMMIT")

        return await self._read(work)

    async def memories_of(self, project: str) -> list[MemoryRow]:
        """Every current row of a project, whatever its status."""
        return await self._read(lambda connection: memories.of_project(connection, project))

    async def newest_change(self, project: str | None) -> int:
        """Number of the newest change that concerns a snapshot."""

        def work(connection: sqlite3.Connection) -> int:
            if project is None:
                return apply.get_meta(connection, "user_seq")
            return projects.last_seq(connection, project)

        return await self._read(work)

    async def list_projects(self) -> list[ProjectRow]:
        return await self._read(projects.select)

    async def get_project(self, project: str) -> ProjectRow | None:
        """By its full id; also one that was merged away or forgotten."""
        return await self._read(lambda connection: projects.get(connection, project))

    async def list_proposals(self, wanted: ProposalFilter | None = None) -> list[ProposalRow]:
        filter_ = wanted or ProposalFilter()
        return await self._read(lambda connection: proposals.select(connection, filter_))

    async def get_proposal(self, prefix: str) -> ProposalRow:
        return await self._read(lambda connection: proposals.find(connection, prefix))

    async def proposed_changes(self, proposal: str) -> list[AnyChange]:
        """What accepting the proposal (full id) would apply."""
        return await self._read(lambda connection: proposals.changes_of(connection, proposal))

    async def counts(self) -> Counts:
        """For `status`."""
        soon = self.clock.now_ms() + EXPIRING_MS
        return await self._read(lambda connection: _counts(connection, soon))

    async def status(self) -> StoreStatus:
        def work(connection: sqlite3.Connection) -> StoreStatus:
            return StoreStatus(
                state="newer" if self._newer else "ready",
                schema=migrate.version(connection),
                applied_seq=apply.get_meta(connection, "applied_seq"),
                journal_mode=str(connection.execute("PRAGMA journal_mode").fetchone()[0]),
                last_backup=self._last_backup or None,
                problems=list(self.problems),
            )

        return await self._read(work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a function of `hmd.store` on the read-only connection. Raises HmdError."""
        return await self._read(work)

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self._db.read(work)
        except HmdError as error:
            self._suspect(error)
            if self._newer and error.code == "internal":
                raise HmdError("newer", self._newer, self.home.database, "upgrade hmd") from error
            raise


def _newest_time(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT at FROM change_log ORDER BY seq DESC LIMIT 1").fetchone()
    return int(row[0]) if row else 0


def _note_accesses(connection: sqlite3.Connection, noted: dict[str, int]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT OR REPLACE INTO fact_access VALUES (?, ?)", noted.items())
    finally:
        connection.execute("COMMIT")


def _counts(connection: sqlite3.Connection, soon: int) -> Counts:
    by_status: dict[str, int] = {}
    auto = 0
    for status, authority, count in connection.execute(
        "SELECT status, authority, count(*) FROM memory_version WHERE superseded_at IS NULL "
        "GROUP BY status, authority"
    ):
        by_status[status] = by_status.get(status, 0) + count
        auto += count if (status, authority) == ("active", "auto") else 0
    one = "SELECT count(*) FROM "
    return Counts(
        active=by_status.get("active", 0),
        active_auto=auto,
        candidates=by_status.get("candidate", 0),
        stale=by_status.get("stale", 0),
        proposals=_number(connection, one + "proposal WHERE state = 'open'"),
        proposals_expiring=_number(
            connection, one + f"proposal WHERE state = 'open' AND expires_at <= {soon}"
        ),
        projects=_number(
            connection, one + "project WHERE merged_into IS NULL AND forgotten_at IS NULL"
        ),
    )


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
