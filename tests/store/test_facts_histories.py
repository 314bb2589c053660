"""Random histories against a naive replay of their log up to the instant that is asked about."""

import itertools
import random

import pytest

from tests.store.histories import History, expected, replay

MOST_PAIRS = 120


def check(seed: int, pairs: int) -> None:
    """Every event ± 1 ms as one instant on both axes, and `pairs` combinations of two instants."""
    history = History(seed, 3 + seed % 12)
    world, recorded = history.probes()
    grid = list(itertools.product(recorded, world))
    if len(grid) > pairs:
        grid = random.Random(seed).sample(grid, pairs)
    grid += [(instant, instant) for instant in {*world, *recorded}]
    beliefs = {known: replay(history.log, known) for known in {known for known, _ in grid}}
    for known, valid in grid:
        found, wanted = history.answer(valid, known), expected(beliefs[known], valid)
        assert found == wanted, f"seed {seed}: valid {valid}, known {known}"
    for instant, answered in history.given.items():
        assert history.answer(instant, instant) == answered, f"seed {seed}: as given at {instant}"


@pytest.mark.parametrize("block", range(10))
def test_histories_answer_as_the_log_up_to_then_says(block: int) -> None:
    """Guards both axes of time, and that what was answered once is answered for ever (500)."""
    for seed in range(block * 50, block * 50 + 50):
        check(seed, MOST_PAIRS)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(100))
def test_many_histories_with_every_pair_of_instants(block: int) -> None:
    """Guards the same for 10,000 histories and all pairs of instants."""
    for seed in range(1000 + block * 100, 1100 + block * 100):
        check(seed, 1_000_000)
