"""`hmctl import-store`: brings over what another program remembers."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import choices, show
from hmd.cli.session import Json, session_of


def import_store(
    ctx: typer.Context,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Its database, or its folder of notes.")
    ],
    kind: Annotated[
        choices.StoreKind | None, typer.Option("--kind", help="Which program's; else by content.")
    ] = None,
    user_wide: Annotated[
        bool, typer.Option("--user-wide", help="Rules for every project, not only this one.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would come.")] = False,
    json: Json = False,
) -> None:
    """Bring over harness-memory, memharness or HarnMem. The source is only read; doing it twice
    changes nothing."""
    from hmd.core.database import ImportQuery, ImportReport  # late

    asked = session_of(ctx)
    asked.refuse_agents("an agent cannot import another program's store")
    wanted = ImportQuery(
        kind=kind.value if kind else "",
        path=asked.absolute(path),
        user_wide=user_wide,
        dry_run=dry_run,
    )
    done = asked.call("db.import", wanted, ImportReport)
    if json:
        show.json_answer(done)
        return
    held = ", ".join(f"{count} {name}" for name, count in done.counted.items() if count)
    show.answer(f"{done.kind} {done.version}: {held or 'empty'}")
    show.answer(
        f"{'would add' if dry_run else 'added'} {done.added}, {done.known} known already, "
        f"{done.forgotten} forgotten here, {len(done.skipped)} left out"
    )
    for line in done.skipped:
        show.answer("  left out: " + show.line(line))
    for line in done.not_understood:
        show.answer("  not understood: " + show.line(line))
    for line in done.notes:
        show.note(line)
