"""What the `trace.*` methods take and give."""

from typing import Annotated

from msgspec import Meta, Struct, field

from hmd.core.learning import EpisodeRow, ReceiptRow, RunRow
from hmd.core.memory import Evidence, MemoryRow


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
