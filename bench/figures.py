"""Samples, their percentiles, and one row of the table. All durations in nanoseconds."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Timed = Callable[[], object]


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least `share` (0..1) of the samples do not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def clock(action: Timed) -> int:
    began = time.perf_counter_ns()
    action()
    return time.perf_counter_ns() - began


def interleave(rounds: int, *actions: Timed) -> list[list[int]]:
    """The durations of each action, taken A B A B …: what slows the machine slows them all."""
    samples: list[list[int]] = [[] for _ in actions]
    for action in actions:  # the first of each fills caches
        action()
    for _ in range(rounds):
        for taken, action in zip(samples, actions, strict=True):
            taken.append(clock(action))
    return samples


def span(nanoseconds: float) -> str:
    """`1.24 ms`, `87 µs`: three digits at most."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{max(0, 2 - int(math.log10(value)))}f} {unit}"
    return f"{nanoseconds:.0f} ns"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `bar` is the largest `ratio` that DESIGN allows, None for no bar."""

    what: str
    measured: str
    reference: str
    ratio: float
    bar: float | None = None

    @property
    def line(self) -> str:
        bar = ""
        if self.bar is not None:
            bar = f"≤ {self.bar:g}" + ("" if self.ratio <= self.bar else "  over")
        return f"{self.what:<52} {self.measured:<26} {self.reference:<32} {self.ratio:>6.2f}  {bar}"


HEADINGS = f"{'what':<52} {'measured':<26} {'reference':<32} {'ratio':>6}  bar"


def against(
    what: str,
    name: str,
    samples: Sequence[Sequence[float]],
    share: float = 0.5,
    bar: float | None = None,
) -> Row:
    """A percentile of the first samples against the same of the second, called `name`."""
    taken, reference = samples
    value, base = percentile(taken, share), percentile(reference, share)
    label = f"p{share * 100:g}"
    return Row(f"{what}, {label}", span(value), f"{name} {span(base)}", value / base, bar)
