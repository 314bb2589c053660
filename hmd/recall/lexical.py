"""BM25 over what is stored, resident and incremental.

score = Σ idf · tf·(k1+1) / (tf + k1·(1 − b + b·length/average)), idf = ln(1 + (N−df+½)/(df+½))
(Robertson and Zaragoza 2009, with Lucene's idf). Postings are machine arrays in the order of
slots. Where a question's words have few postings, every text that has one is scored; else those
that have the weightiest words (`hmd.recall.postings`). That bounds the time of a question whatever
the number of texts.

Several indices (a project's and the user's) are asked as if they were one.
"""

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from hmd.recall.postings import K1, Postings, added, in_all, promising
from hmd.recall.tokenize import tokens

B = 0.4
# Impacts are worked out anew when the average length has moved by more than this share.
DRIFT = 0.05
# Postings of which every text is scored; where there are more, at least `KEPT` texts are.
MOST_READ = 1500
KEPT = 64
# Reading a text costs, for each of its words, about as much as looking for half a word of a
# question in it, or as scoring it by two words.
_LOOKED_FOR = 0.5
_SCORED = 2
_TF_BITS = 8
_CHUNK = 256
_MOST_TF = (1 << _TF_BITS) - 1


class Hit(NamedTuple):
    """A text found: `score` its BM25, `words` the words of the question that it has."""

    id: str
    score: float
    words: tuple[str, ...]


class Index:
    """Texts by id. Adding and removing cost what the text's own words cost."""

    def __init__(self) -> None:
        # word → its postings; of a word that only one text has: slot << _TF_BITS | tf
        self._postings: dict[str, Postings | int] = {}
        self._ids: list[str] = []  # by slot; "" where the text is gone
        self._texts: list[bytes] = []
        self._lengths = array("H")
        self._slots: dict[str, int] = {}
        self._joined: dict[int, bytes] = {}  # first slot → its chunk's texts, for `containing`
        self._total = 0
        self._average = 1.0
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._slots

    # -- changing --

    def add(self, identifier: str, text: str) -> int:
        """Files a text, in the slot after the last one; one of the same id is replaced."""
        self.remove(identifier)
        found = tokens(text)
        slot = len(self._ids)
        length = min(len(found), 65_535)
        self._ids.append(identifier)
        self._texts.append(text.encode("utf-8", "surrogatepass"))
        self._lengths.append(length)
        self._slots[identifier] = slot
        self._joined.pop(slot - slot % _CHUNK, None)
        self._total += length
        self._follow_average()
        postings = self._postings
        get = postings.get
        for word, count in _counted(found).items():
            entry = get(word)
            if entry is None:
                postings[word] = slot << _TF_BITS | count
                continue
            if isinstance(entry, int):
                entry = postings[word] = _spread(entry)
            entry.slots.append(slot)
            entry.tfs.append(count)
        return slot

    def remove(self, identifier: str) -> bool:
        """Forgets a text; False where there is none of that id."""
        slot = self._slots.pop(identifier, None)
        if slot is None:
            return False
        for word in set(tokens(self._text(slot))):
            entry = self._postings[word]
            if isinstance(entry, int) or len(entry.slots) == 1:
                del self._postings[word]
            else:
                entry.remove(slot)
        self._total -= self._lengths[slot]
        self._ids[slot], self._texts[slot] = "", b""
        self._joined.pop(slot - slot % _CHUNK, None)
        self._follow_average()
        return True

    def settle(self) -> Iterator[None]:
        """Brings every impact up to date, a word at a time: after many texts were added, so that
        no question has to."""
        for entry in list(self._postings.values()):
            if not isinstance(entry, int):
                self._refresh(entry)
                entry.prepare()
            yield

    def _text(self, slot: int) -> str:
        return self._texts[slot].decode("utf-8", "surrogatepass")

    def _follow_average(self) -> None:
        average = max(self._total, 1) / max(len(self._slots), 1)
        if abs(average - self._average) > DRIFT * self._average:
            self._average = average
            self._epoch += 1

    def _refresh(self, entry: Postings) -> None:
        entry.refresh(self._epoch, K1 * (1 - B), K1 * B / self._average, self._lengths)

    # -- asking --

    def count(self, word: str) -> int:
        """In how many texts a word (as `tokens` gives it) occurs."""
        entry = self._postings.get(word)
        if entry is None:
            return 0
        return 1 if isinstance(entry, int) else len(entry.slots)

    def ids(self) -> Iterable[str]:
        return self._slots

    def text(self, identifier: str) -> str:
        """The text filed under an id, "" where there is none."""
        slot = self._slots.get(identifier)
        return "" if slot is None else self._text(slot)

    def length(self, identifier: str) -> int:
        """How many words a text has."""
        slot = self._slots.get(identifier)
        return 0 if slot is None else self._lengths[slot]

    def has(self, identifier: str, words: Collection[str]) -> tuple[str, ...]:
        """Those of `words` that a text has."""
        slot = self._slots.get(identifier)
        if slot is None:
            return ()
        if len(words) > _LOOKED_FOR * self._lengths[slot]:
            mine = frozenset(tokens(self._text(slot)))
            return tuple(word for word in words if word in mine)
        known = ((word, self._postings.get(word)) for word in words)
        return tuple(word for word, entry in known if entry is not None and _has(entry, slot))

    def having(self, words: Sequence[str], among: Sequence[int] | None = None) -> Sequence[int]:
        """The slots (see `id_at`) of the texts that have every one of `words`, rising: in the order
        in which they were added. `among`: of these only, in their order."""
        entries = [self._entry(word) for word in set(words)]
        known = [one for one in entries if one is not None]
        if not known or len(known) < len(entries):
            return ()
        return in_all(known, among)

    def slot(self, identifier: str) -> int | None:
        """Where a text lies, for `having` and `scores_at`."""
        return self._slots.get(identifier)

    def id_at(self, slot: int) -> str:
        """The id of the text in a slot."""
        return self._ids[slot]

    def containing(self, needle: str) -> list[str]:
        """The ids of the texts that contain `needle`, ASCII letters in either case."""
        wanted = needle.encode("utf-8", "surrogatepass").lower()
        found = []
        for chunk in range(0, len(self._ids), _CHUNK):
            joined = self._joined.get(chunk)
            if joined is None:
                joined = b"\0".join(self._texts[chunk : chunk + _CHUNK]).lower()
                self._joined[chunk] = joined
            if wanted in joined:
                found += [
                    self._ids[slot]
                    for slot in range(chunk, min(chunk + _CHUNK, len(self._ids)))
                    if self._ids[slot] and wanted in self._texts[slot].lower()
                ]
        return found

    def _entry(self, word: str) -> Postings | None:
        entry = self._postings.get(word)
        if entry is None:
            return None
        if isinstance(entry, int):
            entry = _spread(entry)
        self._refresh(entry)
        return entry

    def best(self, weights: Mapping[str, float], k: int) -> list[tuple[float, str]]:
        """The `k` best (score, id) for words with their weights (idf), best first, then by id."""
        parts = [
            (weight, entry)
            for word, weight in weights.items()
            if (entry := self._entry(word)) is not None
        ]
        if not parts or k <= 0:
            return []
        parts.sort(key=lambda part: (len(part[1].slots), -part[0]))
        if sum(len(entry.slots) for _, entry in parts) <= MOST_READ:
            scores = added(parts)
        else:
            slots = promising(parts, max(KEPT, k))
            scores = dict(zip(slots, self.scores_at(weights, slots), strict=True))
        ids = self._ids
        ranked = sorted((-score, ids[slot]) for slot, score in _best(scores, k))
        return [(-score, name) for score, name in ranked[:k]]

    def scores_of(
        self, weights: Mapping[str, float], identifiers: Sequence[str]
    ) -> dict[str, float]:
        """The scores of given texts; those that have none of the words are left out."""
        known = [(name, self._slots[name]) for name in identifiers if name in self._slots]
        scores = self.scores_at(weights, [slot for _, slot in known])
        return {name: score for (name, _), score in zip(known, scores, strict=True) if score}

    def scores_at(self, weights: Mapping[str, float], slots: Sequence[int]) -> list[float]:
        """The score of the text in each slot, 0 where it has none of the words."""
        if len(weights) * len(slots) > _SCORED * sum([self._lengths[slot] for slot in slots]):
            return [self._score(weights, slot) for slot in slots]
        out = [0.0] * len(slots)
        for word, weight in weights.items():
            entry = self._entry(word)
            if entry is not None:
                entry.add_to(out, slots, weight)
        return out

    def _score(self, weights: Mapping[str, float], slot: int) -> float:
        """The same from the text itself, for questions of more words than it has."""
        norm = K1 * (1 - B) + K1 * B / self._average * self._lengths[slot]
        return sum(
            weights[word] * count * (K1 + 1) / (count + norm)
            for word, count in _counted(tokens(self._text(slot))).items()
            if word in weights
        )


def _spread(single: int) -> Postings:
    return Postings(single >> _TF_BITS, single & _MOST_TF)


def _has(entry: Postings | int, slot: int) -> bool:
    return entry >> _TF_BITS == slot if isinstance(entry, int) else slot in entry


def _counted(found: list[str]) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(found, 1)
    if len(counts) < len(found):
        counts = Counter(found)
        if len(found) > _MOST_TF:
            counts = {word: min(count, _MOST_TF) for word, count in counts.items()}
    return counts


def _best(scores: dict[int, float], k: int) -> list[tuple[int, float]]:
    """The `k` greatest, and all that tie with the last of them."""
    if len(scores) <= k:
        return list(scores.items())
    floor = nlargest(k, scores.values())[-1]
    return [item for item in scores.items() if item[1] >= floor]


def idf(count: int, total: int) -> float:
    """The weight of a word that `count` of `total` texts have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def weights(indices: Sequence[Index], words: Iterable[str]) -> dict[str, float]:
    """Each word once, with its idf over all indices together (also words that none has)."""
    total = sum(len(index) for index in indices)
    out: dict[str, float] = {}
    for word in words:
        if word not in out:
            out[word] = idf(sum(index.count(word) for index in indices), total)
    return out


def search(indices: Sequence[Index], question: str, k: int = 10) -> list[Hit]:
    """The `k` texts that answer a question best, best first; ties by id."""
    weighed = weights(indices, tokens(question, asked=True))
    found = [(score, name, index) for index in indices for score, name in index.best(weighed, k)]
    found.sort(key=lambda one: (-one[0], one[1]))
    return [Hit(name, score, index.has(name, weighed)) for score, name, index in found[:k]]
