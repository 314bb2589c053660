"""What the `memory.*` methods take and give."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from hmd.core.memory import Evidence, Level, MemoryRow, MemoryType, Share, Trigger


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
