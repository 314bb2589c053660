"""What is kept in memory of a fact beside its text: when it is true, how strongly it is held.

A hundred thousand of these are kept, so a record as prompts show it is made of the few that are
shown, from the text that the fact is found by.
"""

import math
from functools import lru_cache
from typing import Any

from hmd.core.facts import FactRow
from hmd.recall.strength import DAY_MS, half_life, weight

Record = dict[str, Any]
DETAILS_READ = 2000  # characters of a fact's details that are searched
_PART_BITS = 24


class Belief:
    """A fact. `current`: it is neither replaced, forgotten, sensitive nor put away. `held` is its
    strength at age 0, `life` its half-life in days, `since` when it was recorded or last given.
    `order` is greater for what is held more strongly, of facts with one half-life, at any time."""

    __slots__ = (
        "_parts", "current", "held", "id", "label", "life", "number", "order", "pinned",
        "recorded", "score", "since", "subject", "until", "valid_from",
    )  # fmt: skip

    def __init__(self, row: FactRow, subject: str) -> None:
        """`subject`: the row's, as the one text that all facts of a subject share."""
        recorded = row.recorded_at
        self.id = row.id
        self.number = row.number
        self.subject = subject
        self.recorded = recorded
        # Most facts are true from when they were recorded: one number serves for both.
        self.valid_from = recorded if row.valid_from == recorded else row.valid_from
        self.until = row.until
        self.current = not (
            row.superseded_by or row.retracted_at is not None or row.sensitive or row.archived
        )
        self.held = _one(weight(row))
        self.life = _one(half_life(row))
        self.since = row.accessed_at or recorded
        self.order = self._order()
        self.score = _one(row.confidence * row.importance / 10)
        self.pinned = row.pinned
        self.label = _label(row.authority, row.evidence, row.freshness)
        self._parts = (
            len(row.subject) | len(row.predicate) << _PART_BITS | len(row.fact) << 2 * _PART_BITS
        )

    def strength(self, now: int) -> float:
        """How strongly it is held at `now` (see `hmd.recall.strength`)."""
        age = now - self.since
        return float(self.held * 0.5 ** (age / DAY_MS / self.life)) if age > 0 else self.held

    def _order(self) -> float:
        fading = math.log2(self.held) if self.held > 0 else -math.inf
        return fading + self.since / DAY_MS / self.life

    def given(self, at: int) -> "Belief":
        """The same, given as an answer at an instant."""
        other = Belief.__new__(Belief)
        for name in Belief.__slots__:
            setattr(other, name, getattr(self, name))
        other.since = at
        other.order = other._order()
        return other

    def record_key(self) -> tuple[int, int]:
        """Orders facts by when they were recorded."""
        return self.recorded, self.number

    def is_true(self, at: int) -> bool:
        """Whether it holds in the world at an instant, as far as is known now."""
        return self.valid_from <= at and (self.until is None or self.until > at)

    def record(self, text: str) -> Record:
        """In the shape of a memory, so that one path gives both. `text` is the fact's own."""
        mask = (1 << _PART_BITS) - 1
        subject = self._parts & mask
        predicate = subject + 1 + (self._parts >> _PART_BITS & mask)
        fact = predicate + 1 + (self._parts >> 2 * _PART_BITS)
        said = text[predicate + 1 : fact]
        if predicate > subject + 1:
            said = f"{text[subject + 1 : predicate]} {said}"
        return {
            "id": self.id,
            "type": "fact",
            "summary": f"{text[:subject]}: {said}",
            "details": "",
            "label": self.label,
            "level": "advise",
            "authority": "human" if self.label.startswith("human") else "auto",
            "score": self.score,
            "updated": self.recorded,
            "expires": self.until,
            "from": self.valid_from,
            "pinned": self.pinned,
            "baseline": False,
        }


def fact_text(row: FactRow) -> str:
    """What a fact is found by."""
    tags = " ".join(row.tags)
    details = row.details[:DETAILS_READ]
    return f"{row.subject}\n{row.predicate}\n{row.fact}\n{details}\n{tags}".rstrip()


@lru_cache(maxsize=1024)
def _one(value: float) -> float:
    """The same object for equal numbers: few are different, and looking at many facts is waiting
    for memory."""
    return value


@lru_cache(maxsize=256)
def _label(authority: str, evidence: str, freshness: str) -> str:
    label = "human" if authority == "human" else f"auto, {evidence.replace('_', ' ')}"
    if freshness in ("stale", "unresolved"):
        label += ", the code has changed since"
    return label
