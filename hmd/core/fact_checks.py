"""Facts held against their code: what `fact.check` takes and gives."""

from msgspec import Struct, field

from hmd.core.facts import Freshness


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
