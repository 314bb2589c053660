"""Batching of the hook log."""

from pathlib import Path

import trio
import trio.testing

from hmd.daemon.hooklog import HookLog
from hmd.kernel.address import Home


async def test_lines_are_on_disk_within_a_second(
    home: Home, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards the stated bound, and order within and between batches."""
    log = HookLog(home)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.run)
        await trio.testing.wait_all_tasks_blocked()
        for batch in ("one", "two"):
            log.add(f"{batch} a\n")
            log.add(f"{batch} b\n")
            await trio.sleep(1)
            assert f"{batch} b" in Path(home.hook_log).read_text()
        nursery.cancel_scope.cancel()
    assert Path(home.hook_log).read_text() == "one a\none b\ntwo a\ntwo b\n"


async def test_an_idle_log_wakes_nobody(home: Home, autojump_clock: trio.testing.MockClock) -> None:
    """Guards idle machines: without lines there is no timer."""
    log = HookLog(home)
    with trio.move_on_after(3600):
        await log.run()
    assert not Path(home.logs).exists()
