"""What rules did: what `receipts` and `memory.stats` take and give."""

from typing import Annotated

from msgspec import Meta, Struct, field

from hmd.core.learning import ReceiptRow


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
