"""Serving: deadlines, limits and what one client can do to another."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from hmd.daemon.serve import Limits, Server
from hmd.kernel import frame
from hmd.transport.base import Exhausted
from tests.daemon.fakes import FakeConnection, FakeListener, FakeResponder, LinesOnly


class Bench:
    """A server over fakes."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.responder = FakeResponder()
        self.log = LinesOnly()
        self.listener = FakeListener()
        self.server = Server(self.responder, self.log, limits or Limits())

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[trio.Nursery]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.server.listen, self.listener, nursery)
            yield nursery
            nursery.cancel_scope.cancel()


def hook(body: bytes = b"{}", **header: str) -> bytes:
    return frame.request(frame.HOOK, header, body)


def call(body: bytes = b"{}") -> bytes:
    return frame.request(frame.CALL, {"method": "x"}, body)


@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_a_frame_is_answered_however_it_arrives(size: int, autojump_clock: object) -> None:
    """Guards reading: the pieces of a frame are the kernel's choice, not ours."""
    bench = Bench()
    data = hook(b"x" * 300)
    client = FakeConnection([data[at : at + size] for at in range(0, len(data), size)])
    async with bench.serving():
        bench.listener.arrives(client)
        await client.closed.wait()
    assert client.answer == (frame.OK, b"decided:" + b"x" * 300)


async def test_a_byte_a_second_is_cut(autojump_clock: trio.testing.MockClock) -> None:
    """Guards the read deadline: it is for the whole frame, however lively the client."""
    bench = Bench()
    client = FakeConnection([bytes([byte]) for byte in hook(b"x" * 100)], every=1)
    async with bench.serving():
        bench.listener.arrives(client)
        before = trio.current_time()
        await client.closed.wait()
        assert trio.current_time() - before == pytest.approx(2.0)
    assert client.sent == b"" and not bench.responder.hooks


async def test_half_a_frame_is_no_frame(autojump_clock: object) -> None:
    """Guards against deciding on what a dying client left."""
    bench = Bench()
    client = FakeConnection([hook(b"x" * 100)[:-1]])
    async with bench.serving():
        bench.listener.arrives(client)
        await client.closed.wait()
    assert client.sent == b"" and not bench.responder.hooks


async def test_a_client_that_hung_up_is_not_decided_for(autojump_clock: object) -> None:
    """Guards holds: its stub has decided alone, a second decision would count an attempt twice."""
    bench = Bench()
    client = FakeConnection([hook()])
    client.gone = True
    async with bench.serving():
        bench.listener.arrives(client)
        await client.closed.wait()
    assert not bench.responder.hooks and bench.responder.hung_up == 1


@pytest.mark.parametrize("uid", [12345, -1])
async def test_another_user_is_hung_up_on(uid: int, autojump_clock: object) -> None:
    """Guards the peer check, also where the kernel does not tell; it is logged once a minute."""
    bench = Bench()
    clients = [FakeConnection([hook()], uid=uid) for _ in range(3)]
    async with bench.serving():
        bench.listener.arrives(*clients)
        for client in clients:
            await client.closed.wait()
    assert [client.sent for client in clients] == [b""] * 3
    assert not bench.responder.hooks
    assert len(bench.log.lines) == 1


async def test_idle_clients_make_room_oldest_first(autojump_clock: object) -> None:
    """Guards the limit on connections: who has sent nothing goes before who has begun."""
    bench = Bench(Limits(connections=3))
    begun = FakeConnection([hook()[:5]], ends=False)
    idle = [FakeConnection([], ends=False) for _ in range(2)]
    async with bench.serving():
        bench.listener.arrives(begun, *idle)
        await trio.testing.wait_all_tasks_blocked()
        last = FakeConnection([hook()])
        bench.listener.arrives(last)
        await last.closed.wait()
        assert last.answer is not None
        assert idle[0].closed.is_set()
        assert not idle[1].closed.is_set() and not begun.closed.is_set()


async def test_with_every_place_at_work_a_client_is_told_to_try_again(
    autojump_clock: object,
) -> None:
    """Guards requests that are being answered: nobody is thrown out for a newcomer."""
    bench = Bench(Limits(connections=1))
    bench.responder.hold = trio.Event()
    working = FakeConnection([call()])
    async with bench.serving():
        bench.listener.arrives(working)
        await trio.testing.wait_all_tasks_blocked()
        late = FakeConnection([call()])
        bench.listener.arrives(late)
        await late.closed.wait()
        assert late.answer == (frame.RETRY, b"")
        bench.responder.hold.set()
        await working.closed.wait()
    assert working.answer == (frame.OK, b"done:{}")


async def test_no_descriptors_left_is_survived(autojump_clock: object) -> None:
    """Guards EMFILE: idle clients are ended, the loop goes on, the log says it once."""
    bench = Bench()
    idle = FakeConnection([], ends=False)
    client = FakeConnection([hook()])
    async with bench.serving():
        bench.listener.arrives(idle)
        await trio.testing.wait_all_tasks_blocked()
        bench.listener.arrives(Exhausted("full"), Exhausted("full"), Exhausted("full"), client)
        await client.closed.wait()
        assert idle.closed.is_set()
    assert client.answer is not None
    assert len(bench.log.lines) == 1 and "full" in bench.log.lines[0]


async def test_a_newer_build_makes_it_leave(autojump_clock: object) -> None:
    """Guards upgrades: withdrawn before the answer, and the frame is not decided."""
    bench = Bench()
    client = FakeConnection([hook(build="newer")])
    async with bench.serving():
        bench.listener.arrives(client)
        await client.closed.wait()
        assert client.answer == (frame.LEAVE, b"")
        assert bench.listener.withdrawn and bench.server.leaving.is_set()
    assert not bench.responder.hooks


async def test_draining_waits_for_answers_but_not_for_ever(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Guards the drain: what is at work is answered, what is silent is dropped, all in a second."""
    bench = Bench()
    bench.responder.hold = trio.Event()
    working, idle = FakeConnection([call()]), FakeConnection([], ends=False)
    async with bench.serving() as nursery:
        bench.listener.arrives(working, idle)
        await trio.testing.wait_all_tasks_blocked()
        bench.server.leave("test")

        async def finish() -> None:
            await trio.sleep(0.3)
            assert bench.responder.hold is not None
            bench.responder.hold.set()

        nursery.start_soon(finish)
        before = trio.current_time()
        await bench.server.drain()
        assert trio.current_time() - before == pytest.approx(0.3)
    assert working.answer == (frame.OK, b"done:{}")
    assert idle.closed.is_set()


async def test_a_call_that_does_not_end_does_not_stop_the_drain(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Guards "SIGTERM drains within a second" against a handler that hangs."""
    bench = Bench()
    bench.responder.hold = trio.Event()
    async with bench.serving():
        bench.listener.arrives(FakeConnection([call()]))
        await trio.testing.wait_all_tasks_blocked()
        before = trio.current_time()
        await bench.server.drain()
        assert trio.current_time() - before == pytest.approx(Limits().drain)


async def test_a_new_listener_takes_the_place_of_the_old(autojump_clock: object) -> None:
    """Guards binding again: clients of both are served, and only the new one is withdrawn."""
    bench = Bench()
    client = FakeConnection([hook()])
    async with bench.serving() as nursery:
        await trio.testing.wait_all_tasks_blocked()
        second = FakeListener()
        nursery.start_soon(bench.server.listen, second, nursery)
        second.arrives(client)
        await client.closed.wait()
        bench.server.leave("test")
    assert client.answer is not None
    assert second.withdrawn and not bench.listener.withdrawn


@pytest.mark.parametrize(
    "noise", [b"GET / HTTP/1.1\r\n", b"hmd1 tea 1 1\n", b"hmd1 call 99999999 0\n", b"x" * 64]
)
async def test_noise_is_answered_with_an_error(noise: bytes, autojump_clock: object) -> None:
    """Guards the border: what is no frame gets the reason, and its connection ends."""
    bench = Bench()
    client = FakeConnection([noise], ends=False)
    async with bench.serving():
        bench.listener.arrives(client)
        await client.closed.wait()
    assert client.answer is not None and client.answer[0] == frame.ERROR
    assert b'"usage"' in client.answer[1]


async def test_a_broken_connection_is_one_clients_trouble(autojump_clock: object) -> None:
    """Guards the loop against surprises below one connection."""

    said = "-".join(["what", "a", "user", "typed"])

    class Broken(FakeConnection):
        async def receive(self, limit: int) -> bytes:
            raise RuntimeError(said)

    bench = Bench()
    broken, client = Broken([]), FakeConnection([hook()])
    async with bench.serving():
        bench.listener.arrives(broken, client)
        await broken.closed.wait()
        await client.closed.wait()
    assert client.answer is not None
    assert bench.server.connections == 0
    assert "RuntimeError" in bench.log.lines[0] and said not in bench.log.lines[0]
