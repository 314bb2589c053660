"""Whether a text is about the question, or only happens to share words with it.

An order says which text is best, never that the best is good. What counts here is absolute:

* surprise: how unlikely it is that a text of this length has the question's words by coincidence,
  in nats. A word's own chance is its rate in ordinary text, or its share of the texts at hand where
  that is greater; a long text has common words anyway, so they tell nothing about it. What such a
  text would be expected to have of such a question, and the spread of that, is taken off: a long
  question shares something with everything.
* share: how much of the surprise that the whole question could give was given, as if every question
  asked for a little more (`ASKED`): a question of common words alone is never answered in full.

relevance = e / (e + 0.85) with e = share + surprise / 30: 0 for nothing, about 1/2 where most of a
question matches. A question is a paragraph of a prompt (`paragraphs`), and a text is as relevant as
it is to the one that it answers best. The default threshold was tuned for silence
(docs/decisions/0030-recall.md).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from hmd.recall.common import RATES
from hmd.recall.lexical import Index

NATS = 30.0
ASKED = 5.0
HALF = 0.85
# Chance per word of text of what is in no table: a name, a number or a letter, two characters side
# by side, two hiragana (endings and particles).
_RARE, _NUMBER, _PAIR, _HIRAGANA = 2e-5, 1 / 400, 1 / 6000, 1 / 1000
# Two katakana that go on from two that the text has tell this much of what they would by
# themselves: a borrowed word of five is one word, not four.
_GOES_ON = 0.3
# Pieces of a prompt that are looked at by themselves.
PIECES = 16
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BETWEEN = re.compile(r"\n\s*\n")
# Lengths that agree in so many binary digits are taken for one.
_DIGITS = 5
# A share of the texts at hand says something from this many texts that have the word.
_ENOUGH = 3


def rate(word: str) -> float:
    """The chance that one word of ordinary text is this one."""
    known = RATES.get(word)
    if known is not None:
        return known
    if word.isascii():
        return _NUMBER if word.isdigit() or len(word) == 1 else _RARE
    if len(word) > 2:
        return _RARE
    return _HIRAGANA if min(word) >= "\u3041" and max(word) <= "\u309f" else _PAIR


def chance(word: str, length: int, share: float = 0.0) -> float:
    """0..1: that a text of `length` words has the word by coincidence; `share` of all texts do."""
    return max(-math.expm1(-rate(word) * max(length, 1)), share)


class Question:
    """The words of a question, to be held against texts. `shares` is what `shares` gives."""

    def __init__(self, words: Iterable[str], shares: Mapping[str, float]) -> None:
        listed = list(words)
        self._words = [
            (word, shares.get(word, 0.0), _GOES_ON if _goes_on(before, word) else 1.0)
            for before, word in zip(["", *listed], listed, strict=False)
        ]
        self._by_length: dict[int, tuple[dict[str, float], float, float]] = {}

    def relevance(self, found: Iterable[str], length: int) -> float:
        """0..1: how far a text of `length` words that has `found` is about the question."""
        shift = max(0, length.bit_length() - _DIGITS)
        length = length >> shift << shift
        known = self._by_length.get(length)
        if known is None:
            known = self._by_length[length] = self._at(length)
        told, total, expected = known
        given = sum([told[word] for word in found if word in told])
        if total <= 0 or not given:
            return 0.0
        evidence = given / (total + ASKED) + max(0.0, given - expected) / NATS
        return evidence / (evidence + HALF)

    def _at(self, length: int) -> tuple[dict[str, float], float, float]:
        """What each word tells in a text of that length; all of them together; and how much of that
        may be there by coincidence (mean and one standard deviation)."""
        told = {}
        mean = variance = 0.0
        for word, share, part in self._words:
            likely = chance(word, length, share)
            nats = -math.log(likely) * part
            told[word] = nats
            mean += likely * nats
            variance += likely * (1 - likely) * nats * nats
        return told, sum(told.values()), mean + math.sqrt(variance)


def _goes_on(before: str, word: str) -> bool:
    return (
        len(before) == len(word) == 2
        and before[1] == word[0]
        and min(before[0], word[0], word[1]) >= "\u30a1"
        and max(before[0], word[0], word[1]) <= "\u30ff"
    )


def paragraphs(prompt: str) -> list[str]:
    """What a prompt asks, piece by piece: its paragraphs without fenced code, which says little
    about what is wanted and shares something with every text about software. A prompt of nothing
    but code is one piece."""
    if "\n" not in prompt:
        return [prompt]
    pieces = [one for one in _BETWEEN.split(_FENCED.sub("\n\n", prompt)) if one.strip()]
    return pieces[:PIECES] or [prompt]


def shares(indices: Sequence[Index], words: Iterable[str]) -> dict[str, float]:
    """For each word that some texts have: the share of all that do."""
    total = sum(len(index) for index in indices)
    out = {}
    for word in words:
        count = sum(index.count(word) for index in indices)
        if count >= _ENOUGH:
            out[word] = count / total
    return out
