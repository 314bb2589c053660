"""What learning knows of a project: its rows, proposals and counts, read from the store."""

import sqlite3
from functools import partial

import trio

from hmd.app.context import DAY_MS, App
from hmd.core.learning import ClaimRow, LearnedRow, ReceiptRow
from hmd.core.memory import MemoryRow
from hmd.core.proposals import ProposalFilter, ProposalRow
from hmd.learn import rows as learn
from hmd.learn.proposals import SUPPRESSED_FOR
from hmd.learn.reconcile import State
from hmd.store import learning, memories, provider_runs, rule_receipts

# Rows read at a time: reading holds the interpreter for about 0.2 ms.
_PAGE = 16
_KINDS = frozenset(
    "supersede stale activate_policy activate_global fix_scope fix_signature revalidate merge"
    .split()
)  # fmt: skip
_KNOWLEDGE = frozenset(["correction", "failure_resolution", "convention", "design"])


async def load_state(app: App, project: str, now: int) -> State:
    """What learning knows of a project, user-wide memories included. Gives way between pages."""
    state = State()
    fired = {
        row.memory: row
        for row in await app.store.read(lambda connection: rule_receipts.receipts(connection))
    }
    names = await app.store.read(lambda connection: _names(connection, project))
    for at in range(0, len(names), _PAGE):
        for found, known in await app.store.read(partial(page_of, names=names[at : at + _PAGE])):
            state.rows[found.id] = _row(found, known, fired.get(found.id))
        await trio.lowlevel.checkpoint()
    await _load_proposals(app, state, now)
    day = now // DAY_MS
    for run in await app.store.read(
        lambda connection: provider_runs.runs(connection, day * DAY_MS)
    ):
        state.activated[day] = state.activated.get(day, 0) + run.counts.get("activated", 0)
    return state


def _names(connection: sqlite3.Connection, project: str) -> list[str]:
    rows = connection.execute(
        "SELECT memory_id FROM memory_version WHERE superseded_at IS NULL "
        "AND (project_id = ? OR project_id IS NULL) ORDER BY memory_id",
        (project,),
    )
    return [row[0] for row in rows]


def page_of(
    connection: sqlite3.Connection, names: list[str]
) -> list[tuple[MemoryRow, LearnedRow | None]]:
    """The memories of these ids as they are now, each with what learning keeps of it."""
    known = learning.learned(connection, names)
    found = [memories.current(connection, name) for name in names]
    return [(row, known.get(row.id)) for row in found if row is not None]


async def _load_proposals(app: App, state: State, now: int) -> None:
    everything = ProposalFilter(state="all", limit=100_000)
    for row in await app.store.list_proposals(everything):
        claim = (row.kind, row.target, row.candidate)
        if row.kind not in _KINDS:
            continue
        if row.state == "open":
            claims = await app.store.read(partial(learning.claims, proposal=row.id))
            state.proposals[claim] = _proposal(row, claims)
        elif row.state == "rejected" and now - (row.decided_at or 0) < SUPPRESSED_FOR:
            state.muted[claim] = max(row.decided_at or 0, state.muted.get(claim, 0))


def _proposal(row: ProposalRow, claims: list[ClaimRow]) -> learn.Proposal:
    return learn.Proposal(
        id=row.id,
        kind=row.kind,  # type: ignore[arg-type]
        target=row.target,
        candidate=row.candidate,
        project=row.project,
        reason=row.reason,
        opened_at=row.opened_at,
        expires_at=row.expires_at or row.opened_at,
        claims={one.session: (one.at, one.human, one.observed) for one in claims},
    )


def _row(row: MemoryRow, known: LearnedRow | None, receipt: ReceiptRow | None) -> learn.Row:
    known = known or LearnedRow()
    receipt = receipt or ReceiptRow()
    return learn.Row(
        id=row.id,
        project=row.project,
        type=row.type,
        summary=row.summary,
        details=row.details,
        scope=row.scope,
        triggers=list(row.triggers),
        tools=row.tools,
        sig=row.sig,
        level=row.level,
        authority=row.authority,
        evidence=row.evidence,
        status=row.status,
        note=row.note,
        source=row.source,
        knowledge=row.knowledge if row.knowledge in _KNOWLEDGE else "convention",  # type: ignore[arg-type]
        confidence=row.confidence,
        importance=row.importance,
        aliases=list(row.aliases),
        key=known.key,
        supports=tuple(
            learn.Support(
                episode=one.episode,
                session=one.session,
                at=one.at,
                weight=one.weight,
                confidence=one.confidence,
                human=one.human,
                observed=one.observed,
            )
            for one in known.supports
        ),
        created=row.created,
        expires=row.expires,
        revalidate_at=known.revalidate_at,
        replay=known.replay,
        contested=row.contested,
        replaces=known.replaces,
        fired=receipt.fired,
        fired_at=receipt.last,
        overridden=receipt.overridden,
        heeded=receipt.heeded,
        lowered_at=known.lowered_at,
    )
