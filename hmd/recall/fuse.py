"""One order out of two: what words find and what meaning finds.

score = (1 − w) · c · bm25 / best bm25 + w · z(cosine) / 4. z is over the nearest texts; a text that
is none of them gets 0 there. c is how far the words are to be trusted: the best text's share of the
question's word weight over `TRUSTED`, at most 1, so that a question in another language than the
texts is left to meaning. Reciprocal ranks throw away by how much the first is better than the
second, and lost on every set that was compared (docs/decisions/0030-recall.md).
"""

import math
from collections.abc import Mapping, Sequence

WEIGHT = 0.4
TRUSTED = 0.4
NEAREST = 100  # how many nearest texts the mean and spread of cosines come from


def fuse(
    lexical: Mapping[str, float],
    dense: Sequence[tuple[float, str]],
    coverage: float = 1.0,
    weight: float = WEIGHT,
) -> list[tuple[float, str]]:
    """(score, id) of every text on either side, best first, ties by id.

    `lexical`: BM25 scores by id; `dense`: cosines of the nearest texts, best first; `coverage`: the
    share of the question's idf that the best text by words has.
    """
    best = max(lexical.values(), default=0.0)
    words = min(1.0, coverage / TRUSTED) * (1 - weight) if dense else 1.0
    scores = {name: words * score / best if best else 0.0 for name, score in lexical.items()}
    cosines = [cosine for cosine, _ in dense[:NEAREST]]
    if cosines:
        mean = sum(cosines) / len(cosines)
        spread = math.sqrt(sum((one - mean) ** 2 for one in cosines) / len(cosines))
        for cosine, name in dense[:NEAREST]:
            z = (cosine - mean) / spread if spread > 1e-9 else 1.0
            scores[name] = scores.get(name, 0.0) + weight * z / 4
    return [(score, name) for name, score in sorted(scores.items(), key=lambda i: (-i[1], i[0]))]
