"""A shelf through changes against the facts themselves: who is current, strongest, of a subject."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.facts import FactKind, FactRow
from hmd.recall.belief import Belief, fact_text
from hmd.recall.shelf import Shelf
from hmd.recall.strength import DAY_MS, strength

NOW = 400 * DAY_MS
ENDS: dict[str, dict[str, Any]] = {
    "": {},
    "replaced": {"superseded_by": "x"},
    "forgotten": {"retracted_at": 5},
}


def fact(
    number: int,
    days: int = 0,
    confidence: float = 1.0,
    importance: int = 5,
    kind: FactKind = "semantic",
    subject: str = "app",
    until: int | None = None,
    end: str = "",
    said: str = "is written in Go",
) -> FactRow:
    row = FactRow(
        id=f"id{number}",
        number=number,
        subject=subject,
        fact=said,
        recorded_at=NOW - days * DAY_MS,
        valid_from=NOW - days * DAY_MS,
        valid_to=None if until is None else NOW + until * DAY_MS,
        confidence=confidence,
        importance=importance,
        kind=kind,
    )
    for name, value in ENDS[end].items():
        setattr(row, name, value)
    return row


FACTS = st.builds(
    fact,
    number=st.integers(0, 20),
    days=st.integers(0, 400),
    confidence=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    importance=st.integers(1, 10),
    kind=st.sampled_from(["semantic", "episodic", "procedural"]),
    subject=st.sampled_from(["app", "ci"]),
    until=st.sampled_from([None, None, -1, 5]),
    end=st.sampled_from(["", "", "replaced", "forgotten"]),
    said=st.sampled_from(["is written in Go", "runs on port 80"]),
)
GIVEN = st.tuples(st.integers(0, 20), st.integers(0, 100))
STEPS = st.lists(st.one_of(FACTS, st.integers(0, 20), GIVEN), max_size=50)


@settings(derandomize=True, max_examples=150)
@given(STEPS)
def test_a_shelf_says_of_facts_what_looking_at_all_of_them_would(
    steps: list[FactRow | int | tuple[int, int]],
) -> None:
    """Facts come, change, go and are given; sorted classes are a way to look at few of them."""
    shelf, left = Shelf(), dict[str, FactRow]()
    for step in steps:
        if isinstance(step, FactRow):
            shelf.put_fact(step)
            left[step.id] = step
        elif isinstance(step, tuple):
            name, at = f"id{step[0]}", NOW + step[1] * DAY_MS
            shelf.given(name, at)
            if name in left:
                left[name].accessed_at = at
        else:
            shelf.drop(f"id{step}")
            left.pop(f"id{step}", None)
    current = [r for r in left.values() if not r.superseded_by and r.retracted_at is None]
    assert len(shelf.strongest) == len(current)
    assert {r.id for r in current} == {name for name in left if name in shelf.records}
    true = [row for row in current if row.until is None or row.until > NOW]
    best = shelf.strongest.best(NOW, 7)
    expected = sorted(true, key=lambda row: strength(row, NOW), reverse=True)[:7]
    assert [round(one.strength(NOW), 9) for one in best] == [
        round(strength(row, NOW), 9) for row in expected
    ]
    for subject in ("app", "ci", "none"):
        rows = [row for row in left.values() if row.subject == subject]
        rows.sort(key=lambda row: (row.recorded_at, row.number))
        assert [one.id for one in shelf.about(subject)] == [row.id for row in rows]


def test_a_record_says_what_the_fact_says() -> None:
    """It is cut from the text that the fact is found by, whatever lines that has."""
    rows = [
        fact(1),
        FactRow(id="2", subject="a\nb", predicate="", fact="line\nline", details="d\nd"),
        FactRow(id="3", subject="", predicate="is", fact="", tags=["t"]),
        FactRow(id="4", subject="제목", predicate="은", fact="값😀", authority="auto"),
    ]
    for row in rows:
        record = Belief(row, row.subject).record(fact_text(row))
        said = f"{row.predicate} {row.fact}" if row.predicate else row.fact
        assert record["summary"] == f"{row.subject}: {said}"
        assert record["authority"] == row.authority and record["expires"] == row.until


def in_order(shelf: Shelf) -> bool:
    return shelf.in_order


def test_slots_out_of_the_order_of_recording_are_known() -> None:
    """An answer about the past gives the newest record first, which is the last slot only while
    facts came in their order."""
    shelf = Shelf()
    shelf.put_fact(fact(1, days=3))
    shelf.put_fact(fact(2, days=2))
    shelf.put_fact(fact(1, days=3, importance=9))  # the same text: it keeps its place
    assert in_order(shelf)
    shelf.put_fact(fact(1, days=3, said="is written in C"))
    assert not in_order(shelf) and shelf.belief("id1") is not None
    assert shelf.facts.id_at(shelf.facts.having(["go"])[0]) == "id2"
