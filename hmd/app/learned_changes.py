"""What learning plans, as changes of the journal against the rows as they are stored now."""

from collections.abc import Iterable

import msgspec

from hmd.app.context import App
from hmd.app.learned import page_of
from hmd.core import ids
from hmd.core.changes import (
    AddMemory,
    AnyChange,
    EditMemory,
    Enforce,
    ExpireProposal,
    OpenProposal,
    Patch,
    Promote,
    ReviseMemory,
    SetClaims,
    SetLearned,
    SetStatus,
    SettleProposal,
)
from hmd.core.config import Settings
from hmd.core.learning import ClaimRow, LearnedRow, SupportRow
from hmd.core.memory import Content, Evidence, MemoryRow, Origin
from hmd.core.proposals import ProposalFilter
from hmd.kernel.address import digest
from hmd.learn import rows as learn


class Writer:
    """Turns the plan of one moment into changes. `current` are the rows as they are stored; `open_`
    the ids of open proposals."""

    def __init__(
        self, current: dict[str, MemoryRow], open_: set[str], settings: Settings, now: int
    ) -> None:
        self._current = current
        self._open = open_
        self._settings = settings
        self._now = now

    def changes(self, planned: Iterable[learn.Planned]) -> list[AnyChange]:
        out: list[AnyChange] = []
        for one in planned:
            match one:
                case learn.Add():
                    out += self._add(one.row)
                case learn.Revise():
                    out += self._revise(one)
                case learn.Attach():
                    out += self._attach(one)
                case learn.Contest():
                    out.append(self._edit(one.memory, Patch(contested=one.contested), []))
                case learn.Open():
                    out += self._propose(one.proposal)
                case learn.CloseProposal():
                    out.append(self._close(one))
        return out

    def _add(self, row: learn.Row) -> list[AnyChange]:
        first = row.supports[0] if row.supports else None
        if row.id in self._current:
            # What stood there was erased, or became another thing; a second look finds this one.
            row = msgspec.structs.replace(row, id=_second_id(row))
        if row.id in self._current:
            return []
        added = AddMemory(
            actor="extraction",
            at=self._now,
            memory=row.id,
            version=ids.new_id(),
            content=self._content(row, None),
            project=row.project,
            origin=Origin(project=row.project or "", session=first.session if first else ""),
            evidence=_evidence(row),
        )
        return [added, self._learned(row)]

    def _revise(self, planned: learn.Revise) -> list[AnyChange]:
        row = planned.row
        before = self._current.get(row.id)
        out: list[AnyChange] = [self._learned(row)]
        content = self._content(row, before)
        if before is None or _content_of(before) != content:
            revised = ReviseMemory(
                actor="extraction",
                at=self._now,
                memory=row.id,
                version=ids.new_id(),
                content=content,
                evidence=_evidence(row),
            )
            out.insert(0, revised)
        return out

    def _attach(self, planned: learn.Attach) -> list[AnyChange]:
        before = self._current.get(planned.memory)
        if before is None:
            return []
        cited = _cited(planned.memory, planned.support)
        return [
            self._edit(planned.memory, Patch(validations=before.validations + 1), cited),
            SetLearned(
                actor="extraction",
                at=self._now,
                row=LearnedRow(memory=planned.memory, supports=[_support(planned.support)]),
                add=True,
            ),
        ]

    def _edit(self, memory: str, patch: Patch, evidence: list[Evidence]) -> EditMemory:
        return EditMemory(
            actor="extraction",
            at=self._now,
            memory=memory,
            version=ids.new_id(),
            patch=patch,
            evidence=evidence,
        )

    def _learned(self, row: learn.Row) -> SetLearned:
        return SetLearned(
            actor="extraction",
            at=self._now,
            row=LearnedRow(
                memory=row.id,
                key=row.key,
                supports=[_support(one) for one in row.supports],
                revalidate_at=row.revalidate_at,
                replay=row.replay,
                replaces=row.replaces,
                lowered_at=row.lowered_at,
            ),
        )

    def _content(self, row: learn.Row, before: MemoryRow | None) -> Content:
        base = _content_of(before) if before is not None else Content()
        first = row.supports[0].episode if row.supports else ""
        return msgspec.structs.replace(
            base,
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
            confidence=row.confidence,
            importance=row.importance,
            policy=(base.policy or "hard") if row.type == "policy" else None,
            status=row.status,
            note=row.note,
            aliases=list(row.aliases),
            source=row.source,
            source_ref=base.source_ref or (f"episode:{first}" if first else ""),
            knowledge=row.knowledge,
            contested=row.contested,
            validations=row.validations,
            expires=row.expires,
        )

    def _propose(self, proposal: learn.Proposal) -> list[AnyChange]:
        out: list[AnyChange] = []
        if proposal.id not in self._open:
            self._open.add(proposal.id)
            out.append(
                OpenProposal(
                    actor="extraction",
                    at=self._now,
                    proposal=proposal.id,
                    proposes=proposal.kind,
                    target=proposal.target,
                    candidate=proposal.candidate,
                    project=proposal.project,
                    reason=proposal.reason,
                    changes=self._accepted(proposal),
                    expires_at=proposal.expires_at,
                )
            )
        claims = [
            ClaimRow(session=session, at=at, human=human, observed=observed)
            for session, (at, human, observed) in sorted(proposal.claims.items())
        ]
        out.append(SetClaims(actor="extraction", at=self._now, proposal=proposal.id, claims=claims))
        return out

    def _accepted(self, proposal: learn.Proposal) -> list[AnyChange]:
        """What a person's acceptance does."""
        target, candidate = proposal.target, proposal.candidate
        match proposal.kind:
            case "supersede":
                return [self._status(target, "superseded"), self._promote(candidate)]
            case "stale":
                return [self._status(target, "stale")]
            case "merge":
                return [self._status(candidate, "superseded")]
            case "activate_policy":
                level = self._settings.before_tool.hard_policy
                enforced = Enforce(
                    actor="extraction",
                    at=self._now,
                    memory=target,
                    version=ids.new_id(),
                    level=level,
                )
                return [self._promote(target), enforced]
        return [self._promote(target)]

    def _status(self, memory: str, status: "str") -> SetStatus:
        return SetStatus(
            actor="extraction",
            at=self._now,
            memory=memory,
            version=ids.new_id(),
            status=status,  # type: ignore[arg-type]
            note="accepted in review",
        )

    def _promote(self, memory: str) -> Promote:
        return Promote(actor="extraction", at=self._now, memory=memory, version=ids.new_id())

    def _close(self, planned: learn.CloseProposal) -> AnyChange:
        self._open.discard(planned.proposal)
        kind = ExpireProposal if planned.outcome == "expired" else SettleProposal
        return kind(actor="extraction", at=self._now, proposal=planned.proposal)


async def write_plan(
    app: App, planned: Iterable[learn.Planned], settings: Settings
) -> list[AnyChange]:
    """The changes of a plan against what is stored now."""
    wanted = list(planned)
    names = {one.row.id for one in wanted if isinstance(one, learn.Revise)}
    names |= {one.memory for one in wanted if isinstance(one, learn.Attach)}
    for one in wanted:
        if isinstance(one, learn.Add):
            names |= {one.row.id, _second_id(one.row)}
    page = await app.store.read(lambda connection: page_of(connection, sorted(names)))
    current = {row.id: row for row, _ in page}
    opened = {row.id for row in await app.store.list_proposals(ProposalFilter(limit=100_000))}
    return Writer(current, opened, settings, app.now()).changes(wanted)


def _second_id(row: learn.Row) -> str:
    first = row.supports[0].episode if row.supports else ""
    return digest(f"{row.id}\x1f{first}", 32)


_CONTENT = Content.__struct_fields__


def _content_of(row: MemoryRow) -> Content:
    return Content(**{name: getattr(row, name) for name in _CONTENT})


def _support(support: learn.Support) -> SupportRow:
    return SupportRow(
        episode=support.episode,
        session=support.session,
        at=support.at,
        weight=support.weight,
        confidence=support.confidence,
        human=support.human,
        observed=support.observed,
    )


def _evidence(row: learn.Row) -> list[Evidence]:
    """The cited lines of the supports that bring any: those of earlier episodes are stored."""
    return [one for support in row.supports for one in _cited(row.id, support)]


def _cited(memory: str, support: learn.Support) -> list[Evidence]:
    return [
        Evidence(
            id=digest(f"{memory}\x1f{support.episode}\x1f{cite.seq}", 32),
            kind=cite.kind,
            ref=f"episode:{support.episode}#e{cite.seq}",
            excerpt=cite.excerpt,
            session=support.session,
            weight=float(support.weight),
        )
        for cite in support.cites
    ]
