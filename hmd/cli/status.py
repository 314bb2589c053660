"""`hmctl status`: one line that says how things stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of

if TYPE_CHECKING:
    from hmd.core.model import Status


def status(
    ctx: typer.Context,
    full: Annotated[bool, typer.Option("--full", help="Everything, a line each.")] = False,
    json: Json = False,
) -> None:
    """Say how things stand here. One line; exit 1 when hmd is not installed."""
    from hmd.core import model  # late

    session = session_of(ctx)
    if not session.installed():
        if json:
            show.json_answer({"installed": False, "home": session.home.path})
        else:
            show.answer("not installed: run hmctl install")
        raise typer.Exit(1)
    found = session.call("status", {}, model.Status)
    if json:
        show.json_answer({"installed": True, **_plain(found)})
        return
    show.answer(one_line(found))
    if full:
        show.answer(show.table(_full(session, found)))
    for line in found.config_problems + found.store.problems:
        show.note("warning: " + line)


def _plain(found: Status) -> dict[str, object]:
    import msgspec  # late

    plain: dict[str, object] = msgspec.to_builtins(found)
    return plain


def one_line(found: Status) -> str:
    """The parts that a person looks at first."""
    counts = found.counts
    proposals = f"proposals {counts.proposals}"
    if counts.proposals_expiring:
        proposals += f" ({counts.proposals_expiring} expiring)"
    before_tool = found.latency.get("PreToolUse")
    parts = [
        f"active {counts.active} (auto {counts.active_auto})",
        f"candidates {counts.candidates}",
        proposals,
        f"snapshot {found.snapshot}",
        f"p95 {before_tool.p95 / 1000:.1f} ms" if before_tool and before_tool.count else "p95 -",
    ]
    if found.disabled:
        parts.insert(0, "switched off")
    elif not found.enabled:
        parts.insert(0, "not enabled here")
    if found.store.state != "ready":
        parts.append(f"database {found.store.state}")
    return " | ".join(parts)


def _full(session: Session, found: Status) -> list[list[str]]:
    store = found.store
    rows = [
        ["home", found.home or session.home.path],
        ["project", f"{show.short(found.project)} {'enabled' if found.enabled else 'not enabled'}"],
        [
            "daemon",
            f"process {found.pid}, build {found.build}, up {show.duration(found.uptime_ms)}",
        ],
        ["sessions", str(found.sessions)],
        ["snapshot", f"{found.snapshot}, generation {found.generation}"],
        ["database", f"{store.state}, schema {store.schema}, {store.applied_seq} changes"],
        ["backup", show.moment(store.last_backup) or "none yet"],
        ["projects", str(found.counts.projects)],
        ["stale", str(found.counts.stale)],
    ]
    decided = ", ".join(f"{name} {count}" for name, count in sorted(found.decisions.items()))
    rows.append(["decided", decided or "nothing yet"])
    for event, one in sorted(found.latency.items()):
        times = f"p50 {one.p50} µs, p95 {one.p95} µs, p99 {one.p99} µs"
        rows.append([event, f"{one.count} calls, {times}"])
    return rows
