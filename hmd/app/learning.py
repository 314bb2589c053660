"""Learning behind the hooks: sessions are read when something closed a turn, fixes and receipts
kept, episodes queued and served, memories consolidated. Nothing here is waited for by a hook.

What is heard is only a hint of where to look. The ledgers are the truth: whatever was missed (the
daemon was down, the host died) is found when they are looked through at start and every ten
minutes.
"""

import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

import trio

from hmd.app import notices
from hmd.app.context import DAY_MS, App
from hmd.app.extraction import Extraction
from hmd.app.jobs import (
    Consolidate,
    DropPast,
    Dropped,
    KeepGuards,
    Planned,
    ReadSession,
    SessionDigest,
    Worker,
)
from hmd.app.learned import load_state
from hmd.app.learned_changes import write_plan
from hmd.app.learning_status import learning_status
from hmd.app.retention import sweep
from hmd.core.changes import AnyChange, Batch, LearnFixes
from hmd.core.errors import HmdError
from hmd.core.learning import SessionRead
from hmd.core.queue import Consolidation
from hmd.core.status import LearningStatus
from hmd.kernel import event as ev
from hmd.kernel.project import resolve
from hmd.learn.consolidate import CALLS_KEPT
from hmd.learn.rows import Revise
from hmd.learn.tiers import after_firing
from hmd.store import episode_queue, known_fixes, learning, rule_receipts

# Events that close a segment of a turn.
CLOSING = frozenset([ev.STOP, ev.STOP_FAILURE, ev.PRE_COMPACT, ev.SESSION_END, ev.PROMPT])
# A turn that has just ended is left alone for this long: its host is still busy with it.
SETTLE_S = 0.5
SWEEP_S = 600.0
TICK_S = 30.0
HOUR_MS = 3_600_000


class Learning:
    """One daemon's learning. `run` never raises and ends by being cancelled."""

    def __init__(
        self,
        app: App,
        worker: Worker,
        environ: Mapping[str, str],
        say: Callable[[str], object],
        trouble: Callable[[str, BaseException], object],
    ) -> None:
        self.app = app
        self.worker = worker
        self.extraction = Extraction(app, worker, environ, say)
        self._trouble = trouble
        self._heard: dict[str, None] = {}
        self._begun: dict[str, None] = {}
        self._swept = 0.0
        self._wake = trio.Event()
        self._serve = trio.Event()
        self._reading = trio.Lock()

    def hear(self, session: str, kind: str, cwd: str) -> None:
        """Takes note of an event that was answered. Costs nothing."""
        if kind in CLOSING and session:
            self._heard[session] = None
            self._wake.set()
        elif kind == ev.SESSION_START and cwd:
            self._begun[cwd] = None
            self._wake.set()

    async def status(self) -> LearningStatus:
        return await learning_status(self.app, self.extraction)

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._forever, "reading sessions", self._read_loop)
            nursery.start_soon(self._forever, "asking a model", self._serve_loop)
            nursery.start_soon(self._forever, "consolidating", self._housekeeping)

    async def _forever(self, what: str, step: Callable[[], object]) -> None:
        """Repeats a step; whatever goes wrong in it is logged, and it is tried again later."""
        while True:
            try:
                await step()  # type: ignore[misc]
            except Exception as error:
                self._trouble(what, error)
                await trio.sleep(TICK_S)

    # -- sessions --

    async def _read_loop(self) -> None:
        due = self._swept + SWEEP_S - trio.current_time()
        with trio.move_on_after(max(0.0, due) if self._swept else 0.0):
            await self._wake.wait()
        await trio.sleep(SETTLE_S)
        self._wake = trio.Event()
        await self.attend()
        if not self._swept or trio.current_time() - self._swept >= SWEEP_S:
            self._swept = trio.current_time()
            await self.read(await self.unread())

    async def attend(self) -> None:
        """Does what was heard: reads sessions, and takes note of digests that were said."""
        heard, self._heard = list(self._heard), {}
        begun, self._begun = list(self._begun), {}
        for cwd in begun:
            project = resolve(self.app.store.home, cwd)
            if project is not None and project.id:
                notices.shown(self.app, project.id)
        await self.read(heard)

    async def unread(self) -> list[str]:
        """Sessions whose ledger has grown since it was read, or that are open and idle."""
        known = await self.app.store.read(episode_queue.sessions)
        folder, now = self.app.store.home.ledgers, self.app.now()
        return await trio.to_thread.run_sync(_unread, folder, known, now)

    async def read(self, sessions: list[str]) -> int:
        """Reads sessions and keeps what follows without a model; returns how many."""
        read = 0
        for session in sessions:
            async with self._reading:
                try:
                    await self._read(session)
                    read += 1
                except HmdError as error:
                    self._trouble(f"reading session {session}", error)
        return read

    async def _read(self, session: str) -> None:
        app = self.app
        digest = await self.worker.run(
            ReadSession(**self._home(), session=session, now=app.now()), SessionDigest
        )
        await self._learn_fixes(digest)
        if digest.guards and digest.finished:
            await self._keep_guards(session, digest)
        await app.store.operate(partial(_note, session=session, digest=digest))
        await self._extend(digest)
        if any(row.state == "queued" for row in digest.episodes):
            self._serve.set()

    async def _learn_fixes(self, digest: SessionDigest) -> None:
        """Makes fixes last where a session brings any that are not known."""
        app = self.app
        for project in sorted({*digest.fixes, *digest.failed}):
            wanted = LearnFixes(
                actor="extraction",
                at=app.now(),
                project=project,
                fixes=digest.fixes.get(project, []),
                failed=digest.failed.get(project, {}),
            )
            new = await app.store.read(partial(known_fixes.unknown_fixes, change=wanted))
            if new is not None and await app.store.get_project(project) is not None:
                await app.make(new)

    async def _keep_guards(self, session: str, digest: SessionDigest) -> None:
        app = self.app
        for project in sorted({row.project for row in digest.episodes if row.project}):
            row = await app.store.get_project(project)
            if row is None or row.forgotten_at is not None:
                continue
            settings = app.config.at(row.locations[0] if row.locations else "")
            async with self.extraction.planning:
                state = await load_state(app, project, app.now())
                job = KeepGuards(
                    **self._home(),
                    session=session,
                    project=project,
                    state=state,
                    settings=settings,
                    now=app.now(),
                    forgotten=await app.store.read(learning.tombstones),
                )
                planned = await self.worker.run(job, Planned)
                await self._make(await write_plan(app, planned.plan.changes, settings))

    async def _extend(self, digest: SessionDigest) -> None:
        """A rule that has just been brought up lives two weeks longer, at most 90 days from now."""
        app, now = self.app, self.app.now()
        recent = {row.memory for row in digest.receipts if now - row.last < HOUR_MS}
        by_project: dict[str, list[str]] = {}
        known = await app.store.read(partial(learning.expiring, memories=sorted(recent)))
        for memory, project in known:
            by_project.setdefault(project, []).append(memory)
        for project, memories in by_project.items():
            async with self.extraction.planning:
                await self._extend_in(project, memories, now)

    async def _extend_in(self, project: str, memories: list[str], now: int) -> None:
        app = self.app
        state = await load_state(app, project, now)
        planned = []
        for memory in memories:
            row = state.rows.get(memory)
            ends = after_firing(row, now) if row is not None else None
            last = await app.store.read(partial(learning.extended_at, memory=memory))
            # Once a day: a rule that fires all day long is not worth a journal line each time.
            if row is None or ends is None or ends == row.expires or now - last < DAY_MS:
                continue
            row.expires = ends
            planned.append(Revise(row=row, fields=["expires"], why="fired"))
        await self._make(await write_plan(app, planned, app.config.user))

    async def _make(self, changes: list[AnyChange]) -> None:
        if changes:
            await self.app.make(Batch(actor="extraction", at=self.app.now(), changes=changes))
            await notices.refresh_all(self.app)

    def _home(self) -> dict[str, str]:
        home = self.app.store.home
        return {"home": home.path, "machine": home.machine}

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """While content is erased nothing is read, asked or planned, and what the worker still
        holds of it goes."""
        async with self._reading, self.extraction.paused():
            try:
                yield
            finally:
                await self.worker.renew()

    # -- the queue --

    async def _serve_loop(self) -> None:
        await self.serve()
        self._serve = trio.Event()
        with trio.move_on_after(TICK_S * 2):
            await self._serve.wait()

    async def serve(self, provider: str = "", *, now: bool = False, limit: int = 100) -> int:
        """Serves episodes until there is none that may be; returns the number of calls."""
        calls = 0
        while calls < limit:
            run = await self.extraction.serve(provider, now=now)
            if run is None:
                break
            calls += 1
            await notices.refresh_all(self.app)
            if run.status != "ok" and now:
                break  # asked for by hand: not the same fault again and again
        return calls

    # -- consolidation --

    async def _housekeeping(self) -> None:
        interval = self.app.config.user.dream.interval_hours * HOUR_MS
        last = await self.app.store.read(learning.consolidated_at)
        if not last:  # a new home: there is nothing to consolidate yet
            await self.app.store.operate(partial(learning.set_consolidated, at=self.app.now()))
        elif self.app.now() - last >= interval:
            await self.consolidate()
        await notices.refresh_all(self.app)
        await trio.sleep(SWEEP_S)

    async def consolidate(self) -> Consolidation:
        """TTL, revalidation, expiry, merge proposals; then files whose time is over."""
        app, now = self.app, self.app.now()
        done = Consolidation()
        for row in await app.store.list_projects():
            settings = app.config.at(row.locations[0] if row.locations else "")
            async with self.extraction.planning:
                state = await load_state(app, row.id, now)
                job = Consolidate(**self._home(), state=state, settings=settings, now=now)
                planned = await self.worker.run(job, Planned)
                await self._make(await write_plan(app, planned.plan.changes, settings))
            for name, count in planned.plan.counts.items():
                done.counts[name] = done.counts.get(name, 0) + count
        sessions = await app.store.read(episode_queue.sessions)
        done.files = await trio.to_thread.run_sync(
            sweep, app.store.home, app.config.user.retention, sessions, now
        )
        home = app.store.home
        past = DropPast(home=home.path, machine=home.machine, before=now - CALLS_KEPT)
        done.files += (await self.worker.run(past, Dropped)).files
        await app.store.operate(partial(learning.set_consolidated, at=now))
        return done


def _unread(folder: str, known: dict[str, SessionRead], now: int) -> list[str]:
    found = []
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return []
    for entry in entries:
        key, ending = os.path.splitext(entry.name)
        if ending != ".jsonl":
            continue
        was = known.get(key)
        size = entry.stat().st_size
        if was is None or was.size != size or (was.open and now - was.ended > HOUR_MS):
            found.append(key)
    return sorted(found)


def _note(connection: sqlite3.Connection, session: str, digest: SessionDigest) -> None:
    """Everything of a session that is no change, in one transaction."""
    episode_queue.add_episodes(connection, digest.episodes)
    rule_receipts.put_receipts(connection, session, digest.receipts)
    # A session whose guards wait for its end is looked at again when it has been silent.
    waits = digest.open or (digest.guards > 0 and not digest.finished)
    episode_queue.put_session(
        connection,
        SessionRead(session=session, size=digest.size, ended=digest.ended, open=waits),
    )
