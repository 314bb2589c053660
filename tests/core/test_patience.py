"""A change is not begun once its caller has given up, and not left half done because of that."""

from pathlib import Path

import pytest

from hmd.core.clock import FakeClock
from hmd.core.errors import HmdError
from hmd.core.patience import PATIENCE, Patience
from hmd.kernel.address import Home
from hmd.store.store import Store
from tests.store.helpers import add


def test_the_first_change_decides() -> None:
    """Guards requests of several changes: begun in time, they are ended."""
    late = Patience(-1)
    with pytest.raises(HmdError, match="nothing was changed"):
        late.check()
    with pytest.raises(HmdError, match="nothing was changed"):
        late.begin()
    in_time = Patience(3600)
    in_time.begin()
    in_time._until = 0.0
    in_time.check()
    in_time.begin()


async def test_a_late_change_leaves_nothing(tmp_path: Path) -> None:
    """Guards database and journal, and that changes which nobody waits for are made."""
    home = Home(str(tmp_path / "home"), machine="test")
    async with Store.open(home, FakeClock(), "kernel") as store:
        before = PATIENCE.set(Patience(-1))
        with pytest.raises(HmdError) as caught:
            await store.apply(add(1))
        assert caught.value.code == "busy"
        assert (await store.list_memories()).total == 0
        PATIENCE.reset(before)
        await store.apply(add(2))
    async with Store.open(home, FakeClock(), "kernel") as store:
        assert [row.summary for row in (await store.list_memories()).rows] == ["memory 2 — 메모"]
