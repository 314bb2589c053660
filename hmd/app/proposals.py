"""Deciding what waits for a person. Only a person decides."""

from hmd.app.context import App, Caller, only_people
from hmd.core.answers import Outcome
from hmd.core.changes import AcceptProposal, RejectProposal
from hmd.core.proposals import ProposalFilter, ProposalList, ProposalRef
from hmd.kernel.redact import redact


async def list_(app: App, caller: Caller, wanted: ProposalFilter) -> ProposalList:
    return ProposalList(rows=await app.store.list_proposals(wanted))


async def accept(app: App, caller: Caller, ref: ProposalRef) -> Outcome:
    """Applies all changes of the proposal, or none. Raises HmdError."""
    only_people(caller, "accept a proposal")
    row = await app.store.get_proposal(ref.id)
    change = AcceptProposal(
        actor=caller.actor, at=app.now(), proposal=row.id, note=redact(ref.note)
    )
    return await app.make(change)


async def reject(app: App, caller: Caller, ref: ProposalRef) -> Outcome:
    only_people(caller, "reject a proposal")
    row = await app.store.get_proposal(ref.id)
    change = RejectProposal(
        actor=caller.actor, at=app.now(), proposal=row.id, note=redact(ref.note)
    )
    return await app.make(change)
