"""A fact: what it says, its row in the store, and the methods that record and change it.

A fact is true in the world over [`valid_from`, `valid_to`) and believed by the store from
`recorded_at` on. The protocol only grows: every field has a default. Times are milliseconds since
the epoch, or text as people write them where the field's name says so.
"""

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from hmd.core.memory import Actor, Authority, EvidenceClass, Origin, Share

FactKind = Literal["semantic", "episodic", "procedural"]
Freshness = Literal["", "current", "stale", "unresolved"]
Importance = Annotated[int, Meta(ge=1, le=10)]
Limit = Annotated[int, Meta(ge=1, le=100_000)]

KINDS: tuple[str, ...] = get_args(FactKind)
ERASED = "[erased]"


class FactContent(Struct, kw_only=True, omit_defaults=True):
    """What a fact says and where it comes from. `commit`, `path` and `blob` anchor it to code:
    a commit, a path from the root and the git blob id of that file's content; "" for none."""

    subject: str = ""
    predicate: str = ""
    fact: str = ""
    details: str = ""
    confidence: Share = 1.0
    importance: Importance = 5
    kind: FactKind = "semantic"
    evidence: EvidenceClass = "user_said"
    source_agent: str = ""
    source_ref: str = ""
    commit: str = ""
    path: str = ""
    blob: str = ""
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    sensitive: bool = False


class FactRow(FactContent, kw_only=True, omit_defaults=False):
    """One belief and what became of it. `number` counts facts in the order they were recorded.

    `closed_at` is when it ended in the world according to `superseded_by`, `closed_tx` when the
    store learned that. `erased_at`: its content is gone for good, only its place in time is left.
    """

    id: str = ""
    number: int = 0
    project: str | None = None
    actor: Actor = "terminal"
    authority: Authority = "human"
    origin: Origin = field(default_factory=Origin)
    valid_from: int = 0
    valid_to: int | None = None
    recorded_at: int = 0
    superseded_by: str = ""
    closed_at: int | None = None
    closed_tx: int | None = None
    retracted_at: int | None = None
    erased_at: int | None = None
    pinned: bool = False
    archived: bool = False
    freshness: Freshness = ""
    checked_at: int | None = None
    checked_head: str = ""
    accessed_at: int | None = None

    @property
    def until(self) -> int | None:
        """When it ended in the world, as far as is known now (exclusive)."""
        ends = [end for end in (self.valid_to, self.closed_at) if end is not None]
        return min(ends, default=None)


class FactDraft(Struct, kw_only=True):
    """`fact.remember`. `valid_from` and `valid_to` as people write times; "" for now and never.
    `basis` sets the confidence where it is not given."""

    subject: str = ""
    fact: str = ""
    predicate: str = ""
    details: str = ""
    confidence: Share | None = None
    basis: Literal["user-stated", "verified", "reported", "inferred"] | None = None
    importance: Importance = 5
    kind: FactKind = "semantic"
    source_ref: str = ""
    source_agent: str = ""
    commit: str = ""
    path: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    sensitive: bool = False
    user_wide: bool = True
    session: str = ""


class FactRevision(Struct, kw_only=True):
    """`fact.revise`: what replaces the fact `id`. Absent subject, predicate, importance and kind
    stay; source and code anchor are the new statement's own."""

    id: str = ""
    fact: str = ""
    subject: str | UnsetType = UNSET
    predicate: str | UnsetType = UNSET
    details: str = ""
    confidence: Share | None = None
    basis: Literal["user-stated", "verified", "reported", "inferred"] | None = None
    importance: Importance | UnsetType = UNSET
    kind: FactKind | UnsetType = UNSET
    source_ref: str = ""
    source_agent: str = ""
    commit: str = ""
    path: str = ""
    valid_from: str | None = None
    session: str = ""


class FactMark(Struct, kw_only=True):
    """`fact.mark`: what is kept beside a fact. It is no part of what the fact says."""

    id: str = ""
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    sensitive: bool | UnsetType = UNSET
    importance: Importance | UnsetType = UNSET
    add_tags: list[str] = field(default_factory=list)
    remove_tags: list[str] = field(default_factory=list)
    add_links: list[str] = field(default_factory=list)
    remove_links: list[str] = field(default_factory=list)


class Similar(Struct, kw_only=True):
    """A current belief that says nearly the same; `similarity` above 0, at most 1."""

    id: str = ""
    number: int = 0
    fact: str = ""
    similarity: float = 0.0


class FactOutcome(Struct, kw_only=True):
    """What a change of facts did. `proposal` is set where it only became a suggestion."""

    seq: int = 0
    fact: FactRow | None = None
    replaced: FactRow | None = None
    similar: list[Similar] = field(default_factory=list)
    proposal: str = ""
    notes: list[str] = field(default_factory=list)
