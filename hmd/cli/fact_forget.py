"""`hmctl fact forget`, `restore` and `trash`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.fact_options import Id
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.core.forgetting import Forgotten


def forget(
    ctx: typer.Context,
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A fact or a rule, by its identifier.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", help="All from this source.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="All from this session.")
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="PATH", help="All from or about this file.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="All that say this.")] = None,
    hard: Annotated[
        bool, typer.Option("--hard", help="Erase at once from every copy; nothing brings it back.")
    ] = False,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow",
            help="Also what it replaced and became; by default only with --hard.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Json = False,
) -> None:
    """Forget facts and rules: gone from every answer at once, and erased after 30 days."""
    from hmd.core.forgetting import ForgetQuery, Forgotten  # late

    asked = session_of(ctx)
    if hard:
        asked.refuse_agents("an agent cannot erase for good")
    wanted = ForgetQuery(
        id=id_, source=source, session=session, file=file, text=text, hard=hard, follow=follow,
        dry_run=dry_run,
    )  # fmt: skip
    done = asked.call("fact.forget", wanted, Forgotten)
    word = "erased" if hard else "forgotten"
    _tell_forgotten(done, f"would be {word}" if dry_run else word, json)


def restore(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Bring back what was forgotten, within 30 days."""
    from hmd.core.forgetting import Forgotten, RestoreQuery  # late

    done = session_of(ctx).call("fact.restore", RestoreQuery(id=id_), Forgotten)
    _tell_forgotten(done, "brought back", json)


def trash(ctx: typer.Context, json: Json = False) -> None:
    """List what was forgotten and can still be brought back."""
    from hmd.core.forgetting import TrashList  # late

    found = session_of(ctx).call("fact.trash", {}, TrashList)
    if json:
        show.json_answer(found)
        return
    rows = [
        [show.short(row.id), row.kind, "until " + show.moment(row.erase_at), show.line(row.text)]
        for row in found.rows
    ]
    if rows:
        show.answer(show.table(rows))
    else:
        show.note("the trash is empty")


def _tell_forgotten(done: Forgotten, word: str, json: bool) -> None:
    if json:
        show.json_answer(done)
        return
    if done.proposal:
        show.answer(f"proposed {show.short(done.proposal)}")
    else:
        show.answer(f"{word}: {len(done.facts)} facts, {len(done.memories)} rules")
        for identifier in (*done.facts, *done.memories):
            show.answer("  " + show.short(identifier))
        if done.erase_at is not None and (done.facts or done.memories):
            show.note(f"erased for good at {show.moment(done.erase_at)} UTC")
        for path in done.scrubbed:
            show.note(f"overwritten in {path}")
    for note in done.notes:
        show.note(note)
