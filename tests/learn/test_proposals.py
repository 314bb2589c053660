"""Guards who settles what: support by session, silence after a rejection, order of review."""

from typing import Any

from hmd.learn.proposals import (
    EXPIRES,
    SUPPRESSED_FOR,
    claim,
    contests,
    is_expired,
    review_order,
    settles,
    support,
)
from hmd.learn.rows import DAY, Proposal, Row

NOW = 1_700_000_000_000
AUTO = Row(id="auto")
HUMAN = Row(id="human", authority="human")


def told(known: Proposal | None = None, **more: Any) -> Proposal | None:
    base: dict[str, Any] = {"kind": "stale", "target": "auto", "session": "s1", "now": NOW}
    open_ones = {known.claim: known} if known is not None else {}
    return claim(open_ones, more.pop("muted", {}), **{**base, **more})


def test_one_open_proposal_for_a_claim_and_support_counts_sessions() -> None:
    first = told()
    assert first is not None
    assert told(first) is None  # the same session again says nothing new
    second = told(first, session="s2", now=NOW + 5)
    assert second is not None
    assert second.id == first.id
    assert support(second) == 2
    assert second.expires_at == NOW + EXPIRES


def test_only_an_automatic_memory_settles_without_a_person() -> None:
    one = told(human=True)
    assert one is not None
    assert not settles(one, AUTO)  # one session
    silent = told(told(), session="s2")
    assert silent is not None
    assert not settles(silent, AUTO)  # two sessions, no signal
    two = told(one, session="s2")
    assert two is not None
    assert settles(two, AUTO)
    assert not settles(two, HUMAN)
    observed = told(told(), session="s2", observed=True)
    assert observed is not None
    assert settles(observed, AUTO)
    other = told(told(kind="merge", human=True), kind="merge", session="s2")
    assert other is not None
    assert not settles(other, AUTO)


def test_two_sessions_contest_a_persons_advice() -> None:
    two = told(told(), session="s2")
    assert two is not None
    assert contests(two, HUMAN)
    assert not contests(two, Row(id="human", authority="human", level="confirm"))


def test_a_rejected_claim_stays_away_for_thirty_days() -> None:
    muted = {("stale", "auto", ""): NOW}
    assert told(muted=muted, now=NOW + SUPPRESSED_FOR - 1) is None
    assert told(muted=muted, now=NOW + SUPPRESSED_FOR) is not None
    assert told(muted=muted, target="other") is not None


def test_expiry() -> None:
    one, scope = told(), told(kind="fix_scope")
    assert one is not None
    assert scope is not None
    assert is_expired(one, NOW + 30 * DAY)
    assert not is_expired(scope, NOW + 89 * DAY)
    assert is_expired(scope, NOW + 90 * DAY)


def test_order_of_review() -> None:
    kinds: list[Any] = ["supersede", "merge", "fix_scope", "activate_global", "activate_policy"]
    found = [Proposal(id=kind, kind=kind, target="auto") for kind in [*kinds, "revalidate"]]
    found.append(Proposal(id="theirs", kind="merge", target="human"))
    order = review_order(found, {"auto": AUTO, "human": HUMAN})
    assert [one.id for one in order] == ["theirs", "revalidate", *reversed(kinds)]
