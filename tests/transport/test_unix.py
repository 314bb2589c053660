"""Unix sockets: the address changes hands whole, and only its owner removes it."""

import os
import socket
from pathlib import Path

import pytest
import trio

from hmd.transport import unix
from hmd.transport.base import Exhausted


def client(address: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.connect(address)
    return sock


async def test_bytes_travel_both_ways_and_the_peer_is_known(address: str) -> None:
    """Guards the plain round trip, and that the kernel names our own user at the other end."""
    listener = unix.listen(address)
    with client(address) as sock:
        sock.sendall(b"question")
        connection = await listener.accept()
        assert connection.peer_uid() == os.geteuid()
        assert await connection.receive(100) == b"question"
        assert await connection.send(b"answer")
        connection.close()
        assert sock.recv(100) == b"answer"
        assert sock.recv(100) == b""
    listener.close()


async def test_a_client_that_hung_up_is_known_before_anything_is_decided(address: str) -> None:
    """Guards frames of clients that have decided alone: asking waits for nothing, eats nothing."""
    listener = unix.listen(address)
    sock = client(address)
    connection = await listener.accept()
    assert not connection.hung_up()
    sock.sendall(b"x")
    assert not connection.hung_up()
    assert await connection.receive(10) == b"x"
    sock.close()
    assert connection.hung_up()
    assert not await connection.send(b"late" * 100_000)
    connection.close()
    listener.close()


async def test_an_old_socket_file_is_replaced(address: str) -> None:
    """Guards start after kill -9: "address in use" must not keep a daemon from starting."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(address)
    assert not unix.poke(address)
    listener = unix.listen(address)
    assert unix.poke(address)
    assert not os.path.exists(address.removesuffix(".sock") + ".new")
    listener.close()


async def test_a_full_backlog_is_somebody(address: str) -> None:
    """Guards the poke against a stopped process whose queue is full: it must not block or err."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as busy:
        busy.bind(address)
        busy.listen(0)
        waiting = []
        for _ in range(4):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            sock.setblocking(False)
            waiting.append(sock)
            try:
                sock.connect(address)
            except BlockingIOError:
                break
        else:
            pytest.skip("this kernel queues more than it was asked to")
        assert unix.poke(address)
        for sock in waiting:
            sock.close()


async def test_only_what_is_ours_is_removed(address: str) -> None:
    """Guards a successor's socket against the predecessor's withdrawal."""
    first = unix.listen(address)
    assert not first.lost()
    second = unix.listen(address)
    assert first.lost()
    first.withdraw()
    assert not second.lost()
    second.withdraw()
    assert not os.path.exists(address)
    assert second.lost()
    first.close()
    second.close()


async def test_a_file_in_place_of_the_socket_is_a_loss(address: str) -> None:
    """Guards the watch: whatever stands at the address, if it is not our socket it is lost."""
    listener = unix.listen(address)
    os.unlink(address)
    Path(address).write_text("not a socket")
    assert listener.lost()
    listener.withdraw()
    assert Path(address).read_text() == "not a socket"
    listener.close()


async def test_a_service_managers_socket_is_never_removed(address: str) -> None:
    """Guards socket activation: the address belongs to the manager, who will start us again."""
    managed = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    managed.bind(address)
    managed.listen()
    listener = unix.adopt(managed.detach(), address)
    with client(address):
        (await listener.accept()).close()
    listener.withdraw()
    assert os.path.exists(address)
    os.unlink(address)
    assert not listener.lost()
    listener.close()


async def test_closing_ends_a_waiting_accept(address: str, autojump_clock: object) -> None:
    """Guards the drain: a listener that is closed must not leave its task waiting for ever."""
    listener = unix.listen(address)

    async def accept() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await listener.accept()

    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept)
            await trio.testing.wait_all_tasks_blocked()
            listener.close()


async def test_running_out_of_descriptors_has_a_name(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the loop: EMFILE is a state to wait out, not an error that ends the daemon."""
    import errno

    listener = unix.listen(address)

    class Full:
        def accept(self) -> None:
            raise OSError(errno.EMFILE, "too many open files")

    real = listener._socket
    monkeypatch.setattr(listener, "_socket", Full())
    with pytest.raises(Exhausted):
        await listener.accept()
    monkeypatch.setattr(listener, "_socket", real)
    listener.close()


async def test_who_had_reached_the_address_is_accepted_before_it_is_given_up(address: str) -> None:
    """Guards hand-overs: a request that waited in the queue is not thrown away with the socket."""
    listener = unix.listen(address)
    with client(address), client(address):
        listener.withdraw()
        accepted = []

        async def accept_both() -> None:
            for _ in range(2):
                await trio.sleep(0)
                accepted.append(await listener.accept())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept_both)
            await listener.emptied()
            assert len(accepted) == 2
        for connection in accepted:
            connection.close()
    listener.close()


async def test_the_queue_of_a_manager_s_socket_is_left_to_the_next_daemon(address: str) -> None:
    """Guards socket activation: who waits there is served by the next daemon, not dropped."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    bound.bind(address)
    bound.listen()
    listener = unix.adopt(os.dup(bound.fileno()), address)
    with client(address) as waiting:
        waiting.sendall(b"question")
        await listener.emptied()
        listener.withdraw()
        listener.close()
        following = unix.adopt(bound.detach(), address)
        connection = await following.accept()
        assert await connection.receive(100) == b"question"
        connection.close()
        following.close()
