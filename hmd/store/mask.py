"""Finding texts in files and overwriting them in place, by as many bytes of filler.

A text is found in every spelling that our files have for it: plain, inside JSON with and without
escapes, on one line, cut off at its end, and whatever the case of its ASCII letters. Nothing here
holds the interpreter for more than a moment: hooks are answered by another thread meanwhile.
"""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hmd.core import machine
from hmd.kernel import event as ev

FILLER = b"x"
# Bytes. Shorter texts are blanked only where they are a whole value: "go" is in every log.
SHORTEST = 8
BLOCK = 1 << 18
# How long this thread works before it lets others have the interpreter, and for how long.
_SPELL_S, _PAUSE_S = 0.0005, 0.0002
# A longer text is looked for by its beginning: copies of it are cut to fit.
_KEY_BYTES = 64
# A line of a longer text is one that only this text has.
_LINE_BYTES = 24
# Words that our files are made of; looked for, they would take the files apart.
_OWN = {str(value).casefold() for name, value in vars(ev).items() if name.isupper()}


class _Form(NamedTuple):
    """`key` is what is searched, lower case; `whole` how far a hit may go on; `quoted`: a value
    with its quotation marks, which stay."""

    key: bytes
    whole: bytes
    quoted: bool


class Words:
    """Texts to look for. `asked` is one that a person named, rather than one of ours."""

    def __init__(self, texts: Iterable[str], asked: str = "") -> None:
        self.texts = {text for text in texts if text.strip()}
        self.asked = asked if is_findable(asked) else ""
        every = {form for text in self.texts for form in _forms(text)}
        if self.asked:
            cases = {asked, asked.lower(), asked.upper(), asked.title(), asked.capitalize()}
            every |= {form for one in cases for form in _forms(one)}
        self._forms = sorted(every)
        self._longest = max((len(form.key) for form in every), default=0)
        self._pattern = re.compile(re.escape(self.asked), re.IGNORECASE)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def add(self, texts: Iterable[str]) -> "Words":
        return Words({*self.texts, *texts}, self.asked)

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """(offset, length) of everything to overwrite, in order; they may overlap."""
        return sorted(set(self._spans(data)))

    def _spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        pace = Pace()
        for begin in range(0, len(data), BLOCK):
            block = data[begin : begin + BLOCK + self._longest].lower()
            for form in self._forms:
                at = block.find(form.key)
                while at >= 0:
                    start = begin + at
                    if form.quoted:
                        yield start + 1, len(form.key) - 2
                    else:
                        yield start, _as_far_as(data, start, form)
                    at = block.find(form.key, at + len(form.key))
                pace.step()

    def mask(self, text: str) -> str:
        """`text` without what a person named, as overwriting its JSON would leave it."""
        if not self.asked:
            return text
        return self._pattern.sub(lambda hit: "x" * len(_escaped(hit[0])), text)

    def says(self, text: str) -> bool:
        """Whether `text` holds what a person named."""
        return bool(self.asked) and self._pattern.search(text) is not None


class Pace:
    """Gives way to other threads now and then, in loops that the interpreter runs without rest."""

    def __init__(self) -> None:
        self._until = time.perf_counter() + _SPELL_S

    def step(self) -> None:
        if time.perf_counter() > self._until:
            time.sleep(_PAUSE_S)
            self._until = time.perf_counter() + _SPELL_S


def is_findable(text: str) -> bool:
    """Whether files can be searched for it: long enough, and no word of the files' own."""
    return len(text.encode("utf-8", "surrogatepass")) >= SHORTEST and text.casefold() not in _OWN


def overwrite(path: Path, words: Words) -> bool:
    """Overwrites each occurrence in the file; whether there was one. A file that is gone or not
    ours to write is left."""
    try:
        data = path.read_bytes()
        spans = words.spans(data)
        if not spans:
            return False
        descriptor = os.open(path, os.O_WRONLY | machine.NOT_INHERITED)
    except OSError:
        return False
    try:
        for start, length in spans:
            machine.write_at(descriptor, FILLER * length, start)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True


def _escaped(text: str) -> bytes:
    """As the journal writes it between quotation marks."""
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


def _forms(text: str) -> Iterator[_Form]:
    pieces = {text, " ".join(text.split())}
    lines = [line.strip() for line in text.split("\n")]
    pieces.update(line for line in lines if len(line.encode("utf-8", "replace")) >= _LINE_BYTES)
    for piece in pieces:
        plain = piece.encode("utf-8", "surrogatepass")
        if len(plain) < SHORTEST:
            for spelled in (json.dumps(piece), json.dumps(piece, ensure_ascii=False)):
                whole = spelled.encode("utf-8", "surrogatepass").lower()
                yield _Form(whole, whole, True)
            continue
        for whole in {plain, _escaped(piece), json.dumps(piece)[1:-1].encode()}:
            yield _Form(_cut(whole[:_KEY_BYTES].lower(), whole.lower()), whole.lower(), False)


def _as_far_as(data: bytes, start: int, form: _Form) -> int:
    """How many bytes from `start` on say the same as the text, at least the key's."""
    found = data[start : start + len(form.whole)].lower()
    if found == form.whole:
        return len(found)
    same = len(form.key)
    while same < len(found) and found[same] == form.whole[same]:
        same += 1
    return max(len(form.key), len(_cut(form.whole[:same], form.whole)))


def _cut(part: bytes, whole: bytes) -> bytes:
    """A beginning of `whole` that ends in no middle of a character or of a JSON escape."""
    end = len(part)
    while 0 < end < len(whole) and whole[end] & 0xC0 == 0x80:
        end -= 1
    if end < len(whole):
        slashes = end - len(whole[:end].rstrip(b"\\"))
        end -= slashes % 2
    return whole[:end]
