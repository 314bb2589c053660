"""The daemon's clock: wall time in milliseconds that never repeats and never runs backwards."""

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Where times of record come from."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, greater than any value given before."""
        ...

    def peek_ms(self) -> int:
        """What the time is at least, without giving a value out."""
        ...

    def observe(self, time_ms: int) -> None:
        """Takes note of a time already on record: nothing earlier is given out afterwards."""
        ...


class SystemClock:
    """The wall clock, held at last + 1 where the wall stands still or steps back.

    The store has it `observe` its newest time at start, so that a clock set back between two runs
    cannot put a new change before an old one.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        with self._lock:
            self._last = max(time.time_ns() // 1_000_000, self._last + 1)
            return self._last

    def peek_ms(self) -> int:
        with self._lock:
            return max(time.time_ns() // 1_000_000, self._last)

    def observe(self, time_ms: int) -> None:
        with self._lock:
            self._last = max(self._last, time_ms)


class FakeClock:
    """A clock for tests: stands at `wall` until moved, still strictly increasing."""

    def __init__(self, wall: int = 1_750_000_000_000) -> None:
        self.wall = wall
        self._last = 0

    def now_ms(self) -> int:
        self._last = max(self.wall, self._last + 1)
        return self._last

    def peek_ms(self) -> int:
        return max(self.wall, self._last)

    def observe(self, time_ms: int) -> None:
        self._last = max(self._last, time_ms)

    def advance(self, milliseconds: int) -> None:
        """Moves the wall; a negative value steps it back."""
        self.wall += milliseconds
