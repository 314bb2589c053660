"""How long hook calls take and what was decided: a histogram per event, counts per decision."""

from collections.abc import Mapping

NAMES = 64  # rows of a table; what comes later is counted as "other"
SUBDIVISIONS = 4  # buckets per doubling: a percentile is at most a quarter above the truth


def bucket(value: int) -> int:
    """Index of the logarithmic bucket that holds `value` (>= 0); it grows with the value."""
    if value < SUBDIVISIONS:
        return max(value, 0)
    exponent = value.bit_length() - 1
    return (exponent - 1) * SUBDIVISIONS + ((value >> (exponent - 2)) & 3)


def upper_bound(index: int) -> int:
    """The largest value that belongs to bucket `index`."""
    if index < SUBDIVISIONS:
        return index
    exponent, part = index // SUBDIVISIONS + 1, index % SUBDIVISIONS
    return ((SUBDIVISIONS + part + 1) << (exponent - 2)) - 1


class Histogram:
    """Durations in microseconds, in logarithmic buckets."""

    __slots__ = ("buckets", "count", "longest")

    def __init__(self) -> None:
        self.buckets: dict[int, int] = {}
        self.count = 0
        self.longest = 0

    def add(self, micros: int) -> None:
        index = bucket(micros)
        self.buckets[index] = self.buckets.get(index, 0) + 1
        self.count += 1
        if micros > self.longest:
            self.longest = micros

    def percentile(self, share: float) -> int:
        """A value that at least `share` (0..1) of the durations do not exceed; 0 when empty."""
        wanted = share * self.count
        seen = 0
        for index in sorted(self.buckets):
            seen += self.buckets[index]
            if seen >= wanted:
                return min(upper_bound(index), self.longest)
        return 0


class Metrics:
    """What one daemon has done since it started."""

    def __init__(self) -> None:
        self.events: dict[str, Histogram] = {}
        self.decisions: dict[str, int] = {}
        self.calls: dict[str, Histogram] = {}
        self.dropped = 0
        self.failed = 0

    def hook(self, event: str, decision: str, micros: int) -> None:
        _entry(self.events, event).add(micros)
        decision = _known(self.decisions, decision)
        self.decisions[decision] = self.decisions.get(decision, 0) + 1

    def call(self, method: str, micros: int) -> None:
        _entry(self.calls, method).add(micros)


def _known(table: Mapping[str, object], name: str) -> str:
    # Names come from clients: a stream of invented ones must not grow a table for ever.
    return name if name in table or len(table) < NAMES else "other"


def _entry(table: dict[str, Histogram], name: str) -> Histogram:
    return table.setdefault(_known(table, name), Histogram())
