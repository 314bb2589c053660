"""Embeddings in the daemon: which texts have a vector, and the process that makes and holds them.

Vectors lie in the database by item and model, with a digest of the text they were made of, so that
a text is embedded once. After a change of model the old vectors serve until the new ones are there.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha1
from itertools import islice

import trio

from hmd.app.context import App
from hmd.core.config import Embeddings
from hmd.core.recall import EmbeddingsStatus
from hmd.encoder.parent import BATCH, EncoderProcess, command
from hmd.encoder.protocol import Load, Packed
from hmd.store import recall as rows
from hmd.store.recall import VectorRow

_PAGE = 500
TextsOf = Callable[[str, Sequence[str]], dict[str, str]]


def digest_of(text: str) -> str:
    return sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16]


class Embedding:
    """The encoder of a home, and the backfill. `texts` gives the texts of a shelf's rows."""

    def __init__(self, app: App, say: Callable[[str], object], texts: TextsOf) -> None:
        self._app = app
        self._say = say
        self._texts = texts
        self._encoder: EncoderProcess | None = None
        self._settings: Embeddings | None = None
        self._shelf_of: dict[str, str] = {}  # item → name of its shelf
        self._vectors: dict[str, dict[str, Packed]] = {}  # shelf → item → vector
        self._stored: dict[str, Packed] = {}  # everything of the model that was ever made
        self._digests: dict[str, str] = {}
        self._due: dict[str, None] = {}
        self._known_model = ""
        self._work = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._stop: trio.CancelScope | None = None
        # After a change of model: the process of the one before, until all is embedded anew.
        self._before: tuple[EncoderProcess, trio.CancelScope | None] | None = None

    # -- what there is to embed --

    def offer(self, shelf: str, item: str) -> None:
        """A text is new or changed."""
        self.offer_all(shelf, [item])

    def offer_all(self, shelf: str, items: Sequence[str]) -> None:
        self._shelf_of.update(dict.fromkeys(items, shelf))
        self._due.update(dict.fromkeys(items))
        self._work.set()

    def settings_changed(self) -> None:
        settings = self._app.config.user.embeddings
        if settings.enabled:
            self.warm(settings)  # so that whoever enabled it soon sees whether it works
        self._work.set()

    async def forget(self, items: Sequence[str]) -> None:
        """Erased texts: nothing that was made of them stays."""
        await self._app.store.operate(lambda connection: rows.drop_vectors(connection, items))
        for item in items:
            shelf = self._shelf_of.pop(item, "")
            self._due.pop(item, None)
            self._digests.pop(item, None)
            self._stored.pop(item, None)
            if self._vectors.get(shelf, {}).pop(item, None) and self._encoder is not None:
                await self._encoder.load(Load(shelf=shelf, drop=[item]))

    # -- asking --

    def warm(self, settings: Embeddings) -> None:
        """A session begins: its prompts should find the encoder ready."""
        self._process(settings).warm()
        self._work.set()  # what is due may have waited for a process that works

    async def nearest(
        self, text: str, shelves: Sequence[str], settings: Embeddings, timeout: float
    ) -> list[tuple[float, str]] | None:
        encoder = self._process(settings)
        if self._before is not None:
            return await self._before[0].ask(text, shelves, timeout)
        return await encoder.ask(text, shelves, timeout)

    def _process(self, settings: Embeddings) -> EncoderProcess:
        if self._encoder is not None and settings == self._settings:
            return self._encoder
        before = (self._encoder, self._stop) if self._encoder is not None else None
        if before is not None and before[0].state == "ready" and self._before is None:
            self._encoder, self._before = None, before
        else:
            self.end()
        cache = settings.cache_dir or os.path.join(self._app.store.home.path, "models")
        argv = command(settings.model, cache, settings.idle_exit_minutes * 60)
        self._settings = settings
        self._encoder = EncoderProcess(argv, self._say, partial(self._loads, settings.model))
        if self._nursery is not None:
            self._nursery.start_soon(self._run_encoder, self._encoder)
        self._due.update(dict.fromkeys(self._shelf_of))
        self._work.set()
        return self._encoder

    async def _run_encoder(self, encoder: EncoderProcess) -> None:
        with trio.CancelScope() as scope:
            if encoder is self._encoder:
                self._stop = scope
            await encoder.run()

    def end(self) -> None:
        """Gives the process up."""
        self._end_before()
        if self._stop is not None:
            self._stop.cancel()
        self._encoder = self._settings = self._stop = None

    def _end_before(self) -> None:
        if self._before is not None and self._before[1] is not None:
            self._before[1].cancel()
        self._before = None

    def _loads(self, model: str) -> list[Load]:
        """What a new process of a model has to know; vectors of another would be nonsense to it."""
        if model != self._known_model:
            return []
        return [Load(shelf=shelf, vectors=dict(held)) for shelf, held in self._vectors.items()]

    # -- the backfill --

    async def run(self) -> None:
        """Embeds what is due while embeddings are enabled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            if self._encoder is not None:
                nursery.start_soon(self._run_encoder, self._encoder)
            while True:
                await self._work.wait()
                self._work = trio.Event()
                settings = self._app.config.user.embeddings
                if not settings.enabled:
                    self.end()
                    continue
                try:
                    await self._backfill(settings)
                except Exception as error:  # one text that fails must not end the daemon
                    self._say(f"embedding stops: {type(error).__name__}: {error}")
                    await trio.sleep(5)
                    if self._encoder is not None and self._encoder.dimension:
                        self._work.set()  # its model has worked before: what is due is tried again

    async def _backfill(self, settings: Embeddings) -> None:
        """Ends early where another model is chosen meanwhile: what is due is due for that one."""
        model, encoder = settings.model, self._process(settings)
        if self._known_model != model:
            await self._read(model)
        while self._due and self._settings == settings:
            items = list(islice(self._due, 16 * BATCH))
            await self._embed(model, items, encoder)
            if self._settings == settings:
                for item in items:
                    self._due.pop(item, None)
        if self._settings == settings:
            self._end_before()
            await self._app.store.operate(lambda connection: rows.drop_models(connection, model))

    async def _embed(self, model: str, items: Sequence[str], encoder: EncoderProcess) -> None:
        by_shelf: dict[str, list[str]] = {}
        for item in items:
            by_shelf.setdefault(self._shelf_of.get(item, ""), []).append(item)
        for shelf, names in by_shelf.items():
            texts = self._texts(shelf, names)
            held = self._vectors.setdefault(shelf, {})
            gone = [name for name in names if name not in texts and name in held]
            for name in gone:
                del held[name]
            known: dict[str, Packed] = {}
            fresh: dict[str, str] = {}
            for name, text in texts.items():
                stored = self._stored.get(name)
                if stored is not None and self._digests.get(name) == digest_of(text):
                    known[name] = stored
                else:
                    fresh[name] = text
            known.update(await self._make(model, fresh, encoder))
            held.update(known)
            if known or gone:
                await encoder.load(Load(shelf=shelf, vectors=known, drop=gone))

    async def _make(
        self, model: str, texts: dict[str, str], encoder: EncoderProcess
    ) -> dict[str, Packed]:
        if not texts:
            return {}
        found = await encoder.embed(list(texts.values()))
        made = dict(zip(texts, found, strict=True))
        kept = [
            VectorRow(name, digest_of(texts[name]), one.scale, one.values)
            for name, one in made.items()
        ]
        await self._app.store.operate(lambda connection: rows.put_vectors(connection, model, kept))
        self._digests.update({row.item: row.digest for row in kept})
        self._stored.update(made)
        return made

    async def _read(self, model: str) -> None:
        """What is in the database of this model; texts are compared when they are due."""
        self._known_model = model
        self._digests, self._stored, self._vectors = {}, {}, {}
        last = ""
        while True:
            page = await self._page(model, last)
            if not page:
                return
            for row in page:
                self._digests[row.item] = row.digest
                self._stored[row.item] = Packed(row.data, row.scale)
            last = page[-1].item

    async def _page(self, model: str, after: str) -> list[VectorRow]:
        return await self._app.store.read(
            lambda connection: rows.vectors(connection, model, after, _PAGE)
        )

    async def status(self) -> EmbeddingsStatus:
        settings = self._app.config.user.embeddings
        found = await self._app.store.read(rows.counts)
        encoder = self._encoder
        return EmbeddingsStatus(
            enabled=settings.enabled,
            model=settings.model,
            state=encoder.state if encoder is not None else "off",
            trouble=encoder.trouble if encoder is not None else "",
            pid=encoder.pid if encoder is not None else 0,
            dimension=encoder.dimension if encoder is not None else 0,
            embedded=found.pop(settings.model, 0),
            wanted=len(self._due),
            others=found,
        )
