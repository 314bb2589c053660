"""Recall: what the `recall`, `hot` and `embeddings.*` methods take and give."""

from collections.abc import Callable
from typing import Literal, get_args

from msgspec import Struct, field

from hmd.core.facts import Limit

Kind = Literal["memory", "fact", "episode"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class RecallWanted(Struct, kw_only=True):
    """`recall`. Times as people write them. `prompt`: only what a prompt is given."""

    query: str = ""
    as_of: str | None = None
    since: str | None = None
    limit: Limit = 8
    kinds: list[Kind] = field(default_factory=list)
    prompt: bool = False


class RecallRow(Struct, kw_only=True):
    """One thing found. `score` orders; `relevance` (words) and `cosine` (meaning, null: not asked)
    say how good it is: the cosine is what exceeds the one that unrelated sentences have with the
    question. `why_not` says why a prompt would not be given it, "" where it would."""

    id: str = ""
    kind: str = ""
    text: str = ""
    label: str = ""
    score: float = 0.0
    relevance: float = 0.0
    cosine: float | None = None
    words: list[str] = field(default_factory=list)
    at: int = 0
    why_not: str = ""


class RecallList(Struct, kw_only=True):
    """`words` are those that were searched for; `unknown` those that nothing stored has. `dense`:
    meaning was asked too."""

    rows: list[RecallRow] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    dense: bool = False
    min_score: float = 0.0
    searched: int = 0


class HotBlock(Struct, kw_only=True):
    """`hot`: the very text that SessionStart prints."""

    text: str = ""
    ids: list[str] = field(default_factory=list)
    tokens: int = 0


class EmbeddingsStatus(Struct, kw_only=True):
    """`embeddings.status`, `.backfill`: `state` of the process is off, starting, ready, waiting."""

    enabled: bool = False
    model: str = ""
    state: str = "off"
    trouble: str = ""
    pid: int = 0
    dimension: int = 0
    embedded: int = 0
    wanted: int = 0
    others: dict[str, int] = field(default_factory=dict)


Test = Callable[[EmbeddingsStatus], bool]
