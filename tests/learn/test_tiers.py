"""Guards what an automatic memory may do: the enforcement table, row by row, and its times."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.config import BeforeTool, Escalation, Extraction, Settings
from hmd.core.memory import Signature
from hmd.learn import tiers
from hmd.learn.rows import DAY, Row, Support
from hmd.learn.tiers import Caps, Tier, decide_tier, level_of

NOW = 1_700_000_000_000


def support(session: str = "a", weight: int = 2, at: int = NOW, confidence: float = 0.9) -> Support:
    return Support(
        episode=f"{session}{at}", session=session, at=at, weight=weight, confidence=confidence
    )


def row(**more: Any) -> Row:
    base: dict[str, Any] = {
        "id": "a",
        "type": "pitfall",
        "sig": Signature(pattern="npm test"),
        "triggers": ["before_tool"],
        "knowledge": "correction",
        "evidence": "user_said",
        "confidence": 0.9,
        "supports": (support(),),
    }
    return Row(**{**base, **more})


def decide(found: Row, config: Settings | None = None, **caps: int) -> Tier:
    return decide_tier(found, config or Settings(), Caps(**caps), NOW)


def test_one_correction_activates_and_holds_at_once() -> None:
    tier = decide(row())
    assert (tier.status, tier.level) == ("active", "soft_deny")
    assert tier.expires == NOW + 30 * DAY
    assert tier.revalidate_at == NOW + 15 * DAY


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"type": "policy"}, "a policy waits"),
        ({"type": "decision"}, "a decision waits"),
        ({"type": "architecture_constraint"}, "an architecture"),
        ({"sig": None}, "holds everywhere"),
        ({"sig": None, "scope": "src/**"}, "neither a call nor a tool"),
        ({"triggers": []}, "no hook"),
        ({"confidence": 0.69}, "confidence 0.69"),
        ({"supports": (support(weight=1),)}, "evidence 1"),
        ({"replay": "it would have stopped 3"}, "would have stopped"),
        ({"replaces": "b"}, "replace another"),
    ],
)
def test_each_condition_keeps_a_candidate(change: dict[str, Any], reason: str) -> None:
    tier = decide(row(**change))
    assert tier.status == "candidate"
    assert reason.split()[-1] in tier.reason


def test_what_a_person_must_decide_is_proposed() -> None:
    assert decide(row(type="policy")).proposes == "activate_policy"
    assert decide(row(sig=None)).proposes == "activate_global"
    assert decide(row(type="decision")).proposes == ""


def test_caps_hold_new_activations_only() -> None:
    assert decide(row(), episode=3).status == "candidate"
    assert decide(row(), day=10).status == "candidate"
    assert decide(row(status="active"), episode=3, day=10).status == "active"
    few = Settings(extraction=Extraction(max_auto_activations_per_day=1))
    assert decide(row(), few, day=1).status == "candidate"


def test_autonomy() -> None:
    shadow, off = Settings(autonomy_level="shadow"), Settings(autonomy_level="off")
    assert (decide(row(), shadow).status, decide(row(), shadow).shadowed) == ("candidate", True)
    assert (decide(row(), off).status, decide(row(), off).shadowed) == ("candidate", False)
    assert not decide(row(confidence=0.1), shadow).shadowed
    # What is active is left alone, and never climbs.
    two = row(status="active", evidence="tool_observed", supports=(support("a"), support("b")))
    assert decide(two, shadow).level == "advise"
    assert decide(two).level == "soft_deny"


@pytest.mark.parametrize(
    ("setting", "change", "level"),
    [
        ("by_evidence", {}, "soft_deny"),
        ("by_evidence", {"evidence": "tool_observed"}, "advise"),
        ("by_evidence", {"evidence": "agent_inferred"}, "advise"),
        ("by_evidence", {"sig": Signature(kind="regex", pattern="npm test")}, "advise"),
        ("by_evidence", {"sig": Signature(pattern="npm")}, "advise"),
        ("by_evidence", {"type": "workflow"}, "advise"),
        ("by_evidence", {"knowledge": "convention"}, "advise"),
        ("by_evidence", {"replay": "it failed"}, "advise"),
        ("by_evidence", {"triggers": ["before_model"]}, "advise"),
        ("advise", {}, "advise"),
        ("soft_deny", {"evidence": "tool_observed"}, "soft_deny"),
        ("soft_deny", {"evidence": "agent_inferred"}, "advise"),
        ("soft_deny", {"type": "workflow"}, "advise"),
        ("advise", {"supports": (support("a"), support("b"))}, "soft_deny"),
        ("advise", {"supports": (support("a"), support("a", at=NOW + 1))}, "advise"),
        (
            "advise",
            {"evidence": "agent_inferred", "supports": (support("a"), support("b"))},
            "advise",
        ),
    ],
)
def test_the_enforcement_table(setting: Any, change: dict[str, Any], level: str) -> None:
    config = Settings(before_tool=BeforeTool(auto_enforcement=setting))
    assert level_of(row(**change), config) == level


def test_a_second_session_lifts_only_where_escalation_is_on() -> None:
    two = row(evidence="tool_observed", supports=(support("a"), support("b")))
    off = Settings(before_tool=BeforeTool(auto_escalation=Escalation(enabled=False)))
    three = Settings(before_tool=BeforeTool(auto_escalation=Escalation(sessions=3)))
    assert level_of(two, Settings()) == "soft_deny"
    assert level_of(two, off) == "advise"
    assert level_of(two, three) == "advise"


def test_a_lowered_row_climbs_again_only_by_a_new_session() -> None:
    lowered = {"lowered_at": NOW + 10}
    old = (support("a"), support("b"))
    assert level_of(row(supports=old, **lowered), Settings()) == "advise"
    same = (*old, support("b", at=NOW + 20))
    assert level_of(row(supports=same, **lowered), Settings()) == "advise"
    new = (*old, support("c", at=NOW + 20))
    assert level_of(row(supports=new, **lowered), Settings()) == "soft_deny"


def test_overrides_outweigh_little_evidence_only() -> None:
    assert tiers.is_overridden(row(level="soft_deny", overridden=3))
    assert not tiers.is_overridden(row(level="soft_deny", overridden=2))
    assert not tiers.is_overridden(row(level="advise", overridden=9))
    strong = (support("a"), support("b"))
    assert not tiers.is_overridden(row(level="soft_deny", overridden=9, supports=strong))
    assert not tiers.is_overridden(row(level="soft_deny", overridden=9, authority="human"))


def test_remembered_rules_are_a_persons() -> None:
    assert tiers.remembered_level(row(type="policy"), Settings()) == "confirm"
    assert tiers.remembered_level(row(), Settings()) == "soft_deny"
    assert tiers.remembered_level(row(type="workflow"), Settings()) == "advise"
    assert tiers.remembered_level(row(sig=None), Settings()) == "advise"


def test_trust_and_score() -> None:
    assert [tiers.trust(count) for count in (0, 1, 2, 9)] == [0.65, 0.8, 0.95, 0.95]
    assert tiers.score(row(importance=0.8, confidence=0.9)) == pytest.approx(0.468)
    assert tiers.score(row(importance=0.8, confidence=0.9, authority="human")) == pytest.approx(
        0.72
    )


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=8, unique=True),
    st.sampled_from(["correction", "convention"]),
    st.integers(-200, 500),
)
def test_time_never_shrinks_and_never_passes_ninety_days(
    days: list[int], knowledge: Any, since: int
) -> None:
    """Whatever confirms a row, and in whatever order it is read, its end only moves away, and no
    reading puts it more than 90 days ahead of the moment."""
    now = NOW + 400 * DAY
    ends: int | None = None
    supports = [support(f"s{day}", at=NOW + day * DAY) for day in days]
    for count in range(1, len(supports) + 1):
        one = row(supports=tuple(supports[:count]), knowledge=knowledge, expires=ends)
        found = tiers.extended(one, now)
        assert found >= (ends or 0)
        assert now + 7 * DAY <= found <= now + 90 * DAY
        ends = found
    fired = row(supports=tuple(supports), knowledge=knowledge, expires=ends)
    fired.fired_at = now + since * DAY
    later = tiers.after_firing(fired, now)
    assert ends is not None
    assert later is not None
    assert ends <= later <= max(ends, now + 90 * DAY)
    fired.expires = later
    assert tiers.after_firing(fired, now) == later


def test_firing_adds_fourteen_days_once_and_then_keeps_them_ahead() -> None:
    one = row(expires=NOW + 30 * DAY)
    assert tiers.after_firing(one, NOW) == one.expires  # it has not fired
    one.fired_at = NOW + DAY
    assert tiers.after_firing(one, NOW + DAY) == NOW + 44 * DAY
    one.fired_at = NOW + 40 * DAY
    assert tiers.after_firing(one, NOW + 40 * DAY) == NOW + 54 * DAY
    assert tiers.after_firing(row(expires=None), NOW) is None
