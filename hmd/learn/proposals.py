"""Proposals: what learning may suggest and a person decides, and the few that settle themselves.

One open proposal per (kind, target, candidate); a claim made again only adds its session.
"""

from collections.abc import Iterable, Mapping

from msgspec import structs

from hmd.kernel.address import digest
from hmd.learn.rows import DAY, Proposal, ProposalKind, Row

SUPPRESSED_FOR = 30 * DAY
EXPIRES = 30 * DAY
EXPIRES_FIX_SCOPE = 90 * DAY
SETTLING_SESSIONS = 2

Claim = tuple[str, str, str]

# The order of review: what concerns people's own memories first.
_ORDER: tuple[tuple[ProposalKind, ...], ...] = (
    ("revalidate",),
    ("activate_policy",),
    ("activate_global",),
    ("fix_scope", "fix_signature"),
    ("merge",),
    ("supersede", "stale"),
)


def claim(
    open_proposals: Mapping[Claim, Proposal],
    muted: Mapping[Claim, int],
    *,
    kind: ProposalKind,
    target: str = "",
    candidate: str = "",
    project: str | None = None,
    reason: str = "",
    session: str = "",
    human: bool = False,
    observed: bool = False,
    now: int,
) -> Proposal | None:
    """The proposal as it is after this claim; None where the claim is muted or says nothing new.

    `muted` holds when each claim was rejected (ms): the same claim stays away for 30 days.
    """
    name = (kind, target, candidate)
    rejected = muted.get(name)
    if rejected is not None and now < rejected + SUPPRESSED_FOR:
        return None
    known = open_proposals.get(name)
    if known is None:
        known = Proposal(
            id=digest("\x1f".join([*name, str(now), session]), 32),
            kind=kind,
            target=target,
            candidate=candidate,
            project=project,
            reason=reason,
            opened_at=now,
            expires_at=now + (EXPIRES_FIX_SCOPE if kind == "fix_scope" else EXPIRES),
        )
    at, was_human, was_observed = known.claims.get(session, (now, False, False))
    told = (min(at, now), was_human or human, was_observed or observed)
    claims = {**known.claims, session: told} if session else known.claims
    if name in open_proposals and claims == known.claims:
        return None
    return structs.replace(known, claims=claims)


def support(proposal: Proposal) -> int:
    """How many sessions made the claim."""
    return len(proposal.claims)


def settles(proposal: Proposal, target: Row) -> bool:
    """Whether it may be applied without a person: only to an automatic memory, with claims of two
    sessions of which one has a human signal or a deterministic observation."""
    if proposal.kind not in ("supersede", "stale") or target.authority != "auto":
        return False
    if support(proposal) < SETTLING_SESSIONS:
        return False
    return any(human or observed for _at, human, observed in proposal.claims.values())


def contests(proposal: Proposal, target: Row) -> bool:
    """Whether two sessions argue against a person's advising memory, which its label then says."""
    return (
        proposal.kind in ("supersede", "stale")
        and target.authority == "human"
        and target.level == "advise"
        and support(proposal) >= SETTLING_SESSIONS
    )


def is_expired(proposal: Proposal, now: int) -> bool:
    return now >= proposal.expires_at


def review_order(proposals: Iterable[Proposal], rows: Mapping[str, Row]) -> list[Proposal]:
    """The queue of review: proposals on people's memories, then by kind; more support first."""

    def place(proposal: Proposal) -> tuple[int, int, int, str]:
        row = rows.get(proposal.target)
        if row is not None and row.authority == "human":
            rank = 0
        else:
            rank = 1 + next(at for at, kinds in enumerate(_ORDER) if proposal.kind in kinds)
        return (rank, -support(proposal), proposal.opened_at, proposal.id)

    return sorted(proposals, key=place)
