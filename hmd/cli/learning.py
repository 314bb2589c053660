"""`hmctl extract`, `consolidate`, `costs`, `trace` and `memory stats`: learning, by hand and seen
through."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.queue import row_of, run_line
from hmd.cli.receipt import figures
from hmd.cli.session import Json, session_of

trace = typer.Typer(no_args_is_help=True, help="Where things came from.")


def extract(
    ctx: typer.Context,
    now: Annotated[
        bool, typer.Option("--now", help="Also what waits for its time after a failure.")
    ] = False,
    provider: Annotated[
        str, typer.Option("--provider", help="claude, codex or replay; else as configured.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print exactly what would be sent, and send nothing.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 80,
    json: Json = False,
) -> None:
    """Learn from what waits, now and in the foreground."""
    from hmd.core.queue import Extracted, ExtractWanted  # late

    session = session_of(ctx)
    if not dry_run:
        session.refuse_agents("an agent cannot spend on the user's account")
    wanted = ExtractWanted(now=now, provider=provider, dry_run=dry_run, limit=limit)
    done = session.call("extract", wanted, Extracted)
    if json:
        show.json_answer(done)
        return
    for number, prompt in enumerate(done.prompts, 1):
        show.note(f"--- {number} of {len(done.prompts)}: {len(prompt)} characters")
        show.answer(prompt)
    for run in reversed(done.runs):
        show.answer(run_line(run))
    if done.waiting:
        show.note(f"{len(done.episodes)} waiting: {done.waiting}")
    elif not done.runs and not done.prompts:
        show.note("nothing to learn from")


def consolidate(ctx: typer.Context, json: Json = False) -> None:
    """Expire, revalidate, merge and clean up now instead of every few hours."""
    from hmd.core.queue import Consolidation  # late

    done = session_of(ctx).call("consolidate", {}, Consolidation)
    if json:
        show.json_answer(done)
        return
    for name, count in sorted(done.counts.items()):
        show.answer(f"{count} {name}")
    show.answer(f"{done.files} files deleted")


def costs(
    ctx: typer.Context,
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="How far back.")] = 30,
    json: Json = False,
) -> None:
    """Say what extraction has cost, by day, as the CLIs report it."""
    from hmd.core.costs import Costs, CostsWanted  # late

    found = session_of(ctx).call("costs", CostsWanted(days=days), Costs)
    if json:
        show.json_answer(found)
        return
    rows = []
    for day in [*found.days, found.total]:
        money = f"{day.cost_usd:.4f} USD" if day.cost_usd is not None else "no money named"
        rows.append(
            [
                show.moment(day.day)[:10] if day is not found.total else "total",
                f"{day.calls} calls",
                f"{day.failed} failed",
                f"{day.input_tokens + day.cached_tokens} tokens in",
                f"{day.output_tokens} out",
                money,
            ]
        )
    show.answer(show.table(rows))
    show.answer(
        f"last 24 hours: {found.last_day_calls} calls of {found.cap}, corrections up to "
        f"{found.hard_cap}"
    )


@trace.command("session")
def trace_session(
    ctx: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="KEY", help="Session key, or its first digits.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most.")] = 2000,
    json: Json = False,
) -> None:
    """Print a session's ledger: prompts, calls, failures, and which rules took part."""
    from hmd.core.traces import SessionTrace, TraceWanted  # late

    wanted = TraceWanted(id=id_, limit=limit)
    found = session_of(ctx).call("trace.session", wanted, SessionTrace)
    if json:
        show.json_answer(found)
        return
    show.answer(
        show.table([[show.moment(one.at), one.kind, show.line(one.text)] for one in found.lines])
    )
    for row in found.episodes:
        show.answer("episode " + "  ".join(part for part in row_of(row) if part))


@trace.command("memory")
def trace_memory(
    ctx: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID", help="Identifier, or its first digits.")],
    json: Json = False,
) -> None:
    """Print what a memory rests on and what it has done since."""
    from hmd.core.traces import MemoryTrace, TraceWanted  # late

    wanted = TraceWanted(id=id_)
    found = session_of(ctx).call("trace.memory", wanted, MemoryTrace)
    if json:
        show.json_answer(found)
        return
    row = found.row
    show.answer(f"{show.short(row.id)} {row.type} ({row.status}, {row.level}): {row.summary}")
    for evidence in found.evidence:
        show.answer(f"  {evidence.ref}: {show.line(evidence.excerpt)}")
    for episode in found.episodes:
        show.answer("episode " + "  ".join(part for part in row_of(episode) if part))
    for run in found.runs:
        show.answer("run " + run_line(run))
    for receipt in found.receipts:
        show.answer("week of " + show.moment(receipt.week)[:10] + ": " + figures(receipt))


def stats(
    ctx: typer.Context,
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="How far back.")] = 7,
    json: Json = False,
) -> None:
    """Count memories, review load, automatic activations and what rules have done."""
    from hmd.core.receipts import MemoryStats, StatsWanted  # late

    found = session_of(ctx).call("memory.stats", StatsWanted(days=days), MemoryStats)
    if json:
        show.json_answer(found)
        return
    rows = []
    for name in ("by_status", "by_authority", "by_type"):
        counts = ", ".join(f"{key} {count}" for key, count in sorted(getattr(found, name).items()))
        rows.append([name.replace("_", " "), counts or "none"])
    load = found.reviewed / found.active_days if found.active_days else 0.0
    share = 100 * found.activated_rejected / found.activated if found.activated else 0.0
    rows += [
        ["review", f"{found.reviewed} decided, {load:.1f} on an active day (aim: 3 at most)"],
        ["activated", f"{found.activated} by themselves, {share:.0f} % rejected (aim: 10 at most)"],
        [
            "overridden",
            ", ".join(f"{name} times: {count}" for name, count in sorted(found.overrides.items()))
            or "no rule fired",
        ],
    ]
    show.answer(show.table(rows))
    for receipt in sorted(found.receipts, key=lambda one: (-one.fired, one.memory)):
        show.answer(f"{show.short(receipt.memory)}: {figures(receipt)}")
