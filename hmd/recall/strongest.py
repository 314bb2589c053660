"""Current facts by strength.

Of facts with the same half-life the order never changes as time goes by: each class is kept sorted,
and the strongest of all are among the strongest of each. Nothing is taken out of the middle of a
long list: what is gone is passed over until there is much of it.
"""

from bisect import insort
from collections.abc import Iterator
from heapq import nlargest
from itertools import islice

from hmd.recall.belief import Belief


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
        if not entries or belief.key() >= entries[-1].key():
            entries.append(belief)  # nearly always: they come in the order of recording
        else:
            insort(entries, belief, key=Belief.key)
        self._count += 1

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


def _true(entries: list[Belief], now: int) -> Iterator[Belief]:
    return (one for one in reversed(entries) if one.current and one.is_true(now))
