"""What is stored of one project (or of the user), as recall searches it.

Three indices: memories in force, facts (also those that ended: what was believed is asked for too)
and past episodes. Of memories and episodes the rows are kept as a snapshot or a prompt shows them,
of facts only what answers need that the text does not say (`hmd.recall.belief`).
"""

from bisect import bisect_left, insort
from operator import attrgetter

from hmd.core.facts import FactRow
from hmd.core.learning import EpisodeRow
from hmd.core.times import format_time
from hmd.recall.belief import Belief, Record, fact_text
from hmd.recall.lexical import Index
from hmd.recall.strongest import Strongest

_record = attrgetter("recorded", "number")  # what `Belief.record_key` gives


class Records:
    """Rows in force as a snapshot or a prompt shows them, by id. Those of facts are made when they
    are asked for."""

    def __init__(self, shelf: "Shelf") -> None:
        self._shelf = shelf

    def __contains__(self, identifier: object) -> bool:
        shelf = self._shelf
        found = shelf.belief(str(identifier))
        return found.current if found is not None else identifier in shelf.others

    def __getitem__(self, identifier: str) -> Record:
        """Raises KeyError."""
        shelf = self._shelf
        found = shelf.belief(identifier)
        if found is None:
            return shelf.others[identifier]
        if not found.current:
            raise KeyError(identifier)
        return found.record(shelf.facts.text(identifier))


class Shelf:
    """The texts of one project, kept in step with the store by whoever owns it."""

    def __init__(self) -> None:
        self.memories = Index()
        self.facts = Index()
        self.episodes = Index()
        self.others: dict[str, Record] = {}  # of memories and episodes
        self.beliefs: list[Belief | None] = []  # by slot of `facts`; null where the text is gone
        self.strongest = Strongest()
        self._subjects: dict[str, list[Belief]] = {}  # the facts of each, by record
        self.in_order = True  # whether the slots of facts are in the order of recording
        self.latest = 0  # when the newest fact was recorded
        self._last = (0, 0)

    def __len__(self) -> int:
        return len(self.memories) + len(self.facts) + len(self.episodes)

    @property
    def records(self) -> Records:
        return Records(self)

    def put_memory(self, record: Record) -> None:
        """A memory in force, as the snapshot holds it."""
        self.memories.add(record["id"], memory_text(record))
        self.others[record["id"]] = record

    def drop(self, identifier: str) -> None:
        """Whatever goes by this id is there no more."""
        self._replace(self.facts.slot(identifier), None)
        for index in (self.memories, self.facts, self.episodes):
            index.remove(identifier)
        self.others.pop(identifier, None)

    def put_fact(self, row: FactRow) -> None:
        """A fact as it is now; one that was erased is forgotten here too."""
        if row.erased_at is not None:
            self.drop(row.id)
            return
        text = fact_text(row)
        slot = self.facts.slot(row.id)
        if slot is None or self.facts.text(row.id) != text:  # else it keeps its place in the order
            self._replace(slot, None)
            slot = self.facts.add(row.id, text)
            self.beliefs.append(None)
            self.in_order = self.in_order and self._last <= (row.recorded_at, row.number)
            self._last = (row.recorded_at, row.number)
            self.latest = max(self.latest, row.recorded_at)
        known = self._subjects.get(row.subject)
        self._replace(slot, Belief(row, known[0].subject if known else row.subject))

    def given(self, identifier: str, at: int) -> None:
        """A fact was given as an answer: it is as fresh as if recorded then."""
        belief = self.belief(identifier)
        if belief is not None and belief.current:
            self._replace(self.facts.slot(identifier), belief.given(at))

    def belief(self, identifier: str) -> Belief | None:
        """What is known of a fact; null where there is none of that id."""
        slot = self.facts.slot(identifier)
        return None if slot is None else self.beliefs[slot]

    def _replace(self, slot: int | None, belief: Belief | None) -> None:
        if slot is None:
            return
        old = self.beliefs[slot]
        if old is not None and old.current:
            self.strongest.drop(old)
        self.beliefs[slot] = belief
        if belief is not None and belief.current:
            self.strongest.put(belief)
        self._file_by_subject(old, belief)

    def _file_by_subject(self, old: Belief | None, new: Belief | None) -> None:
        if old is not None and (new is None or new.subject != old.subject):
            mine = self._subjects[old.subject]
            del mine[_place(mine, old)]
            if not mine:
                del self._subjects[old.subject]
            old = None
        if new is None:
            return
        mine = self._subjects.setdefault(new.subject, [])
        if old is not None:
            mine[_place(mine, old)] = new
        elif not mine or mine[-1].record_key() <= new.record_key():
            mine.append(new)
        else:
            insort(mine, new, key=_record)

    def about(self, subject: str) -> list[Belief]:
        """The facts of a subject, those that ended among them, by record."""
        return list(self._subjects.get(subject, ()))

    def put_episode(self, row: EpisodeRow) -> None:
        """A past segment of a turn that has a summary."""
        self.episodes.add(row.id, row.summary)
        self.others[row.id] = episode_record(row)


def _place(listed: list[Belief], wanted: Belief) -> int:
    return bisect_left(listed, wanted.record_key(), key=_record)


def memory_text(record: Record) -> str:
    """What a memory is found by."""
    aliases = " ".join(record["aliases"])
    return f"{record['summary']}\n{record['details']}\n{aliases}"


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
