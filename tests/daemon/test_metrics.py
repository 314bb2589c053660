"""Histograms that are cheap to add to and honest to read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.daemon.metrics import Histogram, Metrics, bucket, upper_bound

MICROS = st.integers(min_value=0, max_value=10**9)


@settings(derandomize=True, max_examples=200)
@given(MICROS)
def test_a_bucket_holds_what_is_put_into_it(value: int) -> None:
    """Guards the arithmetic: the upper bound is in the bucket, the next value is not, and a
    percentile is at most a quarter above the truth."""
    index = bucket(value)
    bound = upper_bound(index)
    assert value <= bound <= value * 1.25
    assert bucket(bound) == index and bucket(bound + 1) == index + 1


@settings(derandomize=True, max_examples=100)
@given(st.lists(MICROS, min_size=1, max_size=60), st.sampled_from([0.5, 0.95, 0.99]))
def test_percentiles_bracket_the_truth(values: list[int], share: float) -> None:
    """Guards p50, p95 and p99 against the plain definition over the sorted values."""
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    rank = next(n for n in range(1, len(values) + 1) if n >= share * len(values))
    truth = sorted(values)[rank - 1]
    assert truth <= histogram.percentile(share) <= max(truth * 1.25, truth)


def test_nothing_measured_is_zero() -> None:
    """Guards status before the first call."""
    assert Histogram().percentile(0.99) == 0


def test_invented_names_do_not_grow_the_tables() -> None:
    """Guards memory: event and method names come from clients."""
    metrics = Metrics()
    for number in range(1000):
        metrics.hook(f"event-{number}", f"decision-{number}", 1)
        metrics.call(f"method-{number}", 1)
    assert len(metrics.events) <= 65 and len(metrics.calls) <= 65 and len(metrics.decisions) <= 65
    assert sum(found.count for found in metrics.events.values()) == 1000
    assert sum(metrics.decisions.values()) == 1000
