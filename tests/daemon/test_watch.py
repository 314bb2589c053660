"""Keeping the address."""

import os
from collections.abc import Iterator
from pathlib import Path

import trio
import trio.testing

from hmd.core.clock import FakeClock
from hmd.daemon.lifecycle import Lock, OwnerRecord
from hmd.daemon.resident import Resident
from hmd.daemon.serve import Limits, Server
from hmd.daemon.services import Services
from hmd.daemon.watch import keep_address, leave_when_idle
from hmd.kernel import frame
from hmd.kernel.address import Home
from tests.daemon.fakes import FakeConnection, FakeListener, FakeResponder, LinesOnly


def nobody(address: str) -> bool:
    """A poke that finds nobody."""
    return False


async def test_a_lost_address_is_bound_again_within_a_second(
    home: Home, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards "alive but not serving": the stated time is one second, and one failure to bind
    (the directory may be gone for a moment) is not the last word."""
    lock = Lock(home.path + "/lock")
    assert lock.take()
    server = Server(FakeResponder(), LinesOnly(), Limits())
    first, second = FakeListener("first"), FakeListener("second")
    attempts: Iterator[OSError | FakeListener] = iter([OSError("not now"), second])

    def bind() -> FakeListener:
        found = next(attempts)
        if isinstance(found, OSError):
            raise found
        return found

    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.listen, first, nursery)
        nursery.start_soon(keep_address, server, lock, bind, nobody, first, nursery, LinesOnly())
        await trio.testing.wait_all_tasks_blocked()
        first.is_lost = True
        client = FakeConnection([frame.request(frame.HOOK, {}, b"{}")])
        second.arrives(client)
        with trio.fail_after(1.01):
            await client.closed.wait()
        assert client.answer is not None
        server.leave("test")
        await server.drain()
    lock.release()


async def test_an_address_that_a_manager_took_is_left_to_it(
    home: Home, autojump_clock: object
) -> None:
    """Guards a service manager's socket: nobody replaces it, the owner goes."""
    lock = Lock(home.path + "/lock")
    assert lock.take()
    server = Server(FakeResponder(), LinesOnly(), Limits())
    listener = FakeListener()
    listener.is_lost = True
    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            await keep_address(
                server, lock, FakeListener, lambda _: True, listener, nursery, LinesOnly()
            )
    assert server.leaving.is_set()
    lock.release()


async def test_without_the_lock_it_leaves(home: Home, autojump_clock: object) -> None:
    """Guards succession: a daemon whose lock file was removed or replaced is not the owner."""
    lock = Lock(home.path + "/lock")
    assert lock.take()
    server = Server(FakeResponder(), LinesOnly(), Limits())
    listener = FakeListener()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.listen, listener, nursery)
        nursery.start_soon(
            keep_address, server, lock, FakeListener, nobody, listener, nursery, LinesOnly()
        )
        await trio.testing.wait_all_tasks_blocked()
        os.unlink(lock.path)
        with trio.fail_after(1):
            await server.leaving.wait()
        await server.drain()
    assert listener.withdrawn
    lock.release()


async def test_an_idle_daemon_leaves_where_that_is_wished(
    home: Home, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards `daemon.idle_exit_minutes`: counted from the last request, and off by default."""
    left: list[str] = []
    record = OwnerRecord(1, "start", "0.1.0-ours", 0, home.socket, "")
    services = Services(
        home, record, FakeClock(), Resident(home, "ours"), LinesOnly(), left.append,
        monotonic=trio.current_time,
    )  # fmt: skip
    with trio.move_on_after(86400):
        await leave_when_idle(services)
    assert not left
    Path(home.config).write_text("[daemon]\nidle_exit_minutes = 2\n")
    services.config.refresh()
    async with trio.open_nursery() as nursery:
        services.last_request = trio.current_time()
        nursery.start_soon(leave_when_idle, services)
        await trio.sleep(100)
        services.last_request = asked = trio.current_time()
        await trio.sleep(110)
        assert not left
    assert left and 120 <= trio.current_time() - asked <= 130
