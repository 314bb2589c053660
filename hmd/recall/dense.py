"""Vectors of texts, kept as int8 with one scale each, searched exactly.

Lives in the encoder's process, where numpy comes with the model; without numpy the same answers are
worked out in plain Python, which serves small stores. With it rows are widened block by block, in a
buffer that stays in the processor's cache: reading a second copy as float32 from memory would take
longer. Approximate indices would lose recall for time that is not needed at the size of a memory.
"""

import math
import sys
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import mul
from typing import Any

try:
    import numpy as np  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    np = None  # type: ignore[assignment,unused-ignore]

BLOCK_BYTES = 400_000
# Many vectors are gone through by two threads. The second takes blocks while there are some: where
# no processor is free for it, the first does them all.
SHARED = 20_000
_FIRST_ROOM = 256


def quantize(vector: Sequence[float]) -> tuple[bytes, float]:
    """(int8 values, scale) of a vector brought to length 1. One that has no direction: scale 0."""
    values = [float(one) for one in vector]
    length = math.sqrt(sum(map(mul, values, values)))
    peak = max(map(abs, values), default=0.0)
    if not peak or not math.isfinite(length):
        return bytes(len(values)), 0.0
    step = peak / 127
    return array("b", [round(one / step) for one in values]).tobytes(), step / length


def pack(vector: Sequence[float]) -> bytes:
    """float32, little-endian."""
    values = array("f", [float(one) for one in vector])
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def unpack(data: bytes) -> list[float]:
    values = array("f")
    values.frombytes(data[: len(data) // 4 * 4])
    if sys.byteorder == "big":
        values.byteswap()
    return list(values)


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(map(mul, vector, vector)))
    return [one / length for one in vector] if length and math.isfinite(length) else []


class Vectors:
    """int8 vectors by id; all have the dimension of the first."""

    def __init__(self) -> None:
        self.dimension = 0
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._scales: Any = array("f")
        self._values: Any = [] if np is None else np.zeros((0, 0), np.int8)
        self._buffers: list[Any] = []
        self._second: ThreadPoolExecutor | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._rows

    def add(self, identifier: str, values: bytes, scale: float) -> bool:
        """False for a vector of another dimension, which is left out."""
        if not self.dimension:
            self.dimension = len(values)
        if len(values) != self.dimension or not values:
            return False
        row = self._rows.get(identifier)
        if row is None:
            row = self._rows[identifier] = len(self._ids)
            self._ids.append(identifier)
            self._scales.append(scale)
            self._make_room(row)
        self._scales[row] = scale
        self._values[row] = array("b", values) if np is None else np.frombuffer(values, np.int8)
        return True

    def remove(self, identifier: str) -> bool:
        """Forgets a vector; the last row takes its place."""
        row = self._rows.pop(identifier, None)
        if row is None:
            return False
        name, scale = self._ids.pop(), self._scales.pop()
        if name != identifier:
            self._values[row] = self._values[len(self._ids)]
            self._ids[row], self._scales[row], self._rows[name] = name, scale, row
        if np is None:
            self._values.pop()
        return True

    def _make_room(self, row: int) -> None:
        if np is None:
            self._values.append(None)
        elif row >= len(self._values):
            values = np.zeros((max(_FIRST_ROOM, 2 * row), self.dimension), np.int8)
            values[:row] = self._values[:row] if row else 0
            self._values = values

    def search(self, question: Sequence[float], k: int) -> list[tuple[float, str]]:
        """The `k` nearest (cosine, id), nearest first, ties by id; [] for another dimension."""
        asked = _unit(question)
        count = len(self._ids)
        if not count or k <= 0 or len(asked) != self.dimension:
            return []
        if np is None:
            found = [
                (sum(map(mul, values, asked)) * scale, name)
                for values, scale, name in zip(self._values, self._scales, self._ids, strict=True)
            ]
        else:
            cosines = self._cosines(np.asarray(asked, np.float32), count)
            rows = range(count)
            if k < count:
                floor = np.partition(cosines, count - k)[count - k]
                rows = np.nonzero(cosines >= floor)[0]
            found = [(float(cosines[row]), self._ids[row]) for row in rows]
        found.sort(key=lambda one: (-one[0], one[1]))
        return found[:k]

    def _cosines(self, asked: Any, count: int) -> Any:
        cosines = np.empty(count, np.float32)
        rows = max(1, BLOCK_BYTES // (4 * self.dimension))
        if not self._buffers:
            self._buffers = [np.empty((rows, self.dimension), np.float32) for _ in range(2)]
        starts = iter(range(0, count, rows))  # taken from by both

        def scan(buffer: Any) -> None:
            for start in starts:
                part = self._values[start : min(start + rows, count)]
                wide = buffer[: len(part)]
                np.copyto(wide, part, casting="unsafe")
                np.dot(wide, asked, out=cosines[start : start + len(part)])

        if count < SHARED:
            scan(self._buffers[0])
        else:
            self._second = self._second or ThreadPoolExecutor(1)
            other = self._second.submit(scan, self._buffers[1])
            scan(self._buffers[0])
            if not other.cancel():
                other.result()
        cosines *= np.frombuffer(self._scales, np.float32, count)
        return cosines
