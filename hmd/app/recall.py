"""Recall in the daemon: what a prompt, a command and a start of a session are given.

Where embeddings are enabled an encoder process holds the vectors of the texts on the shelves; a
prompt waits for it a few milliseconds at most and is served by words otherwise.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import trio

from hmd.app.context import App
from hmd.app.embedding import Embedding
from hmd.app.hot_blocks import HotBlocks
from hmd.app.shelves import Shelves
from hmd.core.changes import AnyChange
from hmd.core.config import Settings
from hmd.core.facts import FactRow
from hmd.kernel import event as ev
from hmd.kernel import texts
from hmd.kernel.address import session_key
from hmd.kernel.project import Project
from hmd.kernel.snapshot import USER
from hmd.kernel.turn import Turn
from hmd.recall import inject
from hmd.recall.inject import Found, Nearest
from hmd.recall.shelf import Shelf
from hmd.store.apply import Applied

# A prompt waits this long for a shelf that is being read for the first time.
FIRST_WAIT_S = 0.1
# A change is in the block on disk after this; a session that starts does not wait for it.
HOT_PAUSE_S = 1.0
# Facts are offered beside the result of a command only where its own words find one this clearly.
COMMAND_SCORE = 0.5


@asynccontextmanager
async def running(service: "Recall") -> AsyncIterator["Recall"]:
    """Recall with its work in the background, until the block is left."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.run)
        yield service
        nursery.cancel_scope.cancel()


class Recall:
    """Recall of a home. `run` works in the background until it is cancelled."""

    def __init__(self, app: App, say: Callable[[str], object]) -> None:
        self.app = app
        self._say = say
        self._gone: list[str] = []  # ids of texts that are no more, vectors are to follow
        self._nearest: dict[str, Nearest] = {}
        self._shelves = Shelves(app, self._touch, self._offer, self._gone.extend)
        self._hot = HotBlocks(self._shelves)
        self._hot_due = trio.Event()
        self.embedding = Embedding(app, say, self._shelves.texts)
        app.snapshots.watchers.append(self.note)

    def _touch(self, name: str) -> None:
        self._hot.touch(name)

    def _offer(self, name: str, identifier: str) -> None:
        self.embedding.offer(name, identifier)

    # -- what the daemon tells --

    def note(self, change: AnyChange, applied: Applied) -> None:
        """A change was made."""
        self._shelves.note(change, applied)

    def settings_changed(self) -> None:
        """The model may be another, the block of another size."""
        for name in self._shelves.places:
            self._hot.touch(name)
        self.embedding.settings_changed()
        self._shelves.work.set()

    async def run(self) -> None:
        """Reads shelves, embeds, writes hot indices and drops what is idle."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.embedding.run)
            nursery.start_soon(self._shelves.drop_idle)
            nursery.start_soon(self._write_hot_blocks)
            while True:
                await self._shelves.work.wait()
                self._shelves.work = trio.Event()
                try:
                    await self._catch_up()
                except Exception as error:  # recall is an addition: what it adds to must go on
                    self._say(f"recall fails: {type(error).__name__}: {error}")

    async def _catch_up(self) -> None:
        await self.settle()
        for name in await self._shelves.read_wanted():
            self._hot.touch(name)
            place = self._shelves.places.get(name)
            if place is not None:
                ids = [*place.shelf.memories.ids(), *place.shelf.facts.ids()]
                self.embedding.offer_all(name, ids)
        if self._hot.stale:
            self._hot_due.set()

    async def _write_hot_blocks(self) -> None:
        while True:
            await self._hot_due.wait()
            # A block is made of all facts: many changes in a row make one.
            await trio.sleep(HOT_PAUSE_S)
            self._hot_due = trio.Event()
            try:
                for name in list(self._hot.stale):
                    if name in self._shelves.places:
                        await self.write_hot(name)
            except Exception as error:
                self._say(f"the hot index cannot be written: {type(error).__name__}: {error}")

    # -- what others ask --

    async def settle(self) -> None:
        """Waits until every change made so far is on the shelves, and no vector of a text that is
        gone is left."""
        await self._shelves.settle()
        if self._gone:
            gone = list(self._gone)
            self._gone.clear()
            await self.embedding.forget(gone)

    async def shelves(self, project: str) -> list[Shelf]:
        """The shelves of a project and of the user, read whole and in step."""
        return await self._shelves.of(project)

    async def fact_places(self, project: str) -> list[Shelf]:
        """Where facts are looked for: a project's and the user's; outside, everywhere."""
        return await self._shelves.with_facts(project)

    def accessed(self, found: Sequence[FactRow], at: int) -> None:
        """Facts were given as an answer: they are as fresh as if recorded now."""
        self._shelves.accessed(found, at)

    async def write_hot(self, name: str) -> tuple[list[str], str]:
        """The block of a project (or `user`), brought up to date on disk."""
        return await self._hot.write(name)

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
        """Puts into an event what its own words find. Takes one to a few milliseconds
        over 10,000 texts (docs/decisions/0030)."""
        nearest = self._nearest.pop(event.body, ())
        places = [one for one in self._shelves.want(project.id) if one.ready.is_set()]
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
