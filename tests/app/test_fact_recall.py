"""Questions about facts over a real store: their order, and how little is read for them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hmd.app import fact_recall, facts
from hmd.app.recall import Recall
from hmd.core.changes import ImportFacts
from hmd.core.clock import FakeClock
from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactDraft, FactRow
from hmd.core.times import format_time
from hmd.store import recall as rows
from tests.app.test_recall import NOW, PERSON, recalling

DAY = 86_400_000


def fact(number: int, days: int, said: str, **more: Any) -> FactRow:
    at = NOW - days * DAY
    name = f"{number:032x}"
    return FactRow(id=name, subject="app", fact=said, valid_from=at, recorded_at=at, **more)


async def bring(service: Recall, found: Sequence[FactRow]) -> None:
    await service.app.make(ImportFacts(actor="import", at=NOW, rows=list(found)))


async def asked(service: Recall, query: str = "", **more: Any) -> list[str]:
    found = await fact_recall.recall(service, PERSON, FactQuery(query=query, **more))
    return [row.fact for row in found.rows]


async def test_the_past_is_told_newest_record_first(tmp_path: Path) -> None:
    """Whatever the order in which facts came: those of another store come late with old dates."""
    async with recalling(tmp_path) as service:
        await bring(service, [fact(1, 10, "deploys on Monday"), fact(2, 30, "deploys on Friday")])
        await service.shelves("")
        await bring(service, [fact(3, 20, "deploys on Sunday"), fact(4, 5, "deploys daily")])
        past = format_time(NOW - 7 * DAY)
        told = ["deploys on Monday", "deploys on Sunday", "deploys on Friday"]
        assert await asked(service, "deploys", as_of=past) == told
        assert await asked(service, "deploys", as_of=past, limit=2) == told[:2]
        assert await asked(service, "deploys", as_of=past, subject="app") == told
        assert await asked(service, "ploys", as_of=past) == told  # by letters


async def test_as_few_rows_are_read_as_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the shelf knows to be over or replaced is not fetched, and the rest not beyond what is
    wanted: reading rows is most of what a question costs."""
    read: list[int] = []

    def matching(connection: Any, wanted: Any, numbers: Sequence[int], *more: Any) -> Any:
        read.append(len(numbers))
        return original(connection, wanted, numbers, *more)

    original = rows.matching
    monkeypatch.setattr(rows, "matching", matching)
    async with recalling(tmp_path) as service:
        many = [fact(n, n, f"deploy step {n}") for n in range(1, 60)]
        over = [fact(n, 0, f"deploy step {n}", valid_to=NOW - 1) for n in range(60, 90)]
        for row in over:
            row.valid_from -= DAY
        await bring(service, many + over)
        await service.shelves("")
        for query in (
            FactQuery(query="deploy step", limit=5),
            FactQuery(query="deploy", subject="app", limit=5),
            FactQuery(subject="app", limit=5),
            FactQuery(limit=5),
            FactQuery(query="ploy st", limit=5),
        ):
            read.clear()
            found = await fact_recall.recall(service, PERSON, query)
            assert len(found.rows) == 5 and read == [5], query


async def test_what_was_given_is_given_again(tmp_path: Path) -> None:
    """Being asked for keeps a fact fresh, on the shelf as in the store."""
    async with recalling(tmp_path) as service:
        await bring(service, [fact(1, 200, "old: port 80"), fact(2, 100, "newer: port 8080")])
        assert await asked(service, limit=1) == ["newer: port 8080"]
        clock = service.app.store.clock
        assert isinstance(clock, FakeClock)
        clock.wall += DAY
        assert await asked(service, "old") == ["old: port 80"]
        assert await asked(service, limit=1) == ["old: port 80"]


async def test_a_clock_that_went_back_hides_nothing(tmp_path: Path) -> None:
    """A reader sees what has been written."""
    async with recalling(tmp_path) as service:
        done = await facts.remember(service.app, PERSON, FactDraft(subject="a", fact="is new"))
        assert done.fact is not None
        clock = service.app.store.clock
        assert isinstance(clock, FakeClock)
        clock.wall -= DAY
        assert await asked(service, "new") == await asked(service) == ["is new"]
