"""Every change that can happen to the store, as plain values: what a journal line holds.

A change has chosen all its identifiers and its time already, so that applying it again, to the
same state, gives the same rows. Tags are part of the journal's format: none is ever renamed.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from hmd.core.fact_checks import Verdict
from hmd.core.facts import FactContent, FactRow, Importance
from hmd.core.learning import ClaimRow, FixRow, LearnedRow, RunRow
from hmd.core.memory import (
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
    # keyed hashes of its text and sources, against which what was forgotten is held
    marks: list[str] = field(default_factory=list)


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
    marks: list[str] = field(default_factory=list)


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


# -- facts ------------------------------------------------------------------------------------


class RememberFact(Change, kw_only=True, tag="remember_fact", omit_defaults=True):
    """A new fact. `valid_from` null: from `at`. `marks` are keyed hashes (hmd/store/tombstones.py)
    of its text and sources: a person's own words lift what was forgotten, others are refused."""

    fact: str
    content: FactContent
    project: str | None = None
    origin: Origin = field(default_factory=Origin)
    valid_from: int | None = None
    valid_to: int | None = None
    marks: list[str] = field(default_factory=list)


class ReviseFact(Change, kw_only=True, tag="revise_fact", omit_defaults=True):
    """`fact` takes the place of `old`, in the world from `valid_from` (null: `at`) on."""

    old: str
    fact: str
    content: FactContent
    origin: Origin = field(default_factory=Origin)
    valid_from: int | None = None
    marks: list[str] = field(default_factory=list)


class MarkFact(Change, kw_only=True, tag="mark_fact", omit_defaults=True):
    """Changes what is kept beside a fact; absent fields stay."""

    fact: str
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    sensitive: bool | UnsetType = UNSET
    importance: Importance | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    links: list[str] | UnsetType = UNSET


class CheckFacts(Change, kw_only=True, tag="check_facts"):
    """What a look at the repository (at commit `head`) found; only what is another than before."""

    head: str
    verdicts: list[Verdict]


class ImportFacts(Change, kw_only=True, tag="import_facts"):
    """Facts of another store with their own times and chains; those known already are left."""

    rows: list[FactRow]
    marks: list[list[str]] = field(default_factory=list)


# -- forgetting -------------------------------------------------------------------------------


class Forget(Change, kw_only=True, tag="forget"):
    """Hides facts and memories (memory id → new version id) until they are erased or restored.
    `marks` keep automatic paths from bringing them back; `by` says how they were chosen, never
    the words that were looked for."""

    facts: list[str] = field(default_factory=list)
    memories: dict[str, str] = field(default_factory=dict)
    marks: list[str] = field(default_factory=list)
    by: str = ""


class Unforget(Change, kw_only=True, tag="unforget"):
    """Brings forgotten facts and memories (memory id → new version id) back."""

    facts: list[str] = field(default_factory=list)
    memories: dict[str, str] = field(default_factory=dict)
    marks: list[str] = field(default_factory=list)


class Erase(Change, kw_only=True, tag="erase"):
    """Removes the content of facts and memories for good. `erasure` names the work that follows
    in files and backups."""

    erasure: str
    facts: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)


# -- learning ---------------------------------------------------------------------------------


class ReviseMemory(Change, kw_only=True, tag="revise_memory"):
    """Learning words an automatic memory anew, all of it; a person's is left as it is."""

    memory: str
    version: str
    content: Content
    evidence: list[Evidence] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)


class SettleProposal(Change, kw_only=True, tag="settle_proposal"):
    """A proposal about an automatic memory that the sessions behind it have settled: the changes
    that follow stand beside this one."""

    proposal: str
    note: str = ""


class SetLearned(Change, kw_only=True, tag="set_learned"):
    """What learning keeps of a memory beside its content, in full; with `add` only the supports
    count, and join those that are known."""

    row: LearnedRow
    add: bool = False


class SetClaims(Change, kw_only=True, tag="set_claims"):
    """The sessions that speak for a proposal; those known already stay."""

    proposal: str
    claims: list[ClaimRow]


class LearnFixes(Change, kw_only=True, tag="learn_fixes"):
    """Fixes seen in a project, and commands (literal key → time) that failed there. Both are added
    to what is known; a fix whose own command failed is offered no more."""

    project: str
    fixes: list[FixRow] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)


class RecordRun(Change, kw_only=True, tag="record_run"):
    """A provider was called. With the changes that its answer led to in one batch: a run that is
    on record is never applied again."""

    run: RunRow


class Batch(Change, kw_only=True, tag="batch"):
    """Several changes that happen together or not at all."""

    changes: list["AnyChange"]


MemoryChange = EditMemory | ReviseMemory | SetStatus | Enforce | Promote | Demote | Restore
ProjectChange = (
    CreateProject | EnableProject | DisableProject | MoveProject | MergeProjects | ForgetProject
)
ProposalChange = OpenProposal | AcceptProposal | RejectProposal | ExpireProposal | SettleProposal
FactChange = RememberFact | ReviseFact | MarkFact | CheckFacts | ImportFacts
ForgetChange = Forget | Unforget | Erase
LearningChange = SetLearned | SetClaims | LearnFixes | RecordRun
AnyChange = (
    AddMemory
    | MemoryChange
    | ProjectChange
    | ProposalChange
    | FactChange
    | ForgetChange
    | LearningChange
    | Batch
)


class Entry(Struct, kw_only=True):
    """One journal line."""

    seq: int
    change: AnyChange


encode = msgspec.json.Encoder().encode
decode_entry = msgspec.json.Decoder(Entry).decode
decode_changes = msgspec.json.Decoder(list[AnyChange]).decode
