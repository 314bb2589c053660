"""Sets of numbers as the bits of one integer: in all of several, and the greatest of many sums.

Whole numbers are added up for every member at once, plane by plane (bit-sliced arithmetic, Rinfret,
O'Neil and O'Neil, SIGMOD 2001), and the greatest sums are found from the highest plane down (O'Neil
and Quass, SIGMOD 1997, algorithm 4.1). Each operation passes over n/8 bytes once.
"""

import re
from collections.abc import Iterable, Sequence

_SOME = re.compile(rb"[^\0]", re.DOTALL)
_BITS = {bytes([byte]): [bit for bit in range(8) if byte >> bit & 1] for byte in range(256)}


def positions(bits: int) -> list[int]:
    """The numbers of the bits that are set, rising."""
    data = bits.to_bytes((bits.bit_length() + 7) >> 3, "little")
    return [
        match.start() << 3 | bit for match in _SOME.finditer(data) for bit in _BITS[match.group()]
    ]


def sums(terms: Iterable[tuple[int, int]]) -> list[int]:
    """Adds up (weight, set): each member of a set gets its weight. Planes of bits, the lowest
    first: bit n of plane p is bit p of the sum of number n."""
    planes: list[int] = []
    for weight, members in terms:
        for first in range(weight.bit_length()):
            place, carry = first, members if weight >> first & 1 else 0
            while carry:
                planes.extend([0] * (place + 1 - len(planes)))
                planes[place], carry = planes[place] ^ carry, planes[place] & carry
                place += 1
    return planes


def greatest(planes: Sequence[int], most: int) -> tuple[int, int]:
    """(numbers that are certainly among the `most` with the greatest sums, those that tie for what
    is left of them). Sums of 0 are none."""
    sure = equal = 0
    for plane in planes:
        equal |= plane
    for plane in reversed(planes):
        found = sure | equal & plane
        if found.bit_count() > most:
            equal &= plane
        else:
            sure = found
            equal &= ~plane
    return sure, equal
