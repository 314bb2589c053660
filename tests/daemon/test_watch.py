"""Keeping the address."""

import os
from collections.abc import Iterator

import trio
import trio.testing

from hmd.daemon.lifecycle import Lock
from hmd.daemon.serve import Limits, Server
from hmd.daemon.watch import keep_address
from hmd.kernel import frame
from hmd.kernel.address import Home
from tests.daemon.fakes import FakeConnection, FakeListener, FakeResponder, LinesOnly


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
        nursery.start_soon(keep_address, server, lock, bind, first, nursery, LinesOnly())
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


async def test_without_the_lock_it_leaves(home: Home, autojump_clock: object) -> None:
    """Guards succession: a daemon whose lock file was removed or replaced is not the owner."""
    lock = Lock(home.path + "/lock")
    assert lock.take()
    server = Server(FakeResponder(), LinesOnly(), Limits())
    listener = FakeListener()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.listen, listener, nursery)
        nursery.start_soon(keep_address, server, lock, FakeListener, listener, nursery, LinesOnly())
        await trio.testing.wait_all_tasks_blocked()
        os.unlink(lock.path)
        with trio.fail_after(1):
            await server.leaving.wait()
        await server.drain()
    assert listener.withdrawn
    lock.release()
