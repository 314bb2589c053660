"""How strongly a fact is held: the order of answers."""

from hmd.core.facts import FactKind, FactRow, Freshness
from hmd.recall.strength import DAY_MS, strength

NOW = 400 * DAY_MS


def fact(
    name: str = "a",
    days: int = 0,
    confidence: float = 1.0,
    importance: int = 5,
    kind: FactKind = "semantic",
    freshness: Freshness = "",
    number: int = 0,
) -> FactRow:
    return FactRow(
        id=name,
        number=number,
        recorded_at=NOW - days * DAY_MS,
        confidence=confidence,
        importance=importance,
        kind=kind,
        freshness=freshness,
    )


def test_half_after_the_half_life() -> None:
    assert strength(fact(days=90), NOW) == 0.5
    assert strength(fact(days=30, kind="episodic"), NOW) == 0.5
    assert strength(fact(days=180, kind="procedural"), NOW) == 0.5


def test_what_was_given_is_as_fresh_as_new() -> None:
    assert strength(fact(days=90), NOW, accessed=NOW) == 1.0


def test_changed_code_makes_weaker_unknown_code_a_little() -> None:
    held = [strength(fact(freshness=f), NOW) for f in ("", "current", "unresolved", "stale")]
    assert held == [1.0, 1.0, 0.85, 0.5]


def test_the_future_is_no_age() -> None:
    assert strength(fact(days=-10), NOW) == 1.0
