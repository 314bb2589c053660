"""Consolidation: what time does to memories and proposals. It invents nothing.

A person's row is never touched. Every step is a plan over rows; doing it again at the same moment
plans nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from msgspec import structs

from hmd.core.config import Retention, Settings
from hmd.learn import proposals as prop
from hmd.learn.reconcile import AGED, SIMILAR, Plan, State
from hmd.learn.rows import (
    DAY,
    CloseProposal,
    Contest,
    Open,
    ProposalKind,
    Revise,
    Row,
    differing,
)
from hmd.learn.tiers import TTL, after_firing, is_overridden
from hmd.learn.words import jaccard, tokens

# A token that this many rows share says nothing more about likeness.
COMMON = 60
MOST_MERGES = 5
CALLS_KEPT = 180 * DAY
TEMPORARY_KEPT = 600_000

Kept = Literal["ledger", "raw", "audit", "calls", "temporary"]


def consolidate(state: State, settings: Settings, now: int) -> Plan:
    """Plans what is due, and leaves `state` as it is after that."""
    plan = Plan(run=f"consolidate:{now}")
    _expire_proposals(state, plan, now)
    for row in sorted(state.rows.values(), key=lambda one: one.id):
        if row.authority == "auto":
            _earn_time(row, plan, now)
            _lower(row, plan, now)
            _age(row, settings.retention, plan, now)
            _revalidate(row, state, plan, now)
            _expire(row, plan, now)
    _merge(state, plan, now)
    return plan


def _expire_proposals(state: State, plan: Plan, now: int) -> None:
    for claim, proposal in sorted(state.proposals.items()):
        if not prop.is_expired(proposal, now):
            continue
        del state.proposals[claim]
        state.muted[claim] = now  # what nobody looked at rests as long as what was rejected
        plan.changes.append(CloseProposal(proposal=proposal.id, outcome="expired"))
        _count(plan, "proposals expired")
        target = state.rows.get(proposal.target)
        argued = any(
            prop.contests(one, target)
            for one in state.proposals.values()
            if target is not None and one.target == target.id
        )
        if target is not None and target.contested and not argued:
            target.contested = False
            plan.changes.append(Contest(memory=target.id, contested=False))


def _earn_time(row: Row, plan: Plan, now: int) -> None:
    if row.status == "active":
        before = structs.replace(row)
        row.expires = after_firing(row, now)
        if row.expires != before.expires:
            _revise(plan, before, row, "fired and extended")


def _lower(row: Row, plan: Plan, now: int) -> None:
    """Overrides outweigh its evidence: it advises until a new session confirms it."""
    if row.status == "active" and is_overridden(row):
        before = structs.replace(row)
        row.level, row.lowered_at = "advise", now
        row.note = f"overridden {row.overridden} times"
        _revise(plan, before, row, "lowered")


def _age(row: Row, retention: Retention, plan: Plan, now: int) -> None:
    """A candidate that nothing confirmed in time is rejected; new evidence brings it back."""
    newest = max([row.created, *(support.at for support in row.supports)])
    if row.status == "candidate" and now - newest >= retention.candidate_days * DAY:
        before = structs.replace(row)
        row.status, row.note = "rejected", AGED
        _revise(plan, before, row, "candidates rejected")


def _revalidate(row: Row, state: State, plan: Plan, now: int) -> None:
    """At half its time, what came of a correction or a failure is offered to be confirmed."""
    due = row.revalidate_at is not None and now >= row.revalidate_at
    if row.status == "active" and due and row.knowledge in TTL:
        _open(state, plan, "revalidate", row.id, "", row.project, "half its time is over", now)


def _expire(row: Row, plan: Plan, now: int) -> None:
    if row.status == "active" and row.expires is not None and now >= row.expires:
        before = structs.replace(row)
        row.status, row.note = "stale", "its time has ended"
        _revise(plan, before, row, "expired")


def _merge(state: State, plan: Plan, now: int) -> None:
    """Automatic memories that say the same, each pair once, the older one as the target.

    Only a few wait at a time: review is for exceptions.
    """
    room = MOST_MERGES - sum(kind == "merge" for kind, _target, _candidate in state.proposals)
    rows = [row for row in state.rows.values() if row.live and row.authority == "auto"]
    rows.sort(key=lambda row: (row.first, row.id))
    said = {row.id: tokens(row.summary) for row in rows}
    holders: dict[tuple[str, str], list[Row]] = defaultdict(
        list
    )  # (what it is, token) → older rows
    for row in rows:
        group = _group(row)
        shared: dict[str, int] = defaultdict(int)
        for token in said[row.id]:
            older = holders[group, token]
            if len(older) < COMMON:
                for other in older:
                    shared[other.id] += 1
                older.append(row)
        for name in shared:
            if room > 0 and jaccard(said[row.id], said[name]) >= SIMILAR:
                room -= _open(
                    state, plan, "merge", name, row.id, row.project, "they say the same", now
                )


def _group(row: Row) -> str:
    spec = row.sig.spec if row.sig is not None else ""
    return "\x1f".join([row.project or "", row.type, row.scope, spec])


def _open(
    state: State,
    plan: Plan,
    kind: ProposalKind,
    target: str,
    candidate: str,
    project: str | None,
    reason: str,
    now: int,
) -> bool:
    proposal = prop.claim(
        state.proposals,
        state.muted,
        kind=kind,
        target=target,
        candidate=candidate,
        project=project,
        reason=reason,
        now=now,
    )
    if proposal is not None:
        state.proposals[proposal.claim] = proposal
        plan.changes.append(Open(proposal=proposal))
        _count(plan, f"{kind} proposed")
    return proposal is not None


def _revise(plan: Plan, before: Row, row: Row, what: str) -> None:
    fields = differing(before, row)
    plan.changes.append(Revise(row=structs.replace(row), fields=fields, why=what))
    _count(plan, what)


def _count(plan: Plan, what: str) -> None:
    plan.counts[what] = plan.counts.get(what, 0) + 1


def outlived(
    items: Iterable[tuple[str, Kept, int, bool]], retention: Retention, now: int
) -> list[str]:
    """Names of the items, (name, kind, last changed in ms, processed?), that may be deleted.

    A session's ledger stays until its episodes are processed, whatever its age.
    """
    limits: dict[Kept, int] = {
        "ledger": retention.ledger_days * DAY,
        "raw": retention.raw_hours * 3_600_000,
        "audit": retention.audit_days * DAY,
        "calls": CALLS_KEPT,
        "temporary": TEMPORARY_KEPT,
    }
    return [
        name
        for name, kind, at, processed in items
        if now - at >= limits[kind] and (processed or kind != "ledger")
    ]
