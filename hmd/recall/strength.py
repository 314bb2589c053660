"""How strongly a fact is held now: confidence × importance × recency × freshness.

strength = confidence · (1 + 0.05·(importance − 5)) · ½^(age / half-life) · freshness, the half-life
90 days (episodes 30, procedures 180) longer for what is important, age since it was recorded or
last given.
"""

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
