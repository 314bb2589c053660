"""Whether a text is about the question, or only happens to share words with it.

An order says which text is best, never that the best is good. What counts here is absolute:

* surprise: how unlikely it is that a text of this length has the question's words by coincidence,
  in nats. A word's own chance is its rate in ordinary text, or its share of the texts at hand where
  that is greater; a long text has common words anyway, so they tell nothing about it.
* share: how much of the surprise that the whole question could give was given.

relevance = e / (e + 2) with e = share + surprise / 10: 0 for nothing, ⅓ where a third of a question
matches that strongly. The default threshold was tuned for silence (docs/decisions/0030-recall.md).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from hmd.recall.common import RATES
from hmd.recall.lexical import Index

NATS = 10.0
HALF = 2.0
# Chance per word of text of what is in no table: a name, a number, two characters side by side.
_RARE, _NUMBER, _PAIR = 2e-5, 1 / 400, 1 / 2000
# A share of the texts at hand says something from this many texts that have the word.
_ENOUGH = 3


def rate(word: str) -> float:
    """The chance that one word of ordinary text is this one."""
    known = RATES.get(word)
    if known is not None:
        return known
    if word.isascii():
        return _NUMBER if word.isdigit() else _RARE
    return _PAIR if len(word) <= 2 else _RARE


def surprise(word: str, length: int, share: float = 0.0) -> float:
    """Nats that the word tells where a text of `length` words has it; `share` of all texts do."""
    chance = -math.expm1(-rate(word) * max(length, 1))
    return -math.log(max(chance, share))


def relevance(
    words: Iterable[str], found: Collection[str], length: int, shares: Mapping[str, float]
) -> float:
    """0..1: how far a text of `length` words that has `found` is about a question of `words`."""
    total = given = 0.0
    for word in words:
        nats = surprise(word, length, shares.get(word, 0.0))
        total += nats
        if word in found:
            given += nats
    if total <= 0:
        return 0.0
    evidence = given / total + given / NATS
    return evidence / (evidence + HALF)


def shares(indices: Sequence[Index], words: Iterable[str]) -> dict[str, float]:
    """For each word that some texts have: the share of all that do."""
    total = sum(len(index) for index in indices)
    out = {}
    for word in words:
        count = sum(index.count(word) for index in indices)
        if count >= _ENOUGH:
            out[word] = count / total
    return out
