"""The daemon's clock: wall time in milliseconds that never repeats and never runs backwards."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

# Behind its own past, the clock runs at this part of the true pace until the wall has caught up: it
# would be a day until anything is due again if it stood still after a wall that was a day ahead.
CATCHING_UP = 0.5


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
    """The wall clock; where that stands still or has stepped back, a clock that goes on slowly.

    The store has it `observe` its newest time at start, so that a clock set back between two runs
    cannot put a new change before an old one. `wall` and `passing` give nanoseconds: since the
    epoch, and of a clock that nobody sets.
    """

    def __init__(
        self,
        wall: Callable[[], int] = lambda: time.time_ns(),
        passing: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall = wall
        self._passing = passing
        self._last = 0  # the greatest time given out
        self._base, self._since = 0, passing()  # a time, and when it was that
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        with self._lock:
            self._last = max(self._time(), self._last + 1)
            return self._last

    def peek_ms(self) -> int:
        with self._lock:
            return max(self._time(), self._last)

    def observe(self, time_ms: int) -> None:
        with self._lock:
            if time_ms > self._time():
                self._base, self._since = time_ms, self._passing()
            self._last = max(self._last, time_ms)

    def _time(self) -> int:
        wall, passing = self._wall() // 1_000_000, self._passing()
        slow = self._base + int((passing - self._since) * CATCHING_UP) // 1_000_000
        if wall < slow:
            return slow
        self._base, self._since = wall, passing
        return wall


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
