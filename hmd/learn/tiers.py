"""What an automatic memory may do: whether it is active, at which level, for how long.

Pure rules over a row, the settings and the caps used so far. A person's row is never decided here.
"""

from typing import Literal

from msgspec import Struct

from hmd.core.config import Settings
from hmd.core.memory import Level, MemoryStatus
from hmd.kernel.glob import matches_everything
from hmd.learn.matching import Rule
from hmd.learn.rows import DAY, Row

MIN_CONFIDENCE = 0.7
MIN_SCORE = 2
TTL = {"correction": 30 * DAY, "failure_resolution": 30 * DAY}
WEEK = SHORT_TTL = 7 * DAY
LONGEST_TTL = 90 * DAY
FIRED_ADDS = 14 * DAY
TRUST = (0.65, 0.8, 0.95)
OVERRIDES = 3
OVERRIDE_SCORE = 3
MOST_REMEMBERED = 2  # per turn
REMEMBERED_FOR = DAY  # a remembered rule is named at SessionStart for this long

_ACTIVE_TYPES = ("pitfall", "workflow")
_LEARNED = ("correction", "failure_resolution")


class Caps(Struct, kw_only=True):
    """Automatic activations so far, in this episode and on this day."""

    episode: int = 0
    day: int = 0


class Tier(Struct, kw_only=True, frozen=True):
    """A decision. `reason` names what keeps a candidate one; `proposes` the proposal to open for
    it. `shadowed`: it would have been activated, and autonomy `shadow` only logs that."""

    status: MemoryStatus
    level: Level = "advise"
    reason: str = ""
    proposes: Literal["", "activate_policy", "activate_global"] = ""
    shadowed: bool = False
    expires: int | None = None
    revalidate_at: int | None = None


def decide_tier(row: Row, settings: Settings, caps: Caps, now: int) -> Tier:
    """The tier of an automatic row whose evidence has just been counted.

    Caps and autonomy keep a row from becoming active; what is active stays so while its evidence
    does.
    """
    reason, proposes = _waits_for_person(row)
    reason = reason or _lacks(row)
    shadowed = False
    if not reason and row.status != "active":
        reason = _capped(settings, caps)
        if not reason and settings.autonomy_level != "standard":
            reason = f"autonomy is {settings.autonomy_level}"
            shadowed = settings.autonomy_level == "shadow"
    if reason:
        return Tier(status="candidate", reason=reason, proposes=proposes, shadowed=shadowed)
    expires = extended(row, now)
    return Tier(
        status="active",
        level=level_of(row, settings),
        expires=expires,
        revalidate_at=now + (expires - now) // 2,
    )


def _waits_for_person(row: Row) -> tuple[str, Literal["", "activate_policy", "activate_global"]]:
    if row.type == "policy":
        return "a policy waits for you", "activate_policy"
    if row.type not in _ACTIVE_TYPES:
        return f"a {row.type.replace('_', ' ')} waits for you", ""
    if row.sig is None and matches_everything(row.scope):
        return "it has no signature and holds everywhere", "activate_global"
    return "", ""


def _lacks(row: Row) -> str:
    if row.replaces:
        return "it would replace another memory"
    if row.sig is None and not row.tools:
        return "it names neither a call nor a tool"
    if not row.triggers:
        return "no hook would bring it up"
    if row.confidence < MIN_CONFIDENCE:
        return f"confidence {row.confidence:.2f}, {MIN_CONFIDENCE} is needed"
    if row.score < MIN_SCORE:
        return f"evidence {row.score}, {MIN_SCORE} is needed"
    return row.replay


def _capped(settings: Settings, caps: Caps) -> str:
    if caps.episode >= settings.extraction.max_auto_activations_per_episode:
        return f"{caps.episode} memories of this episode are active already"
    if caps.day >= settings.extraction.max_auto_activations_per_day:
        return f"{caps.day} memories were activated today already"
    return ""


def level_of(row: Row, settings: Settings) -> Level:
    """The level of an active automatic row: the one it is born at, or climbed to.

    By evidence: a pitfall with an exact command that rests on the user's own words holds at once;
    one that rests on observation advises until a second session confirms it. What the agent merely
    inferred never goes above advise. A row that overrides have lowered climbs only by a session
    that confirmed it afterwards.
    """
    if not _may_hold(row):
        return "advise"
    if _confirmed_again(row, settings):
        return "soft_deny"
    if row.lowered_at is not None:
        return "advise"
    birth = settings.before_tool.auto_enforcement
    if birth == "by_evidence":
        return "soft_deny" if row.evidence == "user_said" and _is_exact(row) else "advise"
    return birth


def _may_hold(row: Row) -> bool:
    return (
        row.type == "pitfall"
        and row.sig is not None
        and "before_tool" in row.triggers
        and row.knowledge in _LEARNED
        and row.evidence != "agent_inferred"
        and not row.replay
    )


def _is_exact(row: Row) -> bool:
    if row.sig is None or row.sig.kind != "cmd" or row.sig.negate:
        return False
    rule = Rule(row.sig)
    return rule.specific and not rule.problem


def _confirmed_again(row: Row, settings: Settings) -> bool:
    escalation = settings.before_tool.auto_escalation
    if not escalation.enabled or settings.autonomy_level != "standard":
        return False
    if len(row.sessions) < escalation.sessions:
        return False
    if row.lowered_at is None:
        return True
    lowered = row.lowered_at
    old = {one.session for one in row.supports if one.at <= lowered}
    return any(one.at > lowered and one.session not in old for one in row.supports)


def extended(row: Row, now: int) -> int:
    """When a reinforced row ends: never earlier than before, at most 90 days from now. One that was
    read late still has a week."""
    ends = max(row.expires or 0, _base(row, now), now + WEEK)
    return min(ends, max(row.expires or 0, now + LONGEST_TTL))


def after_firing(row: Row, now: int) -> int | None:
    """When a row that was brought up since it was last confirmed ends: 14 days later, at most 90
    days from now. Further firings only keep these 14 days ahead, so asking again changes nothing.
    None where it has no end."""
    latest = max((support.at for support in row.supports), default=row.created)
    if row.expires is None or row.fired_at <= latest:
        return row.expires
    ends = max(_base(row, now), row.fired_at) + FIRED_ADDS
    return max(row.expires, min(ends, now + LONGEST_TTL))


def _base(row: Row, now: int) -> int:
    """The end that its episodes give a row. It counts from the latest of them, so that it depends
    neither on when nor on the order in which they were read."""
    least = TTL.get(row.knowledge, SHORT_TTL)
    latest = max((support.at for support in row.supports), default=now)
    return latest + max(WEEK * (1 << min(row.validations, 8)), least)


def trust(validations: int) -> float:
    """The share of its score that an automatic row keeps."""
    return TRUST[min(max(validations, 0), len(TRUST) - 1)]


def score(row: Row) -> float:
    """Importance × confidence × trust, 0..1, as the snapshot holds it."""
    factor = 1.0 if row.authority == "human" else trust(row.validations)
    return round(row.importance * row.confidence * factor, 6)


def is_overridden(row: Row) -> bool:
    """Whether overrides outweigh its evidence, so that it only advises from now on."""
    return (
        row.authority == "auto"
        and row.level != "advise"
        and row.overridden >= OVERRIDES
        and row.score < OVERRIDE_SCORE
    )


def remembered_level(row: Row, settings: Settings) -> Level:
    """The level of a rule that the user asked to remember: a person's from the start."""
    if row.sig is None:
        return "advise"
    if row.type == "policy":
        return settings.before_tool.hard_policy
    return "soft_deny" if row.type == "pitfall" else "advise"
