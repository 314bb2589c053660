"""`hmctl eval`: measures; changes nothing of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.setup.latency import Series

app = typer.Typer(no_args_is_help=True, help="Measure how hmd does here.")


@app.command("latency")
def latency(
    ctx: typer.Context,
    local: Annotated[
        bool, typer.Option("--local", help="This installation, in this project, as it is.")
    ] = False,
    runs: Annotated[int, typer.Option("--runs", min=5, max=5_000, help="Hook calls.")] = 50,
    threshold: Annotated[
        float,
        typer.Option("--threshold", metavar="MS", help="Exit 1 where p95 is above; 0 for none."),
    ] = 0.0,
    memories: Annotated[
        int, typer.Option("--memories", min=0, max=100_000, help="Rules of the fresh home.")
    ] = 300,
    large: Annotated[bool, typer.Option("--large", help="The same as --memories 3000.")] = False,
    json: Json = False,
) -> None:
    """How long a hook process takes, beside the bare interpreter. Uses a home of its own."""
    from hmd.setup import latency as setup  # late
    from hmd.setup import receipt  # late

    session = session_of(ctx)
    if local:
        known = receipt.load_if_whole(session.home)
        found = setup.measure_local(session.home, known, session.cwd, runs)
    else:
        found = setup.measure_fresh(runs, setup.LARGE if large else memories, show.note)
    _tell(found, json)
    if threshold and any(one.p95 > threshold for one in found if one.name.startswith("hook")):
        show.note(f"p95 is above {threshold:g} ms")
        raise typer.Exit(1)


def _tell(found: list[Series], json: bool) -> None:
    if json:
        show.json_answer({"series": found})
        return
    rows = [["", "runs", "p50 ms", "p95 ms", "p99 ms"]]
    rows += [
        [one.name, str(one.runs), f"{one.p50:.1f}", f"{one.p95:.1f}", f"{one.p99:.1f}"]
        for one in found
    ]
    show.answer(show.table(rows))
