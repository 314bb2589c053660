"""Random histories of facts, and what they must answer: a naive replay of the log, without SQL."""

import random
import sqlite3
from typing import Any, NamedTuple

from hmd.core.changes import (
    AnyChange,
    Erase,
    Forget,
    RememberFact,
    ReviseFact,
    Unforget,
)
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactContent
from hmd.store import apply, facts_read, migrate

START = 1_700_000_000_000
DAY = 86_400_000
SUBJECTS = ("user", "project:a", "빌드 서버")


class Event(NamedTuple):
    """One accepted line of the log."""

    at: int
    kind: str
    fact: str
    old: str = ""
    since: int = 0
    until: int | None = None


class Belief:
    """One fact in the replay."""

    def __init__(self, since: int, until: int | None) -> None:
        self.since, self.until, self.hidden = since, until, False


class History:
    """A database in memory with a history made from `seed`; `log` is what was accepted."""

    def __init__(self, seed: int, writes: int) -> None:
        self.random = random.Random(seed)
        self.connection = empty()
        self.log: list[Event] = []
        self.given: dict[int, set[str]] = {}  # instant → what was answered at that instant
        self._now = START
        self._names: list[str] = []
        for _ in range(writes):
            self._now += self.random.choice((1, 1, 2, 3, 1000, DAY, DAY))
            self._write()
            self.given[self._now] = self._current()

    def _write(self) -> None:
        kind = self.random.choices(
            ("remember", "revise", "forget", "restore", "erase"), (8, 7, 3, 2, 1)
        )[0]
        name = f"{len(self._names):032x}"
        old = self.random.choice(self._names) if self._names else ""
        if kind == "remember" or not old:
            self._remember(name)
        elif kind == "revise":
            self._revise(name, old)
        else:
            change: AnyChange
            if kind == "forget":
                change = Forget(actor="terminal", at=self._now, facts=[old])
            elif kind == "restore":
                change = Unforget(actor="terminal", at=self._now, facts=[old])
            else:
                change = Erase(
                    actor="terminal", at=self._now, erasure=f"{self._now:032x}", facts=[old]
                )
            if self._try(change):
                self.log.append(Event(self._now, kind, old))

    def _instant(self) -> int:
        """Somewhere near other instants, often exactly one."""
        known = [event.at for event in self.log] + [event.since for event in self.log]
        base = self.random.choice([*known, self._now])
        return base + self.random.choice((-DAY, -1, 0, 1, DAY))

    def _remember(self, name: str) -> None:
        since = self._instant() if self.random.random() < 0.4 else None
        begin = self._now if since is None else since
        until = begin + self.random.choice((1, DAY)) if self.random.random() < 0.2 else None
        change = RememberFact(
            actor="terminal", at=self._now, fact=name, content=self._content(name),
            valid_from=since, valid_to=until,
        )  # fmt: skip
        assert self._try(change)
        self._names.append(name)
        self.log.append(Event(self._now, "remember", name, "", begin, until))

    def _revise(self, name: str, old: str) -> None:
        since = self._instant() if self.random.random() < 0.5 else None
        change = ReviseFact(
            actor="terminal", at=self._now, old=old, fact=name, content=self._content(name),
            valid_from=since,
        )  # fmt: skip
        if self._try(change):
            self._names.append(name)
            begin = self._now if since is None else since
            self.log.append(Event(self._now, "revise", name, old, begin))

    def _content(self, name: str) -> FactContent:
        return FactContent(subject=self.random.choice(SUBJECTS), fact=f"says {name[-4:]}")

    def _try(self, change: AnyChange) -> bool:
        seq = apply.get_meta(self.connection, "applied_seq") + 1
        self.connection.execute("SAVEPOINT change")
        try:
            apply.apply_change(self.connection, seq, change)
            return True
        except HmdError:
            self.connection.execute("ROLLBACK TO change")
            return False
        finally:
            self.connection.execute("RELEASE change")

    # -- asking --

    def _current(self) -> set[str]:
        rows, _ = facts_read.believed(self.connection, FactQuery(limit=1000), self._now)
        return {row.id for row in rows}

    def answer(self, valid: int, known: int) -> set[str]:
        """What the store says was true at `valid` as far as it knew at `known`."""
        rows, _ = facts_read.believed(
            self.connection, FactQuery(limit=1000), self._now, valid, known
        )
        return {row.id for row in rows}

    def probes(self) -> tuple[list[int], list[int]]:
        """(worldly, recorded): every instant of an event, and a millisecond to each side."""
        world = {event.at for event in self.log} | {event.since for event in self.log}
        world |= {event.until for event in self.log if event.until is not None}
        recorded = {event.at for event in self.log}
        return _around(world), _around(recorded)


def _around(instants: set[Any]) -> list[int]:
    return sorted({instant + step for instant in instants if instant for step in (-1, 0, 1)})


def replay(log: list[Event], known: int) -> dict[str, Belief]:
    """The beliefs after the part of the log up to `known`, read line by line."""
    found: dict[str, Belief] = {}
    for event in log:
        if event.at > known:
            break
        if event.kind in ("remember", "revise"):
            found[event.fact] = Belief(event.since, event.until)
            if event.old:
                old = found[event.old]
                old.until = event.since if old.until is None else min(old.until, event.since)
        else:
            found[event.fact].hidden = event.kind != "restore"
    return found


def expected(beliefs: dict[str, Belief], valid: int) -> set[str]:
    """Those that hold at `valid`."""
    return {
        name
        for name, one in beliefs.items()
        if not one.hidden and one.since <= valid and (one.until is None or valid < one.until)
    }


def empty() -> sqlite3.Connection:
    """A database in memory at the newest schema."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    migrate.migrate(connection, lambda _: None)
    return connection
