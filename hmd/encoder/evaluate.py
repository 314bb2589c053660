"""`python -m hmd.encoder.evaluate FILE… [--model NAME]`: how well recall finds what it should.

A set is JSON (or gzipped JSON): `{"groups": [{"docs": [[id, text], …], "queries": [{"q", "rel":
[id, …]}, …]}, …]}`; each group is a store of its own. Prints one JSON line per set with mean
recall at 5 and nDCG at 10, over all questions and over each half (every other question), so that
what is tuned on one half can be told on the other.
"""

import argparse
import gzip
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hmd.encoder import models
from hmd.recall.fuse import fuse
from hmd.recall.lexical import Index, weights
from hmd.recall.tokenize import tokens

_DEPTH = 10


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hmd-evaluate", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--model", default="", help="By meaning too, with this model.")
    parser.add_argument("--cache", default="")
    options = parser.parse_args(argv)
    model = models.load(options.model, options.cache) if options.model else None
    for name in options.files:
        try:
            found = evaluate(read(Path(name)), model)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"hmd-evaluate: '{name}' is no set: {error}", file=sys.stderr)  # noqa: T201
            return 1
        found["name"] = Path(name).name.partition(".")[0]
        print(json.dumps(found), flush=True)  # noqa: T201
    return 0


def read(path: Path) -> dict[str, Any]:
    """A set as it is stored. Raises OSError or ValueError."""
    data = path.read_bytes()
    found = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    if not isinstance(found, dict) or not isinstance(found.get("groups"), list):
        raise ValueError("it has no groups")
    return found


def evaluate(given: dict[str, Any], model: models.Model | None = None) -> dict[str, Any]:
    """Means over the questions of a set; questions without an answer are left out."""
    sums = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    for group in given["groups"]:
        index = Index()
        for name, text in group["docs"]:
            index.add(name, text)
        list(index.settle())
        vectors = _vectors(group["docs"], model)
        for number, query in enumerate(group["queries"]):
            relevant = set(query["rel"])
            if relevant:
                best = ranked(index, query["q"], model, vectors)
                half = sums[number % 2]
                half[0] += len(relevant & set(best[:5])) / len(relevant)
                half[1] += gain(best, relevant)
                half[2] += 1
    total = [one + two for one, two in zip(*sums, strict=True)]
    parts = {"all": total, "even": sums[0], "odd": sums[1]}
    out: dict[str, Any] = {"questions": int(total[2])}
    for part, (recall, ndcg, count) in parts.items():
        out[part] = [round(recall / max(count, 1), 4), round(ndcg / max(count, 1), 4)]
    return out


def _vectors(docs: Sequence[Sequence[str]], model: models.Model | None) -> Any:
    from hmd.recall.dense import Vectors, quantize  # late: its numpy is not always wanted

    found = Vectors()
    for start in range(0, len(docs) if model else 0, 32):
        part = docs[start : start + 32]
        assert model is not None
        for (name, _), vector in zip(part, model.passages([t for _, t in part]), strict=True):
            found.add(name, *quantize(vector))
    return found


def ranked(index: Index, question: str, model: models.Model | None, vectors: Any) -> list[str]:
    """The ids of the first ten, as a prompt's candidates are put in order."""
    weighed = weights([index], tokens(question, asked=True))
    hits = index.best(weighed, 100)
    lexical = {name: score for score, name in hits}
    nearest = vectors.search(model.questions([question])[0], 100) if model else []
    lexical.update(index.scores_of(weighed, [n for _, n in nearest if n not in lexical]))
    best = hits[0][1] if hits else ""
    total = sum(weighed.values())
    coverage = sum(weighed[word] for word in index.has(best, weighed)) / total if total else 0.0
    return [name for _, name in fuse(lexical, nearest, coverage)[:_DEPTH]]


def gain(best: Sequence[str], relevant: set[str]) -> float:
    """nDCG at 10."""
    got = sum(1 / math.log2(rank + 2) for rank, name in enumerate(best) if name in relevant)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(_DEPTH, len(relevant))))
    return got / ideal


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
