"""Guards what time does: nothing of a person's, nothing twice, nothing before it is due."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.config import Retention, Settings
from hmd.core.memory import Signature
from hmd.learn.consolidate import consolidate, outlived
from hmd.learn.reconcile import AGED, State
from hmd.learn.rows import DAY, Proposal, Row, Support

NOW = 1_700_000_000_000


def row(name: str = "a", **more: Any) -> Row:
    support = Support(episode=name, session=name, at=NOW, weight=2, confidence=0.9)
    base: dict[str, Any] = {
        "status": "active",
        "level": "soft_deny",
        "knowledge": "correction",
        "summary": f"what {name} is about",
        "supports": (support,),
        "created": NOW,
        "expires": NOW + 30 * DAY,
        "revalidate_at": NOW + 15 * DAY,
    }
    return Row(id=name, **{**base, **more})


def after(days: int, *rows: Row, proposals: tuple[Proposal, ...] = ()) -> State:
    state = State(
        rows={one.id: one for one in rows}, proposals={one.claim: one for one in proposals}
    )
    consolidate(state, Settings(), NOW + days * DAY)
    return state


def test_a_correction_is_offered_at_half_its_time_and_ends_at_its_end() -> None:
    assert after(14, row()).proposals == {}
    half = after(15, row())
    assert list(half.proposals) == [("revalidate", "a", "")]
    assert half.rows["a"].status == "active"
    ended = after(30, row())
    assert list(ended.proposals) == [("revalidate", "a", "")]  # offered first
    assert (ended.rows["a"].status, ended.rows["a"].note) == ("stale", "its time has ended")
    convention = after(30, row(knowledge="convention"))
    assert convention.proposals == {}
    assert convention.rows["a"].status == "stale"


def test_candidates_age() -> None:
    waiting: dict[str, Any] = {"status": "candidate", "expires": None, "revalidate_at": None}
    assert after(44, row(**waiting)).rows["a"].status == "candidate"
    gone = after(45, row(**waiting)).rows["a"]
    assert (gone.status, gone.note) == ("rejected", AGED)


def test_overrides_lower_and_only_once() -> None:
    state = after(1, row(overridden=3))
    lowered = state.rows["a"]
    assert (lowered.level, lowered.lowered_at) == ("advise", NOW + DAY)
    assert consolidate(state, Settings(), NOW + DAY).changes == []
    assert after(1, row(overridden=2)).rows["a"].level == "soft_deny"


def test_what_was_brought_up_lives_on() -> None:
    assert after(30, row(fired_at=NOW + 20 * DAY)).rows["a"].status == "active"
    assert after(44, row(fired_at=NOW + 20 * DAY)).rows["a"].status == "stale"


def test_proposals_end_and_rest_for_a_month() -> None:
    old = Proposal(
        id="x", kind="stale", target="h", opened_at=NOW, expires_at=NOW + 30 * DAY,
        claims={"s1": (NOW, True, False), "s2": (NOW, False, False)},
    )  # fmt: skip
    mine = row("h", authority="human", level="advise", contested=True)
    state = after(30, mine, proposals=(old,))
    assert state.proposals == {}
    assert state.muted == {("stale", "h", ""): NOW + 30 * DAY}
    assert not mine.contested


def test_memories_that_say_the_same_are_offered_to_be_merged() -> None:
    one = row("a", summary="Run the linter before every commit", supports=row("a").supports)
    two = row("b", summary="Before every commit run the linter")
    three = row("c", summary="Before every commit run the linter", sig=Signature(pattern="git c"))
    four = row("d", summary="결제 폴더는 물어보고 고친다")
    mine = row("e", summary="Run the linter before every commit", authority="human")
    state = after(0, one, two, three, four, mine)
    assert list(state.proposals) == [("merge", "a", "b")]


def test_retention() -> None:
    day = Retention()
    items: list[Any] = [
        ("new", "ledger", NOW - 13 * DAY, True),
        ("old", "ledger", NOW - 14 * DAY, True),
        ("unread", "ledger", NOW - 99 * DAY, False),
        ("raw", "raw", NOW - DAY, True),
        ("calls", "calls", NOW - 179 * DAY, True),
        ("tmp", "temporary", NOW - 600_000, False),
    ]
    assert outlived(items, day, NOW) == ["old", "raw", "tmp"]


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from("abcdef"),
        authority=st.sampled_from(["human", "auto"]),
        status=st.sampled_from(["candidate", "active", "stale", "rejected", "superseded"]),
        level=st.sampled_from(["advise", "confirm", "soft_deny", "deny"]),
        knowledge=st.sampled_from(["correction", "convention"]),
        overridden=st.integers(0, 5),
        fired_at=st.integers(0, 90).map(lambda days: NOW + days * DAY),
        expires=st.none() | st.integers(0, 60).map(lambda days: NOW + days * DAY),
        summary=st.sampled_from(["run the linter first", "first run the linter", "ask before"]),
    ),
    max_size=6,
    unique_by=lambda one: one.id,
)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(ROWS, st.integers(0, 100))
def test_nothing_of_a_persons_and_nothing_twice(rows: list[Row], days: int) -> None:
    mine = {one.id: str(one) for one in rows if one.authority == "human"}
    state = after(days, *rows)
    for name, before in mine.items():
        assert str(state.rows[name]) == before
    assert consolidate(state, Settings(), NOW + days * DAY).changes == []


def test_only_a_few_merges_wait_at_a_time() -> None:
    rows = [row(f"r{number}", summary="Run the linter before a commit") for number in range(9)]
    state = after(0, *rows)
    assert len(state.proposals) == 5
