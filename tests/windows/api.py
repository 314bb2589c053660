"""`hmd.kernel.windows` and trio's completion port over POSIX: the same functions, no Windows.

Pipe names are Unix sockets in the directory of `HMD_PIPES`; handles of pipes are numbers of our
own, those of files and processes are descriptors. A test holds the signatures equal to the real
ones. Everything POSIX is taken before it is hidden (`tests/windows/pretend.py`).
"""

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from typing import Any

import trio

_O_CLOEXEC = os.O_CLOEXEC
_AF_UNIX, _SO_PEERCRED = socket.AF_UNIX, socket.SO_PEERCRED
_FLOCK, _EXCLUSIVE = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
_poll, _POLLIN, _POLLOUT = select.poll, select.POLLIN, select.POLLOUT
_geteuid, _killpg, _SIGKILL = os.geteuid, os.killpg, signal.SIGKILL
_Popen = subprocess.Popen
_socketpair = socket.socketpair
ERROR_PIPE_BUSY = 231


class _End:
    """One end of a pipe: a server's instance that may have no client yet, or a client."""

    def __init__(self, listener: "socket.socket | None", path: str) -> None:
        self.listener = listener
        self.path = path
        self.stream: socket.socket | None = None
        self.waiting: trio.CancelScope | None = None


_ends: dict[int, _End] = {}
_number = 1000


def _keep(end: _End) -> int:
    global _number
    _number += 4
    _ends[_number] = end
    return _number


def _path(name: str) -> str:
    assert name.startswith("\\\\.\\pipe\\hmd-"), name
    return os.environ["HMD_PIPES"] + "/" + name[9:]


def _stream(handle: int) -> socket.socket:
    stream = _ends[handle].stream if handle in _ends else None
    if stream is None:
        raise OSError(6, "The handle is invalid")
    return stream


# -- hmd.kernel.windows --------------------------------------------------------------------------


def own_sid() -> str:
    return f"S-1-5-21-{_geteuid()}"


def _peer(handle: int) -> str:
    data = _stream(handle).getsockopt(socket.SOL_SOCKET, _SO_PEERCRED, 12)
    return f"S-1-5-21-{struct.unpack('iII', data)[1]}"


def client_sid(handle: int) -> str:
    return _peer(handle)


def server_sid(handle: int) -> str:
    return _peer(handle)


def create_pipe(name: str, *, first: bool) -> int:
    path = _path(name)
    others = [end for end in _ends.values() if end.path == path and end.listener]
    if not first:
        return _keep(_End(others[0].listener, path))
    probe = socket.socket(_AF_UNIX)
    try:
        probe.connect(path)
    except OSError:
        pass
    else:
        raise PermissionError(5, "Access is denied", name)
    finally:
        probe.close()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(_AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    listener.setblocking(False)
    return _keep(_End(listener, path))


def begin_connect(handle: int, overlapped: Any) -> bool:
    assert _ends[handle].stream is None
    return False


def open_pipe(name: str) -> int:
    stream = socket.socket(_AF_UNIX)
    try:
        stream.connect(_path(name))
    except OSError as error:
        stream.close()
        failure: Any = FileNotFoundError(2, "The system cannot find the file specified", name)
        failure.winerror = 2
        raise failure from error
    end = _End(None, name)
    end.stream = stream
    return _keep(end)


def wait_for_pipe(name: str, milliseconds: int) -> None:
    time.sleep(milliseconds / 1000)


def transfer(handle: int, data: "bytes | int", seconds: float) -> bytes:
    stream = _stream(handle)
    stream.settimeout(max(seconds, 0.001))
    if isinstance(data, int):
        return stream.recv(data)
    return data[: stream.send(data)]


def peek(handle: int) -> bool:
    stream = _stream(handle)
    poll = _poll()
    poll.register(stream, _POLLIN)
    return not poll.poll(0) or stream.recv(1, socket.MSG_PEEK) != b""


def waiting_bytes(handle: int) -> "int | None":
    poll = _poll()
    poll.register(handle, _POLLIN)
    events = poll.poll(0)
    if not events:
        return 0
    data = bytearray(4)
    fcntl.ioctl(handle, 0x541B, data)  # FIONREAD
    return struct.unpack("i", data)[0] or None


def close_handle(handle: int) -> None:
    end = _ends.pop(handle, None)
    if end is None:
        return
    if end.waiting is not None:
        end.waiting.cancel()
    if end.stream is not None:
        end.stream.close()
    shared = [one for one in _ends.values() if one.listener is end.listener]
    if end.listener is not None and not shared:
        end.listener.close()
        os.unlink(end.path)


def open_to_append(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _O_CLOEXEC, 0o600)


def open_to_read(path: str) -> int:
    return os.open(path, os.O_RDONLY | _O_CLOEXEC)


def replace(fresh: str, path: str) -> None:
    os.replace(fresh, path)


def try_lock(descriptor: int) -> bool:
    try:
        _FLOCK(descriptor, _EXCLUSIVE)
    except OSError:
        return False
    return True


def process_created(pid: int) -> str:
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    if fields[0] == b"Z":
        raise OSError(87, "The parameter is incorrect")
    return fields[19].decode()


def working_set() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096


def below_normal() -> None:
    pass


def job_of(pid: int) -> int:
    return pid


def end_job(job: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        _killpg(job, _SIGKILL)


# -- trio's completion port ----------------------------------------------------------------------


def register_with_iocp(handle: int) -> None:
    assert handle in _ends


async def wait_overlapped(handle: int, overlapped: int) -> None:
    assert ctypes.c_byte.from_address(overlapped) is not None
    end = _ends[handle]
    assert end.listener is not None
    with trio.CancelScope() as end.waiting:
        while end.stream is None:
            await trio.lowlevel.wait_readable(end.listener)
            with contextlib.suppress(BlockingIOError):
                end.stream, _ = end.listener.accept()
                end.stream.setblocking(False)
    end.waiting = None
    if end.stream is None:
        raise trio.ClosedResourceError("another task closed this resource")


async def readinto_overlapped(handle: int, buffer: bytearray) -> int:
    stream = _stream(handle)
    await trio.lowlevel.wait_readable(stream)
    count = stream.recv_into(buffer)
    if count == 0:
        raise BrokenPipeError(109, "The pipe has been ended")
    return count


async def write_overlapped(handle: int, data: bytes) -> int:
    stream = _stream(handle)
    await trio.lowlevel.wait_writable(stream)
    return stream.send(data)


WINDOWS = (
    "own_sid", "client_sid", "server_sid", "create_pipe", "begin_connect", "open_pipe",
    "wait_for_pipe", "transfer", "peek", "waiting_bytes", "close_handle", "open_to_append",
    "open_to_read", "replace", "try_lock", "process_created", "working_set",
    "below_normal", "job_of", "end_job",
)  # fmt: skip
COMPLETION_PORT = (
    "register_with_iocp", "wait_overlapped", "readinto_overlapped", "write_overlapped",
)  # fmt: skip


def socketpair() -> "tuple[socket.socket, socket.socket]":
    """What Windows does by two connections; trio and asyncio wake their loops with it."""
    return _socketpair(_AF_UNIX)


# -- processes -----------------------------------------------------------------------------------


class Popen(_Popen[bytes]):
    """A process as Windows starts one, which takes itself for Windows too."""

    def __init__(self, argv: list[str], **options: Any) -> None:
        startup = options.pop("startupinfo", None)
        flags = options.pop("creationflags", 0)
        assert not set(options) & {"start_new_session", "pass_fds", "preexec_fn", "process_group"}
        if options.get("env") is not None:  # a Windows process needs this one no more than ours
            options["env"] = {**options["env"], "HMD_PIPES": os.environ["HMD_PIPES"]}
        if startup is not None:
            options["pass_fds"] = startup.lpAttributeList["handle_list"]
        super().__init__(disguised(argv), start_new_session=bool(flags), **options)

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, _SIGKILL)


def disguised(argv: list[str]) -> list[str]:
    """The command of a Python process of ours, daemon or hook, so that it pretends from its start.
    A hook then loads what `pretend` needs: from our interpreter, and without `-S`."""
    if "-m" in argv:
        at = argv.index("-m")
        name = argv[at + 1]
        rest = f"import runpy; runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
    elif "-c" in argv and "client.hook_windows" in argv[argv.index("-c") + 1]:
        at = argv.index("-c")
        rest = argv[at + 1]
    else:
        return argv
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = (
        f"import sys; sys.path.insert(0, {root!r})\n"
        "from tests.windows.pretend import pretend; pretend()\n"
    )
    flags = [one for one in argv[1:at] if one != "-S"]
    return [sys.executable, *flags, "-c", script + rest, *argv[at + 2 :]]
