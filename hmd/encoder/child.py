"""The encoder process: loads its model, then answers messages until its input ends or it was idle.

`python -m hmd.encoder.child --model NAME --cache DIRECTORY --idle SECONDS`. Standard output carries
replies and nothing else. One thread: on a busy machine a second one multiplies the time of a short
text tenfold.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hmd.core import machine
from hmd.encoder import background, models
from hmd.encoder.protocol import (
    Ask,
    Embed,
    Hello,
    Load,
    Packed,
    Reply,
    decode_message,
    encode,
    framed,
    read_frame,
)

if TYPE_CHECKING:
    from hmd.recall.dense import Vectors

NICENESS = 5
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hmd-encoder", description="Texts to vectors.")
    parser.add_argument("--model", required=True)
    parser.add_argument("--cache", default="", metavar="DIRECTORY")
    parser.add_argument("--idle", type=float, default=900.0, metavar="SECONDS")
    options = parser.parse_args(argv)
    os.umask(0o077)
    machine.lower_priority(NICENESS)
    replies = os.dup(1)
    os.dup2(2, 1)  # what a library prints must not be taken for a reply
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        model = models.load(options.model, options.cache)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"[:500]
        _write(replies, framed(encode(Hello(model=options.model, error=words))))
        return 1
    _write(replies, framed(encode(Hello(model=options.model, dimension=model.dimension))))
    serve(Encoder(model), 0, replies, options.idle)
    return 0


def serve(encoder: "Encoder", requests: int, replies: int, idle_s: float) -> None:
    """Answers messages from one descriptor on another."""
    while machine.readable(requests, idle_s):
        message = read_frame(lambda size: os.read(requests, size))
        if message is None:
            return
        _write(replies, framed(encode(encoder.answer(message))))


class Encoder:
    """A model and the vectors it is asked to search."""

    def __init__(self, model: models.Model) -> None:
        # late, for its numpy: after the variables that hold it to one thread
        from hmd.recall import dense

        self._model = model
        self._dense = dense
        self._shelves: dict[str, Vectors] = {}
        self._background = dense.Vectors()
        if model.learned:
            for start in range(0, len(background.SENTENCES), 8):
                part = background.SENTENCES[start : start + 8]
                for name, vector in zip(part, model.passages(part), strict=True):
                    self._background.add(name, *dense.quantize(vector))

    def answer(self, message: bytes) -> Reply:
        """Whatever goes wrong with one message is its reply, and the next one is answered."""
        try:
            return self._do(decode_message(message))
        except Exception as error:
            return Reply(error=f"{type(error).__name__}: {error}"[:500])

    def _do(self, asked: Embed | Load | Ask) -> Reply:
        if isinstance(asked, Embed):
            found = self._model.passages(asked.texts)
            return Reply(vectors=[Packed(*self._dense.quantize(one)) for one in found])
        if isinstance(asked, Load):
            shelf = self._shelves.setdefault(asked.shelf, self._dense.Vectors())
            for name in asked.drop:
                shelf.remove(name)
            for name, vector in asked.vectors.items():
                shelf.add(name, vector.values, vector.scale)
            return Reply()
        question = self._model.questions([asked.text])[0]
        usual = self._usual(question)
        nearest = [
            (cosine - usual, identifier)
            for name in asked.shelves
            if name in self._shelves
            for cosine, identifier in self._shelves[name].search(question, asked.limit)
        ]
        nearest.sort(key=lambda hit: (-hit[0], hit[1]))
        return Reply(nearest=nearest[: asked.limit])

    def _usual(self, question: Sequence[float]) -> float:
        """The cosine that the question has with what has nothing to do with it."""
        found = self._background.search(question, background.NEAREST)
        return sum(cosine for cosine, _ in found) / len(found) if found else 0.0


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
