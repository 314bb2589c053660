"""Named pipes over a fake of the system: both ends of the framing, and who may speak."""

import time
from pathlib import Path

import pytest
import trio
import trio.testing

from client import hook, hook_windows
from hmd.daemon.serve import Limits, Server
from hmd.kernel import frame
from hmd.kernel.address import Home, pipe_name
from hmd.transport.base import Exhausted
from hmd.transport.pipe import OURSELVES, NoRoom, PipeConnection, PipeListener
from tests.daemon.fakes import FakeResponder, LinesOnly

NAME = r"\\.\pipe\hmd-test"


class Instance:
    """One instance of a pipe: bytes in either direction, each end open or not."""

    def __init__(self) -> None:
        self.connected = trio.Event()
        self.closed = False
        self.client_gone = False
        self.to_server = b""
        self.to_client = b""
        self.moved = trio.Event()


class Pipes:
    """The system's pipes as the daemon meets them (`hmd.transport.pipe.System`)."""

    def __init__(self, room: int = 100) -> None:
        self.instances: dict[int, Instance] = {}
        self.room = room
        self.ours = True
        self.made = 0

    def create(self, name: str, *, first: bool) -> int:
        if first and self.instances:
            raise PermissionError(5, "Access is denied")
        if self.room <= len(self.instances):
            raise NoRoom("no instance is left")
        self.made += 1
        self.instances[self.made] = Instance()
        return self.made

    async def connect(self, handle: int) -> None:
        instance = self.instances[handle]
        await instance.connected.wait()
        if instance.closed:
            raise trio.ClosedResourceError
        if instance.client_gone and not instance.to_server:
            raise OSError(232, "The pipe is being closed")

    async def read(self, handle: int, limit: int) -> bytes:
        instance = self.instances[handle]
        while not instance.to_server:
            if instance.client_gone:
                raise BrokenPipeError
            await instance.moved.wait()
            instance.moved = trio.Event()
        data, instance.to_server = instance.to_server[:limit], instance.to_server[limit:]
        return data

    async def write(self, handle: int, data: bytes) -> int:
        await trio.lowlevel.checkpoint()
        if self.instances[handle].client_gone:
            raise BrokenPipeError
        self.instances[handle].to_client += data[:7]  # never all at once
        return len(data[:7])

    def is_there(self, handle: int) -> bool:
        return not self.instances[handle].client_gone

    def is_ours(self, handle: int) -> bool:
        return self.ours

    def close(self, handle: int) -> None:
        instance = self.instances.pop(handle)
        instance.closed = True
        instance.connected.set()

    def client(self, data: bytes) -> Instance:
        """A client that has connected to the waiting instance and sent this."""
        waiting = [one for one in self.instances.values() if not one.connected.is_set()]
        instance = waiting[0]
        instance.to_server = data
        instance.connected.set()
        return instance


async def served(pipes: Pipes, request: bytes) -> bytes:
    """What a client that sends `request` gets from a server over a pipe."""
    server = Server(FakeResponder(), LinesOnly(), Limits())
    server._uid = OURSELVES
    listener = PipeListener(pipes, NAME)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.listen, listener, nursery)
        await trio.testing.wait_all_tasks_blocked()
        client = pipes.client(request)
        while not client.closed:
            await trio.sleep(0)
        server.leave("done")
        await server.drain()
        nursery.cancel_scope.cancel()
    return client.to_client


async def test_a_request_over_a_pipe_is_answered_whole() -> None:
    """Guards the server's end of the framing: writes that take a part only, and one answer."""
    body = b"x" * 5000
    answer = frame.parse_answer(await served(Pipes(), frame.request(frame.HOOK, {}, body)))
    assert answer == (frame.OK, b"decided:" + body)


async def test_another_user_s_process_gets_no_answer() -> None:
    """Guards N24: the pipe's own access list refuses others already; this is the second lock."""
    pipes = Pipes()
    pipes.ours = False
    assert await served(pipes, frame.request(frame.HOOK, {}, b"{}")) == b""


async def test_there_is_always_an_instance_for_the_next_client() -> None:
    """Guards the name: between two instances it would not exist, and somebody could take it."""
    pipes = Pipes()
    listener = PipeListener(pipes, NAME)
    pipes.client(b"a")
    first = await listener.accept()
    assert len(pipes.instances) == 2
    pipes.client(b"b")
    second = await listener.accept()
    assert (await first.receive(10), await second.receive(10)) == (b"a", b"b")
    listener.close()
    assert len(pipes.instances) == 2  # those of the two clients
    with pytest.raises(trio.ClosedResourceError):
        await listener.accept()


async def test_a_client_that_left_before_it_was_met_costs_nothing() -> None:
    """Guards the loop against an instance that is spent."""
    pipes = Pipes()
    listener = PipeListener(pipes, NAME)
    pipes.client(b"").client_gone = True

    async with trio.open_nursery() as nursery:
        accepted: list[PipeConnection] = []

        async def accept() -> None:
            accepted.append(await listener.accept())

        nursery.start_soon(accept)
        await trio.testing.wait_all_tasks_blocked()
        assert not accepted
        pipes.client(b"here")
        await trio.testing.wait_all_tasks_blocked()
        assert await accepted[0].receive(10) == b"here"


async def test_no_room_is_told_and_passes() -> None:
    """Guards a full system: those who are connected go on, and accepting works again later."""
    pipes = Pipes(room=1)
    listener = PipeListener(pipes, NAME)
    pipes.client(b"a")
    first = await listener.accept()
    assert await first.receive(10) == b"a"
    with pytest.raises(Exhausted):
        await listener.accept()
    first.close()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listener.accept)
        await trio.testing.wait_all_tasks_blocked()
        pipes.client(b"b")
    listener.close()


def test_a_taken_name_is_refused() -> None:
    """Guards against a name that somebody made before us: the first instance must be ours."""
    pipes = Pipes()
    PipeListener(pipes, NAME)
    with pytest.raises(PermissionError):
        PipeListener(pipes, NAME)


# -- the stub's end ------------------------------------------------------------------------------


class Served:
    """The system's pipes as a stub meets them, and what stands behind the name."""

    def __init__(self, answer: bytes = b"", *, there: bool = True, sid: str = "S-1-5-21-1") -> None:
        self.answer = answer
        self.there = there
        self.sid = sid
        self.busy = 0
        self.slow = False
        self.taken = b""
        self.opened = 0

    def open_pipe(self, name: str) -> int:
        if not self.there:
            raise FileNotFoundError(2, "no such pipe")
        if self.busy:
            self.busy -= 1
            error = OSError(0, "All pipe instances are busy")
            error.winerror = hook_windows.ERROR_PIPE_BUSY  # type: ignore[attr-defined]
            raise error
        self.opened += 1
        return 7

    def wait_for_pipe(self, name: str, milliseconds: int) -> None:
        assert 0 <= milliseconds <= 5000

    def server_sid(self, handle: int) -> str:
        return self.sid

    def own_sid(self) -> str:
        return "S-1-5-21-1"

    def transfer(self, handle: int, data: "bytes | int", seconds: float) -> bytes:
        assert seconds > 0
        if self.slow:
            raise TimeoutError
        if isinstance(data, int):
            piece, self.answer = self.answer[:9], self.answer[9:]
            return piece
        self.taken += data[:100]
        return data[:100]

    def close_handle(self, handle: int) -> None:
        self.opened -= 1


def asked(pipes: Served) -> tuple[str, bytes]:
    header = {"event": "PreToolUse", "build": "1"}
    found = hook_windows.ask(NAME, header, b"body" * 100, time.monotonic() + 5, pipes)
    assert pipes.opened == 0  # closed, whatever happened
    return found


def test_the_stub_gets_the_whole_answer() -> None:
    """Guards the client's end of the framing: pieces in both directions, a busy pipe first."""
    pipes = Served(frame.answer(frame.OK, b'{"a": 1}' * 50))
    pipes.busy = 2
    assert asked(pipes) == (hook.ANSWERED, b'{"a": 1}' * 50)
    assert pipes.taken == frame.request(
        frame.HOOK, {"event": "PreToolUse", "build": "1"}, b"body" * 100
    )


@pytest.mark.parametrize(
    ("pipes", "state"),
    [
        (Served(there=False), hook.ABSENT),
        (Served(sid="S-1-5-21-2"), hook.REFUSED),
        (Served(frame.answer(frame.OK, b"whole")[:-1]), hook.LATE),
        (Served(frame.answer(frame.RETRY)), hook.DECLINED),
        (Served(b"what is this?\n"), hook.REFUSED),
    ],
)
def test_anything_else_has_the_stub_decide_alone(pipes: Served, state: str) -> None:
    """Guards promise one: nothing of a partial answer is used; a stranger gets no byte of it."""
    assert asked(pipes) == (state, b"")
    if pipes.sid != "S-1-5-21-1":
        assert pipes.taken == b""


def test_a_slow_daemon_is_late() -> None:
    pipes = Served(frame.answer(frame.OK, b"x"))
    pipes.slow = True
    assert asked(pipes) == (hook.LATE, b"")


def test_both_stubs_keep_the_same_contract() -> None:
    """Guards the constants that stand twice, since neither file can be imported on both sides."""
    for name in ("DEADLINES", "DEADLINE", "SKIP", "START_EVERY", "ANSWERED", "ABSENT", "LATE",
                 "REFUSED", "DECLINED", "SKIPPED"):  # fmt: skip
        assert getattr(hook, name) == getattr(hook_windows, name), name
    assert tuple(name.encode() for name in hook_windows.PASSED) == hook.PASSED


def test_the_daemon_is_started_by_one_stub_at_a_time(tmp_path: Path) -> None:
    """Guards a burst of hooks, and the service's mark: then nobody starts anything."""
    home = Home(str(tmp_path))
    assert hook_windows.claim_start(home) and not hook_windows.claim_start(home)
    Path(home.start).unlink()
    Path(home.service).touch()
    assert not hook_windows.claim_start(home)
    Path(home.app).mkdir()
    Path(home.daemon_command).write_text("C:\\Python\\python.exe\n-I\n-m\nhmd.daemon.main\n")
    started: list[list[str]] = []

    def detached(command: list[str], env: dict[str, str]) -> None:
        assert set(env) <= set(hook_windows.INHERITED)
        started.append(command)

    assert hook_windows.start(home, detached)
    assert started == [["C:\\Python\\python.exe", "-I", "-m", "hmd.daemon.main"]]


def test_two_homes_have_two_pipes_and_one_home_has_one() -> None:
    """Guards names: global, short, and the same however the path is written."""
    one = pipe_name("C:/Users/u/AppData/Local/hmd")
    assert one == pipe_name("c:/users/U/appdata/local/HMD") and one != pipe_name("C:/other")
    assert one.startswith("\\\\.\\pipe\\hmd-") and len(one) < 256
