"""What is stored of one project (or of the user), as recall searches it.

Three indices: memories in force, facts (also those that ended: what was believed is asked for too)
and past episodes. `records` are the rows as a snapshot or a prompt shows them, by id.
"""

from typing import Any

from hmd.core.facts import FactRow
from hmd.core.learning import EpisodeRow
from hmd.core.times import format_time
from hmd.recall.lexical import Index
from hmd.recall.strength import Strengths

Record = dict[str, Any]
DETAILS_READ = 2000  # characters of a fact's details that are searched


class Shelf:
    """The texts of one project, kept in step with the store by whoever owns it."""

    def __init__(self) -> None:
        self.memories = Index()
        self.facts = Index()
        self.episodes = Index()
        self.records: dict[str, Record] = {}
        self.strengths = Strengths()
        self.recorded: dict[str, int] = {}  # when each fact was recorded
        self.subjects: dict[str, list[str]] = {}  # ids of the facts of each, also of ones now gone

    def __len__(self) -> int:
        return len(self.memories) + len(self.facts) + len(self.episodes)

    def put_memory(self, record: Record) -> None:
        """A memory in force, as the snapshot holds it."""
        self.memories.add(record["id"], memory_text(record))
        self.records[record["id"]] = record

    def drop(self, identifier: str) -> None:
        """Whatever goes by this id is there no more."""
        for index in (self.memories, self.facts, self.episodes):
            index.remove(identifier)
        self.records.pop(identifier, None)
        self.strengths.drop(identifier)
        self.recorded.pop(identifier, None)

    def put_fact(self, row: FactRow) -> None:
        """A fact as it is now; one that was erased is forgotten here too."""
        if row.erased_at is not None:
            self.drop(row.id)
            return
        if row.id not in self.recorded:
            self.subjects.setdefault(row.subject, []).append(row.id)
        self.recorded[row.id] = row.recorded_at
        text = fact_text(row)
        if self.facts.text(row.id) != text:  # else it keeps its place in the order of recording
            self.facts.add(row.id, text)
        if row.superseded_by or row.retracted_at is not None or row.sensitive or row.archived:
            self.records.pop(row.id, None)
            self.strengths.drop(row.id)
        else:
            self.records[row.id] = fact_record(row)
            self.strengths.put(row)

    def put_episode(self, row: EpisodeRow) -> None:
        """A past segment of a turn that has a summary."""
        self.episodes.add(row.id, row.summary)
        self.records[row.id] = episode_record(row)


def memory_text(record: Record) -> str:
    """What a memory is found by."""
    aliases = " ".join(record["aliases"])
    return f"{record['summary']}\n{record['details']}\n{aliases}"


def fact_text(row: FactRow) -> str:
    """What a fact is found by."""
    tags = " ".join(row.tags)
    details = row.details[:DETAILS_READ]
    return f"{row.subject}\n{row.predicate}\n{row.fact}\n{details}\n{tags}".rstrip()


def fact_record(row: FactRow) -> Record:
    """A fact in the shape of a memory, so that one path gives both."""
    said = f"{row.predicate} {row.fact}" if row.predicate else row.fact
    label = "human" if row.authority == "human" else f"auto, {row.evidence.replace('_', ' ')}"
    if row.freshness in ("stale", "unresolved"):
        label += ", the code has changed since"
    return {
        "id": row.id,
        "type": "fact",
        "summary": f"{row.subject}: {said}",
        "details": "",
        "label": label,
        "level": "advise",
        "authority": row.authority,
        "score": row.confidence * row.importance / 10,
        "updated": row.recorded_at,
        "expires": row.until,
        "from": row.valid_from,
        "pinned": row.pinned,
        "baseline": False,
    }


def episode_record(row: EpisodeRow) -> Record:
    day = format_time(row.ended)[:10]
    return {
        "id": row.id,
        "type": "episode",
        "summary": row.summary,
        "details": "",
        "label": f"another session, {day}",
        "session": row.session,
        "level": "advise",
        "authority": "auto",
        "score": 0.5,
        "updated": row.ended,
        "expires": None,
        "baseline": False,
    }
