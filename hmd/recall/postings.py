"""Where a word occurs, and which texts are worth scoring for several words.

The postings of rare words are read one by one. Words that thousands of texts have cannot be, within
a question's time: each is a set of slots as bits (`hmd.recall.bits`). The texts with the greatest
sums of (rounded) weights are found for all of them at once; texts whose words tie are told apart by
the impacts of the rarest word. What is left out there, how often the other words occur and how long
a text is, the score of those found does not leave out.
"""

from array import array
from bisect import bisect_left, insort_left
from collections.abc import Iterable, Sequence

from hmd.recall.bits import greatest, positions, sums

K1 = 1.0
# Slots of a word with fewer are not kept as bits: those would be larger than the postings.
MARKED = 512
# How many of a word's texts are kept in the order of its impacts.
CHAMPIONS = 1000
# Weights are rounded to so many bits; so many of the rarest words choose what is scored.
WEIGHT_BITS = 4
CHOOSING = 24


class Postings:
    """Where one word occurs: slots in rising order, how often in each, and the impact of each,
    tf·(k1+1)/(tf+norm). Impacts are worked out when a question needs them: until then they are
    those of the first slots only, or of another average length (`epoch`)."""

    __slots__ = ("_champions", "_marked", "_marks", "epoch", "impacts", "slots", "tfs")

    def __init__(self, slot: int, tf: int) -> None:
        self.slots = array("I", (slot,))
        self.tfs = array("B", (tf,))
        self.impacts = array("f")
        self.epoch = -1
        self._marks = 0
        self._marked = 0  # how many of the slots are in `_marks`
        self._champions: array[int] | None = None

    def remove(self, slot: int) -> None:
        at = bisect_left(self.slots, slot)
        del self.slots[at], self.tfs[at]
        if at < len(self.impacts):
            del self.impacts[at]
        if at < self._marked:
            self._marks ^= 1 << slot
            self._marked -= 1
        best = self._champions
        if best is not None and slot in best:
            best.remove(slot)
            if len(best) < CHAMPIONS // 2:
                self._champions = None

    def refresh(self, epoch: int, base: float, slope: float, lengths: Sequence[int]) -> None:
        """Brings the impacts up to date; a text of length n has the norm base + slope · n."""
        if self.epoch != epoch:
            self.impacts, self.epoch, self._champions = array("f"), epoch, None
        first = len(self.impacts)
        if first == len(self.slots):
            return
        self.impacts.extend(
            [
                tf * (K1 + 1) / (tf + base + slope * lengths[slot])
                for slot, tf in zip(self.slots[first:], self.tfs[first:], strict=True)
            ]
        )
        fresh = self.slots[first:]
        if self._champions is None or len(fresh) > CHAMPIONS:
            self._champions = None
            return
        for slot in fresh:
            insort_left(self._champions, slot, key=self._less)
        del self._champions[CHAMPIONS:]

    def _less(self, slot: int) -> float:
        return -self.impact(slot)

    def __contains__(self, slot: int) -> bool:
        at = bisect_left(self.slots, slot)
        return at < len(self.slots) and self.slots[at] == slot

    def impact(self, slot: int) -> float:
        """0 for a text without the word."""
        slots = self.slots
        at = bisect_left(slots, slot)
        return self.impacts[at] if at < len(slots) and slots[at] == slot else 0.0

    def add_to(self, scores: list[float], slots: Sequence[int], weight: float) -> None:
        """Adds this word's part to the scores of the texts in `slots`."""
        mine, impacts, size = self.slots, self.impacts, len(self.slots)
        for number, slot in enumerate(slots):
            at = bisect_left(mine, slot)
            if at < size and mine[at] == slot:
                scores[number] += weight * impacts[at]

    def marks(self) -> int:
        """The slots as bits."""
        if self._marked == len(self.slots):
            return self._marks
        marks = self._marks | _bits(self.slots[self._marked :])
        if len(self.slots) >= MARKED:
            self._marks, self._marked = marks, len(self.slots)
        return marks

    def champions(self) -> Sequence[int]:
        """The slots of the greatest impacts, greatest first."""
        if self._champions is None:
            floor = sorted(self.impacts)[-CHAMPIONS:][0]
            ranked = [
                pair for pair in zip(self.impacts, self.slots, strict=True) if pair[0] >= floor
            ]
            ranked.sort(reverse=True)
            self._champions = array("I", [slot for _, slot in ranked[:CHAMPIONS]])
        return self._champions

    def prepare(self) -> None:
        """Works out in advance what takes long for a word of very many texts."""
        if len(self.slots) >= 4 * MARKED:
            self.marks()
            self.champions()


def _bits(slots: Sequence[int]) -> int:
    first = slots[0] & ~7
    data = bytearray((slots[-1] - first >> 3) + 1)
    for slot in slots:
        data[slot - first >> 3] |= 1 << (slot & 7)
    return int.from_bytes(data, "little") << first


def in_all(entries: Sequence[Postings], among: Sequence[int] | None = None) -> Sequence[int]:
    """The slots that every one of several words has, rising; `among`: of these only."""
    entries = sorted(entries, key=lambda entry: len(entry.slots))
    if among is None:
        if len(entries) > 1 and len(entries[0].slots) >= MARKED:
            members = -1
            for entry in entries:
                members &= entry.marks()
            return positions(members)
        among, entries = entries[0].slots, entries[1:]
    for entry in entries:
        among = [slot for slot in among if entry.impact(slot)]
    return among


def added(parts: Iterable[tuple[float, Postings]]) -> dict[int, float]:
    """Slot → score of every text that has one of several words, each with its weight."""
    scores: dict[int, float] = {}
    known = scores.get
    for weight, entry in parts:
        if scores:
            for slot, impact in zip(entry.slots, entry.impacts, strict=True):
                scores[slot] = known(slot, 0.0) + weight * impact
        else:
            scores.update(
                (slot, weight * impact)
                for slot, impact in zip(entry.slots, entry.impacts, strict=True)
            )
    return scores


def promising(parts: Sequence[tuple[float, Postings]], most: int) -> list[int]:
    """The slots of `most` texts that are worth scoring for words with their weights, rarest
    first."""
    chosen = parts[:CHOOSING]
    rarest = chosen[0][1]
    if len(chosen) == 1:
        return list(rarest.champions()[:most])
    unit = max(weight for weight, _ in chosen) / ((1 << WEIGHT_BITS) - 1)
    planes = sums((max(1, round(weight / unit)), entry.marks()) for weight, entry in chosen)
    sure, equal = greatest(planes, most)
    slots = positions(sure)
    missing = most - len(slots)
    if missing and equal.bit_count() > 2 * most:
        slots += _ranked(chosen, equal, missing)
    elif missing:
        slots += positions(equal)
    found = dict.fromkeys(slots)
    for _, entry in parts[CHOOSING:]:
        if len(found) >= most:
            break
        found.update(dict.fromkeys(entry.champions()[: most - len(found)]))
    return list(found)


def _ranked(parts: Sequence[tuple[float, Postings]], among: int, most: int) -> list[int]:
    """`most` slots of many: those with the greatest impacts of the rarest word they have."""
    data = among.to_bytes((among.bit_length() + 7) >> 3, "little")
    size = len(data)
    found: dict[int, None] = {}
    for _, entry in parts:
        for slot in entry.champions():
            at = slot >> 3
            if at < size and data[at] >> (slot & 7) & 1:
                found[slot] = None
                if len(found) == most:
                    return list(found)
    rest = positions(among)[: -most - 1 : -1]
    found.update(dict.fromkeys(rest))
    return list(found)[:most]
