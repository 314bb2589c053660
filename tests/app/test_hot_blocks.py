"""The block of a project is made from the few facts that come first, found by looking at all."""

import random
from pathlib import Path

from hmd.app.hot_blocks import HotBlocks
from hmd.app.shelves import Shelves
from hmd.recall import hot
from tests.app.test_fact_recall import DAY, bring, fact
from tests.app.test_recall import NOW, recalling


async def test_few_are_shown_as_if_all_had_been_ordered(tmp_path: Path) -> None:
    """Also where some are pinned, weigh the same, are over or not true yet."""
    chance = random.Random(2)
    async with recalling(tmp_path) as service:
        rows = [
            fact(number, chance.randrange(40), f"fact {number}", pinned=number % 97 == 0,
                 confidence=chance.choice([0.3, 0.5, 1.0]), importance=chance.randrange(1, 11))
            for number in range(1, 500)
        ]  # fmt: skip
        for row in rows[::7]:
            row.valid_to = NOW + chance.choice([-1, 1]) * DAY
            row.valid_from = min(row.valid_from, NOW - 2 * DAY)
        for row in rows[::11]:
            row.valid_from, row.valid_to = NOW + DAY, None
        await bring(service, rows)
        shelves = Shelves(service.app, lambda _: None, lambda *_: None, lambda _: None)
        shelves.want("")
        await shelves.read_wanted()
        (shelf,) = await shelves.of("")
        day = NOW // DAY
        now = service.app.store.clock.peek_ms()
        limits = service.app.config.user.session_start
        every = [
            shelf.records[row.id]
            for row in rows
            if row.valid_from <= now and (row.valid_to is None or row.valid_to > now)
        ]
        random.Random(3).shuffle(every)
        block = await HotBlocks(shelves).block("", day)
        assert block == hot.render(every, day, limits.hot_items, limits.hot_tokens)
        assert len(block[0]) > 10
