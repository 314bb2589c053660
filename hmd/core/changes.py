"""Every change that can happen to the store, as plain values: what a journal line holds.

A change has chosen all its identifiers and its time already, so that applying it again, to the
same state, gives the same rows. Tags are part of the journal's format: none is ever renamed.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from hmd.core.model import (
    Actor,
    Authority,
    Content,
    Evidence,
    EvidenceClass,
    Level,
    MemoryStatus,
    Origin,
    Share,
    Signature,
    Trigger,
)


class Change(Struct, kw_only=True, tag_field="kind"):
    """`actor` is who asked for it, `at` when it was recorded (ms since the epoch)."""

    actor: Actor
    at: int


# -- memories: each makes a new version -------------------------------------------------------


class AddMemory(Change, kw_only=True, tag="add_memory"):
    """A new memory. `project` null: user-wide. `valid_from` null: from `at`."""

    memory: str
    version: str
    content: Content
    project: str | None = None
    origin: Origin = field(default_factory=Origin)
    evidence: list[Evidence] = field(default_factory=list)
    valid_from: int | None = None


class Patch(Struct, kw_only=True, omit_defaults=True):
    """The fields of `Content` that change; absent ones stay."""

    summary: str | UnsetType = UNSET
    details: str | UnsetType = UNSET
    scope: str | UnsetType = UNSET
    triggers: list[Trigger] | UnsetType = UNSET
    tools: list[str] | UnsetType | None = UNSET
    sig: Signature | UnsetType | None = UNSET
    level: Level | UnsetType = UNSET
    authority: Authority | UnsetType = UNSET
    evidence: EvidenceClass | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    importance: Share | UnsetType = UNSET
    policy: Literal["hard", "soft"] | UnsetType | None = UNSET
    baseline: bool | UnsetType = UNSET
    loaded: str | UnsetType = UNSET
    aliases: list[str] | UnsetType = UNSET
    source_ref: str | UnsetType = UNSET
    unconfirmed: bool | UnsetType = UNSET
    contested: bool | UnsetType = UNSET
    validations: int | UnsetType = UNSET
    expires: int | UnsetType | None = UNSET


class EditMemory(Change, kw_only=True, tag="edit_memory"):
    """Changes what a memory says, or (with `project`) where it holds. `valid_from` closes the
    version before it in the world; null: what was written before was wrong from the start."""

    memory: str
    version: str
    patch: Patch
    project: str | UnsetType | None = UNSET
    valid_from: int | None = None
    evidence: list[Evidence] = field(default_factory=list)


class SetStatus(Change, kw_only=True, tag="set_status"):
    memory: str
    version: str
    status: MemoryStatus
    note: str = ""


class Enforce(Change, kw_only=True, tag="enforce"):
    """A person sets the level: the row becomes human."""

    memory: str
    version: str
    level: Level


class Promote(Change, kw_only=True, tag="promote"):
    """A person confirms it: active, human, without an end."""

    memory: str
    version: str
    note: str = ""


class Demote(Change, kw_only=True, tag="demote"):
    """Takes an active memory out of force: it waits as a candidate."""

    memory: str
    version: str
    note: str = ""


class Restore(Change, kw_only=True, tag="restore"):
    """Brings a rejected, stale or superseded memory back to the status it had before."""

    memory: str
    version: str
    note: str = ""


# -- projects ---------------------------------------------------------------------------------


class CreateProject(Change, kw_only=True, tag="create_project"):
    project: str
    name: str
    location: str
    enabled: bool = False
    remote: str = ""
    root_commit: str = ""


class EnableProject(Change, kw_only=True, tag="enable_project"):
    project: str


class DisableProject(Change, kw_only=True, tag="disable_project"):
    project: str


class MoveProject(Change, kw_only=True, tag="move_project"):
    """The project is at `location` now and no longer where it was."""

    project: str
    location: str


class MergeProjects(Change, kw_only=True, tag="merge_projects"):
    """Memories and locations of `source` become those of `into`; `source` stays as a pointer.
    `versions` gives a new version id to each memory that moves (memory id → version id)."""

    source: str
    into: str
    versions: dict[str, str] = field(default_factory=dict)


class ForgetProject(Change, kw_only=True, tag="forget_project"):
    """Hides the project and its memories from every surface."""

    project: str


# -- proposals --------------------------------------------------------------------------------


class OpenProposal(Change, kw_only=True, tag="open_proposal"):
    """`changes` are applied together when it is accepted. `target` is the memory (or project)
    concerned, `candidate` the memory that would take its place; "" where there is none.
    `claim` tells apart different wishes of one kind about one target. A second claim of the same
    (`proposes`, target, candidate, claim) adds support to the open one."""

    proposal: str
    proposes: str
    target: str = ""
    candidate: str = ""
    claim: str = ""
    project: str | None = None
    reason: str = ""
    changes: list["AnyChange"] = field(default_factory=list)
    expires_at: int | None = None


class AcceptProposal(Change, kw_only=True, tag="accept_proposal"):
    """Applies the proposal's changes, with this change's time and actor."""

    proposal: str
    note: str = ""


class RejectProposal(Change, kw_only=True, tag="reject_proposal"):
    proposal: str
    note: str = ""


class ExpireProposal(Change, kw_only=True, tag="expire_proposal"):
    proposal: str


class Batch(Change, kw_only=True, tag="batch"):
    """Several changes that happen together or not at all."""

    changes: list["AnyChange"]


MemoryChange = EditMemory | SetStatus | Enforce | Promote | Demote | Restore
ProjectChange = (
    CreateProject | EnableProject | DisableProject | MoveProject | MergeProjects | ForgetProject
)
ProposalChange = OpenProposal | AcceptProposal | RejectProposal | ExpireProposal
AnyChange = AddMemory | MemoryChange | ProjectChange | ProposalChange | Batch


class Entry(Struct, kw_only=True):
    """One journal line."""

    seq: int
    change: AnyChange


encode = msgspec.json.Encoder().encode
decode_entry = msgspec.json.Decoder(Entry).decode
decode_changes = msgspec.json.Decoder(list[AnyChange]).decode
