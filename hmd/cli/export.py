"""`hmctl export`: what is remembered, as SQL, Markdown or skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.core.database import ExportReport

app = typer.Typer(no_args_is_help=True, help="What is remembered, as SQL, Markdown or skills.")

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="An empty or a new folder.")]


@app.command("sql")
def sql(
    ctx: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Instead of standard output.")
    ] = "",
    json: Json = False,
) -> None:
    """The whole database as SQL; the same text for the same state."""
    done = _export(ctx, "sql", output)
    if json or output:
        _tell(done, json)
    else:
        show.write(done.text)


@app.command("markdown")
def markdown(ctx: typer.Context, folder: Folder, json: Json = False) -> None:
    """One file for each rule and fact, with front matter, and an index."""
    _tell(_export(ctx, "markdown", folder), json)


@app.command("skills")
def skills(
    ctx: typer.Context,
    folder: Folder,
    memory: Annotated[
        str, typer.Option("--memory", metavar="ID", help="Only this one; it must be active.")
    ] = "",
    json: Json = False,
) -> None:
    """A SKILL.md for each active rule of high confidence and importance."""
    _tell(_export(ctx, "skills", folder, memory), json)


def _export(ctx: typer.Context, kind: str, path: str, memory: str = "") -> ExportReport:
    from hmd.core.database import ExportQuery, ExportReport  # late

    asked = session_of(ctx)
    wanted = ExportQuery(
        kind=kind,  # type: ignore[arg-type]
        path=asked.absolute(path) if path else "",
        id=memory,
    )
    return asked.call("db.export", wanted, ExportReport)


def _tell(done: ExportReport, json: bool) -> None:
    if json:
        show.json_answer(done)
    elif done.files:
        show.answer(f"{done.rows} rows in {len(done.files)} files: {done.files[0]}")
    else:
        show.note("nothing to export")
