"""Facts in time: what the `fact.*` and `db.*` methods take and give, and the rows of `fact`.

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
TRASH_DAYS = 30
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


class FactQuery(Struct, kw_only=True):
    """`fact.recall`. `as_of` sets both `valid_at` (the world) and `known_at` (the store); all three
    as people write times, absent for now. Hidden unless asked for: archived, sensitive."""

    query: str = ""
    subject: str = ""
    kind: FactKind | None = None
    tag: str = ""
    as_of: str | None = None
    valid_at: str | None = None
    known_at: str | None = None
    pinned: bool = False
    archived: bool = False
    sensitive: bool = False
    freshness: Freshness = ""
    limit: Limit = 8
    max_tokens: Annotated[int, Meta(ge=1)] | None = None


class FactList(Struct, kw_only=True):
    """`total` counts all that match, or all that may where that was not looked at to the end;
    `valid_at` and `known_at` are null for the present. `truncated`: more matched than `max_tokens`
    has room for. `fallback`: no word of the question was found, only its letters."""

    rows: list[FactRow] = field(default_factory=list)
    total: int = 0
    valid_at: int | None = None
    known_at: int | None = None
    truncated: bool = False
    fallback: bool = False


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


class FactRef(Struct, kw_only=True):
    """`fact.why`: a fact by its id, a prefix of it or its number."""

    id: str = ""


class FactWhy(Struct, kw_only=True):
    """`fact.why`: the fact with its whole chain, nearest first on both sides, and what names it."""

    fact: FactRow = field(default_factory=FactRow)
    ancestors: list[FactRow] = field(default_factory=list)
    descendants: list[FactRow] = field(default_factory=list)
    backlinks: list[FactRow] = field(default_factory=list)
    changes: list["FactEvent"] = field(default_factory=list)


class FactEvent(Struct, kw_only=True):
    """One change that concerned a fact, as the log of changes has it."""

    seq: int = 0
    at: int = 0
    actor: str = ""
    kind: str = ""


class FactSpan(Struct, kw_only=True):
    """`fact.diff`: [`since`, `until`) as people write times; `until` absent is now."""

    since: str = ""
    until: str | None = None
    subject: str = ""


class FactPair(Struct, kw_only=True):
    old: FactRow = field(default_factory=FactRow)
    new: FactRow = field(default_factory=FactRow)


class FactDiff(Struct, kw_only=True):
    """What changed in the store's belief, by the time it was recorded."""

    since: int = 0
    until: int | None = None
    learned: list[FactRow] = field(default_factory=list)
    revised: list[FactPair] = field(default_factory=list)
    retracted: list[FactRow] = field(default_factory=list)


class SubjectCount(Struct, kw_only=True):
    subject: str = ""
    count: int = 0


class FactStats(Struct, kw_only=True):
    """`total` counts every fact ever recorded, `current` what is believed now."""

    total: int = 0
    current: int = 0
    trash: int = 0
    erased: int = 0
    stale: int = 0
    schema: int = 0
    top_subjects: list[SubjectCount] = field(default_factory=list)


class NearQuery(Struct, kw_only=True):
    """`fact.near`: current beliefs about `subject` that say nearly what `text` says."""

    subject: str = ""
    text: str = ""
    limit: Limit = 5
    min_similarity: Share = 0.5


class NearList(Struct, kw_only=True):
    rows: list[Similar] = field(default_factory=list)


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


class ForgetQuery(Struct, kw_only=True):
    """`fact.forget`: exactly one of `id` (facts and memories), `source`, `session`, `file`, `text`.

    `follow` also takes every revision that a fact came from or became; `hard` erases at once and
    follows unless it is told not to. `dry_run` only says what would go.
    """

    id: str | None = None
    source: str | None = None
    session: str | None = None
    file: str | None = None
    text: str | None = None
    hard: bool = False
    follow: bool | None = None
    dry_run: bool = False


class Forgotten(Struct, kw_only=True):
    """`fact.forget`, `.restore`: what was hidden, brought back or erased, by full id.

    `scrubbed` names each file that was overwritten. `erase_at` is when the text goes for good.
    """

    seq: int = 0
    facts: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    erase_at: int | None = None
    scrubbed: list[str] = field(default_factory=list)
    proposal: str = ""
    notes: list[str] = field(default_factory=list)


class TrashRow(Struct, kw_only=True):
    """One forgotten thing that can still be brought back. `kind` is fact or memory."""

    id: str = ""
    kind: str = ""
    text: str = ""
    forgotten_at: int = 0
    erase_at: int = 0


class TrashList(Struct, kw_only=True):
    rows: list[TrashRow] = field(default_factory=list)


class RestoreQuery(Struct, kw_only=True):
    """`fact.restore`: a forgotten fact or memory, by id."""

    id: str = ""


class StaleQuery(Struct, kw_only=True):
    """`fact.check`: compares anchored facts with the repository at `path` ("": the caller's)."""

    path: str = ""
    dry_run: bool = False


class Verdict(Struct, kw_only=True):
    """What a check found of one fact."""

    fact: str = ""
    freshness: Freshness = ""
    path: str = ""


class StaleList(Struct, kw_only=True):
    """`checked` counts the facts looked at; `changed` are those whose state is another now."""

    head: str = ""
    checked: int = 0
    current: int = 0
    stale: int = 0
    unresolved: int = 0
    changed: list[Verdict] = field(default_factory=list)


class FactTidy(Struct, kw_only=True):
    """`fact.tidy`: what a gardener would look at. `fragmented` are spellings of one subject, `long`
    facts that read like a description of code and are tied to none, `stale` those the code left."""

    fragmented: list[list[str]] = field(default_factory=list)
    long: list[FactRow] = field(default_factory=list)
    stale: list[FactRow] = field(default_factory=list)


class RulesAt(Struct, kw_only=True):
    """`rules.at`: the rules in force at an instant, written as people write times."""

    at: str = ""


class RulesList(Struct, kw_only=True):
    """`records` are memories as a snapshot holds them (docs/internals.md)."""

    at: int = 0
    project: str = ""
    records: list[dict[str, object]] = field(default_factory=list)


# -- the database and what goes in and out ----------------------------------------------------


class ImportQuery(Struct, kw_only=True):
    """`db.import`: another program's store at the absolute path `path`."""

    kind: Literal["", "harness-memory", "memharness", "harnmem"] = ""
    path: str = ""
    user_wide: bool = False
    dry_run: bool = False


class ImportReport(Struct, kw_only=True):
    """`counted` is what the source holds; every row of it is in exactly one of the other counts."""

    kind: str = ""
    version: str = ""
    counted: dict[str, int] = field(default_factory=dict)
    added: int = 0
    known: int = 0
    forgotten: int = 0
    skipped: list[str] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class ExportQuery(Struct, kw_only=True):
    """`db.export`: `sql` to a file (or as text, with `path` ""), the others into a directory."""

    kind: Literal["sql", "markdown", "skills"] = "sql"
    path: str = ""
    id: str = ""


class ExportReport(Struct, kw_only=True):
    files: list[str] = field(default_factory=list)
    rows: int = 0
    text: str = ""


class BackupReport(Struct, kw_only=True):
    path: str = ""
    bytes: int = 0


class CheckReport(Struct, kw_only=True):
    """`db.check`: `problems` is empty where all is sound."""

    schema: int = 0
    applied_seq: int = 0
    journal_seq: int = 0
    facts: int = 0
    memories: int = 0
    backups: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
