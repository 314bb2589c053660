"""Current facts by strength.

Of facts with the same half-life the order never changes as time goes by: each class is kept sorted,
and the strongest of all are among the strongest of each. Nothing is taken out of the middle of a
long list: what is gone is passed over until there is much of it.
"""

from bisect import bisect_right
from collections.abc import Iterator
from heapq import nlargest
from itertools import islice
from operator import attrgetter

from hmd.recall.belief import Belief

_order = attrgetter("order")


class Strongest:
    """Beliefs by how strongly they are held; `current` is false of those that are so no more."""

    def __init__(self) -> None:
        self._classes: dict[float, list[Belief]] = {}
        self._count = 0
        self._gone = 0

    def __len__(self) -> int:
        return self._count

    def put(self, belief: Belief) -> None:
        """A current belief that was not there."""
        entries = self._classes.setdefault(belief.life, [])
        self._count += 1
        if not entries or belief.order > entries[-1].order:
            entries.append(belief)  # what was recorded or given just now
            return
        place = bisect_right(entries, belief.order, key=_order)
        while place and _comes_after(entries[place - 1], belief):
            place -= 1
        entries.insert(place, belief)

    def drop(self, belief: Belief) -> None:
        """A belief that was there, and is current no more."""
        belief.current = False
        self._count -= 1
        self._gone += 1
        if self._gone > 64 + self._count // 4:
            self._gone = 0
            for life, entries in self._classes.items():
                self._classes[life] = [one for one in entries if one.current]

    def best(self, now: int, k: int) -> list[Belief]:
        """The `k` strongest that are true at `now`, strongest first, then the newest."""
        found = [
            one for entries in self._classes.values() for one in islice(_true(entries, now), k)
        ]
        return nlargest(k, found, key=lambda one: (one.strength(now), one.recorded, one.number))


def _comes_after(one: Belief, other: Belief) -> bool:
    return one.order == other.order and one.record_key() > other.record_key()


def _true(entries: list[Belief], now: int) -> Iterator[Belief]:
    return (one for one in reversed(entries) if one.current and one.is_true(now))
