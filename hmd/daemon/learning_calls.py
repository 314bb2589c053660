"""The calls about learning, and how its parts are put together over an open store."""

from collections.abc import Awaitable, Callable
from typing import Any

from hmd.app import costs, notes, queue, receipts, review, stats, traces
from hmd.app.context import App
from hmd.app.context import Caller as Asking
from hmd.app.learning import Learning
from hmd.core.errors import HmdError
from hmd.core.notes import Imported, NoteList, NotesWanted
from hmd.core.queue import Consolidation, Extracted, ExtractWanted
from hmd.core.status import LearningStatus
from hmd.store import episode_queue, provider_runs

UseCase = Callable[[App, Asking, Any], Awaitable[Any]]
LearningCase = Callable[[Learning, Asking, Any], Awaitable[Any]]


async def _extract(learning: Learning, caller: Asking, wanted: ExtractWanted) -> Any:
    """Reads what is unread, then serves the queue (or shows what would be sent)."""
    app = learning.app
    read = await learning.read(await learning.unread())
    done = Extracted(read=read)
    if wanted.dry_run:
        done.prompts = await learning.extraction.dry_run(wanted.limit)
        return done
    if caller.is_agent:
        raise HmdError("refused", "an agent cannot spend on the user's account")
    began = app.now()
    await learning.serve(wanted.provider, now=wanted.now, limit=wanted.limit)
    done.runs = await app.store.read(lambda connection: provider_runs.runs(connection, began))
    done.episodes = await app.store.read(
        lambda connection: episode_queue.episodes(connection, (*queue.OPEN, "dead"))
    )
    done.waiting = learning.extraction.waiting
    return done


async def _consolidate(learning: Learning, caller: Asking, _: object) -> Consolidation:
    return await learning.consolidate()


async def _read_notes(learning: Learning, caller: Asking, wanted: NotesWanted) -> NoteList:
    return await notes.show(learning.app, learning.worker, caller, wanted)


async def _import_notes(learning: Learning, caller: Asking, wanted: NotesWanted) -> Imported:
    return await notes.import_(learning.app, learning.worker, caller, wanted)


async def _status(learning: Learning, caller: Asking, _: object) -> LearningStatus:
    return await learning.status()


LEARNING_CASES: dict[str, LearningCase] = {
    "extract": _extract,
    "consolidate": _consolidate,
    "notes.read": _read_notes,
    "notes.import": _import_notes,
    "learning.status": _status,
}
QUEUE_CASES: dict[str, UseCase] = {
    "queue.list": queue.list_,
    "queue.show": queue.show,
    "queue.retry": queue.retry,
    "queue.drop": queue.drop,
    "costs": costs.costs,
    "trace.session": traces.session,
    "trace.memory": traces.memory,
    "memory.stats": stats.stats,
    "receipts": receipts.receipts,
    "review": review.review,
}
