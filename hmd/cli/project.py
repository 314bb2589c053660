"""`hmctl project`: where hmd works, and what belongs together."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.outcomes import tell
from hmd.cli.session import Json, Session, session_of
from hmd.core.answers import Outcome
from hmd.core.projects import ProjectList, ProjectMerge, ProjectMove, ProjectRef

app = typer.Typer(no_args_is_help=True, help="Where hmd works: enable, move, merge, forget.")

Which = Annotated[
    str,
    typer.Argument(metavar="DIRECTORY|ID", help="A directory or an identifier; default: here."),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="Identifier, or its first digits.")]


def reference(session: Session, which: str) -> ProjectRef:
    """A directory where the words can be one, else an identifier."""
    digits = len(which) >= 4 and not set(which) - set("0123456789abcdef")
    if which and digits:
        return ProjectRef(id=which)
    return ProjectRef(path=session.absolute(which or "."))


@app.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """List the projects that are known."""
    found = session_of(ctx).call("project.list", {}, ProjectList)
    if json:
        show.json_answer(found)
        return
    rows = []
    for row in found.rows:
        state = "enabled" if row.enabled else "disabled"
        places = ", ".join(one.removesuffix("/.git") for one in row.locations) or row.name
        rows.append([show.short(row.id), state, f"{row.memories} memories", places])
    if rows:
        show.answer(show.table(rows))
    else:
        show.note("no projects")


@app.command("enable")
def enable(ctx: typer.Context, which: Which = "", json: Json = False) -> None:
    """Let hmd work in a project: its whole repository, worktrees included."""
    session = session_of(ctx)
    request = reference(session, which)
    tell(session.call("project.enable", request, Outcome), "enabled", json)


@app.command("disable")
def disable(ctx: typer.Context, which: Which = "", json: Json = False) -> None:
    """Record and answer nothing there; what is remembered stays."""
    session = session_of(ctx)
    request = reference(session, which)
    tell(session.call("project.disable", request, Outcome), "disabled", json)


@app.command("move")
def move(
    ctx: typer.Context,
    id_: Id,
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="Where it lives now.")],
    json: Json = False,
) -> None:
    """Tell that a project lives somewhere else now."""
    session = session_of(ctx)
    request = ProjectMove(id=id_, path=session.absolute(directory))
    tell(session.call("project.move", request, Outcome), "moved", json)


@app.command("merge")
def merge(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Identifier that goes.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="Identifier that stays.")],
    json: Json = False,
) -> None:
    """Make two projects one: everything of SOURCE becomes INTO's."""
    request = ProjectMerge(source=source, into=into)
    tell(session_of(ctx).call("project.merge", request, Outcome), "merged into", json)


@app.command("forget")
def forget(
    ctx: typer.Context,
    id_: Id,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Forget a project and its memories."""
    if not yes:
        typer.confirm(f"forget project {id_} and its memories?", abort=True, err=True)
    request = ProjectRef(id=id_)
    tell(session_of(ctx).call("project.forget", request, Outcome), "forgot", json)
