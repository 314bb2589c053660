"""BM25 over what is stored, resident and incremental.

score = Σ idf · tf·(k1+1) / (tf + k1·(1 − b + b·length/average)), idf = ln(1 + (N−df+½)/(df+½))
(Robertson and Zaragoza 2009, with Lucene's idf). Postings are machine arrays in the order of
slots. A query reads its own words' postings, rarest word first, and stops making new candidates
once no other text could get among the best (MaxScore, Turtle and Flood 1995), or once it has read
`MOST_READ` postings: commoner words then only add to the candidates' scores. That bounds the time
of a query whatever the number of texts.

Several indices (a project's and the user's) are asked as if they were one.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from hmd.recall.tokenize import tokens

K1, B = 1.0, 0.4
# Impacts are worked out anew when the average length has moved by more than this share.
DRIFT = 0.05
# Postings after which common words make no new candidates, and how many candidates go on then.
MOST_READ = 2500
KEPT = 100
_TF_BITS = 8
_CHUNK = 256
_MOST_TF = (1 << _TF_BITS) - 1


class Hit(NamedTuple):
    """A text found: `score` its BM25, `words` the words of the question that it has."""

    id: str
    score: float
    words: tuple[str, ...]


class _Postings:
    """Where one word occurs: slots in rising order, how often in each, and the impact of each,
    tf·(k1+1)/(tf+norm), with the greatest of them. `champions`: the slots of the greatest impacts,
    null until they are wanted."""

    __slots__ = ("champions", "epoch", "impacts", "peak", "slots", "tfs")

    def __init__(self) -> None:
        self.slots = array("I")
        self.tfs = array("B")
        self.impacts = array("f")
        self.epoch = 0
        self.peak = 0.0
        self.champions: list[int] | None = None

    def add(self, slot: int, tf: int, impact: float) -> None:
        self.slots.append(slot)
        self.tfs.append(tf)
        self.impacts.append(impact)
        self.peak = max(self.peak, impact)
        if self.champions is not None and len(self.champions) < 2 * MOST_READ:
            self.champions.append(slot)  # one too many does no harm, one missing might

    def remove(self, slot: int) -> None:
        at = bisect_left(self.slots, slot)
        del self.slots[at], self.tfs[at], self.impacts[at]
        if self.champions is not None and slot in self.champions:
            self.champions = None

    def impact(self, slot: int) -> float:
        """0 for a text without the word."""
        slots = self.slots
        at = bisect_left(slots, slot)
        return self.impacts[at] if at < len(slots) and slots[at] == slot else 0.0


class Index:
    """Texts by id. Adding and removing cost what the text's own words cost."""

    def __init__(self) -> None:
        # word → its postings; of a word that only one text has: slot << _TF_BITS | tf
        self._postings: dict[str, _Postings | int] = {}
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

    def add(self, identifier: str, text: str) -> None:
        """Files a text; one of the same id is replaced."""
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
        base = self._norm(length)
        for word, count in _counted(found).items():
            entry = self._postings.get(word)
            if entry is None:
                self._postings[word] = slot << _TF_BITS | count
                continue
            if isinstance(entry, int):
                entry = self._postings[word] = self._spread(entry)
            entry.add(slot, count, count * (K1 + 1) / (count + base))

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
            yield

    def _text(self, slot: int) -> str:
        return self._texts[slot].decode("utf-8", "surrogatepass")

    def _norm(self, length: int) -> float:
        return K1 * (1 - B + B * length / self._average)

    def _follow_average(self) -> None:
        average = max(self._total, 1) / max(len(self._slots), 1)
        if abs(average - self._average) > DRIFT * self._average:
            self._average = average
            self._epoch += 1

    def _spread(self, single: int) -> _Postings:
        entry = _Postings()
        entry.epoch = self._epoch
        slot, tf = single >> _TF_BITS, single & _MOST_TF
        entry.add(slot, tf, tf * (K1 + 1) / (tf + self._norm(self._lengths[slot])))
        return entry

    def _refresh(self, entry: _Postings) -> None:
        if entry.epoch == self._epoch:
            return
        base, slope, lengths = K1 * (1 - B), K1 * B / self._average, self._lengths
        entry.impacts = array(
            "f",
            [
                tf * (K1 + 1) / (tf + base + slope * lengths[slot])
                for slot, tf in zip(entry.slots, entry.tfs, strict=True)
            ],
        )
        entry.peak = max(entry.impacts)
        entry.champions = None
        entry.epoch = self._epoch

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

    def has(self, identifier: str, words: Iterable[str]) -> tuple[str, ...]:
        """Those of `words` that a text has."""
        slot = self._slots.get(identifier)
        if slot is None:
            return ()
        return tuple(
            word
            for word in words
            if (entry := self._entry(word)) is not None and entry.impact(slot)
        )

    def having(self, words: Sequence[str], most: int) -> list[str]:
        """The ids of the texts that have every one of `words`, those added last first; of more than
        `most` only so many."""
        entries = [self._entry(word) for word in words]
        known = sorted((one for one in entries if one is not None), key=lambda e: len(e.slots))
        if not known or len(known) < len(entries):
            return []
        if len(known) == 1:
            return [self._ids[slot] for slot in known[0].slots[: -most - 1 : -1]]
        slots = set(known[0].slots)
        for entry in known[1:]:
            if len(entry.slots) > 8 * len(slots):
                slots = {slot for slot in slots if entry.impact(slot)}
            else:
                slots.intersection_update(entry.slots)
        return [self._ids[slot] for slot in nlargest(most, slots)]

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

    def _entry(self, word: str) -> _Postings | None:
        entry = self._postings.get(word)
        if entry is None:
            return None
        if isinstance(entry, int):
            return self._spread(entry)
        self._refresh(entry)
        return entry

    def best(self, weights: Mapping[str, float], k: int) -> list[tuple[float, str]]:
        """The `k` best (score, id) for words with their weights (idf), best first, then by id."""
        parts = [
            (weight * entry.peak, weight, entry)
            for word, weight in weights.items()
            if (entry := self._entry(word)) is not None
        ]
        if not parts or k <= 0:
            return []
        parts.sort(key=lambda part: (len(part[2].slots), -part[0]))
        ids = self._ids
        found = _best(_scores(parts, k), k)
        ranked = sorted((-score, ids[slot]) for slot, score in found)
        return [(-score, name) for score, name in ranked[:k]]

    def scores_of(
        self, weights: Mapping[str, float], identifiers: Sequence[str]
    ) -> dict[str, float]:
        """The scores of given texts; those that have none of the words are left out."""
        out: dict[str, float] = {}
        slots = [(name, self._slots[name]) for name in identifiers if name in self._slots]
        for word, weight in weights.items():
            entry = self._entry(word)
            for name, slot in slots if entry is not None else ():
                if entry is not None and (impact := entry.impact(slot)):
                    out[name] = out.get(name, 0.0) + weight * impact
        return out


def _counted(found: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in found:
        counts[word] = min(counts.get(word, 0) + 1, _MOST_TF)
    return counts


def _best(scores: dict[int, float], k: int) -> list[tuple[int, float]]:
    """The `k` greatest, and all that tie with the last of them."""
    if len(scores) <= k:
        return list(scores.items())
    floor = nlargest(k, scores.values())[-1]
    return [item for item in scores.items() if item[1] >= floor]


def _scores(parts: Sequence[tuple[float, float, _Postings]], k: int) -> dict[int, float]:
    """Slot → score, for the candidates."""
    rest = sum(part[0] for part in parts)
    scores: dict[int, float] = {}
    read = 0
    for number, (bound, weight, entry) in enumerate(parts):
        size = len(entry.slots)
        if not scores:
            if size > 2 * MOST_READ:
                scores = {slot: weight * entry.impact(slot) for slot in _champions(entry)}
            else:
                scores = {
                    slot: weight * impact
                    for slot, impact in zip(entry.slots, entry.impacts, strict=True)
                }
        else:
            if size > KEPT:
                kept = _settled(scores, k, rest, read + size > MOST_READ)
                if kept is not None:
                    return _finish(kept, parts[number:])
            known = scores.get
            for slot, impact in zip(entry.slots, entry.impacts, strict=True):
                scores[slot] = known(slot, 0.0) + weight * impact
        read += size
        rest -= bound
    return scores


def _settled(scores: dict[int, float], k: int, rest: float, full: bool) -> dict[int, float] | None:
    """The candidates that can still get among the `k` best, where no others are to be made."""
    if len(scores) < k:
        return None
    floor = nlargest(k, scores.values())[-1]
    if rest >= floor and not full:
        return None
    kept = {slot: score for slot, score in scores.items() if score + rest >= floor}
    most = max(KEPT, 4 * k)
    return dict(_best(kept, most)) if len(kept) > most else kept


def _champions(entry: _Postings) -> list[int]:
    if entry.champions is None:
        floor = nlargest(MOST_READ, entry.impacts)[-1]
        entry.champions = [
            slot for slot, impact in zip(entry.slots, entry.impacts, strict=True) if impact >= floor
        ][: 2 * MOST_READ]
    return entry.champions


def _finish(
    scores: dict[int, float], parts: Sequence[tuple[float, float, _Postings]]
) -> dict[int, float]:
    for _bound, weight, entry in parts:
        impact = entry.impact
        for slot in scores:
            scores[slot] += weight * impact(slot)
    return scores


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
