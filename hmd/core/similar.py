"""Whether two statements say nearly the same: the share of words they have in common, in every
script.

Words in Latin letters and digits are those of three and more, without English stop words, so that
their figures are memharness's. Where words are not set apart by blanks (Han, kana) or carry their
particles (Hangul), pairs of neighbouring characters stand for words.
"""

import re
import unicodedata
from functools import lru_cache
from math import ceil
from zlib import crc32

_STOP = frozenset(
    "the and for are was but not you all any can her his its our out use with this that from into "
    "than then they them your have has had will".split()
)
_LATIN = re.compile(r"[a-z0-9]+")
_SHORTEST = 3
_LONG = re.compile(r"[a-z0-9]{3,}")
# Unicode blocks whose characters stand nearly for a word each, and Hangul syllables.
_PAIRED = re.compile(
    "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003fffd]+"
)
_WORD = re.compile(r"[^\W_]+")
_BITS = 63


@lru_cache(maxsize=65_536)
def words(text: str) -> frozenset[str]:
    """What counts of a statement."""
    if text.isascii():  # most are; the rest below would say the same
        return frozenset(_LONG.findall(text.lower())) - _STOP
    composed = unicodedata.normalize("NFKC", text).lower()
    found: set[str] = set()
    rest = composed
    for run in _PAIRED.findall(composed):
        found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    rest = _PAIRED.sub(" ", composed)
    for word in _WORD.findall(_plain(rest)):
        parts = _LATIN.findall(word) if not word.isascii() else [word]
        letters = word if not parts else ""
        for part in [*parts, letters]:
            if len(part) >= _SHORTEST and part not in _STOP:
                found.add(part)
    return frozenset(found)


def _plain(text: str) -> str:
    """Without the marks on letters: `café` and `cafe` are one word."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    return "".join(char for char in parts if not unicodedata.combining(char))


def similarity(first: frozenset[str], second: frozenset[str]) -> float:
    """Common words by all words (Jaccard); 0 where either has none."""
    common = len(first & second)
    return common / (len(first) + len(second) - common) if common else 0.0


def sketch(text: str) -> int:
    """A bit for each word of a statement, as a number that SQLite can store (63 bits)."""
    bits = 0
    for word in words(text):
        bits |= 1 << crc32(word.encode("utf-8", "surrogatepass")) % _BITS
    return bits


class Sieve:
    """Tells by their sketches which statements cannot be like one to the share `least`: two sets
    that are alike to a share have at least that share of either in common."""

    __slots__ = ("_mine", "_wanted")

    def __init__(self, text: str, least: float) -> None:
        mine = words(text)
        self._mine = sketch(text)
        # Words that share their bit with another word of mine cannot be told from it.
        self._wanted = ceil(least * len(mine)) - (len(mine) - self._mine.bit_count())

    def may(self, sketch: int) -> bool:
        """False where the statement behind `sketch` is certainly less alike."""
        return (self._mine & sketch).bit_count() >= self._wanted
