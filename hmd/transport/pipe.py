"""Windows named pipes: listening and serving (hmd.transport.base), over a small interface.

`System` is what the operating system does; `hmd/transport/pipe_system.py` is the real one, on
trio's completion port. One instance always waits for the next client; the first instance of the
name proves that nobody else has it.
"""

from typing import Protocol

import trio

from hmd.transport.base import Exhausted

# What a user is called who is the one that serves; any other number is somebody else.
OURSELVES, SOMEBODY_ELSE = 0, 1


class NoRoom(Exception):
    """The system has no instance, handle or memory left."""


class System(Protocol):
    """Handles are opaque integers. Calls raise OSError where the pipe has broken."""

    def create(self, name: str, *, first: bool) -> int:
        """A new instance. Raises NoRoom, or OSError (for the first: the name is taken)."""
        ...

    async def connect(self, handle: int) -> None:
        """Returns when a client has come."""
        ...

    async def read(self, handle: int, limit: int) -> bytes: ...

    async def write(self, handle: int, data: bytes) -> int: ...

    def is_there(self, handle: int) -> bool:
        """Whether the client's end is still open."""
        ...

    def is_ours(self, handle: int) -> bool:
        """Whether the client is a process of this user. Raises OSError."""
        ...

    def close(self, handle: int) -> None:
        """Ends the instance; calls that wait on it raise `trio.ClosedResourceError`."""
        ...


class PipeConnection:
    """One client (`hmd.transport.base.Connection`)."""

    __slots__ = ("_handle", "_system")

    def __init__(self, system: System, handle: int) -> None:
        self._system = system
        self._handle = handle

    async def receive(self, limit: int) -> bytes:
        try:
            return await self._system.read(self._handle, limit)
        except (OSError, trio.ClosedResourceError):
            return b""

    async def send(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[await self._system.write(self._handle, bytes(view)) :]
        except (OSError, trio.ClosedResourceError):
            return False
        return True

    def hung_up(self) -> bool:
        return not self._system.is_there(self._handle)

    def peer_uid(self) -> int | None:
        try:
            return OURSELVES if self._system.is_ours(self._handle) else SOMEBODY_ELSE
        except OSError:
            return None

    def close(self) -> None:
        self._system.close(self._handle)


class PipeListener:
    """A served pipe name (`hmd.transport.base.Listener`)."""

    def __init__(self, system: System, address: str) -> None:
        self.address = address
        self._system = system
        self._waiting: int | None = system.create(address, first=True)
        self._closed = False

    async def accept(self) -> PipeConnection:
        while not self._closed:
            if self._waiting is None:
                self._waiting = self._another()
            handle = self._waiting
            try:
                await self._system.connect(handle)
            except OSError:
                # It came and went at once: this instance is spent.
                self._system.close(handle)
                self._waiting = None
                continue
            # The next instance first: between two of them the name would not exist.
            try:
                self._waiting = None if self._closed else self._another()
            except Exhausted:
                self._waiting = None  # told at the next call: this client is served
            return PipeConnection(self._system, handle)
        raise trio.ClosedResourceError

    def _another(self) -> int:
        try:
            return self._system.create(self.address, first=False)
        except NoRoom as error:
            raise Exhausted(str(error)) from error

    def lost(self) -> bool:
        return False  # a name lives exactly as long as an instance of it

    def withdraw(self) -> None:
        self._closed = True
        if self._waiting is not None:
            self._system.close(self._waiting)
            self._waiting = None

    async def emptied(self) -> None:
        await trio.lowlevel.checkpoint()  # there is no queue: who has connected is accepted

    def close(self) -> None:
        self.withdraw()
