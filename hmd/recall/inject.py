"""What goes into a prompt: which of the stored rows it is about, in a stable order.

Words and (where an encoder answered in time) meaning make one order; each side has its own measure
of whether the best is good enough (`hmd.recall.gate`, cosine). Budgets and "each once a session"
are the kernel's, which knows what the model has seen (`hmd.kernel.giving.give`).
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from hmd.kernel.glob import matches, matches_everything
from hmd.recall import gate
from hmd.recall.fuse import fuse
from hmd.recall.lexical import Index, weights
from hmd.recall.shelf import Shelf
from hmd.recall.tokenize import tokens

Record = dict[str, Any]
Nearest = Sequence[tuple[float, str]]
# Why a row must not be given, "" where nothing speaks against it.
Refusal = Callable[[Record], str]

LONGEST_QUESTION = 4000  # characters of a prompt that are searched for
CANDIDATES = 100
# Least cosine at which a text is about a question by its meaning alone, by kind of model, where
# some 250 texts are searched: how far it exceeds the usual (`hmd/encoder/background.py`). Those of
# E5 lie close together (trained with a low temperature), others spread; `hash` has nothing usual.
_COSINES = (("e5", 0.06), ("hash", 1.0))
_COSINE = 0.16
_PATH = re.compile(r"[\w.@~-]*(?:/[\w.@~*-]+)+|[\w-]+\.[A-Za-z][A-Za-z0-9]{0,4}\b")


class Found(NamedTuple):
    """A row with what speaks for it. `relevance` 0..1 by words, `cosine` by meaning (0: unknown),
    `words` those of the question that it has; `why_not` says why it is not given, "" if it is."""

    record: Record
    score: float
    relevance: float
    cosine: float
    words: tuple[str, ...]
    why_not: str = ""


def least_cosine(model: str) -> float:
    """The threshold for a model by its name, to be taken times `crowd`."""
    name = model.rstrip("/").rpartition("/")[2].lower()
    return next((floor for part, floor in _COSINES if part in name), _COSINE)


def crowd(texts: int) -> float:
    """The best of many unrelated texts is nearer than the best of few: by so much more is wanted,
    the same with every doubling (measured with two models from 4 to 125 texts)."""
    return 0.4 + 0.1 * math.log2(max(texts, 4) / 4)


def search(
    shelves: Sequence[Shelf],
    indices: Sequence[Index],
    question: str,
    nearest: Nearest = (),
    least: float = 0.0,
    cosine: float = 1.0,
    refuse: Refusal = lambda record: "",
) -> list[Found]:
    """The rows that a question finds, best first, those that are not given among them.

    `least` is the threshold of relevance, `cosine` that of meaning (see `crowd`); `refuse` says why
    a row must not be given whatever was found.
    """
    question = question[:LONGEST_QUESTION]
    words = list(dict.fromkeys(tokens(question, asked=True)))
    shares = gate.shares(indices, words)
    asked = [
        gate.Question(dict.fromkeys(tokens(piece, asked=True)), shares)
        for piece in gate.paragraphs(question)
    ]
    weighed = weights(indices, words)
    lexical: dict[str, float] = {}
    for index in indices:
        lexical.update((name, score) for score, name in index.best(weighed, CANDIDATES))
    mine = [(score, name) for score, name in nearest if any(name in one for one in indices)]
    for index in indices:
        lexical.update(index.scores_of(weighed, [n for _, n in mine if n not in lexical]))
    has = {name: index.has(name, words) for index in indices for name in lexical if name in index}
    coverage = _coverage(weighed, lexical, has)
    cosines = {name: score for score, name in mine}
    cosine *= crowd(sum(map(len, indices)))
    out = []
    for score, name in fuse(lexical, mine, coverage):
        record = _record(shelves, name)
        if record is None:
            continue
        length = next(index.length(name) for index in indices if name in index)
        found = has.get(name, ())
        told = max(one.relevance(found, length) for one in asked)
        near = cosines.get(name, 0.0)
        why = refuse(record)
        if not why and told < least and near < cosine:
            why = f"relevance {told:.2f} is below {least:.2f}"
            why += f", cosine {near:.2f} below {cosine:.2f}" if mine else ""
        out.append(Found(record, score, told, near, found, why))
    return out


def _coverage(
    weighed: dict[str, float], lexical: dict[str, float], has: dict[str, tuple[str, ...]]
) -> float:
    total = sum(weighed.values())
    if not lexical or not total:
        return 0.0
    best = max(lexical, key=lambda name: (lexical[name], name))
    return sum(weighed[word] for word in has.get(best, ())) / total


def _record(shelves: Sequence[Shelf], name: str) -> Record | None:
    return next((one.records[name] for one in shelves if name in one.records), None)


def names(indices: Sequence[Index], question: str, k: int) -> list[str]:
    """The ids of the `k` texts that a question's words find best."""
    weighed = weights(indices, tokens(question, asked=True))
    found = [hit for index in indices for hit in index.best(weighed, k)]
    found.sort(key=lambda hit: (-hit[0], hit[1]))
    return [name for _, name in found[:k]]


def respell(indices: Sequence[Index], words: Sequence[str]) -> list[str]:
    """Each word that no text has as one that some have, one letter away (one more, one less, one
    other, or two exchanged); [] where a word has no such neighbour."""
    out = []
    for word in words:
        near = [one for one in _near(word) if any(index.count(one) for index in indices)]
        if not near:
            return []
        out.append(max(near, key=lambda one: (sum(i.count(one) for i in indices), one)))
    return out


def _near(word: str) -> list[str]:
    if len(word) < 4 or not word.isascii():
        return []
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    found = [one + two[1:] for one, two in splits if two]
    found += [one + two[1] + two[0] + two[2:] for one, two in splits if len(two) > 1]
    found += [one + letter + two[1:] for one, two in splits if two for letter in letters]
    found += [one + letter + two for one, two in splits for letter in letters]
    return [word, *found]


def given(found: Iterable[Found]) -> list[Record]:
    return [one.record for one in found if not one.why_not]


def for_prompt(at: int, prompt: str, last_path: str) -> Refusal:
    """Why a memory or fact must not be given with a prompt, whatever its words."""
    paths = [found.lstrip("./") for found in _PATH.findall(prompt[:LONGEST_QUESTION])][:32]
    if not paths and last_path:
        paths = [last_path]

    def refuse(record: Record) -> str:
        if record["expires"] is not None and record["expires"] <= at:
            return "its time has ended"
        if record["type"] == "fact":
            return "" if record["from"] <= at else "it is not valid yet"
        if "before_model" not in record["triggers"]:
            return "it is not for prompts"
        if record["baseline"]:
            return "it is given with every first prompt"
        if record["loaded"]:
            return f"the host loads {record['loaded']} by itself"
        scope = record["scope"]
        if paths and not matches_everything(scope) and not any(matches(scope, p) for p in paths):
            return f"nothing the prompt names lies in {scope}"
        return ""

    return refuse


def for_past(at: int, session: str) -> Refusal:
    """Why an episode must not be given: it is this session's own."""
    return lambda record: "it is of this session" if record["session"] == session else ""


def within(
    records: Iterable[Record], lines: Callable[[Record], str], items: int, size: int
) -> list[Record]:
    """The first rows that fit into `items` and `size` bytes, in their order."""
    chosen: list[Record] = []
    for record in records:
        size -= len(lines(record).encode("utf-8", "replace")) + 1
        if len(chosen) >= items or size < 0:
            break
        chosen.append(record)
    return chosen
