"""`hmctl proposal`: what agents and learning suggest, for a person to decide."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.outcomes import tell
from hmd.cli.session import Json, session_of
from hmd.core.answers import Outcome
from hmd.core.errors import HmdError
from hmd.core.proposals import ProposalFilter, ProposalList, ProposalRef

app = typer.Typer(no_args_is_help=True, help="Suggestions that wait for a person.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Identifier, or its first digits.")]
Note = Annotated[str, typer.Option("--note", help="Why, kept in the history.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    kind: Annotated[str, typer.Option("--kind", help="Of one kind.")] = "",
    state: Annotated[
        str, typer.Option("--state", help="open, accepted, rejected or expired.")
    ] = "open",
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most.")] = 200,
    json: Json = False,
) -> None:
    """List proposals; the open ones unless told otherwise."""
    wanted = ProposalFilter(state=state, kind=kind, limit=limit)
    found = session_of(ctx).call("proposal.list", wanted, ProposalList)
    if json:
        show.json_answer(found)
        return
    rows = []
    for row in found.rows:
        what = "; ".join([show.line(part) for part in row.changes] or [show.line(row.reason)])
        rows.append([show.short(row.id), row.state, row.kind, row.actor, what])
    if rows:
        show.answer(show.table(rows))
    else:
        show.note("no proposals")


@app.command("accept")
def accept(
    ctx: typer.Context,
    id_: Annotated[
        str, typer.Argument(metavar="[ID]", help="Identifier, or its first digits.")
    ] = "",
    kind: Annotated[str, typer.Option("--kind", help="With --all: of one kind.")] = "",
    all_: Annotated[bool, typer.Option("--all", help="Every open one of the kind.")] = False,
    note: Note = "",
    json: Json = False,
) -> None:
    """Carry out what a proposal suggests, or all of one kind."""
    session = session_of(ctx)
    if bool(id_) == (all_ and bool(kind)):
        raise HmdError("usage", "name one proposal, or --kind KIND --all")
    wanted = [id_]
    if not id_:
        filter_ = ProposalFilter(kind=kind, limit=100_000)
        wanted = [row.id for row in session.call("proposal.list", filter_, ProposalList).rows]
    if not wanted:
        show.note(f"no open proposal of kind '{kind}'")
    for name in wanted:
        request = ProposalRef(id=name, note=note)
        tell(session.call("proposal.accept", request, Outcome), "accepted", json)


@app.command("reject")
def reject(ctx: typer.Context, id_: Id, note: Note = "", json: Json = False) -> None:
    """Turn a proposal down."""
    request = ProposalRef(id=id_, note=note)
    tell(session_of(ctx).call("proposal.reject", request, Outcome), "rejected", json)
