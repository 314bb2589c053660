"""What `review` gives: everything that waits for a person, in one order."""

from msgspec import Struct, field

from hmd.core.memory import Evidence, MemoryRow


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
