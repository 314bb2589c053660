"""What the daemon side needs of Windows (hmd/core/machine.py). Not yet run on a real machine."""

import sys

assert sys.platform == "win32"

import contextlib  # noqa: E402
import msvcrt  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402
from collections.abc import Mapping, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from hmd.kernel import windows  # noqa: E402

# Nothing stops a process here as SIGSTOP does, and both others end it at once.
WAKE, END, KILL = signal.SIGTERM, signal.SIGTERM, signal.SIGTERM
# What every `os.open` of ours says (bytes as they are), and one whose last part must not be a link.
NOT_INHERITED = os.O_NOINHERIT | os.O_BINARY
NOT_FOLLOWED = 0  # a link takes a privilege to make here
# How a child is started that is ended together with its children (`Group`).
APART: dict[str, Any] = {
    "creationflags": windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
}
_POLL_S = 0.02


def own_user() -> int:
    """What hmd/transport/pipe.py calls our own user."""
    return 0


def usual_names(environ: Mapping[str, str]) -> Mapping[str, str]:
    """An environment in which HOME and TMPDIR are called so."""
    home, temporary = environ.get("USERPROFILE", ""), environ.get("TEMP", "")
    return {"HOME": home, "TMPDIR": temporary, **environ}


def keep_owner(path: str, before: os.stat_result) -> None:
    """A file that is replaced in its directory takes its access list from there."""


def others_enter(status: os.stat_result) -> bool:
    """Mode bits say nothing here: a home lies in the user's own profile, whose access list it has
    inherited."""
    return False


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """At most `size` bytes from a place in a file; its position moves, unlike elsewhere."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)


def write_at(descriptor: int, data: bytes, offset: int) -> None:
    """Writes all of `data` at a place in a file. Raises OSError."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    while data:
        data = data[os.write(descriptor, data) :]


def replace(fresh: "str | Path", path: "str | Path") -> None:
    """Gives a file the name of another, which it replaces. Raises OSError."""
    windows.replace(str(fresh), str(path))


def sync_directory(path: "str | Path") -> None:
    """The file system keeps its own log of names; a directory cannot be flushed by its user."""


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Takes a lock now; False where another has it. Here every lock is exclusive."""
    return windows.try_lock(descriptor)


class Stream:
    """A client's end of a pipe, with what callers use of a socket."""

    def __init__(self, handle: int, seconds: float) -> None:
        self._handle = handle
        self._seconds = seconds

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def settimeout(self, seconds: float) -> None:
        self._seconds = seconds

    def sendall(self, data: bytes) -> None:
        while data:
            data = data[len(windows.transfer(self._handle, data, self._seconds)) :]

    def recv(self, limit: int) -> bytes:
        try:
            return windows.transfer(self._handle, limit, self._seconds)
        except BrokenPipeError:
            return b""

    def close(self) -> None:
        windows.close_handle(self._handle)


def connect(address: str, seconds: float) -> Stream:
    """A stream to our own process behind the name. Raises FileNotFoundError where nobody serves,
    BlockingIOError where it has no time, PermissionError where it is another user's."""
    try:
        handle = windows.open_pipe(address)
    except OSError as error:
        if error.winerror != windows.ERROR_PIPE_BUSY:
            raise
        windows.wait_for_pipe(address, int(seconds * 1000))
        raise BlockingIOError from error
    if windows.server_sid(handle) != windows.own_sid():
        windows.close_handle(handle)
        raise PermissionError(13, "another user's process serves the name", address)
    return Stream(handle, seconds)


def descriptors(wanted: int) -> int:
    """Handles are not limited in a way that matters here."""
    return 0


def block_signals(numbers: Sequence[signal.Signals]) -> None:
    """Holds back signals for the rest of this process's life."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def outlive_terminal() -> None:
    """A process started without a console has none to outlive."""


# -- processes -----------------------------------------------------------------------------------


def lower_priority(niceness: int) -> None:
    """Lets others go first from now on; where that may not be, nothing changes."""
    with contextlib.suppress(OSError):
        windows.below_normal()


class Group:
    """A child started `APART`, and all that it has started: a job object, which ends with us."""

    def __init__(self, pid: int, niceness: int) -> None:
        try:
            self._job = windows.job_of(pid)
        except OSError:  # it has gone already, or may not be put into a job
            self._job = 0

    def end(self) -> None:
        """Nothing here asks a process without a window to end; `kill` follows."""

    def kill(self) -> None:
        """Ends them, also where the child itself has gone. The last use of a group."""
        if self._job:
            windows.end_job(self._job)
            self._job = 0


def start_time(pid: int) -> str:
    """When the process started, as the system counts; "" when it is not there."""
    try:
        return windows.process_created(pid)
    except OSError:
        return ""


def resident_bytes() -> int:
    """Memory that this process holds. Raises OSError."""
    return windows.working_set()


def spawn(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs `argv` with `--ready-fd` without a window; the reading end of its readiness pipe."""
    return start_child(argv, environment)[1]


def start_child(
    argv: Sequence[str], environment: Mapping[str, str]
) -> "tuple[subprocess.Popen[bytes], int]":
    """The process, and the reading end of its readiness pipe."""
    reading, writing = os.pipe()
    handle = msvcrt.get_osfhandle(writing)
    os.set_handle_inheritable(handle, True)
    startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
    try:
        process = subprocess.Popen(
            [*argv, "--ready-fd", str(handle)],
            startupinfo=startup,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            cwd=os.environ.get("SYSTEMROOT", "C:\\"),
            env=dict(environment),
            creationflags=windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return process, reading


def take_pipe(number: int) -> int:
    """The descriptor of the handle that `--ready-fd` names."""
    os.set_handle_inheritable(number, False)
    return msvcrt.open_osfhandle(number, os.O_WRONLY)


def readable(descriptor: int, seconds: float) -> bool:
    """Waits until a pipe has something to read or has ended; False when the time is over."""
    end = time.monotonic() + seconds
    handle = msvcrt.get_osfhandle(descriptor)
    while windows.waiting_bytes(handle) == 0:
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_S)
    return True


def read_to_end(descriptor: int, seconds: float) -> bytes:
    """What arrives until the end of a pipe. Raises TimeoutError."""
    end = time.monotonic() + seconds
    handle = msvcrt.get_osfhandle(descriptor)
    words = b""
    while True:
        if not readable(descriptor, end - time.monotonic()):
            raise TimeoutError
        waiting = windows.waiting_bytes(handle)
        if waiting is None:
            return words
        words += os.read(descriptor, waiting)
