"""Answers that belong to no single noun: what a change did, a sign of life, an error."""

from msgspec import Struct, field

from hmd.core.memory import MemoryRow
from hmd.core.projects import ProjectRow
from hmd.core.proposals import ProposalRow


class Outcome(Struct, kw_only=True):
    """What a mutating call did: a memory or project as it is now, or the proposal it became."""

    seq: int = 0
    memory: MemoryRow | None = None
    project: ProjectRow | None = None
    proposal: ProposalRow | None = None
    notes: list[str] = field(default_factory=list)


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
