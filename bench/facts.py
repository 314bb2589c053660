"""Rows about facts in time: 100,000 of them, a tenth in chains of revisions, a fiftieth forgotten.

The reference of each row is memharness on such data on a quiet machine of two cores, in its own
process (its published figures); ours are taken in process, and over the socket as a caller sees it.
"""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import trio

from bench.figures import Row, clock, percentile, span
from bench.user import User, user
from hmd.core.changes import ImportFacts
from hmd.core.clock import SystemClock
from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactRow
from hmd.core.times import format_time
from hmd.memory import Memory
from hmd.store import db, facts_read
from hmd.store.store import Store

FACTS = 100_000
DAY = 86_400_000
SUBJECTS, SOURCES = 500, 550
# As many different words as a project's notes have, in the shape of words.
WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("ano", "eri", "ilu", "oma") for c in "dknst"
]
ROUNDS = 200
# What memharness takes, in ms.
STATS, DIFF, REMEMBER, WHY, FORGET = 54.0, 56.0, 1.0, 0.5, 5.6
FILE_MB = 47.6


def rows(now: int) -> list[FactRow]:
    """A year of facts, oldest first."""
    chance = random.Random(7)
    out: list[FactRow] = []
    for number in range(FACTS):
        at = now - 365 * DAY + number * (364 * DAY // FACTS)
        fact = " ".join(chance.choices(WORDS, k=8)) + f" {number}"
        row = FactRow(
            id=f"{chance.getrandbits(128):032x}", number=number, subject="", fact=fact,
            actor="terminal", source_ref=f"session-{chance.randrange(SOURCES)}",
            valid_from=at, recorded_at=at,
        )  # fmt: skip
        old = out[chance.randrange(len(out))] if out and chance.random() < 0.1 else None
        if old is not None and not old.superseded_by:
            row.subject = old.subject
            old.superseded_by, old.closed_at, old.closed_tx = row.id, at, at
        else:
            row.subject = f"project:{chance.randrange(SUBJECTS)}"
        if chance.random() < 0.02:
            row.retracted_at = min(now, at + DAY)
        out.append(row)
    return out


async def _fill(one: User) -> None:
    async with Store.open(one.home, SystemClock(), one.kernel_hash) as store:
        found = rows(store.clock.now_ms())
        # Backwards: what a row names is there before it.
        for start in range(len(found) - 2000, -2000, -2000):
            part = found[max(0, start) : start + 2000]
            await store.apply(ImportFacts(actor="import", at=store.clock.now_ms(), rows=part))


def facts() -> Iterator[Row]:
    """Diff of a day, stats, remember, revise, why, forgetting a source; size, memory, start."""
    with user() as one:
        began = time.perf_counter_ns()
        trio.run(_fill, one)
        filled = time.perf_counter_ns() - began
        yield _row("filling 100,000 facts", [filled], 15_400.0)
        yield from _in_process(one)
        size = Path(one.home.database).stat().st_size / 1e6
        yield Row("database", f"{size:.1f} MB", f"memharness {FILE_MB} MB", size / FILE_MB)
        began = time.perf_counter_ns()
        with one.daemon() as pid:
            ready = time.perf_counter_ns() - began
            yield Row("daemon with open store", span(ready), "-", 0.0)
            yield from _over_the_socket(one)
            status = Path(f"/proc/{pid}/status")
            if status.exists():
                line = next(each for each in status.read_text().splitlines() if "VmRSS" in each)
                resident = int(line.split()[1]) / 1000
                yield Row(
                    "daemon resident", f"{resident:.0f} MB", "memharness 113 MB", resident / 113
                )


def _in_process(one: User) -> Iterator[Row]:
    connection = db.connect(Path(one.home.database), read_only=True)
    now = time.time_ns() // 1_000_000
    day = now - 180 * DAY
    yield _row(
        "stats, in process", _taken(30, partial(facts_read.stats, connection, now, 0)), STATS
    )
    taken = _taken(50, partial(facts_read.diff, connection, day, day + DAY))
    yield _row("diff of one day, in process", taken, DIFF)
    names = [row[0] for row in connection.execute("SELECT id FROM fact LIMIT 500")]
    taken = [clock(partial(facts_read.why, connection, name)) for name in names]
    yield _row("why, in process", taken, WHY)
    query = FactQuery(subject="project:7", limit=8)
    taken = _taken(200, partial(facts_read.believed, connection, query, now))
    yield _row("recall of a subject (plain filter), in process", taken, 0.62)
    connection.close()


def _over_the_socket(one: User) -> Iterator[Row]:
    memory = Memory(one.home.path, actor="terminal", cwd="/")
    now = time.time_ns() // 1_000_000
    day, after = format_time(now - 180 * DAY), format_time(now - 179 * DAY)
    yield _row("one fsync of the journal's disk", _taken(50, partial(_fsync, one)), REMEMBER)
    yield _row("ping, over the socket", _taken(ROUNDS, partial(_ping, one)), 0.2)
    yield _row("stats, over the socket", _taken(30, memory.stats), STATS)
    yield _row(
        "diff of one day, over the socket", _taken(30, partial(memory.diff, day, after)), DIFF
    )
    made: list[str] = []
    taken = [clock(partial(_remember, memory, number, made)) for number in range(ROUNDS)]
    yield _row("remember, over the socket", taken, REMEMBER)
    taken = [clock(partial(memory.why, name)) for name in made]
    yield _row("why, over the socket", taken, WHY)
    taken = [clock(partial(memory.revise, name, f"{name} is revised")) for name in made[:100]]
    yield _row("revise, over the socket", taken, REMEMBER)
    sources = [partial(memory.forget, source=f"session-{number}") for number in range(30)]
    yield _row("forget by source (~180 facts), over the socket", [clock(each) for each in sources],
               FORGET)  # fmt: skip
    yield from _beside_a_writer(one, partial(memory.why, made[0]))


def _beside_a_writer(one: User, ask: Callable[[], object]) -> Iterator[Row]:
    """Reads while another process holds the database's lock for writing."""
    other = sqlite3.connect(one.home.database, isolation_level=None)
    quiet = _taken(100, ask)
    other.execute("BEGIN IMMEDIATE")
    held = _taken(100, ask)
    other.execute("ROLLBACK")
    other.close()
    yield _row("why beside a writer that holds the lock", held, percentile(quiet, 0.5) / 1e6)


def _ping(one: User) -> None:
    from hmd import link

    link.probe(one.home)


def _fsync(one: User) -> None:
    """What any acknowledged write waits for, whoever makes it."""
    with open(Path(one.home.journal, "..", "fsync"), "ab", buffering=0) as file:
        file.write(b"x" * 600)
        os.fsync(file.fileno())


def _remember(memory: Memory, number: int, made: list[str]) -> None:
    words = " ".join(random.Random(number).choices(WORDS, k=6))
    done = memory.remember(f"project:{number % SUBJECTS}", f"{words} new {number}")
    assert done.fact is not None
    made.append(done.fact.id)


def _taken(rounds: int, action: Callable[[], object]) -> list[int]:
    action()
    return [clock(action) for _ in range(rounds)]


def _row(what: str, samples: list[int], reference_ms: float) -> Row:
    p50, p95 = percentile(samples, 0.5), percentile(samples, 0.95)
    return Row(
        what,
        f"{span(p50)}, p95 {span(p95)}",
        f"{reference_ms:g} ms",
        p50 / 1e6 / reference_ms,
    )
