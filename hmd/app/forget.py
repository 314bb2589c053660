"""Forgetting: hide at once, keep 30 days for `restore`, then erase from every copy.

Facts and rules alike. What a forgotten thing was learned from is remembered as a keyed hash, so
that no automatic path brings it back (hmd/store/tombstones.py).
"""

import sqlite3
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from hmd.app.context import App, Caller, TakeOut, only_people
from hmd.core import ids
from hmd.core.changes import AnyChange, Erase, ExpireProposal, Forget, OpenProposal, Unforget
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.core.forgetting import (
    TRASH_DAYS,
    ForgetQuery,
    Forgotten,
    RestoreQuery,
    TrashList,
    TrashRow,
)
from hmd.core.memory import MemoryRow
from hmd.hosts.table import HOSTS
from hmd.kernel.address import session_key
from hmd.kernel.snapshot import USER
from hmd.store import facts, facts_read, forgetting, mask, memories, redo, scrub_sessions
from hmd.store.facts_read import Said
from hmd.store.leftovers import Left
from hmd.store.mask import Words

DAY_MS = 86_400_000
TRASH_MS = TRASH_DAYS * DAY_MS
_WAYS = ("id", "source", "session", "file", "text")
# So that `--text e` does not take half the store along.
SHORTEST_TEXT = 3
# Erased in one go from the trash: each word of it is looked for in every file.
AT_ONCE = 64


class Chosen(NamedTuple):
    """What a query names."""

    facts: list[Said]
    memories: list[MemoryRow]


async def forget(app: App, caller: Caller, wanted: ForgetQuery) -> Forgotten:
    """Hides what the query names, or erases it with `hard`. Raises HmdError.

    Something already forgotten is counted once only; a second `hard` still erases it.
    """
    _way(wanted)
    if wanted.hard:
        only_people(caller, "erase for good")
    if not wanted.hard or wanted.dry_run:
        return await _forget(app, caller, wanted, None)
    async with app.while_erasing() as take_out:
        return await _forget(app, caller, wanted, take_out)


async def _forget(
    app: App, caller: Caller, wanted: ForgetQuery, take_out: TakeOut | None
) -> Forgotten:
    by, value = _way(wanted)
    now = app.now()
    follow = wanted.hard if wanted.follow is None else wanted.follow
    find = partial(_choose, by=by, value=value, follow=follow, hard=wanted.hard)
    chosen = await app.store.read(find)
    if not wanted.hard:
        chosen = Chosen([row for row in chosen.facts if row.retracted_at is None], chosen.memories)
    out = Forgotten(
        facts=[row.id for row in chosen.facts], memories=[row.id for row in chosen.memories]
    )
    if wanted.dry_run:
        out.notes.append("nothing was changed")
        return out
    # A source or session stays barred even where nothing was learned from it yet; a text is erased
    # also where it was only heard.
    counts = by in ("source", "session", "file") or (by == "text" and wanted.hard)
    if not counts and not chosen.facts and not chosen.memories:
        return out
    hide = Forget(
        actor=caller.actor,
        at=now,
        facts=out.facts,
        memories={row.id: ids.new_id() for row in chosen.memories},
        marks=_marks(app, by, value, chosen),
        by=by,
    )
    if caller.is_agent and (by != "id" or chosen.memories or _is_a_persons(chosen)):
        return await _propose(app, caller, hide, out)
    out.seq = (await app.snapshots.commit(hide)).seq
    out.erase_at = now + TRASH_MS
    if take_out is not None:
        out.erase_at = None
        left = await _left(app, by, value, chosen, out)
        await _erase(app, caller, out, hide.marks, left, take_out)
    return out


def _way(wanted: ForgetQuery) -> tuple[str, str]:
    given = [(way, getattr(wanted, way)) for way in _WAYS if getattr(wanted, way) is not None]
    if len(given) != 1:
        raise HmdError("usage", "say what to forget", do=f"give one of {', '.join(_WAYS)}")
    way, value = given[0]
    value = value.strip()
    if not value:
        raise HmdError("usage", f"the {way} is blank", way)
    if way == "text" and len(value) < SHORTEST_TEXT:
        raise HmdError("usage", f"a text of at least {SHORTEST_TEXT} characters", way)
    return way, value


def _choose(
    connection: sqlite3.Connection, by: str, value: str, follow: bool, hard: bool
) -> Chosen:
    if by == "id":
        found = _by_id(connection, value)
    else:
        names = _session_names(value) if by == "session" else [value]
        said = {row.id: row for name in names for row in facts_read.chosen(connection, by, name)}
        rows = {
            row.id: row
            for name in names
            for row in forgetting.chosen_memories(connection, by, name, trash=hard)
        }
        if hard and by == "text":
            said.update((row.id, row) for row in _tagged(connection, value))
        found = Chosen(list(said.values()), list(rows.values()))
    if not follow:
        return found
    linked: dict[str, FactRow] = {}
    for one in found.facts:
        row = facts.by_id(connection, one.id)
        if row is not None and row.id not in linked:
            linked.update({each.id: each for each in facts_read.chain(connection, row)})
    living = [facts_read.said(row) for row in linked.values() if row.erased_at is None]
    return Chosen(living, found.memories)


def _session_names(value: str) -> list[str]:
    """A session as its host names it and as we do, for every host; either may be given."""
    return [value, *(session_key(host, value) for host in HOSTS)]


def _tagged(connection: sqlite3.Connection, text: str) -> list[Said]:
    """Facts with a tag that says it; what they state is looked through elsewhere."""
    rows = [facts.by_id(connection, one) for one in forgetting.tagged(connection, text)]
    return [facts_read.said(row) for row in rows if row is not None]


def _by_id(connection: sqlite3.Connection, value: str) -> Chosen:
    try:
        row = facts.find(connection, value)
        return Chosen([] if row.erased_at is not None else [facts_read.said(row)], [])
    except HmdError as error:
        if error.code != "not_found" or value.startswith("#"):
            raise
    memory = memories.find(connection, value)
    return Chosen([], [] if memory.note == "erased" else [memory])


def _marks(app: App, by: str, value: str, chosen: Chosen) -> list[str]:
    """Bars the very statements, and the source, session or file where that was named."""
    make = app.store.marks.mark
    found = {make("text", text) for text in _words(chosen)}
    if by in ("source", "file"):
        found.add(make(by, value))
    if by == "session":
        found.update(make(by, name) for name in _session_names(value))
    return sorted(found - {""})


def _is_a_persons(chosen: Chosen) -> bool:
    return any(row.authority == "human" for row in chosen.facts)


async def _propose(app: App, caller: Caller, change: AnyChange, out: Forgotten) -> Forgotten:
    days = app.config.at(caller.common or caller.root).retention.proposal_days
    applied = await app.snapshots.commit(
        OpenProposal(
            actor=caller.actor,
            at=change.at,
            proposal=ids.new_id(),
            proposes="forget",
            target=(out.facts or out.memories or [""])[0],
            project=caller.project or None,
            reason=f"asked for by {caller.actor}",
            changes=[change],
            expires_at=change.at + days * DAY_MS,
        )
    )
    out.proposal = "" if applied.proposal is None else applied.proposal.id
    out.notes.append("proposed only: a person accepts it with hmctl proposal accept")
    return out


# -- erasing ----------------------------------------------------------------------------------


async def _left(app: App, by: str, value: str, chosen: Chosen, out: Forgotten) -> Left:
    """What to look for besides the facts and rules themselves."""
    if by == "text" and not mask.is_findable(value):
        out.notes.append("too short or too common to look for in logs: only facts and rules went")
    words = Words(_words(chosen), value if by == "text" else "")
    if by != "session":
        return Left(words)
    keys = _session_names(value)
    out.notes.append("a session that is still open goes on being recorded")
    times = await trio.to_thread.run_sync(scrub_sessions.times_of, app.store.home, keys)
    return Left(words, frozenset(keys), frozenset(times))


async def _erase(
    app: App, caller: Caller, out: Forgotten, marks: list[str], left: Left, take_out: TakeOut
) -> None:
    """Erases at once what `out` names, and whatever proposals would bring it back as."""
    find = partial(forgetting.proposed, marks=set(marks), says=left.words.says)
    proposed = await app.store.read(find)
    # Nobody shall accept what is left of one.
    for one in await app.store.read(partial(forgetting.open_saying, says=left.words.says)):
        expire = ExpireProposal(actor=caller.actor, at=app.now(), proposal=one)
        await app.snapshots.commit(expire)
    change = Erase(
        actor=caller.actor,
        at=app.now(),
        erasure=ids.new_id(),
        facts=sorted({*out.facts, *proposed}),
        memories=sorted({*out.memories, *proposed}),
        marks=marks,
    )
    applied = await app.snapshots.commit(change)
    out.seq = applied.seq
    places = {touched.after.project or USER for touched in applied.memories}

    async def rebuild() -> None:
        """Snapshots: an old base and tail still hold the text."""
        if left.words.asked or left.sessions:
            await app.snapshots.rebuild_all()  # fixes may have gone from any of them
        else:
            for place in sorted(places):
                await app.snapshots.rebuild(place)

    try:
        every = await app.store.left_by(change.erasure, left)
        out.scrubbed = await _erase_sessions(app, left)
        out.scrubbed += await app.store.scrub(change.erasure, every, rebuild)
    except OSError as error:
        raise HmdError(
            "busy",
            f"it is hidden, and not yet gone from every file: {error.strerror}",
            str(error.filename or app.store.home.path),
            "check the disk and say it again",
        ) from error
    await take_out(every)


async def _erase_sessions(app: App, left: Left) -> list[str]:
    """The sessions' own files go as a whole, whichever host they were of."""
    if not left.sessions:
        return []
    runs = await app.store.read(partial(scrub_sessions.runs_of, keys=left.sessions))
    work = partial(scrub_sessions.scrub, app.store.home, sorted(left.sessions), runs)
    return await trio.to_thread.run_sync(work)


def _words(chosen: Chosen) -> set[str]:
    """What is looked for in files, besides what the journal still says of it."""
    texts = [text for row in chosen.facts for text in (row.fact, row.details)]
    texts += [text for row in chosen.memories for text in (row.summary, row.details)]
    return {text for text in texts if text.strip()}


async def resume(app: App) -> None:
    """Ends erasings that a kill interrupted. Run at start."""
    await trio.to_thread.run_sync(redo.finish, Path(app.store.home.ledgers))
    waiting = await app.store.read(forgetting.pending)
    for erasure, _, _ in waiting:
        async with app.while_erasing() as take_out:
            left = await app.store.left_by(erasure)
            try:
                await app.store.scrub(erasure, left, app.snapshots.rebuild_all)
            except OSError as error:
                what = f"files cannot be cleaned: {error.strerror}"
                where = str(error.filename or app.store.home.path)
                raise HmdError("busy", what, where, "check the disk") from error
            await take_out(left)


async def sweep(app: App) -> Forgotten:
    """Erases what has been in the trash for 30 days. Run now and then."""
    before = app.store.clock.peek_ms() - TRASH_MS
    out = Forgotten()
    while True:
        found = await app.store.read(partial(_due, before))
        if not found.facts and not found.memories:
            return out
        part = Forgotten(
            facts=[row.id for row in found.facts], memories=[row.id for row in found.memories]
        )
        marks = _marks(app, "id", "", found)
        left = Left(Words(_words(found)))
        async with app.while_erasing() as take_out:
            await _erase(app, Caller(actor="terminal"), part, marks, left, take_out)
        out.facts += part.facts
        out.memories += part.memories


def _due(before: int, connection: sqlite3.Connection) -> Chosen:
    rows = [row for row, _ in forgetting.trashed_memories(connection, before)]
    return Chosen(facts_read.due(connection, before, AT_ONCE), rows[:AT_ONCE])


# -- the trash --------------------------------------------------------------------------------


async def trash(app: App, caller: Caller, _: object) -> TrashList:
    """What can still be brought back, oldest first."""

    def work(connection: sqlite3.Connection) -> list[TrashRow]:
        out = [
            _trash_row(row.id, "fact", row.fact, row.retracted_at or 0)
            for row in facts_read.trashed(connection)
        ]
        out += [
            _trash_row(row.id, "memory", row.summary, at)
            for row, at in forgetting.trashed_memories(connection)
        ]
        return sorted(out, key=lambda row: (row.forgotten_at, row.id))

    return TrashList(rows=await app.store.read(work))


def _trash_row(identifier: str, kind: str, text: str, at: int) -> TrashRow:
    return TrashRow(id=identifier, kind=kind, text=text, forgotten_at=at, erase_at=at + TRASH_MS)


async def restore(app: App, caller: Caller, wanted: RestoreQuery) -> Forgotten:
    """Brings a forgotten fact or memory back; that it was forgotten stays known."""
    only_people(caller, "bring back what was forgotten")
    chosen = await app.store.read(lambda connection: _restorable(connection, wanted.id))
    change = Unforget(
        actor=caller.actor,
        at=app.now(),
        facts=[row.id for row in chosen.facts],
        memories={row.id: ids.new_id() for row in chosen.memories},
        marks=_marks(app, "id", "", chosen),
    )
    applied = await app.snapshots.commit(change)
    return Forgotten(seq=applied.seq, facts=change.facts, memories=list(change.memories))


def _restorable(connection: sqlite3.Connection, name: str) -> Chosen:
    try:
        return Chosen([facts_read.said(facts.find(connection, name))], [])
    except HmdError as error:
        if error.code != "not_found" or name.startswith("#"):
            raise
    return Chosen([], [memories.find(connection, name)])
