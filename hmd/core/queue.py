"""The queue of episodes and what reads it: the `queue.*`, `extract` and `consolidate` methods."""

from typing import Annotated

from msgspec import Meta, Struct, field

from hmd.core.learning import EpisodeRow, RunRow


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
