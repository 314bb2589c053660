"""Shelves in memory, in step with the store.

A project's shelf is read when the project is first used, follows every change, and is dropped when
it was idle.
"""

import re
import time
from collections.abc import Callable, Sequence

import msgspec
import trio

from hmd.app.context import App
from hmd.app.snapshots import record_of
from hmd.core.changes import AnyChange, MarkFact, RememberFact, ReviseFact
from hmd.core.facts import FactRow
from hmd.kernel.snapshot import USER
from hmd.recall.shelf import Shelf
from hmd.store import recall as rows
from hmd.store.apply import Applied

_PAGE = 128
_BREATH_NS = 200_000
IDLE_S = 1800.0
# A proposal says nothing of the facts that it changed: so many of the newest are read again.
_NEWEST_READ = 200
_ID = re.compile(rb"[0-9a-f]{32}")
_ONE_FACT = (RememberFact, ReviseFact, MarkFact)


class Place:
    """A shelf with how far it is read and when it was last asked."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.ready = trio.Event()
        self.wanted = False
        self.used = time.monotonic()


class Shelves:
    """The shelves of a home. What follows from a change of one is said to `touched` (a project),
    `offered` (a project, an id whose text is new) and `gone` (ids whose texts are no more)."""

    def __init__(
        self,
        app: App,
        touched: Callable[[str], None],
        offered: Callable[[str, str], None],
        gone: Callable[[Sequence[str]], None],
    ) -> None:
        self.app = app
        self.places: dict[str, Place] = {}
        self.work = trio.Event()  # something is to be done in the background
        self._touched = touched
        self._offered = offered
        self._gone = gone
        self._changed: dict[str, None] = {}  # ids of facts that are to be read again
        self._project_names: list[str] | None = None
        self._following = trio.Lock()

    # -- following the store --

    def note(self, change: AnyChange, applied: Applied) -> None:
        """A change was made: memories follow at once, facts as soon as they are read."""
        for before, after in applied.memories:
            for row in (before, after):
                place = self.places.get((row.project if row else None) or USER)
                if place is not None and row is not None:
                    place.shelf.drop(row.id)
            place = self.places.get(after.project or USER)
            if after.status != "active":
                self._gone([after.id])  # a vector tells of its text: it must not outlive it
            elif place is not None:
                place.shelf.put_memory(record_of(after))
                self._offered(after.project or USER, after.id)
        for project in applied.projects:
            self._project_names = None
            self.places.pop(project, None)
            self._touched(project)
        if isinstance(change, _ONE_FACT) and applied.fact is not None and not self.places:
            self._touched(applied.fact.project or USER)  # nothing else is known of facts here
            return
        named = [found.decode() for found in _ID.findall(msgspec.json.encode(change))]
        if applied.fact is not None:
            named.append(applied.fact.id)
        if applied.proposal is not None:
            named.append("")  # what it did is only known from the facts themselves
        self._changed.update(dict.fromkeys(named))
        self.work.set()

    async def settle(self) -> None:
        """Waits until every change made so far is on the shelves."""
        async with self._following:  # also for what another task is reading just now
            if self._changed:
                await self._follow()

    async def _follow(self) -> None:
        named, self._changed = list(self._changed), {}
        known = [name for name in named if name]
        if "" in named:
            for shelf in [place.shelf for place in self.places.values()]:
                known += list(shelf.facts.ids())[-_NEWEST_READ:]
        read = self.app.store.read
        if not self.places:  # nobody asked for a while: what they say is read when somebody does
            told = await read(lambda connection: rows.fact_places(connection, known))
            for project in {one.project or USER for one in told}:
                self._touched(project)
            self._gone([one.id for one in told if one.erased])
            return
        found = await read(lambda connection: rows.facts_by_id(connection, known))
        for row in found:
            name = row.project or USER
            self._touched(name)
            place = self.places.get(name)
            if place is not None:
                place.shelf.put_fact(row)
                self._offered(name, row.id)
        self._gone([row.id for row in found if row.erased_at is not None])

    # -- reading --

    async def read_wanted(self) -> list[str]:
        """Reads the shelves that are wanted and were not read yet; their names."""
        found = []
        for name, place in list(self.places.items()):
            if place.wanted and not place.ready.is_set():
                await self._load(name, place)
                found.append(name)
        return found

    async def drop_idle(self) -> None:
        """Drops what nobody asked for in a while, until it is cancelled."""
        while True:
            await trio.sleep(IDLE_S / 4)
            now = time.monotonic()
            for name, place in list(self.places.items()):
                if now - place.used > IDLE_S:
                    del self.places[name]

    async def _load(self, name: str, place: Place) -> None:
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
        after = (-1, -1)
        while True:
            facts = await self._facts_after(project, after)
            for fact in facts:
                shelf.put_fact(fact)
                await breathe()
            if not facts:
                break
            after = (facts[-1].recorded_at, facts[-1].number)
        if project is not None:
            await self._read_episodes(name, shelf)
        for index in (shelf.memories, shelf.facts):
            for _ in index.settle():
                await breathe()
        place.ready.set()

    async def _facts_after(self, project: str | None, after: tuple[int, int]) -> list[FactRow]:
        return await self.app.store.read(lambda c: rows.facts_after(c, project, after, _PAGE))

    async def _read_episodes(self, project: str, shelf: Shelf) -> None:
        keep = self.app.config.user.recall.keep_episodes
        for row in await self.app.store.read(lambda c: rows.told_episodes(c, project, keep)):
            shelf.put_episode(row)

    # -- asking --

    def want(self, project: str) -> list[Place]:
        """The places of a project and of the user, being read if they are not yet."""
        found = []
        for name in dict.fromkeys([project or USER, USER]):
            place = self.places.get(name)
            if place is None:
                place = self.places[name] = Place()
            if not place.wanted:
                place.wanted = True
                self.work.set()
            place.used = time.monotonic()
            found.append(place)
        return found

    async def of(self, project: str) -> list[Shelf]:
        """The shelves of a project and of the user, read whole and in step."""
        places = self.want(project)
        for place in places:
            await place.ready.wait()
        await self.settle()
        return [place.shelf for place in places]

    async def with_facts(self, project: str) -> list[Shelf]:
        """Where facts are looked for: a project's and the user's; outside, everywhere."""
        names = [project] if project else await self._projects()
        for name in names:
            await self.of(name)
        return [self.places[name].shelf for name in dict.fromkeys([*names, USER])]

    async def _projects(self) -> list[str]:
        if self._project_names is None:
            found = await self.app.store.list_projects()
            self._project_names = [USER, *(row.id for row in found)]
        return self._project_names

    def texts(self, name: str, ids: Sequence[str]) -> dict[str, str]:
        """What is embedded of a shelf's rows; those that are no longer there are left out."""
        place = self.places.get(name)
        if place is None:
            return {}
        shelf = place.shelf
        found = {one: shelf.memories.text(one) or shelf.facts.text(one) for one in ids}
        return {one: text for one, text in found.items() if text and one in shelf.records}

    def accessed(self, found: Sequence[FactRow], at: int) -> None:
        """Facts were given as an answer: they are as fresh as if recorded now."""
        for row in found:
            place = self.places.get(row.project or USER)
            if place is not None:
                place.shelf.given(row.id, at)
