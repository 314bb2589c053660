"""Questions about facts: what the reading `fact.*` methods and `rules.at` take and give."""

from typing import Annotated

from msgspec import Meta, Struct, field

from hmd.core.facts import FactKind, FactRow, Freshness, Limit, Similar
from hmd.core.memory import Share


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


class FactRef(Struct, kw_only=True):
    """`fact.why`: a fact by its id, a prefix of it or its number."""

    id: str = ""


class FactEvent(Struct, kw_only=True):
    """One change that concerned a fact, as the log of changes has it."""

    seq: int = 0
    at: int = 0
    actor: str = ""
    kind: str = ""


class FactWhy(Struct, kw_only=True):
    """`fact.why`: the fact with its whole chain, nearest first on both sides, and what names it."""

    fact: FactRow = field(default_factory=FactRow)
    ancestors: list[FactRow] = field(default_factory=list)
    descendants: list[FactRow] = field(default_factory=list)
    backlinks: list[FactRow] = field(default_factory=list)
    changes: list[FactEvent] = field(default_factory=list)


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
