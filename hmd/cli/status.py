"""`hmctl status`: one line that says how things stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.receipt import figures
from hmd.cli.session import Json, Session, session_of

if TYPE_CHECKING:
    from hmd.core.status import Status


def status(
    ctx: typer.Context,
    full: Annotated[bool, typer.Option("--full", help="Everything, a line each.")] = False,
    json: Json = False,
) -> None:
    """Say how things stand here. One line; exit 1 when hmd is not installed."""
    from hmd.core.status import Status  # late

    session = session_of(ctx)
    if not session.installed():
        if json:
            show.json_answer({"installed": False, "home": session.home.path})
        else:
            show.answer("not installed: run hmctl install")
        raise typer.Exit(1)
    found = session.call("status", {}, Status)
    if json:
        show.json_answer({"installed": True, **_plain(found)})
        return
    show.answer(one_line(found))
    if full:
        show.answer(show.table(_full(session, found)))
    if found.learning.enabled and found.learning.probe_hint:
        show.note("probe: " + found.learning.probe_hint)
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
    parts[3:3] = _learning(found)
    if found.disabled:
        parts.insert(0, "switched off")
    elif not found.enabled:
        parts.insert(0, "not enabled here")
    if found.store.state != "ready":
        parts.append(f"database {found.store.state}")
    return " | ".join(parts)


def _learning(found: Status) -> list[str]:
    """The queue and why it waits, the last extraction, the provider."""
    learning = found.learning
    if not learning.enabled:
        return ["extraction off"]
    queue = f"queue {learning.queued}"
    if learning.queued and learning.waiting:
        queue += f" (waiting: {learning.waiting})"
    if learning.dead:
        queue += f", {learning.dead} dead"
    last = "never"
    if learning.last_run_at is not None and found.started_at:
        now = found.started_at + found.uptime_ms
        last = f"{show.duration(now - learning.last_run_at)} ago {learning.last_run}"
    return [queue, f"last extraction {last}", f"probe {learning.probe or 'not yet'}"]


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
    learning = found.learning
    money = f", {learning.cost_today_usd:.4f} USD" if learning.cost_today_usd is not None else ""
    rows.append(["extraction", f"{learning.calls_today} calls in 24 h{money}"])
    rows.append(["this week", figures(learning.week)])
    if learning.probe and learning.probe != "ok":
        words = f": {show.line(learning.probe_message)}" if learning.probe_message else ""
        rows.append(["provider", f"{learning.provider or 'none'} {learning.probe}{words}"])
    decided = ", ".join(f"{name} {count}" for name, count in sorted(found.decisions.items()))
    rows.append(["decided", decided or "nothing yet"])
    for event, one in sorted(found.latency.items()):
        times = f"p50 {one.p50} µs, p95 {one.p95} µs, p99 {one.p99} µs"
        rows.append([event, f"{one.count} calls, {times}"])
    return rows
