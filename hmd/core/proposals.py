"""Proposals: a suggestion that waits for a person, and what the `proposal.*` methods take."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from hmd.core.memory import Actor


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
