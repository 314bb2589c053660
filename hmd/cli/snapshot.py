"""`hmctl snapshot`: the files that verdicts are decided from."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of
from hmd.core.snapshots import SnapshotList, SnapshotRef

app = typer.Typer(no_args_is_help=True, help="The files that verdicts are decided from.")


@app.command("rebuild")
def rebuild(
    ctx: typer.Context,
    project: Annotated[
        str, typer.Option("--project", metavar="ID", help="One project's, or user; default: all.")
    ] = "",
    json: Json = False,
) -> None:
    """Write the snapshots anew from the database."""
    request = SnapshotRef(project=project)
    found = session_of(ctx).call("snapshot.rebuild", request, SnapshotList)
    if json:
        show.json_answer(found)
        return
    rows = [
        [
            show.short(row.project),
            f"generation {row.generation}",
            f"{row.records} records",
            f"{row.bytes} bytes",
        ]
        for row in found.rows
    ]
    show.answer(show.table(rows) or "nothing to rebuild")
