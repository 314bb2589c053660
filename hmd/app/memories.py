"""What people do with memories: add, look, edit, and say how much they count.

An agent that asks for a change only proposes it (`App.make_or_propose`).
"""

from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from hmd.app.context import App, Caller
from hmd.app.projects import ensure as ensure_project
from hmd.app.signatures import LOOKING_TOOLS, canonical_tool, is_specific
from hmd.app.signatures import parse as parse_signature
from hmd.core import ids
from hmd.core.answers import Outcome
from hmd.core.changes import (
    AddMemory,
    Demote,
    EditMemory,
    Enforce,
    Patch,
    Promote,
    Restore,
    SetStatus,
)
from hmd.core.config import Settings
from hmd.core.errors import HmdError
from hmd.core.memory import (
    LEVELS,
    MEMORY_TYPES,
    STATUSES,
    TRIGGERS,
    Content,
    Evidence,
    EvidenceClass,
    Level,
    MemoryType,
    Origin,
    Signature,
    Trigger,
)
from hmd.core.memory_calls import (
    MemoryDraft,
    MemoryEdit,
    MemoryEnforce,
    MemoryFilter,
    MemoryHistory,
    MemoryList,
    MemoryRef,
    MemoryView,
)
from hmd.kernel.content import is_safe
from hmd.kernel.glob import MAX_PATTERN
from hmd.kernel.redact import redact

SUMMARY_LIMIT = 500
DETAILS_LIMIT = 20_000
MOST_ALIASES = 8
CONFIDENCE, IMPORTANCE = 0.9, 0.7

# When each type is of use (harness-memory's five types and their default triggers).
_TRIGGERS: dict[str, list[Trigger]] = {
    "policy": ["before_model", "before_tool"],
    "workflow": ["before_model", "after_tool"],
    "pitfall": ["before_tool"],
    "architecture_constraint": ["session_start", "before_model"],
    "decision": ["session_start", "before_model"],
}


# -- adding -----------------------------------------------------------------------------------


async def add(app: App, caller: Caller, draft: MemoryDraft) -> Outcome:
    """Makes a person's memory: a candidate for review, or active at once with `active`."""
    notes: list[str] = []
    sig = parse_signature(draft.signature) if draft.signature else None
    settings = app.config.at(caller.common or caller.root)
    summary = _summary(draft.summary)
    details = _details(draft.details)
    is_risky = not is_safe(summary + "\n" + details)
    if is_risky and draft.active:
        notes.append(
            "kept as a candidate: its text hides characters or reads like an instruction to the "
            "model; look at it, then promote it"
        )
    content = Content(
        type=draft.type,
        summary=summary,
        details=details,
        scope=_scope(draft.scope),
        triggers=_triggers(draft.triggers, draft.type, sig, notes),
        tools=_tools(draft.tools, sig),
        sig=sig,
        level=draft.level or default_level(draft.type, sig, draft.policy, settings),
        authority="human",
        evidence=_evidence_class(caller),
        confidence=CONFIDENCE if draft.confidence is None else draft.confidence,
        importance=IMPORTANCE if draft.importance is None else draft.importance,
        policy=draft.policy,
        status="active" if draft.active and not is_risky else "candidate",
        aliases=_aliases(draft.aliases),
        source="manual",
        source_ref=caller.actor,
    )
    _warn(content, notes)
    project = None if draft.user_wide else await ensure_project(app, caller)
    caller = msgspec.structs.replace(caller, project=project or caller.project)
    change = AddMemory(
        actor=caller.actor,
        at=app.now(),
        memory=ids.new_id(),
        version=ids.new_id(),
        content=content,
        project=project,
        origin=Origin(
            project=caller.project,
            worktree=caller.root,
            session=caller.session,
            host=caller.host,
        ),
        evidence=[
            Evidence(id=ids.new_id(), kind="manual", ref=caller.actor, session=caller.session)
        ],
    )
    outcome = await app.make_or_propose(caller, change, "add")
    outcome.notes = notes + outcome.notes
    return outcome


def default_level(
    type_: MemoryType, sig: Signature | None, policy: str | None, settings: Settings
) -> Level:
    """The level of what a person says, where they do not name one."""
    if sig is None or policy == "soft":
        return "advise"
    if type_ == "policy" or policy == "hard":
        return settings.before_tool.hard_policy
    return "soft_deny" if type_ == "pitfall" else "advise"


def _evidence_class(caller: Caller) -> EvidenceClass:
    return "agent_inferred" if caller.is_agent else "user_said"


# -- fields -----------------------------------------------------------------------------------


def _summary(text: str) -> str:
    summary = " ".join(redact(text).split())
    if not summary:
        raise HmdError("usage", "the summary is empty", "--summary")
    if len(summary) > SUMMARY_LIMIT:
        raise HmdError(
            "usage",
            f"the summary is longer than {SUMMARY_LIMIT} characters",
            "--summary",
            "put the rest into --details",
        )
    return summary


def _details(text: str) -> str:
    details = redact(text).strip()
    if len(details) > DETAILS_LIMIT:
        raise HmdError(
            "usage", f"the details are longer than {DETAILS_LIMIT} characters", "--details"
        )
    return details


def _scope(text: str) -> str:
    scope = text.strip().replace("\\", "/")
    while scope.startswith("./"):
        scope = scope[2:]
    if scope in ("", "."):
        return "**"
    problem = ""
    if scope.startswith(("/", "~")) or scope[1:2] == ":":
        problem = "it is not relative to the project"
    elif ".." in PurePosixPath(scope).parts:
        problem = "it leaves the project"
    elif len(scope) > MAX_PATTERN:
        problem = f"it is longer than {MAX_PATTERN} characters"
    if problem:
        raise HmdError(
            "usage", f"'{text}' cannot be a scope: {problem}", "--scope", "write src/** or **"
        )
    return scope + "**" if scope.endswith("/") else scope


def _triggers(
    wanted: list[Trigger] | None, type_: MemoryType, sig: Signature | None, notes: list[str]
) -> list[Trigger]:
    """In their fixed order. A signature on a tool that only looks speaks before the model."""
    if sig is not None and sig.tool in LOOKING_TOOLS and wanted is None:
        notes.append(f"given before the model: calls of {sig.tool} are never held")
        return ["before_model"]
    chosen = set(wanted or _TRIGGERS[type_])
    if wanted is None and sig is not None:
        chosen.add("before_tool")
    return [trigger for trigger in _ordered() if trigger in chosen]


def _ordered() -> list[Trigger]:
    return msgspec.convert(list(TRIGGERS), list[Trigger])


def _tools(wanted: list[str] | None, sig: Signature | None) -> list[str] | None:
    if wanted:
        return list(dict.fromkeys(canonical_tool(tool) for tool in wanted if tool.strip())) or None
    return [sig.tool] if sig is not None and sig.tool != "*" else None


def _aliases(wanted: list[str]) -> list[str]:
    return [text for text in dict.fromkeys(redact(each).strip() for each in wanted) if text][
        :MOST_ALIASES
    ]


def _warn(content: Content, notes: list[str]) -> None:
    if content.level != "advise" and "before_tool" not in content.triggers:
        notes.append(f"{content.level} has no effect: it is not given before a tool runs")
    if content.sig is not None and not is_specific(content.sig):
        notes.append("the signature is one word: it meets every use of that program")


# -- looking ----------------------------------------------------------------------------------


async def list_(app: App, caller: Caller, wanted: MemoryFilter) -> MemoryList:
    """Rows of the caller's project and the user-wide ones, unless the filter says otherwise."""
    for value, known, name in (
        (wanted.status, ("", "all", *STATUSES), "--status"),
        (wanted.type, ("", *MEMORY_TYPES), "--type"),
        (wanted.authority, ("", "human", "auto"), "--authority"),
    ):
        if value not in known:
            raise HmdError(
                "usage", f"'{value}' is not known", name, f"one of {', '.join(known[1:])}"
            )
    if wanted.project is None:
        wanted = msgspec.structs.replace(wanted, project=caller.project or "all")
    return await app.store.list_memories(wanted)


async def show(app: App, caller: Caller, ref: MemoryRef) -> MemoryView:
    return await app.store.view_memory(ref.id)


async def history(app: App, caller: Caller, ref: MemoryRef) -> MemoryHistory:
    return await app.store.history(ref.id)


# -- changing ---------------------------------------------------------------------------------


async def edit(app: App, caller: Caller, wanted: MemoryEdit) -> Outcome:
    """Changes what is given; a person's edit makes the row a person's."""
    row = await app.store.get_memory(wanted.id)
    notes: list[str] = []
    patch = _patch(wanted)
    if wanted.triggers is not UNSET:
        patch["triggers"] = _triggers(wanted.triggers, row.type, None, notes)
    project: str | UnsetType | None = UNSET
    if wanted.user_wide is not UNSET:
        project = None if wanted.user_wide else await ensure_project(app, caller)
    if not patch and project is UNSET:
        raise HmdError("usage", "nothing to change was given")
    patch |= {"authority": "human", "unconfirmed": False, "expires": None}
    _warn(msgspec.structs.replace(row, **patch), notes)
    change = EditMemory(
        actor=caller.actor,
        at=app.now(),
        memory=row.id,
        version=ids.new_id(),
        patch=Patch(**patch),
        project=project,
    )
    claim = msgspec.json.encode(change.patch).decode()
    outcome = await app.make_or_propose(caller, change, "edit", row.id, claim)
    outcome.notes = notes + outcome.notes
    return outcome


def _patch(wanted: MemoryEdit) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    if wanted.summary is not UNSET:
        patch["summary"] = _summary(wanted.summary)
    if wanted.details is not UNSET:
        patch["details"] = _details(wanted.details)
    if wanted.scope is not UNSET:
        patch["scope"] = _scope(wanted.scope)
    if wanted.aliases is not UNSET:
        patch["aliases"] = _aliases(wanted.aliases)
    for name in ("policy", "confidence", "importance", "baseline"):
        value = getattr(wanted, name)
        if value is not UNSET:
            patch[name] = value
    if wanted.signature is not UNSET:
        patch["sig"] = parse_signature(wanted.signature) if wanted.signature else None
    if wanted.tools is not UNSET:
        patch["tools"] = _tools(wanted.tools, None)
    return patch


async def enforce(app: App, caller: Caller, wanted: MemoryEnforce) -> Outcome:
    """Sets the level; the row becomes a person's."""
    if wanted.level not in LEVELS:
        raise HmdError("usage", f"'{wanted.level}' is no level", do=f"one of {', '.join(LEVELS)}")
    row = await app.store.get_memory(wanted.id)
    notes: list[str] = []
    _warn(msgspec.structs.replace(row, level=wanted.level), notes)
    change = Enforce(
        actor=caller.actor,
        at=app.now(),
        memory=row.id,
        version=ids.new_id(),
        level=wanted.level,
    )
    outcome = await app.make_or_propose(caller, change, "enforce", row.id, wanted.level)
    outcome.notes = notes + outcome.notes
    return outcome


async def reject(app: App, caller: Caller, ref: MemoryRef) -> Outcome:
    row = await app.store.get_memory(ref.id)
    change = SetStatus(
        actor=caller.actor,
        at=app.now(),
        memory=row.id,
        version=ids.new_id(),
        status="rejected",
        note=redact(ref.note),
    )
    return await app.make_or_propose(caller, change, "reject", row.id)


async def promote(app: App, caller: Caller, ref: MemoryRef) -> Outcome:
    """Active, a person's, without an end."""
    return await _restate(app, caller, ref, Promote, "promote")


async def demote(app: App, caller: Caller, ref: MemoryRef) -> Outcome:
    """Out of force: back among the candidates."""
    return await _restate(app, caller, ref, Demote, "demote")


async def restore(app: App, caller: Caller, ref: MemoryRef) -> Outcome:
    """Active again after it was rejected, stale or superseded."""
    return await _restate(app, caller, ref, Restore, "restore")


async def _restate(
    app: App,
    caller: Caller,
    ref: MemoryRef,
    kind: type[Promote] | type[Demote] | type[Restore],
    proposes: str,
) -> Outcome:
    row = await app.store.get_memory(ref.id)
    change = kind(
        actor=caller.actor,
        at=app.now(),
        memory=row.id,
        version=ids.new_id(),
        note=redact(ref.note),
    )
    return await app.make_or_propose(caller, change, proposes, row.id)
