"""A memory: its vocabularies, what one version of it says, and its row in the store.

Every field has a default and unknown fields are skipped, as in all that crosses the wire or the
journal: a newer side understands an older one. Times are milliseconds since the epoch; identifiers
32 hex digits.
"""

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, field

MemoryType = Literal["policy", "workflow", "pitfall", "architecture_constraint", "decision"]
Trigger = Literal["session_start", "before_model", "before_tool", "after_tool"]
Level = Literal["advise", "confirm", "soft_deny", "deny"]
MemoryStatus = Literal["candidate", "active", "stale", "superseded", "rejected"]
Authority = Literal["human", "auto"]
EvidenceClass = Literal["user_said", "tool_observed", "agent_inferred"]
Actor = Literal["terminal", "agent_cli", "mcp", "extraction", "import", "team"]
Source = Literal["manual", "import", "extraction", "guard", "team"]
Share = Annotated[float, Meta(ge=0, le=1)]

MEMORY_TYPES: tuple[str, ...] = get_args(MemoryType)
TRIGGERS: tuple[str, ...] = get_args(Trigger)  # in their fixed order
LEVELS: tuple[str, ...] = get_args(Level)  # weakest first
STATUSES: tuple[str, ...] = get_args(MemoryStatus)
ACTORS: tuple[str, ...] = get_args(Actor)
# What an agent asks for is only proposed; a person at a terminal decides.
AGENT_ACTORS = frozenset(["agent_cli", "mcp"])


class Signature(Struct, frozen=True):
    """What a memory matches calls by."""

    tool: str = "bash"
    target: str = "command"
    kind: Literal["cmd", "glob", "regex", "substring"] = "cmd"
    pattern: str = ""
    negate: bool = False

    @property
    def spec(self) -> str:
        """As it is typed: `[!]tool:target:kind:pattern`."""
        return f"{'!' * self.negate}{self.tool}:{self.target}:{self.kind}:{self.pattern}"


class Content(Struct, kw_only=True):
    """What one version of a memory says. `expires` null: no end; `policy` only for policies;
    `source_ref` names file and line, or the session; `note` says why it has its status."""

    type: MemoryType = "pitfall"
    summary: str = ""
    details: str = ""
    scope: str = "**"
    triggers: list[Trigger] = field(default_factory=list)
    tools: list[str] | None = None
    sig: Signature | None = None
    level: Level = "advise"
    authority: Authority = "human"
    evidence: EvidenceClass = "user_said"
    confidence: Share = 0.9
    importance: Share = 0.5
    policy: Literal["hard", "soft"] | None = None
    status: MemoryStatus = "candidate"
    note: str = ""
    baseline: bool = False
    loaded: str = ""
    aliases: list[str] = field(default_factory=list)
    source: Source = "manual"
    source_ref: str = ""
    knowledge: str = ""
    unconfirmed: bool = False
    contested: bool = False
    validations: int = 0
    expires: int | None = None


class Evidence(Struct, kw_only=True):
    """One thing that a memory rests on; `excerpt` is the cited text, already redacted."""

    id: str = ""
    kind: str = "manual"
    ref: str = ""
    excerpt: str = ""
    session: str = ""
    weight: float = 0.0


class Origin(Struct, kw_only=True):
    """Where a memory was first learned; "" where it does not apply."""

    project: str = ""
    worktree: str = ""
    session: str = ""
    host: str = ""


class MemoryRow(Content, kw_only=True):
    """One version of one memory. `project` null: user-wide. `valid_*` is its span in the world,
    `recorded_at` to `superseded_at` the span in which the store believed it."""

    id: str = ""
    version: str = ""
    project: str | None = None
    actor: Actor = "terminal"
    change: str = ""
    seq: int = 0
    created: int = 0
    valid_from: int = 0
    valid_to: int | None = None
    recorded_at: int = 0
    superseded_at: int | None = None
    origin: Origin = field(default_factory=Origin)


# Why a correction that outlived its session is a candidate; one with this note gives advice while
# it waits for review. Whatever a person does with it replaces the note.
KEPT_CORRECTION = "a correction of yours, kept for review"


def is_in_force(row: MemoryRow) -> bool:
    """Whether hooks look at a memory: it is active, or a kept correction that waits for review."""
    if row.status == "candidate":
        return row.source == "guard" and row.note == KEPT_CORRECTION
    return row.status == "active"
