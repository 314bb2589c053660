"""The hot index of each project as it lies on disk, where hooks and hosts read it."""

import os
import time
from bisect import insort
from collections.abc import Sequence
from itertools import islice

import trio

from hmd.app.shelves import Shelves
from hmd.core import machine
from hmd.kernel import hot as hot_file
from hmd.kernel.snapshot import USER
from hmd.recall import hot
from hmd.recall.belief import Belief, Record
from hmd.recall.shelf import Shelf

# Facts that are looked at between two breaths of the daemon's loop.
_AT_ONCE = 100


class HotBlocks:
    """Brings the blocks on disk up to date where something changed."""

    def __init__(self, shelves: Shelves) -> None:
        self.stale: set[str] = set()
        self._shelves = shelves
        self._day: dict[str, int] = {}
        self._writing = trio.Lock()

    def touch(self, name: str) -> None:
        """The block of a shelf may be another now; every project's holds the user's facts too."""
        self.stale.add(name)
        if name == USER:
            self.stale.update(self._day)

    async def write(self, name: str) -> tuple[list[str], str]:
        """Brings the block of a project (or `user`) up to date on disk, if anything changed."""
        await self._shelves.settle()
        home = self._shelves.app.store.home
        async with self._writing:  # also for what another task is writing just now
            day = int(time.time() - time.timezone) // 86_400
            if name not in self.stale and self._day.get(name) == day:
                return hot_file.read(home, "" if name == USER else name)
            self.stale.discard(name)
            self._day[name] = day
            ids, text = await self.block(name, day)
            await trio.to_thread.run_sync(_replace, home.hot(name), hot_file.encode(ids, text))
            return ids, text

    async def block(self, name: str, day: int) -> tuple[list[str], str]:
        """The block of a project with what holds everywhere."""
        app = self._shelves.app
        shelves = await self._shelves.of("" if name == USER else name)
        limits = app.config.user.session_start
        now = app.store.clock.peek_ms()
        records: list[Record] = []
        for shelf in shelves:
            best = await _best(shelf, now, day, limits.hot_items)
            records += [one.record(shelf.facts.text(one.id)) for one in best if one.current]
        return hot.render(records, day, limits.hot_items, limits.hot_tokens)


async def _best(shelf: Shelf, now: int, day: int, most: int) -> Sequence[Belief]:
    """The facts of a shelf that come first, among those that are true now. Memories have moments
    of their own, and a text is given once a session: in the index they would miss theirs."""

    # (rank, place, fact): places keep facts themselves from being compared.
    found: list[tuple[hot.Rank, int, Belief]] = []
    left = enumerate(list(shelf.beliefs))
    while part := list(islice(left, _AT_ONCE)):
        for place, one in part:
            if one is not None and one.current and one.is_true(now):
                rank = hot.rank(one.pinned, one.score, one.recorded, one.id, day)
                if len(found) < most or rank < found[-1][0]:
                    insort(found, (rank, place, one))
                    del found[most:]
        await trio.lowlevel.checkpoint()
    return [one for _, _, one in found]


def _replace(path: str, data: bytes) -> None:
    """Writes a file in one step; removes it where there is nothing to say."""
    try:
        with open(path, "rb") as file:
            if file.read() == data:
                return
    except OSError:
        pass
    if not data:
        if os.path.exists(path):
            os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | machine.NOT_INHERITED
    with open(os.open(temporary, flags, 0o600), "wb") as file:
        file.write(data)
    machine.replace(temporary, path)
