"""Questions about facts: what is or was believed, best first.

A question's words are looked for in three stages, each only where the one before found nothing:
all of them, any of them, the question as it is written anywhere in a fact. Of the present the
strongest come first (`hmd.recall.strength`, times how well the words fit); of the past the newest
record, an order that nothing learned later changes.
"""

import re
from collections.abc import Sequence

from hmd.app.context import Caller
from hmd.app.recall import Recall
from hmd.core.facts import FactList, FactQuery, FactRow
from hmd.core.times import parse_time
from hmd.recall.hot import token_count
from hmd.recall.lexical import Index, weights
from hmd.recall.strength import Strengths, strength
from hmd.recall.tokenize import tokens
from hmd.store import recall as rows

MOST_CANDIDATES = 4000
RANKED = 256  # of the present: how many of the best by words are weighed by strength too
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
    places = await service.fact_places(caller.project)
    asked = _Asked(service, caller.project, wanted, now, past, places)
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
        places: Sequence[tuple[Index, Strengths]],
    ) -> None:
        self._service = service
        self._project = project
        self._wanted = wanted
        self._now = now
        self._past = past
        self._places = places
        self._indices = [index for index, _ in places]

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
        rows = await self._pass(names[:MOST_CANDIDATES])
        return self._order(rows, {}), len(rows), True

    async def _strongest(self) -> tuple[list[FactRow], int]:
        wanted, limit = self._wanted, self._wanted.limit
        plain = not (wanted.subject.strip() or wanted.kind or wanted.tag or wanted.pinned)
        plain = plain and not (wanted.archived or wanted.sensitive or wanted.freshness)
        if self._past is not None or not plain:
            most = limit if self._past is not None else max(limit, MOST_CANDIDATES)
            rows = self._order(await self._pass(None, most), {})
            return rows, len(rows)
        names = [name for _, one in self._places for name in one.best(self._now, limit + RANKED)]
        rows = self._order(await self._pass(names), {})
        return rows, sum(len(one) for _, one in self._places)

    async def _all(self, question: _Question) -> tuple[list[FactRow], int]:
        """Facts that have every word."""
        most = MOST_CANDIDATES
        names = [name for one in self._indices for name in one.having(question.words, most)]
        return await self._ranked(question, names)

    async def _any(self, question: _Question) -> tuple[list[FactRow], int]:
        """Facts that have any word; of a word in several parts (`도쿄에서`, `test-ci`) most."""
        known = [group for group in question.groups if any(map(self._count, group))]
        names: dict[str, None] = {}
        for group in known:
            for index in self._indices:
                for name in index.having([w for w in group if self._count(w)], MOST_CANDIDATES):
                    names[name] = None
        return await self._ranked(question, list(names), any_=True)

    def _count(self, word: str) -> int:
        return sum(index.count(word) for index in self._indices)

    async def _ranked(
        self, question: _Question, names: list[str], any_: bool = False
    ) -> tuple[list[FactRow], int]:
        if not names:
            return [], 0
        scores: dict[str, float] = {}
        weighed = weights(self._indices, question.words)
        enough = self._wanted.limit
        if self._past is None:
            for index in self._indices:
                scores.update(index.scores_of(weighed, names))
            strong = self._service.strength_of
            names.sort(key=lambda name: -scores.get(name, 0.0) * strong(name, self._now))
            enough = max(RANKED, 4 * enough) if self._wanted.limit > 8 else 4 * enough
        rows = await self._pass(names, max(enough, self._wanted.limit))
        if not any_:
            rows = [row for row in rows if question.says(row)]
        return self._order(rows, scores), len(names)

    async def _pass(self, names: Sequence[str] | None, enough: int = 100_000) -> list[FactRow]:
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
