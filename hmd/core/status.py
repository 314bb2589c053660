"""What `status` gives: the daemon, its store, its latency and what learning is at."""

from typing import Literal

from msgspec import Struct, field

from hmd.core.learning import ReceiptRow


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
    learning: LearningStatus = field(default_factory=LearningStatus)
    config_problems: list[str] = field(default_factory=list)
