"""Rows about recall: the index at three sizes, questions about 100,000 facts, hybrid search.

Texts are made up, their words as common as words are (Zipf). The reference of the index is
DESIGN's bar; that of the questions is memharness on such facts, in its own process (its published
CPU times).
"""

import itertools
import random
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial

import trio

from bench.facts import DAY, WORDS, _fill
from bench.figures import Row, clock, percentile, span
from bench.user import user
from hmd.core.times import format_time
from hmd.memory import Memory
from hmd.recall.lexical import Index, search

VOCABULARY = [one + two for one in WORDS for two in ("", "sa", "ler", "vin")]
QUESTIONS = 400
SIZES = (1_000, 10_000, 100_000)
# memharness's p50 in ms, by line.
REFERENCE = {
    "two terms": 0.6,
    "word and subject": 1.5,
    "subject alone": 0.6,
    "as_of and word": 1.4,
    "no filter": 37.0,
    "a miss": 32.0,
}


class _Writer:
    """Texts and questions of one seed."""

    def __init__(self) -> None:
        self._chance = random.Random(11)
        ranks = [1 / (rank + 3) for rank in range(len(VOCABULARY))]
        self._weights = list(itertools.accumulate(ranks))

    def text(self, number: int) -> str:
        count = self._chance.randrange(8, 26)
        return " ".join(self._words(count)) + f" item{number}"

    def question(self) -> str:
        return " ".join(self._words(self._chance.randrange(2, 9)))

    def _words(self, count: int) -> list[str]:
        return self._chance.choices(VOCABULARY, cum_weights=self._weights, k=count)


def index() -> Iterator[Row]:
    """Query, add and remove; memory and building time, at three sizes."""
    for size in SIZES:
        writer, texts = _Writer(), Index()
        before, began = _resident_mb(), time.perf_counter_ns()
        for number in range(size):
            texts.add(str(number), writer.text(number))
        for _ in texts.settle():
            pass
        built, grown = time.perf_counter_ns() - began, _resident_mb() - before
        questions = [writer.question() for _ in range(QUESTIONS)]
        taken = [clock(partial(search, [texts], one)) for one in questions]
        at = f"{size:,} texts"
        p50, p99 = percentile(taken, 0.5), percentile(taken, 0.99)
        yield Row(f"search, {at}", f"{span(p50)}, p99 {span(p99)}", "1 ms", p99 / 1e6, 1.0)
        fresh = [(f"n{number}", writer.text(size + number)) for number in range(200)]
        added = [clock(partial(texts.add, *one)) for one in fresh]
        removed = [clock(partial(texts.remove, name)) for name, _ in fresh]
        p99 = percentile(added, 0.99)
        yield Row(f"add, {at}", f"p99 {span(p99)}", "1 ms", p99 / 1e6, 1.0)
        p99 = percentile(removed, 0.99)
        yield Row(f"remove, {at}", f"p99 {span(p99)}", "1 ms", p99 / 1e6, 1.0)
        yield Row(f"memory, {at}", f"{grown:.0f} MB", "120 MB", grown / 120, 1.0)
        yield Row(f"building, {at}", span(built), "-", 0.0)
        del texts


def _resident_mb() -> float:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def questions() -> Iterator[Row]:
    """Questions about 100,000 facts, over the socket, as a caller waits for them."""
    with user() as one:
        trio.run(_fill, one)
        with one.daemon():
            memory = Memory(one.home.path, actor="terminal", cwd="/")
            began = time.perf_counter_ns()
            while time.perf_counter_ns() - began < 60e9:
                if clock(partial(memory.recall, WORDS[0])) < 50e6:
                    break  # the database takes longer, and answers until all is read
            yield Row("reading 100,000 facts at first use", span(time.perf_counter_ns() - began),
                      "-", 0.0)  # fmt: skip
            for name, ask in _lines(memory).items():
                ask(0)
                taken = [clock(partial(ask, number)) for number in range(1, 60)]
                p50, p95 = percentile(taken, 0.5), percentile(taken, 0.95)
                ratio = p50 / 1e6 / REFERENCE[name]
                yield Row(
                    f"facts: {name}",
                    f"{span(p50)}, p95 {span(p95)}",
                    f"{REFERENCE[name]:g} ms",
                    ratio,
                    1.0,
                )


def _lines(memory: Memory) -> dict[str, Callable[[int], object]]:
    past = format_time(time.time_ns() // 1_000_000 - 100 * DAY)

    def word(number: int) -> str:
        return WORDS[number * 37 % len(WORDS)]

    return {
        "two terms": lambda n: memory.recall(f"{word(n)} {word(n + 5)}"),
        "word and subject": lambda n: memory.recall(word(n), subject=f"project:{n}"),
        "subject alone": lambda n: memory.recall("", subject=f"project:{n}"),
        "as_of and word": lambda n: memory.recall(word(n), as_of=past),
        "no filter": lambda n: memory.recall(""),
        "a miss": lambda n: memory.recall(f"zzqx{n}y"),
    }


# Facts as projects have them, for how often a command that has nothing to do with them gets one.
FACTS = (
    ("billing service", "listens on port 8443 behind nginx"),
    ("staging cluster", "its kubectl context is called blue-staging"),
    ("test suite", "needs a running redis on port 6380"),
    ("release", "is cut from the main branch every second Thursday"),
    ("git hooks", "run ruff and mypy before every commit"),
    ("docker images", "are built for arm64 and amd64 with buildx"),
    ("database", "is PostgreSQL 15; migrations run through alembic"),
    ("npm registry", "is mirrored at verdaccio.internal"),
    ("ci", "runs on self-hosted runners without docker"),
    ("frontend", "is served from /srv/www and built by vite"),
    ("backup", "is a nightly pg_dump to the archive bucket"),
    ("python", "is pinned to 3.11 by pyenv in every checkout"),
    ("logs", "of production are kept in loki for 30 days"),
    ("terraform state", "lies in the bucket tf-state-prod and is locked by dynamodb"),
    ("ssh", "to production goes through the bastion host jump-1"),
)


def beside_commands() -> Iterator[Row]:
    """How many of the corpus' commands are offered a fact beside their result."""
    from bench.commands import commands
    from hmd.app.recall import COMMAND_SCORE
    from hmd.core.facts import FactRow
    from hmd.recall import inject
    from hmd.recall.shelf import Shelf

    shelf = Shelf()
    for number, (subject, fact) in enumerate(FACTS):
        shelf.put_fact(FactRow(id=f"{number:032x}", number=number, subject=subject, fact=fact))
    listed, _ = commands()
    offered = []
    taken = []
    for command in listed[:2000]:
        began = time.perf_counter_ns()
        found = inject.search(
            [shelf],
            [shelf.facts],
            command[:500],
            least=COMMAND_SCORE,
            refuse=inject.for_prompt(0, "", ""),
        )
        taken.append(time.perf_counter_ns() - began)
        if inject.given(found):
            offered.append(command)
    share = len(offered) / max(1, len(taken))
    count = f"{len(offered)} of {len(taken):,}"
    yield Row("commands that are offered a fact", count, "1 in 100", share * 100, 1.0)
    yield Row("looking for one, p99", span(percentile(taken, 0.99)), "1 ms",
              percentile(taken, 0.99) / 1e6, 1.0)  # fmt: skip
