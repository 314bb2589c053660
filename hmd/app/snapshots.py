"""Keeps the snapshot files true: a line in the tail after each change, a new base when needed."""

import time
from collections.abc import Callable
from pathlib import Path

import trio

from hmd.app.fixes import fix_record
from hmd.app.signatures import plain_of
from hmd.core.changes import AnyChange
from hmd.core.config import Config, verdict_settings
from hmd.core.learning import FixRow
from hmd.core.memory import MemoryRow, is_in_force
from hmd.core.projects import ProjectRow
from hmd.core.snapshots import SnapshotRow
from hmd.kernel.snapshot import USER, open_snapshot
from hmd.store import known_fixes, snapshot_file
from hmd.store.apply import Applied, Touched
from hmd.store.snapshot_file import BaseBuilder, Record
from hmd.store.store import Store

# Rows read at a time: reading holds the interpreter for about as long as `_Breath` does.
_PAGE = 16
# How long work on the loop goes on before others get their turn.
_BREATH_NS = 200_000
# Changes of one commit that become lines of the tail.
_TAIL_LINES = 64
# Trust of an automatic row by how often it was confirmed; a person's is 1.
_TRUST = (0.65, 0.8, 0.95)


class _Breath:
    """Gives way to other tasks once the time is up."""

    def __init__(self) -> None:
        self._until = time.perf_counter_ns() + _BREATH_NS

    async def take(self) -> None:
        if time.perf_counter_ns() > self._until:
            await trio.lowlevel.checkpoint()
            self._until = time.perf_counter_ns() + _BREATH_NS


class Snapshots:
    """The snapshot files of a home. `problems` are lines for doctor."""

    def __init__(self, store: Store, config: Config) -> None:
        self.config = config
        self.problems: list[str] = []
        # Told of every change once it lasts, before the caller is.
        self.watchers: list[Callable[[AnyChange, Applied], None]] = []
        self._store = store
        self._order = trio.Lock()  # tail lines are written in the order of their changes
        self._building: dict[str, trio.Lock] = {}
        self._due: set[str] = set()

    # -- after a change --

    async def commit(self, change: AnyChange) -> Applied:
        """Makes a change last, then true for every reader of snapshots; returns what it did.

        A snapshot that cannot be written does not undo the change: it is built anew later.
        """
        async with self._order:
            applied = await self._store.apply(change)
            if len(applied.memories) > _TAIL_LINES:
                # An import: one new base is built sooner than so many lines are read by every hook.
                self._due |= {name or USER for name in applied.snapshots}
            else:
                for touched in applied.memories:
                    self._publish(applied.seq, touched)
            for fix in applied.fixes:
                record = fix_record(fix.row) if fix.row is not None else None
                self._append(fix.project, applied.seq, fix.id, record)
        for watcher in self.watchers:
            watcher(change, applied)
        for project in applied.projects:
            await self._project_changed(project)
        for name in sorted(self._due):
            await self.rebuild(name)
        return applied

    def _publish(self, seq: int, touched: Touched) -> None:
        before, after = touched
        changes: dict[str, Record | None] = {}
        if before is not None and is_in_force(before):
            changes[before.project or USER] = None
        if is_in_force(after):
            changes[after.project or USER] = record_of(after)
        for name, record in changes.items():
            self._append(name, seq, after.id, record)

    def _append(self, name: str, seq: int, identifier: str, record: Record | None) -> None:
        path = self._path(name)
        try:
            snapshot_file.append_tail(path, seq, identifier, record)
        except OSError as error:
            self._report(name, error)
            self._due.add(name)
        if not path.exists() or snapshot_file.tail_is_long(path):
            self._due.add(name)

    async def _project_changed(self, project: str) -> None:
        if await self._is_gone(project):
            self._due.discard(project)
            snapshot_file.remove(self._path(project))
        else:
            self._due.add(project)

    async def _is_gone(self, project: str) -> bool:
        row = await self._store.get_project(project)
        return row is None or row.forgotten_at is not None or row.merged_into is not None

    # -- building --

    async def rebuild(self, name: str) -> SnapshotRow:
        """Builds the base of one snapshot (`user` or a project id) and empties its tail.

        Gives way to other tasks between records; changes made meanwhile stay in the tail.
        """
        async with self._building.setdefault(name, trio.Lock()):
            self._due.discard(name)
            project = None if name == USER else name
            seq, count, builder = await self._built(project)
            path = self._path(name)
            try:
                await trio.to_thread.run_sync(builder.write, path)
                snapshot_file.shorten_tail(path, seq)
            except OSError as error:
                self._report(name, error)
                self._due.add(name)
            if project is not None and await self._is_gone(project):
                snapshot_file.remove(path)  # it went while this was built
            size = path.stat().st_size if path.exists() else 0
            return SnapshotRow(project=name, generation=seq, records=count, bytes=size)

    async def _built(self, project: str | None) -> tuple[int, int, BaseBuilder]:
        """(generation, records, finished builder). What changes between two pages has a line in
        the tail above the generation, whichever page it was on."""
        settings = await self._settings(project)
        seq, rows = await self._store.active_memories(project, "", _PAGE)
        builder = BaseBuilder(
            self._store.kernel_hash, seq, project or "", self._store.clock.now_ms()
        )
        breath = _Breath()
        count = 0
        while rows:
            for row in rows:
                builder.add(record_of(row))
                await breath.take()
            count += len(rows)
            _, rows = await self._store.active_memories(project, rows[-1].id, _PAGE)
        for fix in await self._fixes(project):
            builder.add(fix_record(fix))
            await breath.take()
            count += 1
        for _ in builder.finish(settings):
            await breath.take()
        return seq, count, builder

    async def _fixes(self, project: str | None) -> list[FixRow]:
        if project is None:
            return []
        return await self._store.read(lambda connection: known_fixes.fixes(connection, project))

    async def rebuild_all(self) -> list[SnapshotRow]:
        """Builds every snapshot anew."""
        return [await self.rebuild(name) for name in await self._names()]

    async def check(self) -> list[str]:
        """Builds what is absent, damaged, behind the store, of another kernel or of other settings;
        returns the names of what was built. Run at start and when the settings change."""
        built = []
        for name in await self._names():
            if not await self._is_true(name):
                await self.rebuild(name)
                built.append(name)
        return built

    async def _is_true(self, name: str) -> bool:
        project = None if name == USER else name
        snapshot = open_snapshot(str(self._path(name)), self._store.kernel_hash)
        if snapshot is None or snapshot.problem or not snapshot.header:
            return False
        return (
            snapshot.header.get("kernel") == self._store.kernel_hash
            and snapshot.generation >= await self._store.newest_change(project)
            and snapshot.settings == await self._settings(project)
        )

    async def _names(self) -> list[str]:
        return [USER, *(row.id for row in await self._store.list_projects())]

    async def _settings(self, project: str | None) -> Record:
        row = await self._store.get_project(project) if project else None
        return verdict_settings(self.config, _settings_path(row))

    def _path(self, name: str) -> Path:
        return Path(self._store.home.snapshot(name))

    def _report(self, name: str, error: OSError) -> None:
        self.problems.append(f"snapshot {name} could not be written: {error.strerror}")


def _settings_path(row: ProjectRow | None) -> str:
    """The path under which a project's settings are looked up; its first location's."""
    return row.locations[0] if row is not None and row.locations else ""


def record_of(row: MemoryRow) -> Record:
    """A memory as the snapshot holds it (docs/internals.md, "The memory")."""
    sig = row.sig
    return {
        "id": row.id,
        "version": row.version,
        "type": row.type,
        "summary": row.summary,
        "details": row.details,
        "scope": row.scope,
        "triggers": list(row.triggers),
        "tools": row.tools,
        "sig": None
        if sig is None
        else {
            "tool": sig.tool,
            "target": sig.target,
            "kind": sig.kind,
            "pattern": sig.pattern,
            "negate": sig.negate,
            "plain": plain_of(sig.pattern) if sig.kind == "cmd" else None,
        },
        "level": row.level,
        "authority": row.authority,
        "evidence": row.evidence,
        "label": label_of(row),
        "score": round(row.importance * row.confidence * trust_of(row), 6),
        "expires": row.expires,
        "baseline": row.baseline,
        "policy": row.policy,
        "loaded": row.loaded,
        "aliases": list(row.aliases),
        "updated": row.recorded_at,
    }


def label_of(row: MemoryRow) -> str:
    """What stands in brackets where a memory is shown to the model."""
    if row.authority == "human":
        label = "human, unconfirmed import" if row.unconfirmed else "human"
    else:
        label = "auto, provisional"
    return label + ", contested" if row.contested else label


def trust_of(row: MemoryRow) -> float:
    if row.authority == "human":
        return 1.0
    return _TRUST[min(max(row.validations, 0), len(_TRUST) - 1)]
