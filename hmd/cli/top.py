"""`hmctl top`: what the daemon does at this moment, again and again."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.core.status import Status

_CLEAR = "\x1b[H\x1b[2J"  # cursor to the corner, screen empty (ECMA-48)


def top(
    ctx: typer.Context,
    interval: Annotated[
        float,
        typer.Option(
            "--interval", min=0.1, max=3600, metavar="SECONDS", help="How often to look again."
        ),
    ] = 1.0,
    count: Annotated[int, typer.Option("--count", min=0, help="So many views; 0: no end.")] = 0,
    json: Json = False,
) -> None:
    """Watch events, verdicts and latencies as they come. Ends with Ctrl-C."""
    from hmd.core.status import Status  # late

    session = session_of(ctx)
    before: Status | None = None
    shown = 0
    while True:
        found = session.call("status", {}, Status)
        if json:
            show.json_answer(found)
        else:
            if sys.stdout.isatty():
                sys.stdout.write(_CLEAR)
            show.answer(view(found, before, interval))
            sys.stdout.flush()
        before, shown = found, shown + 1
        if count and shown >= count:
            return
        time.sleep(interval)


def view(now: Status, before: Status | None, seconds: float) -> str:
    """One screen. Rates are those since the view before of the same daemon."""
    if before is not None and (before.pid, before.started_at) != (now.pid, now.started_at):
        before = None
    counts = now.counts
    head = [
        f"process {now.pid}, build {now.build}, up {show.duration(now.uptime_ms)}, {now.owner}",
        f"sessions {now.sessions}, active {counts.active}, candidates {counts.candidates}, "
        f"proposals {counts.proposals}, database {now.store.state}, snapshot {now.snapshot}",
    ]
    rows = [["event", "calls", "per s", "p50 µs", "p95 µs", "p99 µs"]]
    for event, one in sorted(now.latency.items()):
        earlier = before.latency.get(event) if before is not None else None
        rate = "-"
        if before is not None:
            rate = f"{(one.count - (earlier.count if earlier else 0)) / seconds:.1f}"
        rows.append([event, str(one.count), rate, str(one.p50), str(one.p95), str(one.p99)])
    decided = ", ".join(f"{name} {number}" for name, number in sorted(now.decisions.items()))
    return "\n".join([*head, "", show.table(rows), "", "decided: " + (decided or "nothing yet")])
