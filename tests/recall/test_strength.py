"""How strongly a fact is held: the order of answers; sorted classes against plain sorting."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.facts import FactKind, FactRow, Freshness
from hmd.recall.strength import DAY_MS, Strengths, strength

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


FACTS = st.builds(
    fact,
    name=st.integers(0, 30).map(str),
    days=st.integers(-5, 400),
    confidence=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    importance=st.integers(1, 10),
    kind=st.sampled_from(["semantic", "episodic", "procedural"]),
    freshness=st.sampled_from(["", "stale", "unresolved"]),
    number=st.integers(0, 10_000),
)


@settings(derandomize=True, max_examples=150)
@given(st.lists(FACTS, max_size=40), st.lists(st.integers(0, 30).map(str), max_size=8))
def test_best_is_what_sorting_gives(rows: list[FactRow], dropped: list[str]) -> None:
    """The classes are a way to look at few; what they answer is what looking at all would."""
    strengths, left = Strengths(), dict[str, FactRow]()
    for row in rows:
        strengths.put(row)
        left[row.id] = row
    for name in dropped:
        strengths.drop(name)
        left.pop(name, None)

    def rank(row: FactRow) -> tuple[float, int, int, str]:
        return round(strength(row, NOW), 12), row.recorded_at, row.number, row.id

    best = strengths.best(NOW, 7)
    assert len(best) == min(7, len(left)) and len(strengths) == len(left)
    expected = sorted(left.values(), key=rank, reverse=True)[:7]
    assert [rank(left[n])[0] for n in best] == [rank(row)[0] for row in expected]
