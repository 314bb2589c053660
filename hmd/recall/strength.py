"""How strongly a fact is held now: confidence × importance × recency × freshness.

strength = confidence · (1 + 0.05·(importance − 5)) · ½^(age / half-life) · freshness, the half-life
90 days (episodes 30, procedures 180) longer for what is important, age since it was recorded or
last given. Of facts with the same half-life the order never changes as time goes by: each class is
kept sorted, and the strongest of all are among the strongest of each.
"""

import math
from bisect import bisect_left, insort
from heapq import nlargest

from hmd.core.facts import FactRow

DAY_MS = 86_400_000
_HALF_LIFE = {"semantic": 90.0, "episodic": 30.0, "procedural": 180.0}
_FRESHNESS = {"stale": 0.5, "unresolved": 0.85}


def half_life(row: FactRow) -> float:
    """In days."""
    return _HALF_LIFE[row.kind] * max(0.05, 1 + 0.15 * (row.importance - 5))


def weight(row: FactRow) -> float:
    """Strength at age 0."""
    freshness = _FRESHNESS.get(row.freshness, 1.0)
    return row.confidence * (1 + 0.05 * (row.importance - 5)) * freshness


def strength(row: FactRow, now: int, accessed: int | None = None) -> float:
    """At `now`; `accessed` is when it was last given, where the row does not know that yet."""
    since = accessed or row.accessed_at or row.recorded_at
    age = max(0, now - since) / DAY_MS
    return float(weight(row) * 0.5 ** (age / half_life(row)))


_Entry = tuple[float, int, int, str]  # key, recorded, number, id


class Strengths:
    """Current facts by strength."""

    def __init__(self) -> None:
        self._classes: dict[float, list[_Entry]] = {}
        self._entries: dict[str, tuple[float, float, int, _Entry]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, row: FactRow, accessed: int | None = None) -> None:
        """A fact as it is now."""
        self.drop(row.id)
        life, held = half_life(row), weight(row)
        since = accessed or row.accessed_at or row.recorded_at
        key = math.log2(held) + since / DAY_MS / life if held > 0 else -math.inf
        entry = (key, row.recorded_at, row.number, row.id)
        insort(self._classes.setdefault(life, []), entry)
        self._entries[row.id] = (life, held, since, entry)

    def drop(self, identifier: str) -> None:
        found = self._entries.pop(identifier, None)
        if found is not None:
            entries = self._classes[found[0]]
            del entries[bisect_left(entries, found[3])]

    def at(self, identifier: str, now: int) -> float:
        """0 for a fact that is not held."""
        found = self._entries.get(identifier)
        if found is None:
            return 0.0
        life, held, since, _ = found
        return float(held * 0.5 ** (max(0, now - since) / DAY_MS / life))

    def best(self, now: int, k: int) -> list[str]:
        """The ids of the `k` strongest, strongest first, then the newest."""
        found = []
        for life, entries in self._classes.items():
            for entry in entries[-k:]:
                _, held, since, _ = self._entries[entry[3]]
                value = held * 0.5 ** (max(0, now - since) / DAY_MS / life)
                found.append((value, entry[1], entry[2], entry[3]))
        return [one[3] for one in nlargest(k, found)]
