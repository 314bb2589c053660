"""The calls that need the store: each method's use case, and how the use cases are opened.

Imported once the socket listens: what it brings along takes longer to load than all before it.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from hmd.app import ask, fact_recall, memories, projects, proposals
from hmd.app.context import App, TakeOut, caller_at
from hmd.app.context import Caller as Asking
from hmd.app.learning import Learning
from hmd.app.recall import Recall
from hmd.app.snapshots import Snapshots
from hmd.core import ids
from hmd.core.clock import Clock
from hmd.core.config import Config
from hmd.core.projects import ProjectList
from hmd.core.snapshots import SnapshotList, SnapshotRef
from hmd.daemon.fact_calls import FACT_CASES, look_after
from hmd.daemon.learning_calls import LEARNING_CASES, QUEUE_CASES
from hmd.daemon.log import Log
from hmd.daemon.resident import Resident
from hmd.daemon.services import Caller, StartWorker
from hmd.kernel.address import Home
from hmd.kernel.snapshot import USER
from hmd.store.store import Store

UseCase = Callable[[App, Asking, Any], Awaitable[Any]]
RecallCase = Callable[[Recall, Asking, Any], Awaitable[Any]]
RECALL_CASES: dict[str, RecallCase] = {
    "recall": ask.recall,
    "fact.recall": fact_recall.recall,
    "hot": ask.show_hot,
    "embeddings.status": ask.embeddings,
    "embeddings.backfill": ask.backfill,
}


class OpenedUseCases:
    """The use cases over an open store (`hmd.daemon.services.UseCases`)."""

    def __init__(self, app: App, learning: Learning, recall: Recall) -> None:
        self.app = app
        self.recall = recall
        self.learning = learning

    async def run(self, method: str, caller: Caller, parameters: Any) -> Any:
        asking = caller_at(self.app.store.home, caller.cwd, caller.actor, caller.never)
        if method in LEARNING_CASES:
            return await LEARNING_CASES[method](self.learning, asking, parameters)
        if method in RECALL_CASES:
            return await RECALL_CASES[method](self.recall, asking, parameters)
        return await USE_CASES[method](self.app, asking, parameters)

    def heard(self, session: str, kind: str, cwd: str) -> None:
        """An event was answered: what follows from it is learned later."""
        self.learning.hear(session, kind, cwd)

    def let_erase(self, resident: Resident) -> None:
        """Has what was erased taken out of memory as well."""

        @asynccontextmanager
        async def erasing() -> AsyncIterator[TakeOut]:
            async with self.learning.paused():
                yield resident.erase

        self.app.while_erasing = erasing

    async def learn(self) -> None:
        """Learning in the background, until it is cancelled."""
        await self.learning.run()

    async def take_settings(self, config: Config) -> list[str]:
        """Makes `config` count from now on; returns the snapshots that were built for it."""
        self.app.config = self.app.snapshots.config = config
        self.recall.settings_changed()
        return await self.app.snapshots.check()


@asynccontextmanager
async def opened(
    home: Home,
    clock: Clock,
    kernel_hash: str,
    config: Config,
    start_worker: StartWorker,
    log: Log,
) -> AsyncIterator[OpenedUseCases]:
    """Opens the store and brings what hooks read level with it. Raises HmdError."""
    async with Store.open(home, clock, kernel_hash) as store:
        app = App(store, Snapshots(store, config), config)
        await projects.publish_all(app)
        await app.snapshots.check()
        worker = start_worker(log.line)
        learning = Learning(app, worker, os.environ, log.line, log.trouble)
        try:
            async with look_after(app):
                yield OpenedUseCases(app, learning, Recall(app, log.line))
        finally:
            await worker.close()


async def _rebuild(app: App, caller: Asking, ref: SnapshotRef) -> SnapshotList:
    if not ref.project:
        return SnapshotList(rows=await app.snapshots.rebuild_all())
    name = ref.project
    if name != USER:
        known = [row.id for row in await app.store.list_projects()]
        name = ids.resolve(name, known, "project")
    return SnapshotList(rows=[await app.snapshots.rebuild(name)])


async def _list_projects(app: App, caller: Asking, _: object) -> ProjectList:
    return await projects.list_(app, caller)


USE_CASES: dict[str, UseCase] = {
    **QUEUE_CASES,
    "memory.add": memories.add,
    "memory.list": memories.list_,
    "memory.show": memories.show,
    "memory.history": memories.history,
    "memory.edit": memories.edit,
    "memory.reject": memories.reject,
    "memory.enforce": memories.enforce,
    "memory.promote": memories.promote,
    "memory.demote": memories.demote,
    "memory.restore": memories.restore,
    "project.list": _list_projects,
    "project.enable": projects.enable,
    "project.disable": projects.disable,
    "project.move": projects.move,
    "project.merge": projects.merge,
    "project.forget": projects.forget,
    "proposal.list": proposals.list_,
    "proposal.accept": proposals.accept,
    "proposal.reject": proposals.reject,
    "snapshot.rebuild": _rebuild,
    **FACT_CASES,
}
