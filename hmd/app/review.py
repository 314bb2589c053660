"""What waits for a person, in the order in which it should be decided."""

from functools import partial

from hmd.app.context import App, Caller
from hmd.core.errors import HmdError
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryFilter
from hmd.core.proposals import ProposalFilter, ProposalRow
from hmd.core.review import ReviewItem, ReviewList
from hmd.store import learning

# After proposals on people's own memories.
_ORDER = {
    "revalidate": 1,
    "activate_policy": 2,
    "activate_global": 3,
    "fix_scope": 4,
    "fix_signature": 4,
    "merge": 5,
    "supersede": 6,
    "stale": 6,
}
_OTHER, _IMPORT, _GUARD, _CANDIDATE = 7, 8, 9, 10


async def review(app: App, caller: Caller, wanted: ProposalFilter) -> ReviewList:
    """Open proposals, unconfirmed imports, corrections kept without a model, human candidates."""
    ranked: list[tuple[tuple[int, int, int, str], ReviewItem]] = []
    in_proposals = set()
    for proposal in await app.store.list_proposals(ProposalFilter(limit=wanted.limit)):
        if proposal.project not in (None, caller.project) and caller.project:
            continue
        item = await _proposed(app, proposal)
        in_proposals |= {proposal.target, proposal.candidate}
        rank = _ORDER.get(proposal.kind, _OTHER)
        about = item.other or item.row
        if about is not None and about.authority == "human":
            rank = 0
        ranked.append(((rank, -proposal.support, proposal.opened_at, proposal.id), item))
    rows = await app.store.list_memories(
        MemoryFilter(project=caller.project or "all", limit=wanted.limit)
    )
    for row in rows.rows:
        kind, rank = _kind_of(row)
        if kind and row.id not in in_proposals:
            item = ReviewItem(kind=kind, reason=row.note, row=row)
            ranked.append(((rank, 0, row.created, row.id), item))
    items = [item for _, item in sorted(ranked, key=lambda one: one[0])]
    if wanted.kind:
        items = [item for item in items if item.kind == wanted.kind]
    for item in items:
        if item.row is not None:
            item.evidence = (await app.store.view_memory(item.row.id)).evidence
    return ReviewList(items=items)


def _kind_of(row: MemoryRow) -> tuple[str, int]:
    if row.unconfirmed and row.status in ("active", "candidate"):
        return "import", _IMPORT
    if row.status == "candidate" and row.source == "guard":
        return "correction", _GUARD
    if row.status == "candidate" and row.authority == "human":
        return "candidate", _CANDIDATE
    return "", 0


async def _proposed(app: App, proposal: ProposalRow) -> ReviewItem:
    subject, other = proposal.target, ""
    if proposal.kind == "supersede":
        subject, other = proposal.candidate, proposal.target
    elif proposal.kind == "merge":
        other = proposal.candidate
    claims = await app.store.read(partial(learning.claims, proposal=proposal.id))
    return ReviewItem(
        kind=proposal.kind,
        proposal=proposal.id,
        reason=proposal.reason,
        support=max(proposal.support, len(claims)),
        expires_at=proposal.expires_at,
        row=await _memory(app, subject),
        other=await _memory(app, other),
    )


async def _memory(app: App, identifier: str) -> MemoryRow | None:
    try:
        return await app.store.get_memory(identifier) if identifier else None
    except HmdError:
        return None
