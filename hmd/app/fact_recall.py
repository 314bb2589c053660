"""Questions about facts: what is or was believed, best first.

A question's words are looked for in three stages, each only where the one before found nothing:
all of them, any of them, the question as it is written anywhere in a fact. Of the present the
strongest come first (`hmd.recall.strength`, times how well the words fit); of the past the newest
record, an order that nothing learned later changes.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, merge
from itertools import islice

import trio

from hmd.app import facts
from hmd.app.context import Caller
from hmd.app.recall import Recall
from hmd.core.fact_queries import FactList, FactQuery
from hmd.core.facts import FactRow
from hmd.core.times import parse_time
from hmd.recall.belief import Belief
from hmd.recall.hot import token_count
from hmd.recall.lexical import weights
from hmd.recall.shelf import Shelf
from hmd.recall.strength import strength
from hmd.recall.tokenize import tokens
from hmd.store import recall as rows

FIRST_WAIT_S = 1.0
MOST_CANDIDATES = 4000
NEWEST = 512  # of the present: how many of the newest that have the words are weighed
FEW = 64
_WORD = re.compile(r"\w+")

Past = tuple[int, int]
# Where facts lie that a question may mean: in each shelf, the slots of its index.
Candidates = list[tuple[Shelf, Sequence[int]]]


class _Question:
    """A question, taken apart. `groups`: of each word set apart by blanks, what it is found by."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.groups = [found for word in text.split() if (found := tokens(word, asked=True))]
        self.words = [one for group in self.groups for one in group]
        phrases = [_WORD.findall(word.lower()) for word in text.split()]
        self.phrases = [one for one in phrases if len(one) > 1]

    def says(self, text: str) -> bool:
        """Whether words joined by a sign (`test:ci`) stand side by side in a text too."""
        said = " " + " ".join(_WORD.findall(text.lower())) + " "
        return all(f" {' '.join(phrase)} " in said for phrase in self.phrases)


async def recall(service: Recall, caller: Caller, wanted: FactQuery) -> FactList:
    """Raises HmdError."""
    app = service.app
    as_of = None if wanted.as_of is None else parse_time(wanted.as_of)
    valid = as_of if wanted.valid_at is None else parse_time(wanted.valid_at)
    known = as_of if wanted.known_at is None else parse_time(wanted.known_at)
    now = app.now()
    past = None
    if valid is not None or known is not None:
        past = (now if valid is None else valid, now if known is None else known)
    shelves = None
    with trio.move_on_after(FIRST_WAIT_S):
        shelves = await service.fact_places(caller.project)
    if shelves is None:  # a large store is being read for the first time: the database answers
        return await facts.recall(app, caller, wanted)
    asked = _Asked(service, caller.project, wanted, now, past, shelves)
    found, total, fallback = await asked.answer(_Question(wanted.query.strip()))
    kept, truncated = _within(found[: wanted.limit], wanted.max_tokens)
    if past is None and kept:
        at = app.now()
        app.store.note_access([row.id for row in kept], at)
        service.accessed(kept, at)
    return FactList(
        rows=kept,
        total=max(total, len(found)),
        valid_at=valid,
        known_at=known,
        truncated=truncated,
        fallback=fallback,
    )


class _Asked:
    """One question with all that answering it takes.

    The shelves say in which order facts come into question, the database which of these are an
    answer: as few rows are read as are given.
    """

    def __init__(
        self,
        service: Recall,
        project: str,
        wanted: FactQuery,
        now: int,
        past: Past | None,
        shelves: Sequence[Shelf],
    ) -> None:
        self._service = service
        self._project = project
        self._wanted = wanted
        self._subject = wanted.subject.strip()
        self._now = now
        self._past = past
        self._all = past is not None or wanted.archived or wanted.sensitive
        self._shelves = shelves
        self._indices = [shelf.facts for shelf in shelves]
        self._about = [shelf.about(self._subject) for shelf in shelves] if self._subject else None

    async def answer(self, question: _Question) -> tuple[list[FactRow], int, bool]:
        """(rows best first, how many there may be, found by letters only)."""
        if not question.text:
            return (*await self._strongest(), False)
        if question.words:
            found, total = await self._ranked(question, self._having(question.words))
            if not found:
                found, total = await self._ranked(question, self._having_any(question), any_=True)
            if found:
                return found, total, False
        found, total = await self._containing(question.text)
        return found, total, True

    # -- without words --

    async def _strongest(self) -> tuple[list[FactRow], int]:
        wanted, past = self._wanted, self._past
        special = wanted.kind or wanted.tag or wanted.pinned or wanted.freshness
        if past is not None or special or wanted.archived or wanted.sensitive:
            most = wanted.limit if past is not None else max(wanted.limit, MOST_CANDIDATES)
            found = await self._service.app.store.read(
                lambda connection: rows.newest_matching(
                    connection, wanted, self._now, past, self._project, most
                )
            )
            return (found if past is not None else self._by_strength(found)), len(found)
        if self._about is not None:
            mine = [one for part in self._about for one in part if self._may_be(one)]
            return await self._read(self._strongest_of(mine)), len(mine)
        today = max(self._now, *(shelf.latest for shelf in self._shelves))
        few = wanted.limit + FEW
        best = [one for shelf in self._shelves for one in shelf.strongest.best(today, few)]
        total = sum(len(shelf.strongest) for shelf in self._shelves)
        return await self._read(self._strongest_of(best)), total

    def _by_strength(self, found: list[FactRow]) -> list[FactRow]:
        accessed = self._service.app.store.accessed
        held = {row.id: strength(row, self._now, accessed(row.id)) for row in found}
        return sorted(found, key=lambda row: (-held[row.id], -row.recorded_at, -row.number))

    def _strongest_of(self, found: Iterable[Belief]) -> Iterator[Belief]:
        now = self._now
        return _least_first(
            [(-one.strength(now), -one.recorded, -one.number, one) for one in found]
        )

    # -- by words --

    def _having(self, words: Sequence[str]) -> Candidates:
        """The facts that have every word; of one subject where one is asked for: its facts are
        fewer than those that have a word."""
        if self._about is None:
            return [(shelf, shelf.facts.having(words)) for shelf in self._shelves]
        found: Candidates = []
        for shelf, about in zip(self._shelves, self._about, strict=True):
            slots = [s for one in about if (s := shelf.facts.slot(one.id)) is not None]
            found.append((shelf, shelf.facts.having(words, slots)))
        return found

    def _having_any(self, question: _Question) -> Candidates:
        """Facts that have any word; of a word in several parts (`도쿄에서`, `test-ci`) half."""
        slots: list[set[int]] = [set() for _ in self._shelves]
        for group in question.groups:
            known = [word for word in group if any(index.count(word) for index in self._indices)]
            if known and 2 * len(known) >= len(group):
                for mine, (_, more) in zip(slots, self._having(known), strict=True):
                    mine.update(more[-MOST_CANDIDATES:])
        return [(shelf, sorted(mine)) for shelf, mine in zip(self._shelves, slots, strict=True)]

    async def _ranked(
        self, question: _Question, candidates: Candidates, any_: bool = False
    ) -> tuple[list[FactRow], int]:
        """(rows best first, how many facts have the words)."""
        total = sum(len(slots) for _, slots in candidates)
        if not total:
            return [], 0
        if self._past is None:
            found = self._best(question, candidates)
        else:
            found = self._newest(candidates, self._past[1])
        if question.phrases and not any_:
            found = (one for one in found if question.says(self._text(one)))
        return await self._read(found), total

    def _best(self, question: _Question, candidates: Candidates) -> Iterator[Belief]:
        """By how well the words fit times how strongly a fact is held."""
        weighed = weights(self._indices, question.words)
        now, may_be = self._now, self._may_be
        ranked: list[tuple[float, int, int, Belief]] = []
        for shelf, slots in candidates:
            slots = slots[-NEWEST if self._about is None else 0 :]
            beliefs = shelf.beliefs
            for slot, score in zip(slots, shelf.facts.scores_at(weighed, slots), strict=True):
                one = beliefs[slot]
                if one is not None and may_be(one):
                    ranked.append((-score * one.strength(now), -one.recorded, -one.number, one))
        return _least_first(ranked)

    def _newest(self, candidates: Candidates, known: int) -> Iterator[Belief]:
        """The newest of what was recorded by then: an order that nothing learned later changes."""
        parts = [_newest_first(shelf, slots, known) for shelf, slots in candidates if slots]
        return parts[0] if len(parts) == 1 else merge(*parts, key=Belief.record_key, reverse=True)

    def _may_be(self, one: Belief) -> bool:
        """Whether the database may give it, as far as the shelf knows."""
        if self._all:
            return True
        return one.current and (one.until is None or one.until > self._now)

    def _text(self, one: Belief) -> str:
        return next((index.text(one.id) for index in self._indices if one.id in index), "")

    # -- by letters --

    async def _containing(self, text: str) -> tuple[list[FactRow], int]:
        """Facts that contain a question as it is written."""
        found = [
            one
            for shelf in self._shelves
            for name in shelf.facts.containing(text)[-MOST_CANDIDATES:]
            if (one := shelf.belief(name)) is not None and self._may_be(one)
        ]
        if self._past is None:
            read = await self._read(self._strongest_of(found))
        else:
            known = [one for one in found if one.recorded <= self._past[1]]
            read = await self._read(sorted(known, key=Belief.record_key, reverse=True))
        return read, len(read) if len(read) < self._wanted.limit else len(found)

    # -- reading --

    async def _read(self, candidates: Iterable[Belief]) -> list[FactRow]:
        """The rows of the first `limit` candidates that the database lets pass."""
        wanted, found = self._wanted, list[FactRow]()
        left = iter(candidates)
        size = wanted.limit + (wanted.limit // 2 if self._past is not None else 0)
        while len(found) < wanted.limit and (part := [one.number for one in islice(left, size)]):
            found += await self._matching(part, wanted.limit - len(found))
            size = max(FEW, 4 * size)
        return found

    async def _matching(self, numbers: list[int], enough: int) -> list[FactRow]:
        return await self._service.app.store.read(
            lambda connection: rows.matching(
                connection, self._wanted, numbers, self._now, self._past, self._project, enough
            )
        )


def _least_first(ranked: list[tuple[float, int, int, Belief]]) -> Iterator[Belief]:
    """Few are wanted of many: a heap costs less than an order."""
    heapify(ranked)
    while ranked:
        yield heappop(ranked)[3]


def _newest_first(shelf: Shelf, slots: Sequence[int], known: int) -> Iterator[Belief]:
    """Those recorded by `known`. They are looked up as they are wanted: what was erased meanwhile
    is passed over."""
    beliefs = shelf.beliefs

    def recorded(slot: int) -> int:
        one = beliefs[slot]
        return 0 if one is None else one.recorded

    if not shelf.in_order:
        slots = sorted(slots, key=recorded)
    end = bisect_right(slots, known, key=recorded)
    return (one for slot in slots[:end][::-1] if (one := beliefs[slot]) is not None)


def _within(found: list[FactRow], max_tokens: int | None) -> tuple[list[FactRow], bool]:
    """The first facts that fit, and whether one did not."""
    if max_tokens is None:
        return found, False
    left = max_tokens
    for number, row in enumerate(found):
        said = " ".join(part for part in (row.subject, row.predicate, row.fact) if part)
        left -= token_count(said)
        if left < 0:
            return found[:number], True
    return found, False
