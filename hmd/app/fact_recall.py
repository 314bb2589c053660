"""Questions about facts: what is or was believed, best first.

A question's words are looked for in three stages, each only where the one before found nothing:
all of them, any of them, the question as it is written anywhere in a fact. Of the present the
strongest come first (`hmd.recall.strength`, times how well the words fit); of the past the newest
record, an order that nothing learned later changes.
"""

import re
from collections.abc import Sequence

import trio

from hmd.app import facts
from hmd.app.context import Caller
from hmd.app.recall import Recall
from hmd.core.fact_queries import FactList, FactQuery
from hmd.core.facts import FactRow
from hmd.core.times import parse_time
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


class _Question:
    """A question, taken apart. `groups`: of each word set apart by blanks, what it is found by."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.groups = [found for word in text.split() if (found := tokens(word, asked=True))]
        self.words = [one for group in self.groups for one in group]
        phrases = [_WORD.findall(word.lower()) for word in text.split()]
        self.phrases = [one for one in phrases if len(one) > 1]

    def says(self, row: FactRow) -> bool:
        """Whether words joined by a sign (`test:ci`) stand side by side in a fact too."""
        if not self.phrases:
            return True
        text = f"{row.subject} {row.predicate} {row.fact} {row.details} {' '.join(row.tags)}"
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
    """One question with all that answering it takes."""

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
        self._now = now
        self._past = past
        self._shelves = shelves
        self._indices = [shelf.facts for shelf in shelves]
        # Some may be refused by what only the database knows.
        self._enough = wanted.limit + 2

    async def answer(self, question: _Question) -> tuple[list[FactRow], int, bool]:
        """(rows best first, how many there may be, found by letters only)."""
        if not question.text:
            return (*await self._strongest(), False)
        if question.words:
            for stage in (self._all, self._any):
                found, total = await stage(question)
                if found:
                    return found, total, False
        names = [name for index in self._indices for name in index.containing(question.text)]
        found = await self._pass(names[:MOST_CANDIDATES], MOST_CANDIDATES) if names else []
        return self._order(found, {}), len(found), True

    async def _strongest(self) -> tuple[list[FactRow], int]:
        wanted = self._wanted
        special = wanted.kind or wanted.tag or wanted.pinned or wanted.freshness
        if self._past is not None or special or wanted.archived or wanted.sensitive:
            most = wanted.limit if self._past is not None else max(wanted.limit, MOST_CANDIDATES)
            found = self._order(await self._pass(None, most), {})
            return found, len(found)
        if wanted.subject.strip():
            names = [name for name in self._ids_about() if self._strength(name) is not None]
            names.sort(key=lambda name: -(self._strength(name) or 0.0))
            total = len(names)
        else:
            k, now = self._enough + 4, self._now
            names = [name for shelf in self._shelves for name in shelf.strengths.best(now, k)]
            names.sort(key=lambda name: -(self._strength(name) or 0.0))
            total = sum(len(shelf.strengths) for shelf in self._shelves)
        return self._order(await self._pass(names, self._enough), {}), total

    async def _all(self, question: _Question) -> tuple[list[FactRow], int]:
        """Facts that have every word."""
        return await self._ranked(question, self._having(question.words))

    async def _any(self, question: _Question) -> tuple[list[FactRow], int]:
        """Facts that have any word; of a word in several parts (`도쿄에서`, `test-ci`) half."""
        names: dict[str, None] = {}
        for group in question.groups:
            known = [word for word in group if self._count(word)]
            if known and 2 * len(known) >= len(group):
                names.update(dict.fromkeys(self._having(known)))
        return await self._ranked(question, list(names), any_=True)

    def _having(self, words: Sequence[str]) -> list[str]:
        """The ids of facts that have every word, the newest first; of one subject, where one is
        asked for: its facts are fewer than those that have a word."""
        if not self._wanted.subject.strip():
            most = MOST_CANDIDATES if self._past is not None else NEWEST
            return [
                one.id_at(slot)
                for one in self._indices
                for slot in one.having(words)[: -most - 1 : -1]
            ]
        wanted = len(set(words))
        return [
            name
            for name in self._ids_about()
            for index in self._indices
            if name in index and len(set(index.has(name, words))) == wanted
        ]

    def _ids_about(self) -> list[str]:
        """The facts of the subject asked for, the newest first."""
        subject = self._wanted.subject.strip()
        return [n for one in self._shelves for n in reversed(one.subjects.get(subject, ()))]

    def _count(self, word: str) -> int:
        return sum(index.count(word) for index in self._indices)

    def _strength(self, name: str) -> float | None:
        """Of a fact now; None for one that is not believed."""
        for shelf in self._shelves:
            if name in shelf.records:
                return shelf.strengths.at(name, self._now)
        return None

    async def _ranked(
        self, question: _Question, names: list[str], any_: bool = False
    ) -> tuple[list[FactRow], int]:
        total = len(names)
        scores: dict[str, float] = {}
        enough = self._wanted.limit
        if self._past is not None:
            return await self._known_then(question, names, self._past[1], any_), total
        if names:
            weighed = weights(self._indices, question.words)
            for index in self._indices:
                scores.update(index.scores_of(weighed, names))
            held = {name: self._strength(name) for name in names}
            if not (self._wanted.archived or self._wanted.sensitive):
                names = [name for name in names if held[name] is not None]
            names.sort(key=lambda name: -scores.get(name, 0.0) * (held[name] or 0.0))
            enough = self._enough
        if not names:
            return [], 0
        found = await self._pass(names, enough if not question.phrases else MOST_CANDIDATES)
        if not any_:
            found = [row for row in found if question.says(row)]
        return self._order(found, scores), total

    async def _known_then(
        self, question: _Question, names: list[str], known: int, any_: bool
    ) -> list[FactRow]:
        """The newest of what was recorded by then, until there are enough."""
        found: list[FactRow] = []
        recorded = [shelf.recorded for shelf in self._shelves]
        several = len(self._indices) > 1  # then the newest of each come one after another
        start = 0
        while start < len(names) and (several or len(found) < self._wanted.limit):
            part: list[str] = []
            while start < len(names) and len(part) < FEW:
                name = names[start]
                start += 1
                if any(one.get(name, known + 1) <= known for one in recorded):
                    part.append(name)
            rows_ = await self._pass(part, FEW) if part else []
            found += rows_ if any_ else [row for row in rows_ if question.says(row)]
        return self._order(found, {})

    async def _pass(self, names: Sequence[str] | None, enough: int) -> list[FactRow]:
        return await self._service.app.store.read(
            lambda connection: rows.matching(
                connection, self._wanted, names, self._now, self._past, self._project, enough
            )
        )

    def _order(self, found: list[FactRow], scores: dict[str, float]) -> list[FactRow]:
        if self._past is not None:
            return sorted(found, key=lambda row: (-row.recorded_at, -row.number))
        accessed = self._service.app.store.accessed

        def rank(row: FactRow) -> tuple[float, int, int]:
            held = strength(row, self._now, accessed(row.id))
            return -scores.get(row.id, 1.0) * held, -row.recorded_at, -row.number

        return sorted(found, key=rank)


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
