"""Facts in time: remember, recall, revise, diff, why, stats and what is kept beside a fact.

Checks and redacts what is given, chooses identifiers and times, and leaves the rest to the store.
Agents record facts themselves, as their own; what a person said they can only propose to change.
"""

import re

from msgspec import UNSET

from hmd.app import anchors
from hmd.app.context import App, Caller
from hmd.app.projects import ensure as ensure_project
from hmd.core import ids
from hmd.core.changes import AnyChange, MarkFact, OpenProposal, RememberFact, ReviseFact
from hmd.core.errors import HmdError
from hmd.core.fact_queries import (
    FactDiff,
    FactList,
    FactQuery,
    FactRef,
    FactSpan,
    FactStats,
    FactWhy,
    NearList,
    NearQuery,
)
from hmd.core.facts import (
    FactContent,
    FactDraft,
    FactMark,
    FactOutcome,
    FactRevision,
    FactRow,
    Similar,
)
from hmd.core.memory import AGENT_ACTORS, EvidenceClass, Origin
from hmd.core.similar import Sieve, similarity, words
from hmd.core.times import parse_time
from hmd.kernel.redact import redact
from hmd.store import facts as rows
from hmd.store import facts_read, migrate

FACT_LIMIT, DETAILS_LIMIT, NAME_LIMIT = 8_000, 40_000, 500
CANDIDATES = 1000
WARNED_SIMILAR = 3
MOST_TAGS = 32
DAY_MS = 86_400_000
_BASIS = {"user-stated": 1.0, "verified": 0.95, "reported": 0.8, "inferred": 0.6}
_EVIDENCE: dict[str, EvidenceClass] = {
    "user-stated": "user_said",
    "verified": "tool_observed",
    "reported": "tool_observed",
    "inferred": "agent_inferred",
}
_SENTENCE_END = re.compile(r"[.!?。！？](?:\s|$)")


# -- remembering ------------------------------------------------------------------------------


async def remember(app: App, caller: Caller, draft: FactDraft) -> FactOutcome:
    """Records a new belief. Raises HmdError; nothing is stored then."""
    subject = _required(draft.subject, "subject")
    fact = _required(draft.fact, "fact", FACT_LIMIT)
    now = app.now()
    valid_from = None if draft.valid_from is None else parse_time(draft.valid_from)
    valid_to = None if draft.valid_to is None else parse_time(draft.valid_to)
    anchor = await anchors.of_draft(caller, draft.commit, draft.path, draft.source_ref)
    content = FactContent(
        subject=subject,
        predicate=_short(draft.predicate, "predicate"),
        fact=fact,
        details=_long(draft.details),
        confidence=_confidence(draft),
        importance=draft.importance,
        kind=draft.kind,
        evidence=_evidence(caller, draft.basis),
        source_agent=_short(draft.source_agent, "source_agent"),
        source_ref=_short(draft.source_ref, "source_ref"),
        commit=anchor.commit,
        path=anchor.path,
        blob=anchor.blob,
        tags=_labels(draft.tags),
        links=await _links(app, draft.links),
        sensitive=draft.sensitive,
    )
    project = None if draft.user_wide else await ensure_project(app, caller)
    change = RememberFact(
        actor=caller.actor,
        at=now,
        fact=ids.new_id(),
        content=content,
        project=project,
        origin=_origin(caller, draft.session),
        valid_from=valid_from,
        valid_to=valid_to,
    )
    outcome = await _make(app, change)
    similar = await _similar(app, subject, fact, WARNED_SIMILAR + 1, 0.5)
    outcome.similar = [one for one in similar if one.id != change.fact][:WARNED_SIMILAR]
    outcome.notes += _advice(content, outcome.similar)
    return outcome


async def revise(app: App, caller: Caller, wanted: FactRevision) -> FactOutcome:
    """Replaces a belief by another; the old one keeps its place in time. Raises HmdError."""
    fact = _required(wanted.fact, "fact", FACT_LIMIT)
    old = await app.store.read(lambda connection: rows.find(connection, wanted.id))
    now = app.now()
    valid_from = None if wanted.valid_from is None else parse_time(wanted.valid_from)
    anchor = await anchors.of_draft(caller, wanted.commit, wanted.path, wanted.source_ref)
    content = FactContent(
        subject=old.subject if wanted.subject is UNSET else _required(wanted.subject, "subject"),
        predicate=old.predicate
        if wanted.predicate is UNSET
        else _short(wanted.predicate, "predicate"),
        fact=fact,
        details=_long(wanted.details),
        confidence=_confidence(wanted),
        importance=old.importance if wanted.importance is UNSET else wanted.importance,
        kind=old.kind if wanted.kind is UNSET else wanted.kind,
        evidence=_evidence(caller, wanted.basis),
        source_agent=_short(wanted.source_agent, "source_agent"),
        source_ref=_short(wanted.source_ref, "source_ref"),
        commit=anchor.commit,
        path=anchor.path,
        blob=anchor.blob,
        tags=old.tags,
        links=old.links,
        sensitive=old.sensitive,
    )
    change = ReviseFact(
        actor=caller.actor,
        at=now,
        old=old.id,
        fact=ids.new_id(),
        content=content,
        origin=_origin(caller, wanted.session),
        valid_from=valid_from,
    )
    outcome = await make_or_propose(app, caller, change, "revise_fact", old)
    if not outcome.proposal:
        outcome.replaced = await _fresh(app, old.id)
        if old.retracted_at is not None:
            outcome.notes.append("the old fact had been forgotten; the new one is not")
    return outcome


async def mark(app: App, caller: Caller, wanted: FactMark) -> FactOutcome:
    """Pins, archives, tags, links or weighs a fact. Raises HmdError."""
    old = await app.store.read(lambda connection: rows.find(connection, wanted.id))
    tags, links = list(old.tags), list(old.links)
    add_links = await _links(app, wanted.add_links)
    drop_links = await _links(app, wanted.remove_links)
    new_tags = [tag for tag in [*tags, *_labels(wanted.add_tags)] if tag not in wanted.remove_tags]
    new_links = [link for link in [*links, *add_links] if link not in drop_links]
    change = MarkFact(
        actor=caller.actor,
        at=app.now(),
        fact=old.id,
        pinned=wanted.pinned,
        archived=wanted.archived,
        sensitive=wanted.sensitive,
        importance=wanted.importance,
        tags=_labels(new_tags) if new_tags != tags else UNSET,
        links=list(dict.fromkeys(new_links)) if new_links != links else UNSET,
    )
    return await make_or_propose(app, caller, change, "mark_fact", old)


async def _make(app: App, change: AnyChange) -> FactOutcome:
    applied = await app.snapshots.commit(change)
    return FactOutcome(seq=applied.seq, fact=applied.fact)


async def make_or_propose(
    app: App, caller: Caller, change: AnyChange, proposes: str, old: FactRow
) -> FactOutcome:
    """Makes a change of `old`; where an agent asks about what a person said, proposes it."""
    if caller.actor not in AGENT_ACTORS or old.authority != "human":
        return await _make(app, change)
    retention = app.config.at(caller.common or caller.root).retention
    proposal = OpenProposal(
        actor=caller.actor,
        at=change.at,
        proposal=ids.new_id(),
        proposes=proposes,
        target=old.id,
        project=caller.project or None,
        reason=f"asked for by {caller.actor}",
        changes=[change],
        expires_at=change.at + retention.proposal_days * DAY_MS,
    )
    applied = await app.snapshots.commit(proposal)
    return FactOutcome(
        seq=applied.seq,
        proposal="" if applied.proposal is None else applied.proposal.id,
        notes=["proposed only: a person accepts it with hmctl proposal accept"],
    )


# -- asking -----------------------------------------------------------------------------------


async def recall(app: App, caller: Caller, wanted: FactQuery) -> FactList:
    """What is or was believed. Changes nothing that an answer depends on. Raises HmdError."""
    as_of = None if wanted.as_of is None else parse_time(wanted.as_of)
    valid = as_of if wanted.valid_at is None else parse_time(wanted.valid_at)
    known = as_of if wanted.known_at is None else parse_time(wanted.known_at)
    now = app.now()
    found, total = await app.store.read(
        lambda connection: facts_read.believed(
            connection, wanted, now, valid, known, caller.project
        )
    )
    if valid is None and known is None and found:
        app.store.note_access([row.id for row in found], app.now())
    return FactList(rows=found, total=total, valid_at=valid, known_at=known)


async def diff(app: App, caller: Caller, span: FactSpan) -> FactDiff:
    """What was learned, revised and forgotten in a span of time. Raises HmdError."""
    since = parse_time(span.since)
    until = None if span.until is None else parse_time(span.until)
    if until is not None and until < since:
        raise HmdError("usage", "the span ends before it begins", "until")
    return await app.store.read(
        lambda connection: facts_read.diff(connection, since, until, span.subject)
    )


async def why(app: App, caller: Caller, ref: FactRef) -> FactWhy:
    """A fact, its sources and its whole chain in both directions. Raises HmdError."""
    found = await app.store.read(lambda connection: facts_read.why(connection, ref.id))
    for row in (found.fact, *found.ancestors, *found.descendants):
        row.accessed_at = app.store.accessed(row.id) or row.accessed_at
    return found


async def stats(app: App, caller: Caller, _: object) -> FactStats:
    now = app.now()
    return await app.store.read(
        lambda connection: facts_read.stats(connection, now, migrate.version(connection))
    )


async def near(app: App, caller: Caller, wanted: NearQuery) -> NearList:
    """Current beliefs about exactly this subject that say nearly the same. Raises HmdError."""
    subject = _required(wanted.subject, "subject")
    text = _required(wanted.text, "text", DETAILS_LIMIT)
    return NearList(rows=await _similar(app, subject, text, wanted.limit, wanted.min_similarity))


async def _similar(app: App, subject: str, text: str, limit: int, least: float) -> list[Similar]:
    mine = words(text)
    if not mine:
        return []
    now = app.store.clock.peek_ms()
    may = Sieve(text, least).may
    candidates = await app.store.read(
        lambda connection: facts_read.about(connection, subject, now, CANDIDATES, may)
    )
    found = [
        Similar(id=identifier, number=number, fact=fact, similarity=score)
        for identifier, number, fact in candidates
        if (score := similarity(mine, words(fact))) >= least and score > 0
    ]
    found.sort(key=lambda each: (-each.similarity, each.number))
    return found[:limit]


async def _fresh(app: App, identifier: str) -> FactRow | None:
    return await app.store.read(lambda connection: rows.by_id(connection, identifier))


# -- fields -----------------------------------------------------------------------------------


def _required(text: str, name: str, limit: int = NAME_LIMIT) -> str:
    found = redact(text.strip())
    if not found:
        raise HmdError("usage", f"a fact needs a {name}", name)
    if len(found) > limit:
        raise HmdError("usage", f"longer than {limit} characters", name, "say one thing per fact")
    return found


def _short(text: str, name: str) -> str:
    found = redact(text.strip())
    if len(found) > NAME_LIMIT:
        raise HmdError("usage", f"longer than {NAME_LIMIT} characters", name)
    return found


def _long(text: str) -> str:
    found = redact(text.strip())
    if len(found) > DETAILS_LIMIT:
        raise HmdError("usage", f"longer than {DETAILS_LIMIT} characters", "details")
    return found


def _confidence(draft: FactDraft | FactRevision) -> float:
    if draft.confidence is not None:
        return draft.confidence
    return _BASIS[draft.basis] if draft.basis else 1.0


def _evidence(caller: Caller, basis: str | None) -> EvidenceClass:
    if basis and (basis != "user-stated" or not caller.is_agent):
        return _EVIDENCE[basis]
    # An agent that says "the user said so" is not the user.
    return "agent_inferred" if caller.is_agent else "user_said"


def _origin(caller: Caller, session: str) -> Origin:
    return Origin(
        project=caller.project,
        worktree=caller.root,
        session=_short(session, "session") or caller.session,
        host=caller.host,
    )


def _labels(tags: list[str]) -> list[str]:
    found = [redact(tag.strip()) for tag in tags if tag.strip()]
    if len(found) > MOST_TAGS or any(len(tag) > 80 for tag in found):
        raise HmdError("usage", f"at most {MOST_TAGS} tags of at most 80 characters", "tags")
    return sorted(set(found))


async def _links(app: App, names: list[str]) -> list[str]:
    """Full ids of the facts that are named. Raises HmdError."""
    if not names:
        return []
    return await app.store.read(
        lambda connection: [rows.find(connection, name).id for name in names]
    )


def _advice(content: FactContent, similar: list[Similar]) -> list[str]:
    """What a careful reader would say about a new fact; it is stored all the same."""
    notes = []
    if similar:
        said = ", ".join(f"{ids.short(one.id)} ({one.similarity:.2f})" for one in similar)
        notes.append(f"similar to {said}; where it replaces one of them, revise that one instead")
    if len(content.fact) > 280 and len(_SENTENCE_END.findall(content.fact)) >= 3:
        notes.append("it says several things; one fact each can be revised and forgotten alone")
    return notes
