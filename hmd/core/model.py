"""What `call` methods take and give, and the rows of the store (docs/internals.md, "Frames").

The protocol only grows: every field has a default and unknown fields are skipped, so a newer side
understands an older one. Times are milliseconds since the epoch; identifiers 32 hex digits.
"""

from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from hmd.core.learning import EpisodeRow, ReceiptRow, RunRow

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


class MemoryDraft(Struct, kw_only=True):
    """`memory.add`. Absent values are chosen from type and signature. `signature` as typed."""

    type: MemoryType = "pitfall"
    summary: str = ""
    details: str = ""
    scope: str = "**"
    triggers: list[Trigger] | None = None
    signature: str = ""
    tools: list[str] | None = None
    level: Level | None = None
    aliases: list[str] = field(default_factory=list)
    policy: Literal["hard", "soft"] | None = None
    confidence: Share | None = None
    importance: Share | None = None
    active: bool = False
    user_wide: bool = False


class MemoryFilter(Struct, kw_only=True):
    """`memory.list`. `status` "" is what lives (candidate, active, stale), "all" everything.
    `project` null: the caller's project and the user-wide ones; "all": every project."""

    status: str = ""
    type: str = ""
    authority: str = ""
    source: str = ""
    scope: str = ""
    unconfirmed: bool = False
    contested: bool = False
    project: str | None = None
    user_wide: bool = False
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 200


class MemoryList(Struct, kw_only=True):
    rows: list[MemoryRow] = field(default_factory=list)
    total: int = 0


class MemoryRef(Struct, kw_only=True):
    """`memory.show`, `.reject`, `.promote`, `.demote`, `.restore`, `.history`. `id` or a prefix."""

    id: str = ""
    note: str = ""


class MemoryEdit(Struct, kw_only=True):
    """`memory.edit`: only what is given changes. `signature` "" removes the signature."""

    id: str = ""
    summary: str | UnsetType = UNSET
    details: str | UnsetType = UNSET
    scope: str | UnsetType = UNSET
    triggers: list[Trigger] | UnsetType = UNSET
    tools: list[str] | UnsetType | None = UNSET
    signature: str | UnsetType = UNSET
    aliases: list[str] | UnsetType = UNSET
    policy: Literal["hard", "soft"] | UnsetType | None = UNSET
    confidence: Share | UnsetType = UNSET
    importance: Share | UnsetType = UNSET
    baseline: bool | UnsetType = UNSET
    user_wide: bool | UnsetType = UNSET


class MemoryEnforce(Struct, kw_only=True):
    id: str = ""
    level: Level = "advise"


class MemoryView(Struct, kw_only=True):
    """`memory.show`: the row with what it rests on."""

    row: MemoryRow = field(default_factory=MemoryRow)
    evidence: list[Evidence] = field(default_factory=list)


class MemoryHistory(Struct, kw_only=True):
    """`memory.history`: every version, oldest first."""

    id: str = ""
    versions: list[MemoryRow] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)


class ProposalRow(Struct, kw_only=True):
    """One suggestion that waits for a person. `changes` names what accepting it would do."""

    id: str = ""
    kind: str = ""
    target: str = ""
    candidate: str = ""
    project: str | None = None
    reason: str = ""
    actor: Actor = "agent_cli"
    state: Literal["open", "accepted", "rejected", "expired"] = "open"
    support: int = 1
    opened_at: int = 0
    expires_at: int | None = None
    decided_at: int | None = None
    changes: list[str] = field(default_factory=list)


class ProposalFilter(Struct, kw_only=True):
    state: str = "open"
    kind: str = ""
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 200


class ProposalList(Struct, kw_only=True):
    rows: list[ProposalRow] = field(default_factory=list)


class ProposalRef(Struct, kw_only=True):
    id: str = ""
    note: str = ""


class Outcome(Struct, kw_only=True):
    """What a mutating call did: a memory or project as it is now, or the proposal it became."""

    seq: int = 0
    memory: MemoryRow | None = None
    project: "ProjectRow | None" = None
    proposal: ProposalRow | None = None
    notes: list[str] = field(default_factory=list)


class ProjectRow(Struct, kw_only=True):
    """One project. `remote` and `root_commit` are hints by which a moved one is recognised."""

    id: str = ""
    name: str = ""
    enabled: bool = False
    locations: list[str] = field(default_factory=list)
    remote: str = ""
    root_commit: str = ""
    created: int = 0
    memories: int = 0
    merged_into: str | None = None
    forgotten_at: int | None = None


class ProjectList(Struct, kw_only=True):
    rows: list[ProjectRow] = field(default_factory=list)


class ProjectRef(Struct, kw_only=True):
    """`project.enable`, `.disable`, `.forget`: a directory, or an id or a prefix of one.
    Both empty: the directory of the caller."""

    path: str = ""
    id: str = ""


class ProjectMove(Struct, kw_only=True):
    """`project.move`: the project `id` now lives at `path`."""

    id: str = ""
    path: str = ""


class ProjectMerge(Struct, kw_only=True):
    """`project.merge`: everything of `source` becomes `into`'s."""

    source: str = ""
    into: str = ""


class SnapshotRef(Struct, kw_only=True):
    """`snapshot.rebuild`. `project` "" is every snapshot, `user` the user-wide one, else an id."""

    project: str = ""


class SnapshotRow(Struct, kw_only=True):
    project: str = ""
    generation: int = 0
    records: int = 0
    bytes: int = 0


class SnapshotList(Struct, kw_only=True):
    rows: list[SnapshotRow] = field(default_factory=list)


class StoreStatus(Struct, kw_only=True):
    """State of the database. `problems` are lines for doctor."""

    state: Literal["opening", "ready", "newer", "damaged"] = "opening"
    schema: int = 0
    applied_seq: int = 0
    journal_mode: str = ""
    last_backup: int | None = None
    problems: list[str] = field(default_factory=list)


class Counts(Struct, kw_only=True):
    active: int = 0
    active_auto: int = 0
    candidates: int = 0
    stale: int = 0
    proposals: int = 0
    proposals_expiring: int = 0
    projects: int = 0


class Latency(Struct, kw_only=True):
    """Of one event, inside the daemon, in microseconds."""

    count: int = 0
    p50: int = 0
    p95: int = 0
    p99: int = 0


class Status(Struct, kw_only=True):
    """`status`. `generation` and `snapshot` (fresh, stale, missing) are of the caller's project."""

    pid: int = 0
    owner: str = ""
    version: str = ""
    build: str = ""
    home: str = ""
    started_at: int = 0
    uptime_ms: int = 0
    project: str = ""
    enabled: bool = False
    disabled: bool = False
    generation: int = 0
    snapshot: Literal["fresh", "stale", "missing"] = "missing"
    sessions: int = 0
    store: StoreStatus = field(default_factory=StoreStatus)
    counts: Counts = field(default_factory=Counts)
    latency: dict[str, Latency] = field(default_factory=dict)
    decisions: dict[str, int] = field(default_factory=dict)
    learning: "LearningStatus" = field(default_factory=lambda: LearningStatus())
    config_problems: list[str] = field(default_factory=list)


class Pong(Struct, kw_only=True):
    """`ping`."""

    pid: int = 0
    version: str = ""
    build: str = ""
    ready: bool = False


class ErrorBody(Struct, kw_only=True):
    """Body of an answer whose status is `error`."""

    code: str = "internal"
    what: str = ""
    where: str = ""
    do: str = ""


# -- learning ---------------------------------------------------------------------------------


class QueueFilter(Struct, kw_only=True):
    """`queue.list`. `state` "" is what waits or died, "all" everything."""

    state: str = ""
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 200


class QueueList(Struct, kw_only=True):
    rows: list[EpisodeRow] = field(default_factory=list)


class QueueRef(Struct, kw_only=True):
    """`queue.show`, `.retry`, `.drop`."""

    id: str = ""


class QueueView(Struct, kw_only=True):
    row: EpisodeRow = field(default_factory=EpisodeRow)
    runs: list[RunRow] = field(default_factory=list)


class CostsWanted(Struct, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=3650)] = 30


class DayCost(Struct, kw_only=True):
    """Calls of one day (UTC; `day` is its beginning). `cost_usd` null: no CLI named any money."""

    day: int = 0
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None


class Costs(Struct, kw_only=True):
    """`costs`. `last_day_calls` are those of the last 24 hours, against the caps."""

    days: list[DayCost] = field(default_factory=list)
    total: DayCost = field(default_factory=DayCost)
    last_day_calls: int = 0
    cap: int = 0
    hard_cap: int = 0


class ExtractWanted(Struct, kw_only=True):
    """`extract`. `now`: what waits for its time, too; `dry_run`: only the prompts; `provider` ""
    as configured. Ends after `limit` calls."""

    now: bool = False
    dry_run: bool = False
    provider: str = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 80


class Extracted(Struct, kw_only=True):
    """What was done: `episodes` as they are now, `runs` newest first, `prompts` of a dry run;
    `waiting` says why the rest waits, "" where nothing does."""

    read: int = 0
    episodes: list[EpisodeRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    waiting: str = ""


class Consolidation(Struct, kw_only=True):
    """`consolidate`: what was done, by name, and how many files were deleted."""

    counts: dict[str, int] = field(default_factory=dict)
    files: int = 0


class LearningStatus(Struct, kw_only=True):
    """Of `status`. `waiting` says why the queue waits; `probe` is the class of the last finding
    about the provider, `probe_hint` what helps; `week` sums what all rules did in this week."""

    enabled: bool = False
    queued: int = 0
    dead: int = 0
    waiting: str = ""
    provider: str = ""
    probe: str = ""
    probe_at: int | None = None
    probe_message: str = ""
    probe_hint: str = ""
    last_run_at: int | None = None
    last_run: str = ""
    calls_today: int = 0
    cost_today_usd: float | None = None
    worker_pid: int = 0
    week: ReceiptRow = field(default_factory=ReceiptRow)


class TraceWanted(Struct, kw_only=True):
    """`trace.session`: a session key or a prefix of one; `trace.memory`: a memory's id."""

    id: str = ""
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 2000


class TraceLine(Struct, kw_only=True):
    """One ledger record in a line."""

    at: int = 0
    kind: str = ""
    text: str = ""


class SessionTrace(Struct, kw_only=True):
    session: str = ""
    lines: list[TraceLine] = field(default_factory=list)
    episodes: list[EpisodeRow] = field(default_factory=list)


class MemoryTrace(Struct, kw_only=True):
    """The episodes and runs behind a memory, the lines it cites, and its receipts by week."""

    row: MemoryRow = field(default_factory=MemoryRow)
    evidence: list[Evidence] = field(default_factory=list)
    episodes: list[EpisodeRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    receipts: list[ReceiptRow] = field(default_factory=list)


class StatsWanted(Struct, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=3650)] = 7


class MemoryStats(Struct, kw_only=True):
    """`memory.stats`. Counts by status, authority and type; over the days asked for: automatic
    activations and how many of these were rejected, decisions in review and the days with any, and
    how many rules were overridden how often. `receipts` are sums by rule."""

    by_status: dict[str, int] = field(default_factory=dict)
    by_authority: dict[str, int] = field(default_factory=dict)
    by_type: dict[str, int] = field(default_factory=dict)
    activated: int = 0
    activated_rejected: int = 0
    reviewed: int = 0
    active_days: int = 0
    overrides: dict[str, int] = field(default_factory=dict)
    receipts: list[ReceiptRow] = field(default_factory=list)


class ReceiptsWanted(Struct, kw_only=True):
    """`receipts`: how many weeks, this one included."""

    weeks: Annotated[int, Meta(ge=1, le=520)] = 4


class RuleReceipt(ReceiptRow, kw_only=True):
    """What one rule did in one week, over all sessions. `summary` and `status` are today's; both
    are empty where no memory is kept under that id and where it was forgotten (`forgotten`)."""

    summary: str = ""
    status: str = ""
    forgotten: bool = False


class WeekReceipt(Struct, kw_only=True):
    """One week from its Monday 00:00 UTC (`week`); `name` as ISO 8601 names it ("2026-W07").
    `total` sums `rules`, which stand by what they did most."""

    week: int = 0
    name: str = ""
    total: ReceiptRow = field(default_factory=ReceiptRow)
    rules: list[RuleReceipt] = field(default_factory=list)


class ReceiptList(Struct, kw_only=True):
    """`receipts`: every week asked for, the newest first, weeks in which nothing fired included."""

    weeks: list[WeekReceipt] = field(default_factory=list)


class NotesWanted(Struct, kw_only=True):
    """`notes.read`, `notes.import`: files or directories (absolute). `kinds`: types of automatic
    notes, [] for all. `chosen`: lines to take ("file:line"), null for all; `confirmed`: a person
    went through them; `sync`: what came from these files before and is gone there is retired."""

    paths: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    chosen: list[str] | None = None
    confirmed: bool = False
    sync: bool = False
    user_wide: bool = False


class NoteRow(Struct, kw_only=True):
    """A bullet found. `state`: new, known (imported before), changed, forgotten; `obliges`: taken
    as a hard policy when confirmed; `problem` keeps it from acting by itself."""

    ref: str = ""
    text: str = ""
    heading: str = ""
    loaded: str = ""
    obliges: bool = False
    problem: str = ""
    state: str = "new"


class NoteList(Struct, kw_only=True):
    rows: list[NoteRow] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


class Imported(Struct, kw_only=True):
    added: int = 0
    known: int = 0
    retired: int = 0
    refused: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


class ReviewItem(Struct, kw_only=True):
    """One thing to decide. `kind` is a proposal's kind, `import` or `candidate`; `proposal` "" for
    the last two. `row` is the memory concerned, `other` the one it would take the place of."""

    kind: str = ""
    proposal: str = ""
    reason: str = ""
    support: int = 1
    expires_at: int | None = None
    row: MemoryRow | None = None
    other: MemoryRow | None = None
    evidence: list[Evidence] = field(default_factory=list)


class ReviewList(Struct, kw_only=True):
    """`review`: in the order in which they should be decided."""

    items: list[ReviewItem] = field(default_factory=list)
