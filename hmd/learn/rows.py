"""What learning knows of memories and proposals: plain rows in, planned changes out.

The use cases read rows out of the store and turn planned changes into `hmd.core.changes`; nothing
here does input or output or reads a clock. Times are ms since the epoch.
"""

from typing import Literal

from msgspec import Struct, field

from hmd.core.memory import (
    Authority,
    EvidenceClass,
    Level,
    MemoryStatus,
    MemoryType,
    Signature,
    Source,
    Trigger,
)

Knowledge = Literal["correction", "failure_resolution", "convention", "design"]
ProposalKind = Literal[
    "supersede",
    "stale",
    "activate_policy",
    "activate_global",
    "fix_scope",
    "fix_signature",
    "revalidate",
    "merge",
]
LIVE = frozenset(["candidate", "active", "stale"])
DAY = 86_400_000


class Citation(Struct, kw_only=True, frozen=True):
    """A ledger line that a memory rests on, copied: the ledger is deleted after its time."""

    seq: int
    kind: str
    excerpt: str


class Support(Struct, kw_only=True, frozen=True):
    """One episode that says so. `human`: the user corrected or asked; `observed`: a call's own
    outcome shows it."""

    episode: str
    session: str
    at: int
    weight: int
    confidence: float
    human: bool = False
    observed: bool = False
    cites: tuple[Citation, ...] = ()


class Row(Struct, kw_only=True):
    """One memory as it is now. `key` is its semantic key; `replay` says why it failed the replay;
    `lowered_at` when overrides lowered it. `overridden` counts passes of a hold, `fired` every
    time that it took part."""

    id: str
    project: str | None = None
    type: MemoryType = "pitfall"
    summary: str = ""
    details: str = ""
    scope: str = "**"
    triggers: list[Trigger] = field(default_factory=list)
    tools: list[str] | None = None
    sig: Signature | None = None
    level: Level = "advise"
    authority: Authority = "auto"
    evidence: EvidenceClass = "agent_inferred"
    status: MemoryStatus = "candidate"
    note: str = ""
    source: Source = "extraction"
    knowledge: Knowledge = "convention"
    confidence: float = 0.0
    importance: float = 0.5
    aliases: list[str] = field(default_factory=list)
    key: str = ""
    supports: tuple[Support, ...] = ()
    created: int = 0
    expires: int | None = None
    revalidate_at: int | None = None
    replay: str = ""
    contested: bool = False
    replaces: str = ""
    fired: int = 0
    fired_at: int = 0
    overridden: int = 0
    heeded: int = 0
    lowered_at: int | None = None

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def score(self) -> int:
        """The evidence score: the sum of its episodes' weights."""
        return sum(support.weight for support in self.supports)

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(support.session for support in self.supports)

    @property
    def validations(self) -> int:
        return max(len(self.supports) - 1, 0)

    @property
    def first(self) -> tuple[int, str]:
        """Time and name of the earliest episode: whose words the memory is told in."""
        return min(((one.at, one.episode) for one in self.supports), default=(self.created, ""))


class Proposal(Struct, kw_only=True):
    """One suggestion. `claims` maps each session that made it to (time, human, observed)."""

    id: str
    kind: ProposalKind
    target: str = ""
    candidate: str = ""
    project: str | None = None
    reason: str = ""
    opened_at: int = 0
    expires_at: int = 0
    claims: dict[str, tuple[int, bool, bool]] = field(default_factory=dict)

    @property
    def claim(self) -> tuple[str, str, str]:
        return (self.kind, self.target, self.candidate)


# -- planned changes --------------------------------------------------------------------------


class Add(Struct, kw_only=True, tag="add"):
    """A new memory."""

    row: Row


class Revise(Struct, kw_only=True, tag="revise"):
    """`row` takes the place of the automatic memory with its id. `fields` are those that differ."""

    row: Row
    fields: list[str]
    why: str


class Attach(Struct, kw_only=True, tag="attach"):
    """Evidence for a memory that a person made: counted and shown, nothing else changes."""

    memory: str
    support: Support


class Contest(Struct, kw_only=True, tag="contest"):
    """Two sessions argued against a person's advising memory: shown in its label, and no more."""

    memory: str
    contested: bool


class Open(Struct, kw_only=True, tag="open"):
    """A new proposal, or an open one with another session's claim added (same id)."""

    proposal: Proposal


class CloseProposal(Struct, kw_only=True, tag="close"):
    """A proposal that is settled without a person: its time ended, or both sides' rules allow it
    to be applied to an automatic memory."""

    proposal: str
    outcome: Literal["applied", "expired"]


Planned = Add | Revise | Attach | Contest | Open | CloseProposal


def differing(before: Row, after: Row) -> list[str]:
    """Names of the fields in which two states of a row differ."""
    return [name for name in Row.__struct_fields__ if getattr(before, name) != getattr(after, name)]
