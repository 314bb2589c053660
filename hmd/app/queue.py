"""The queue of episodes: what waits for a model, and why."""

from functools import partial

import msgspec

from hmd.app.context import App, Caller, only_people
from hmd.core.errors import HmdError
from hmd.core.learning import EpisodeRow
from hmd.core.queue import QueueFilter, QueueList, QueueRef, QueueView
from hmd.store import episode_queue, provider_runs

HOUR_MS = 3_600_000
# After the first failure, after the second; the third is the last.
BACK_OFF_MS = (HOUR_MS, 6 * HOUR_MS)
OPEN = ("queued", "leased", "waiting")


def failed(row: EpisodeRow, reason: str, now: int) -> EpisodeRow:
    """The episode after an attempt that came to nothing."""
    attempts = row.attempts + 1
    dead = attempts > len(BACK_OFF_MS)
    return msgspec.structs.replace(
        row,
        state="dead" if dead else "waiting",
        attempts=attempts,
        not_before=0 if dead else now + BACK_OFF_MS[attempts - 1],
        leased_until=0,
        reason=reason,
    )


def waits(row: EpisodeRow, reason: str, until: int) -> EpisodeRow:
    """The episode put back without an attempt: nothing was wrong with it."""
    return msgspec.structs.replace(
        row, state="waiting", not_before=until, leased_until=0, reason=reason
    )


async def list_(app: App, caller: Caller, wanted: QueueFilter) -> QueueList:
    states = OPEN if not wanted.state else () if wanted.state == "all" else (wanted.state,)
    if wanted.state == "dead" or not wanted.state:
        states = (*states, *(("dead",) if "dead" not in states else ()))
    rows = await app.store.read(
        lambda connection: episode_queue.episodes(connection, states, wanted.limit)
    )
    return QueueList(rows=rows)


async def show(app: App, caller: Caller, ref: QueueRef) -> QueueView:
    """An episode with the runs that were made for it."""
    row = await app.store.read(partial(episode_queue.find_episode, prefix=ref.id))
    runs = await app.store.read(lambda connection: provider_runs.runs(connection, 0, 100_000))
    return QueueView(row=row, runs=[run for run in runs if run.episode == row.id])


async def retry(app: App, caller: Caller, ref: QueueRef) -> QueueView:
    """Back to the front door: no attempt counted, due at once."""
    only_people(caller, "spend on the user's account")
    row = await app.store.read(partial(episode_queue.find_episode, prefix=ref.id))
    if row.state == "done":
        raise HmdError("refused", f"episode '{row.id[:8]}' is done")
    row = msgspec.structs.replace(
        row, state="queued", attempts=0, not_before=0, leased_until=0, reason=""
    )
    await app.store.operate(partial(episode_queue.put_episode, row=row))
    return QueueView(row=row)


async def drop(app: App, caller: Caller, ref: QueueRef) -> QueueView:
    """It is never shown to a model."""
    only_people(caller, "drop what waits to be learned")
    row = await app.store.read(partial(episode_queue.find_episode, prefix=ref.id))
    if row.state not in (*OPEN, "dead"):
        raise HmdError("refused", f"episode '{row.id[:8]}' is {row.state.replace('_', ' ')}")
    row = msgspec.structs.replace(row, state="dropped", reason="dropped by hand")
    await app.store.operate(partial(episode_queue.put_episode, row=row))
    return QueueView(row=row)
