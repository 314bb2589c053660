"""`hmctl memory`: rules and facts, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmd.cli import choices, show
from hmd.cli.outcomes import tell
from hmd.cli.session import Json, session_of
from hmd.core.answers import Outcome
from hmd.core.errors import HmdError
from hmd.core.memory import TRIGGERS, Content
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

if TYPE_CHECKING:
    from hmd.core.memory import MemoryRow

app = typer.Typer(no_args_is_help=True, help="Rules and facts: add, look at, change.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Identifier, or its first digits.")]
Note = Annotated[str, typer.Option("--note", help="Why, kept in the history.")]
Triggers = Annotated[
    str | None,
    typer.Option("--triggers", metavar="A,B", help=f"When it is given: {', '.join(TRIGGERS)}."),
]
Tools = Annotated[
    str | None,
    typer.Option("--tools", metavar="A,B", help="Tools it is for (bash, edit, mcp:server/tool)."),
]
Signature = Annotated[
    str | None,
    typer.Option(
        "--signature",
        metavar="TOOL:TARGET:KIND:PATTERN",
        help="The calls it matches; KIND is cmd, glob, regex or substring; ! before it negates.",
    ),
]
Aliases = Annotated[
    str | None, typer.Option("--aliases", metavar="A,B", help="Other words it is known by.")
]
PolicyOption = Annotated[
    choices.Policy | None,
    typer.Option("--policy-subtype", help="For a policy: hard asks before the call, soft advises."),
]
Share = Annotated[float | None, typer.Option(min=0, max=1, help="Between 0 and 1.")]


@app.command("add")
def add(
    ctx: typer.Context,
    summary: Annotated[str, typer.Option("--summary", help="What to do or not to do, in a line.")],
    type_: Annotated[
        choices.MemoryType,
        typer.Option("--type", help="What kind of memory it is."),
    ] = choices.MemoryType.pitfall,
    details: Annotated[str, typer.Option("--details", help="Reasons and particulars.")] = "",
    scope: Annotated[
        str, typer.Option("--scope", metavar="GLOB", help="Files it is about, from the root.")
    ] = "**",
    triggers: Triggers = None,
    signature: Signature = None,
    tools: Tools = None,
    enforce: Annotated[
        choices.Level | None,
        typer.Option("--enforce", help="How firmly; by default from type and signature."),
    ] = None,
    aliases: Aliases = None,
    policy_subtype: PolicyOption = None,
    confidence: Share = None,
    importance: Share = None,
    active: Annotated[
        bool, typer.Option("--active", help="In force at once, not a candidate.")
    ] = False,
    user_wide: Annotated[
        bool, typer.Option("--user-wide", help="In every project, not only this one.")
    ] = False,
    json: Json = False,
) -> None:
    """Add a memory of yours: a candidate, or in force at once with --active."""
    draft = MemoryDraft(
        type=type_.value,
        summary=summary,
        details=details,
        scope=scope,
        triggers=_triggers(triggers),
        signature=signature or "",
        tools=choices.words(tools),
        level=enforce.value if enforce else None,
        aliases=choices.words(aliases) or [],
        policy=policy_subtype.value if policy_subtype else None,
        confidence=confidence,
        importance=importance,
        active=active,
        user_wide=user_wide,
    )
    tell(session_of(ctx).call("memory.add", draft, Outcome), "added", json)


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[
        choices.Status | None,
        typer.Option("--status", help="By default what lives: candidate, active, stale."),
    ] = None,
    type_: Annotated[choices.MemoryType | None, typer.Option("--type", help="Of one type.")] = None,
    authority: Annotated[
        choices.Authority | None, typer.Option("--authority", help="Made by people or learned.")
    ] = None,
    source: Annotated[
        str, typer.Option("--source", help="Where it came from: manual, import, extraction, …")
    ] = "",
    scope: Annotated[str, typer.Option("--scope", help="With exactly this scope.")] = "",
    unconfirmed: Annotated[
        bool, typer.Option("--unconfirmed", help="Imported and not yet confirmed.")
    ] = False,
    contested: Annotated[
        bool, typer.Option("--contested", help="With evidence against it.")
    ] = False,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="Of every project.")] = False,
    user_wide: Annotated[bool, typer.Option("--user-wide", help="User-wide ones only.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most.")] = 200,
    json: Json = False,
) -> None:
    """List memories: the ones of this project and the user-wide ones."""
    wanted = MemoryFilter(
        status=status.value if status else "",
        type=type_.value if type_ else "",
        authority=authority.value if authority else "",
        source=source,
        scope=scope,
        unconfirmed=unconfirmed,
        contested=contested,
        project="all" if all_projects else None,
        user_wide=user_wide,
        limit=limit,
    )
    found = session_of(ctx).call("memory.list", wanted, MemoryList)
    if json:
        show.json_answer(found)
        return
    if found.rows:
        show.answer(show.table([_row(row) for row in found.rows]))
    if found.total > len(found.rows):
        show.note(f"{len(found.rows)} of {found.total}; more with --limit")
    elif not found.rows:
        show.note("no memories")


def _row(row: MemoryRow) -> list[str]:
    where = "user" if row.project is None else "project"
    return [
        show.short(row.id), row.status, row.type, row.level, row.authority, where,
        show.line(row.summary),
    ]  # fmt: skip


@app.command("show")
def show_(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Show one memory with what it rests on."""
    view = session_of(ctx).call("memory.show", MemoryRef(id=id_), MemoryView)
    if json:
        show.json_answer(view)
        return
    lines = [f"{name:<11} {text}" for name, text in _fields(view.row) if text]
    for one in view.evidence:
        what = " ".join(part for part in (one.kind, one.ref, show.line(one.excerpt)) if part)
        lines.append(f"{'evidence':<11} {what}")
    show.answer("\n".join(lines))


def _fields(row: MemoryRow) -> list[tuple[str, str]]:
    marks = [word for word in ("unconfirmed", "contested", "baseline") if getattr(row, word)]
    return [
        ("id", row.id),
        ("version", show.short(row.version)),
        ("summary", show.line(row.summary)),
        ("details", row.details),
        ("type", row.type + (f" ({row.policy})" if row.policy else "")),
        ("status", row.status + (f": {show.line(row.note)}" if row.note else "")),
        ("level", row.level),
        ("authority", f"{row.authority}, {row.evidence}"),
        ("where", "user-wide" if row.project is None else f"project {show.short(row.project)}"),
        ("scope", row.scope),
        ("triggers", ", ".join(row.triggers)),
        ("tools", ", ".join(row.tools or [])),
        ("signature", row.sig.spec if row.sig else ""),
        ("aliases", ", ".join(row.aliases)),
        ("weight", f"importance {row.importance:g}, confidence {row.confidence:g}"),
        ("marks", ", ".join(marks)),
        ("source", " ".join(part for part in (row.source, row.source_ref) if part)),
        ("worktree", row.origin.worktree),
        ("created", show.moment(row.created)),
        ("changed", f"{show.moment(row.recorded_at)} by {row.actor}"),
        ("expires", show.moment(row.expires)),
    ]


@app.command("edit")
def edit(
    ctx: typer.Context,
    id_: Id,
    summary: Annotated[str | None, typer.Option("--summary", help="The new line.")] = None,
    details: Annotated[
        str | None, typer.Option("--details", help="Reasons and particulars.")
    ] = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="GLOB", help="Files it is about.")
    ] = None,
    triggers: Triggers = None,
    signature: Signature = None,
    tools: Tools = None,
    aliases: Aliases = None,
    policy_subtype: PolicyOption = None,
    confidence: Share = None,
    importance: Share = None,
    baseline: Annotated[
        bool | None, typer.Option("--baseline/--no-baseline", help="Given on every prompt.")
    ] = None,
    user_wide: Annotated[
        bool | None, typer.Option("--user-wide/--this-project", help="Where it is in force.")
    ] = None,
    json: Json = False,
) -> None:
    """Change what a memory says; only what is given changes. The earlier version is kept."""
    given: dict[str, Any] = {
        "summary": summary,
        "details": details,
        "scope": scope,
        "triggers": _triggers(triggers),
        "signature": signature,
        "aliases": choices.words(aliases),
        "policy": policy_subtype.value if policy_subtype else None,
        "confidence": confidence,
        "importance": importance,
        "baseline": baseline,
        "user_wide": user_wide,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if tools is not None:
        changes["tools"] = choices.words(tools) or None  # "" means: any tool
    if not changes:
        raise HmdError("usage", "nothing to change was given", do="see hmctl memory edit --help")
    request = MemoryEdit(id=id_, **changes)
    tell(session_of(ctx).call("memory.edit", request, Outcome), "changed", json)


@app.command("enforce")
def enforce(
    ctx: typer.Context,
    id_: Id,
    level: Annotated[choices.Level, typer.Argument(help="How firmly.")],
    json: Json = False,
) -> None:
    """Set how firmly a memory acts. It becomes yours by that."""
    request = MemoryEnforce(id=id_, level=level.value)
    tell(session_of(ctx).call("memory.enforce", request, Outcome), "set", json)


@app.command("reject")
def reject(ctx: typer.Context, id_: Id, note: Note = "", json: Json = False) -> None:
    """Put a memory out of force; hmctl memory restore brings it back."""
    _by_id(ctx, "memory.reject", id_, note, "rejected", json)


@app.command("promote")
def promote(ctx: typer.Context, id_: Id, note: Note = "", json: Json = False) -> None:
    """Put a candidate or stale memory in force as yours, without an end."""
    _by_id(ctx, "memory.promote", id_, note, "promoted", json)


@app.command("demote")
def demote(ctx: typer.Context, id_: Id, note: Note = "", json: Json = False) -> None:
    """Make a memory in force a candidate again."""
    _by_id(ctx, "memory.demote", id_, note, "demoted", json)


@app.command("restore")
def restore(ctx: typer.Context, id_: Id, note: Note = "", json: Json = False) -> None:
    """Put a rejected, stale or superseded memory in force again."""
    _by_id(ctx, "memory.restore", id_, note, "restored", json)


def _by_id(ctx: typer.Context, method: str, id_: str, note: str, done: str, json: bool) -> None:
    request = MemoryRef(id=id_, note=note)
    tell(session_of(ctx).call(method, request, Outcome), done, json)


@app.command("history")
def history(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Every version of a memory, the oldest first: what changed, when and by whom."""
    found = session_of(ctx).call("memory.history", MemoryRef(id=id_), MemoryHistory)
    if json:
        show.json_answer(found)
        return
    rows = []
    before: MemoryRow | None = None
    for row in found.versions:
        what = row.note or _difference(before, row)
        rows.append(
            [show.moment(row.recorded_at), row.actor, row.status, row.level, show.line(what)]
        )
        before = row
    show.answer(show.table(rows))


def _difference(before: MemoryRow | None, row: MemoryRow) -> str:
    """What a version says that the one before it did not."""
    if before is None:
        return row.summary
    names = [name for name in Content.__struct_fields__ if name not in ("status", "note")]
    changed = [name for name in names if getattr(before, name) != getattr(row, name)]
    if before.project != row.project:
        changed.append("project")
    return "changed " + ", ".join(changed) if changed else row.change


def _triggers(text: str | None) -> Any:
    """The triggers of an option, each one known."""
    given = choices.words(text)
    for word in given or []:
        if word not in TRIGGERS:
            known = ", ".join(TRIGGERS)
            raise HmdError("usage", f"unknown trigger '{word}'", "--triggers", f"one of {known}")
    return given
