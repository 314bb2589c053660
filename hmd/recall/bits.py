"""Sets of numbers as the bits of one integer: in all of several, and the greatest of many sums.

Whole numbers are added up for every member at once, plane by plane (bit-sliced arithmetic, Rinfret,
O'Neil and O'Neil, SIGMOD 2001), and the greatest sums are found from the highest plane down (O'Neil
and Quass, SIGMOD 1997, algorithm 4.1). Each operation passes over n/8 bytes once.
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import compress


def positions(bits: int) -> list[int]:
    """The numbers of the bits that are set, rising."""
    size = (bits.bit_length() + 63) >> 6
    words = struct.unpack(f"<{size}Q", bits.to_bytes(8 * size, "little"))
    found = []
    for place in compress(range(size), words):
        word, first = words[place], (place << 6) - 1
        while word:
            lowest = word & -word
            found.append(first + lowest.bit_length())
            word ^= lowest
    return found


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
