"""Sessions as the worker reads them: the ledger folded once, then only what was added.

A few sessions stay in memory. Reading one anew gives the same episodes under the same ids, so
nothing is lost when it is dropped, or when the worker ends.
"""

import os
from collections import OrderedDict

import msgspec

from hmd.core.learning import EpisodeRow, FixRow, ReceiptRow
from hmd.kernel import event as ev
from hmd.kernel import ledger
from hmd.kernel.address import Home
from hmd.learn.calls import Call
from hmd.learn.episodes import IDLE, Episode, Folder
from hmd.learn.fixes import Book, FixFold
from hmd.worker import past
from hmd.worker.receipts import receipts_of

SESSIONS_KEPT = 8
PIECE = 1 << 20
SUMMARY_LIMIT = 200
# A ledger of more than this is folded again instead of being kept in memory.
KEPT_LIMIT = 16 * 1024 * 1024


class Session:
    """One session's fold. `episodes` are the closed ones; only those that a model may be asked
    about keep their records."""

    def __init__(self, home: Home, key: str) -> None:
        self.home = home
        self.key = key
        self.offset = 0
        self.ended = 0
        self.calls = 0
        self.guards = 0
        self._said_end = self._silent = False
        self.episodes: list[Episode] = []
        self.rows: list[EpisodeRow] = []
        self.receipts: dict[tuple[str, int], ReceiptRow] = {}
        self.books: dict[str, Book] = {}
        self._folds: dict[str, FixFold] = {}
        self._past: dict[str, list[Call]] = {}
        # Episode ids follow from host and session, and so does the key: it serves as well.
        self._folder = Folder("", key)
        self._folder.key = key

    @property
    def open(self) -> bool:
        return self._folder.is_open

    @property
    def finished(self) -> bool:
        """The session has ended, or its host has been silent for an hour."""
        return not self.open and (self._said_end or self._silent)

    def catch_up(self, now: int) -> None:
        """Folds what the ledger has gained. A file that became shorter is another one."""
        first = self.offset == 0
        try:
            with open(self.home.ledger(self.key), "rb") as file:
                while True:
                    file.seek(self.offset)
                    data = file.read(PIECE)
                    found, used = ledger.records(data)
                    if not used:
                        break
                    self.offset += used
                    for record in found:
                        self._feed(record)
        except FileNotFoundError:
            pass
        for episode in self._folder.sweep(now):
            self._take(episode)
        self._silent = now - self.ended >= IDLE
        past.write(self.home, self.key, self._past, anew=first)
        self._past = {}

    def episode(self, identifier: str) -> Episode | None:
        found = [one for one in self.episodes if one.id == identifier]
        return found[0] if found and found[0].records else None

    def _feed(self, record: ledger.Record) -> None:
        at = record.get("t")
        self.ended = max(self.ended, at) if isinstance(at, int) else self.ended
        self.guards += bool(record.get("guards"))
        self._said_end = record.get("k") == ev.SESSION_END
        for episode in self._folder.feed(record):
            self._take(episode)

    def _take(self, episode: Episode) -> None:
        self.calls += len(episode.calls)
        self.rows.append(row_of(episode))
        for row in receipts_of(episode):
            _add(self.receipts, row)
        if episode.project:
            book = self.books.setdefault(episode.project, Book())
            fold = self._folds.get(episode.project)
            if fold is None:
                fold = self._folds[episode.project] = FixFold(book, self.key)
            fold.feed(episode)
            self._past.setdefault(episode.project, []).extend(episode.calls)
        if not episode.signal:
            # Kept as it was for its id alone: a session without a correction takes no memory.
            episode = msgspec.structs.replace(
                episode, records=[], calls=[], context=[], failures=[], fired=[]
            )
        self.episodes.append(episode)

    def fixes(self) -> dict[str, list[FixRow]]:
        return {
            project: [
                FixRow(
                    id=fix.id,
                    tool=fix.tool,
                    key=fix.key,
                    failure=fix.failure,
                    signature=fix.signature,
                    fix=fix.fix,
                    fix_key=fix.fix_key,
                    seen=fix.seen,
                )
                for fix in book.fixes.values()
            ]
            for project, book in self.books.items()
            if book.fixes
        }

    def failed(self) -> dict[str, dict[str, int]]:
        return {project: book.failed for project, book in self.books.items() if book.failed}


class Sessions:
    """The sessions in memory, the least recently used given up first."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, str], Session] = OrderedDict()

    def get(self, home: Home, key: str, now: int) -> Session:
        """The session, everything in its ledger folded in."""
        name = (home.path, key)
        held = self._held.get(name)
        if held is None or held.offset > _size(home.ledger(key)):
            held = Session(home, key)
        held.catch_up(now)
        self._held[name] = held
        self._held.move_to_end(name)
        while len(self._held) > SESSIONS_KEPT or (
            len(self._held) > 1 and sum(one.offset for one in self._held.values()) > KEPT_LIMIT
        ):
            self._held.popitem(last=False)
        return held


def whole_session(home: Home, key: str, now: int) -> list[Episode]:
    """Every closed episode of a session with all of its records, read from the file."""
    folder = Folder("", key)
    folder.key = key
    episodes: list[Episode] = []
    try:
        with open(home.ledger(key), "rb") as file:
            found, _ = ledger.records(file.read())
    except FileNotFoundError:
        return []
    for record in found:
        episodes += folder.feed(record)
    return episodes + folder.sweep(now)


def row_of(episode: Episode) -> EpisodeRow:
    """An episode as the queue knows it."""
    words = " ".join(episode.prompt.split())
    return EpisodeRow(
        id=episode.id,
        session=episode.key,
        project=episode.project,
        turn=episode.turn,
        segment=episode.segment,
        started=episode.started,
        ended=episode.ended,
        closed=episode.closed,
        weight=episode.weight,
        correction=episode.correction,
        remember=episode.remembers,
        decision=episode.decides,
        state="queued" if episode.signal and episode.project else "no_signal",
        summary=words[:SUMMARY_LIMIT],
        told="derived" if words else "",
    )


def _add(into: dict[tuple[str, int], ReceiptRow], row: ReceiptRow) -> None:
    known = into.setdefault(
        (row.memory, row.week), ReceiptRow(memory=row.memory, session=row.session, week=row.week)
    )
    for name in ("fired", "heeded", "avoided", "overridden", "false_alarm"):
        setattr(known, name, getattr(known, name) + getattr(row, name))
    known.last = max(known.last, row.last)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
