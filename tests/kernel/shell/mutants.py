"""Damaged variants of texts, the same ones every time, and the hard cases of any scanner."""

import random
from collections.abc import Iterator, Sequence


def mutants(seeds: Sequence[str], alphabet: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """`count` texts, each a seed with a few cuts, insertions from `alphabet` and splices."""
    rng = random.Random(seed)
    for _ in range(count):
        text = rng.choice(seeds)
        for _ in range(rng.randint(1, 6)):
            at = rng.randint(0, len(text))
            kind = rng.randrange(4)
            if kind == 0:
                text = text[:at] + rng.choice(alphabet) + text[at:]
            elif kind == 1:
                text = text[:at] + text[at + rng.randint(1, 4) :]
            elif kind == 2:
                text = text[:at] + rng.choice(seeds)[rng.randint(0, 20) :]
            else:
                text = text[: max(at, 1)]
        yield text
