"""`hmctl queue`: episodes that wait for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.core.learning import EpisodeRow, RunRow

app = typer.Typer(no_args_is_help=True, help="What waits to be learned from.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Episode, or its first digits.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    state: Annotated[
        str,
        typer.Option(
            "--state", help="queued, leased, waiting, done, no_signal, dead, dropped or all."
        ),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most.")] = 200,
    json: Json = False,
) -> None:
    """List episodes; what waits or died unless told otherwise."""
    from hmd.core.queue import QueueFilter, QueueList  # late

    wanted = QueueFilter(state=state, limit=limit)
    found = session_of(ctx).call("queue.list", wanted, QueueList)
    if json:
        show.json_answer(found)
    elif found.rows:
        show.answer(show.table([row_of(row) for row in found.rows]))
    else:
        show.note("nothing waits")


@app.command("show")
def show_(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Show an episode and the calls made for it."""
    from hmd.core.queue import QueueRef, QueueView  # late

    found = session_of(ctx).call("queue.show", QueueRef(id=id_), QueueView)
    if json:
        show.json_answer(found)
        return
    row = found.row
    flags = [name for name in ("correction", "remember", "decision") if getattr(row, name)]
    lines = [
        ["episode", row.id],
        ["session", f"{row.session}, turn {row.turn}, segment {row.segment}"],
        ["time", f"{show.moment(row.started)} to {show.moment(row.ended)} ({row.closed})"],
        ["weight", f"{row.weight} {' '.join(flags)}".rstrip()],
        ["state", f"{row.state}, {row.attempts} attempts"],
        ["reason", show.line(row.reason) or "-"],
        ["summary", show.line(row.summary) or "-"],
    ]
    if row.not_before:
        lines.append(["not before", show.moment(row.not_before)])
    show.answer(show.table(lines))
    for run in found.runs:
        show.answer(run_line(run))


@app.command("retry")
def retry(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Serve an episode again, at once and with all its attempts."""
    _change(ctx, "queue.retry", id_, "queued", json)


@app.command("drop")
def drop(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Never show an episode to a model."""
    _change(ctx, "queue.drop", id_, "dropped", json)


def _change(ctx: typer.Context, method: str, id_: str, done: str, json: bool) -> None:
    from hmd.core.queue import QueueRef, QueueView  # late

    session = session_of(ctx)
    session.refuse_agents("an agent cannot change the queue")
    found = session.call(method, QueueRef(id=id_), QueueView)
    if json:
        show.json_answer(found)
    else:
        show.answer(f"{done} {show.short(found.row.id)}")


def row_of(row: EpisodeRow) -> list[str]:
    """An episode as a line of a table."""
    why = f" ({show.line(row.reason)})" if row.reason else ""
    return [
        show.short(row.id),
        row.state,
        show.moment(row.ended),
        f"weight {row.weight}",
        "correction" if row.correction else "",
        show.line(row.summary) + why,
    ]


def run_line(run: RunRow) -> str:
    """A call of a provider in one line."""
    money = f", {run.cost_usd:.4f} USD" if run.cost_usd is not None else ""
    tokens = f"{run.input_tokens + run.cached_tokens} tokens in, {run.output_tokens} out"
    counts = ", ".join(f"{name} {count}" for name, count in run.counts.items())
    words = f": {show.line(run.message)}" if run.message else f": {counts}" if counts else ""
    return (
        f"{show.moment(run.started)} {run.provider} {run.kind} {run.status} "
        f"({tokens}{money}){words}"
    )
