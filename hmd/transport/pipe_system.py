"""Named pipes of Windows on trio's completion port: the real `hmd.transport.pipe.System`."""

import sys

assert sys.platform == "win32"

import ctypes  # noqa: E402

import trio  # noqa: E402

from hmd.kernel import windows  # noqa: E402
from hmd.transport.pipe import NoRoom, PipeListener  # noqa: E402

_NO_ROOM = (
    windows.ERROR_NO_SYSTEM_RESOURCES,
    windows.ERROR_TOO_MANY_OPEN_FILES,
    windows.ERROR_NOT_ENOUGH_MEMORY,
    windows.ERROR_PIPE_BUSY,
)


class PipeSystem:
    """Every handle is registered with the completion port when it is made."""

    def __init__(self) -> None:
        self._sid = windows.own_sid()

    def create(self, name: str, *, first: bool) -> int:
        try:
            handle = windows.create_pipe(name, first=first)
        except OSError as error:
            if error.winerror in _NO_ROOM:
                raise NoRoom(str(error.strerror)) from error
            raise
        trio.lowlevel.register_with_iocp(handle)
        return handle

    async def connect(self, handle: int) -> None:
        overlapped = windows.Overlapped()
        if windows.begin_connect(handle, overlapped):
            await trio.lowlevel.checkpoint()
        else:
            await trio.lowlevel.wait_overlapped(handle, ctypes.addressof(overlapped))

    async def read(self, handle: int, limit: int) -> bytes:
        buffer = bytearray(limit)
        try:
            count = await trio.lowlevel.readinto_overlapped(handle, buffer)
        except BrokenPipeError:
            return b""
        return bytes(buffer[:count])

    async def write(self, handle: int, data: bytes) -> int:
        return await trio.lowlevel.write_overlapped(handle, data)

    def is_there(self, handle: int) -> bool:
        return windows.peek(handle)

    def is_ours(self, handle: int) -> bool:
        return windows.client_sid(handle) == self._sid

    def close(self, handle: int) -> None:
        windows.close_handle(handle)


def listen(address: str) -> PipeListener:
    """A listener at a pipe's name. Raises OSError where somebody else has the name."""
    return PipeListener(PipeSystem(), address)


def poke(address: str) -> bool:
    """Whether any process serves the name."""
    try:
        handle = windows.open_pipe(address)
    except OSError as error:
        return error.winerror == windows.ERROR_PIPE_BUSY
    windows.close_handle(handle)
    return True
