"""Recall in the daemon: shelves in memory, in step with the store; what a prompt is given.

A project's shelf is read when the project is first used, follows every change, and is dropped when
it was idle. Where embeddings are enabled an encoder process holds the vectors of the same texts; a
prompt waits for it a few milliseconds at most and is served by words otherwise.
"""

import os
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec
import trio

from hmd.app.context import App
from hmd.app.embedding import Embedding
from hmd.app.snapshots import record_of
from hmd.core import machine
from hmd.core.changes import AnyChange
from hmd.core.config import Settings
from hmd.core.facts import FactRow
from hmd.kernel import event as ev
from hmd.kernel import hot as hot_file
from hmd.kernel import texts
from hmd.kernel.address import session_key
from hmd.kernel.project import Project
from hmd.kernel.snapshot import USER
from hmd.kernel.turn import Turn
from hmd.recall import hot, inject
from hmd.recall.inject import Found, Nearest
from hmd.recall.shelf import Shelf
from hmd.store import recall as rows
from hmd.store.apply import Applied

_PAGE = 64
_BREATH_NS = 200_000
IDLE_S = 1800.0
# A prompt waits this long for a shelf that is being read for the first time.
FIRST_WAIT_S = 0.1
# Facts are offered beside the result of a command only where its own words find one this clearly.
COMMAND_SCORE = 0.5
_ID = re.compile(rb"[0-9a-f]{32}")


class _Place:
    """A shelf with how far it is read and when it was last asked."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.ready = trio.Event()
        self.wanted = False
        self.used = time.monotonic()


@asynccontextmanager
async def running(service: "Recall") -> AsyncIterator["Recall"]:
    """Recall with its work in the background, until the block is left."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.run)
        yield service
        nursery.cancel_scope.cancel()


class Recall:
    """Every shelf of a home. `run` does the reading in the background until it is cancelled."""

    def __init__(self, app: App, say: Callable[[str], object]) -> None:
        self.app = app
        self.embedding = Embedding(app, say, self._texts)
        self._say = say
        self._places: dict[str, _Place] = {}
        self._changed: dict[str, None] = {}  # ids of facts that are to be read again
        self._gone: list[str] = []  # ids of memories that are in force no more
        self._stale_hot: set[str] = set()
        self._hot_day: dict[str, int] = {}
        self._work = trio.Event()
        self._project_names: list[str] | None = None
        self._following = trio.Lock()
        self._writing = trio.Lock()
        self._nearest: dict[str, Nearest] = {}
        app.snapshots.watchers.append(self.note)

    # -- following the store --

    def note(self, change: AnyChange, applied: Applied) -> None:
        """A change was made: memories follow at once, facts as soon as they are read."""
        for before, after in applied.memories:
            for row in (before, after):
                place = self._places.get((row.project if row else None) or USER)
                if place is not None and row is not None:
                    place.shelf.drop(row.id)
            place = self._places.get(after.project or USER)
            if after.status != "active":
                self._gone.append(after.id)  # a vector tells of its text: it must not outlive it
            elif place is not None:
                place.shelf.put_memory(record_of(after))
                self.embedding.offer(after.project or USER, after.id)
        for project in applied.projects:
            self._project_names = None
            self._places.pop(project, None)
            self._stale_hot.add(project)
        named = [found.decode() for found in _ID.findall(msgspec.json.encode(change))]
        if applied.fact is not None:
            named.append(applied.fact.id)
        if applied.proposal is not None:
            named.append("")  # what it did is only known from the facts themselves
        self._changed.update(dict.fromkeys(named))
        self._settled = trio.Event()
        self._work.set()

    async def settle(self) -> None:
        """Waits until every change made so far is on the shelves."""
        async with self._following:  # also for what another task is reading just now
            if self._changed:
                await self._follow()

    async def _follow(self) -> None:
        named, self._changed = list(self._changed), {}
        known = [name for name in named if name]
        if "" in named:
            known += [name for place in self._places.values() for name in place.shelf.facts.ids()][
                -200:
            ]
        found = await self.app.store.read(lambda connection: rows.facts_by_id(connection, known))
        gone, self._gone = self._gone, []
        for row in found:
            name = row.project or USER
            self._touch(name)
            place = self._places.get(name)
            if place is not None:
                place.shelf.put_fact(row)
                self.embedding.offer(name, row.id)
            if row.erased_at is not None:
                gone.append(row.id)
        if gone:
            await self.embedding.forget(gone)
        self._settled.set()

    def settings_changed(self) -> None:
        """The model may be another, the block of another size."""
        self._stale_hot.update(self._places)
        self.embedding.settings_changed()
        self._work.set()

    def _touch(self, name: str) -> None:
        """The block of a shelf may be another now; every project's holds the user's facts too."""
        self._stale_hot.add(name)
        if name == USER:
            self._stale_hot.update(self._hot_day)

    # -- reading --

    async def run(self) -> None:
        """Reads shelves, embeds, writes hot indices and drops what is idle."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.embedding.run)
            nursery.start_soon(self._drop_idle)
            while True:
                await self._work.wait()
                self._work = trio.Event()
                try:
                    await self.settle()
                    for name, place in list(self._places.items()):
                        if place.wanted and not place.ready.is_set():
                            await self._load(name, place)
                    for name in list(self._stale_hot):
                        if name in self._places:
                            await self.write_hot(name)
                except Exception as error:  # recall is an addition: what it adds to must go on
                    self._say(f"recall fails: {type(error).__name__}: {error}")

    async def _drop_idle(self) -> None:
        while True:
            await trio.sleep(IDLE_S / 4)
            now = time.monotonic()
            for name, place in list(self._places.items()):
                if now - place.used > IDLE_S:
                    del self._places[name]

    async def _load(self, name: str, place: _Place) -> None:
        project = None if name == USER else name
        shelf, store = place.shelf, self.app.store
        breath = time.perf_counter_ns()

        async def breathe() -> None:
            nonlocal breath
            if time.perf_counter_ns() - breath > _BREATH_NS:
                await trio.lowlevel.checkpoint()
                breath = time.perf_counter_ns()

        last = ""
        while True:
            _, found = await store.active_memories(project, last, _PAGE)
            for row in found:
                shelf.put_memory(record_of(row))
                await breathe()
            if not found:
                break
            last = found[-1].id
        number = 0
        while True:
            facts = await self._facts_after(project, number)
            for fact in facts:
                shelf.put_fact(fact)
                await breathe()
            if not facts:
                break
            number = facts[-1].number
        if project is not None:
            await self._read_episodes(name, shelf)
        for index in (shelf.memories, shelf.facts):
            for _ in index.settle():
                await breathe()
        place.ready.set()
        self._stale_hot.add(name)
        self.embedding.offer_all(name, [*shelf.memories.ids(), *shelf.facts.ids()])

    async def _facts_after(self, project: str | None, number: int) -> list[FactRow]:
        return await self.app.store.read(lambda c: rows.facts_after(c, project, number, _PAGE))

    async def _read_episodes(self, project: str, shelf: Shelf) -> None:
        keep = self.app.config.user.recall.keep_episodes
        found = await self.app.store.read(lambda c: rows.told_episodes(c, project, keep))
        fresh = {row.id for row in found}
        for name in [one for one in shelf.episodes.ids() if one not in fresh]:
            shelf.drop(name)
        for row in found:
            if row.id not in shelf.episodes:
                shelf.put_episode(row)

    def _texts(self, name: str, ids: Sequence[str]) -> dict[str, str]:
        """What is embedded of a shelf's rows; those that are no longer there are left out."""
        place = self._places.get(name)
        if place is None:
            return {}
        out = {}
        for one in ids:
            text = place.shelf.memories.text(one) or place.shelf.facts.text(one)
            if text and one in place.shelf.records:
                out[one] = text
        return out

    def want(self, project: str) -> list[_Place]:
        """The places of a project and of the user, being read if they are not yet."""
        found = []
        for name in dict.fromkeys([project or USER, USER]):
            place = self._places.get(name)
            if place is None:
                place = self._places[name] = _Place()
            if not place.wanted:
                place.wanted = True
                self._work.set()
            place.used = time.monotonic()
            found.append(place)
        return found

    async def shelves(self, project: str) -> list[Shelf]:
        """The shelves of a project and of the user, read whole and in step."""
        places = self.want(project)
        for place in places:
            await place.ready.wait()
        await self.settle()
        return [place.shelf for place in places]

    async def fact_places(self, project: str) -> list[Shelf]:
        """Where facts are looked for: a project's and the user's; outside, everywhere."""
        names = [project] if project else await self._projects()
        for name in names:
            await self.shelves(name)
        return [self._places[name].shelf for name in dict.fromkeys([*names, USER])]

    async def _projects(self) -> list[str]:
        if self._project_names is None:
            found = await self.app.store.list_projects()
            self._project_names = [USER, *(row.id for row in found)]
        return self._project_names

    def accessed(self, found: Sequence[FactRow], at: int) -> None:
        """Facts were given as an answer: they are as fresh as if recorded now."""
        for row in found:
            place = self._places.get(row.project or USER)
            if place is not None and row.id in place.shelf.records:
                place.shelf.strengths.put(row, at)

    # -- hooks --

    async def prepare(self, project: Project, event: ev.Event) -> None:
        """Before a prompt or a start of a session is answered: what has to be waited for."""
        settings = self._settings(project)
        if event.kind == ev.SESSION_START:
            if settings.embeddings.enabled:
                self.embedding.warm(settings.embeddings)
            with trio.move_on_after(FIRST_WAIT_S):
                await self.shelves(project.id)
                for name in dict.fromkeys([project.id or USER, USER]):
                    await self.write_hot(name)
            return
        with trio.move_on_after(FIRST_WAIT_S):
            await self.shelves(project.id)
        if settings.embeddings.enabled and settings.before_model.dense == "helper":
            nearest = await self.embedding.nearest(
                event.prompt[: inject.LONGEST_QUESTION],
                list(dict.fromkeys([project.id or USER, USER])),
                settings.embeddings,
                settings.before_model.dense_timeout_ms / 1000,
            )
            if nearest:
                if len(self._nearest) > 64:  # prompts whose client went away
                    self._nearest.clear()
                self._nearest[event.body] = nearest

    def fill(self, project: Project, turn: Turn, event: ev.Event) -> None:
        """Puts into an event what its own words find. Takes well under a millisecond."""
        nearest = self._nearest.pop(event.body, ())
        places = [one for one in self.want(project.id) if one.ready.is_set()]
        if not places:
            return
        shelves = [place.shelf for place in places]
        settings = self._settings(project)
        if event.kind == ev.PROMPT and not event.background:
            event.recalled = inject.given(
                self._for_prompt(shelves, settings, event.prompt, turn.last_path, event.at, nearest)
            )
            if settings.recall.enabled:
                event.past = self._past(shelves, settings, event, turn)
        elif event.call is not None and event.call.tool == "bash":
            event.recalled = self._for_command(shelves, event.call.target, event.at, turn)

    def _for_prompt(
        self,
        shelves: Sequence[Shelf],
        settings: Settings,
        prompt: str,
        last_path: str,
        at: int,
        nearest: Nearest,
    ) -> list[Found]:
        return inject.search(
            shelves,
            [index for shelf in shelves for index in (shelf.memories, shelf.facts)],
            prompt,
            nearest,
            settings.before_model.min_score,
            inject.least_cosine(settings.embeddings.model),
            inject.for_prompt(at, prompt, last_path),
        )

    def _past(
        self, shelves: Sequence[Shelf], settings: Settings, event: ev.Event, turn: Turn
    ) -> list[inject.Record]:
        limits = settings.before_model.recall
        found = inject.search(
            shelves,
            [shelf.episodes for shelf in shelves],
            event.prompt,
            least=limits.min_score,
            refuse=inject.for_past(event.at, session_key(event.host, event.session)),
        )
        fresh = [one for one in inject.given(found) if not turn.given.get(one["id"])]
        return inject.within(fresh, texts.line, limits.max_items, limits.max_bytes)

    def _for_command(
        self, shelves: Sequence[Shelf], command: str, at: int, turn: Turn
    ) -> list[inject.Record]:
        """One fact that a command's own words find, where it clearly does (N13)."""
        indices = [shelf.facts for shelf in shelves if len(shelf.facts)]
        if not indices:
            return []
        found = inject.search(
            shelves,
            indices,
            command[:500],
            least=COMMAND_SCORE,
            refuse=inject.for_prompt(at, "", ""),
        )
        fresh = [one for one in inject.given(found) if not turn.given.get(one["id"])]
        return fresh[:1]

    def _settings(self, project: Project) -> Settings:
        return self.app.config.at(project.location.common or project.root)

    # -- the hot index --

    async def write_hot(self, name: str) -> tuple[list[str], str]:
        """Brings the block of a project (or `user`) up to date on disk, if anything changed."""
        await self.settle()
        async with self._writing:  # also for what another task is writing just now
            day = int(time.time() - time.timezone) // 86_400
            if name not in self._stale_hot and self._hot_day.get(name) == day:
                return hot_file.read(self.app.store.home, "" if name == USER else name)
            self._stale_hot.discard(name)
            self._hot_day[name] = day
            ids, text = await self.hot(name, day)
            path = self.app.store.home.hot(name)
            await trio.to_thread.run_sync(_replace, path, hot_file.encode(ids, text))
            return ids, text

    async def hot(self, name: str, day: int) -> tuple[list[str], str]:
        """The block of a project with what holds everywhere."""
        shelves = await self.shelves("" if name == USER else name)
        limits = self.app.config.user.session_start
        now = self.app.store.clock.peek_ms()
        records = [
            record
            for shelf in shelves
            for record in shelf.records.values()
            if _is_lasting(record, now)
        ]
        return hot.render(records, day, limits.hot_items, limits.hot_tokens)


def _is_lasting(record: inject.Record, now: int) -> bool:
    """Whether a row belongs into the hot index: a fact that is true now. Memories have moments of
    their own, and a text is given once a session: in the index they would miss theirs."""
    if record["type"] != "fact" or (record["expires"] is not None and record["expires"] <= now):
        return False
    return bool(record["from"] <= now)


def _replace(path: str, data: bytes) -> None:
    """Writes a file in one step; removes it where there is nothing to say."""
    try:
        with open(path, "rb") as file:
            if file.read() == data:
                return
    except OSError:
        pass
    if not data:
        if os.path.exists(path):
            os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | machine.NOT_INHERITED
    with open(os.open(temporary, flags, 0o600), "wb") as file:
        file.write(data)
    machine.replace(temporary, path)
