"""Where things came from: a session's ledger in lines, and everything behind one memory."""

from functools import partial
from pathlib import Path

import trio

from hmd.app.context import App, Caller
from hmd.core.errors import HmdError
from hmd.core.learning import EpisodeRow, RunRow
from hmd.core.traces import MemoryTrace, SessionTrace, TraceLine, TraceWanted
from hmd.kernel import event as ev
from hmd.kernel import ledger
from hmd.store import episode_queue, learning, provider_runs, rule_receipts

MIN_PREFIX = 4
TEXT_LIMIT = 200


async def session(app: App, caller: Caller, wanted: TraceWanted) -> SessionTrace:
    """A session's ledger, a record a line; the newest ones where it is long. Raises HmdError."""
    folder = app.store.home.ledgers
    key, lines = await trio.to_thread.run_sync(_read, folder, wanted.id, wanted.limit)
    episodes = await app.store.read(partial(episode_queue.episodes_of, session=key))
    return SessionTrace(session=key, lines=lines, episodes=episodes)


def _read(folder: str, prefix: str, limit: int) -> tuple[str, list[TraceLine]]:
    if len(prefix) < MIN_PREFIX:
        raise HmdError("usage", f"'{prefix}' is too short", do=f"at least {MIN_PREFIX} digits")
    wanted = prefix.lower()
    found = sorted(path for path in Path(folder).glob("*.jsonl") if path.stem.startswith(wanted))
    if not found:
        raise HmdError("not_found", f"no session '{prefix}'", folder)
    if len(found) > 1:
        raise HmdError("usage", f"'{prefix}' names more than one session", do="give more digits")
    records, _ = ledger.records(found[0].read_bytes())
    return found[0].stem, [_line(record) for record in records[-limit:]]


def _line(record: ledger.Record) -> TraceLine:
    at, kind = record.get("t"), str(record.get("k", ""))
    parts = []
    if kind in (ev.PRE_TOOL, ev.POST_TOOL, ev.TOOL_FAILURE):
        parts.append(f"{record.get('tool', '')}: {record.get('input', '')}")
    if kind == ev.TOOL_FAILURE:
        parts.append(f"{record.get('class', '')} {record.get('error', '')}")
    if record.get("text"):
        parts.append(str(record["text"]))
    if record.get("detail"):
        parts.append(str(record["detail"]))
    fired = record.get("fired")
    for one in fired if isinstance(fired, list) else []:
        if isinstance(one, list) and len(one) >= 3:
            parts.append(f"[{str(one[0])[:8]} {one[2]} ({one[1]})]")
    flat = " ".join(" ".join(parts).split())
    text = flat if len(flat) <= TEXT_LIMIT else flat[: TEXT_LIMIT - 1] + "…"
    return TraceLine(at=at if isinstance(at, int) else 0, kind=kind, text=text)


async def memory(app: App, caller: Caller, wanted: TraceWanted) -> MemoryTrace:
    """The episodes, runs and cited lines that a memory rests on, and what it has done since."""
    view = await app.store.view_memory(wanted.id)
    known = await app.store.read(partial(learning.learned, memories=[view.row.id]))
    supports = known[view.row.id].supports if view.row.id in known else []
    episodes: list[EpisodeRow] = []
    for support in supports:
        rows = await app.store.read(partial(episode_queue.episodes_of, session=support.session))
        mine = [row for row in rows if row.id == support.episode]
        gone = EpisodeRow(
            id=support.episode, session=support.session, ended=support.at, weight=support.weight
        )
        episodes += mine or [gone]
    runs: list[RunRow] = []
    for name in dict.fromkeys(row.run for row in episodes if row.run):
        run = await app.store.read(partial(provider_runs.get_run, run=name))
        runs += [run] if run is not None else []
    receipts = await app.store.read(
        partial(rule_receipts.receipts, memory=view.row.id, by_week=True)
    )
    return MemoryTrace(
        row=view.row, evidence=view.evidence, episodes=episodes, runs=runs, receipts=receipts
    )
