"""What the daemon side needs of Linux and macOS (hmd/core/machine.py)."""

import sys

assert sys.platform != "win32"

import contextlib  # noqa: E402
import fcntl  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402
from collections.abc import Mapping, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

# What a silent owner gets, one after the other.
WAKE, END, KILL = signal.SIGCONT, signal.SIGTERM, signal.SIGKILL
# What every `os.open` of ours says, and one whose last part must not be a link.
NOT_INHERITED = os.O_CLOEXEC
NOT_FOLLOWED = os.O_NOFOLLOW
# How a child is started that is ended together with its children (`Group`).
APART: dict[str, Any] = {"start_new_session": True}


def own_user() -> int:
    """The number by which a transport calls this process's own user."""
    return os.geteuid()


def usual_names(environ: Mapping[str, str]) -> Mapping[str, str]:
    """An environment in which HOME and TMPDIR are called so."""
    return environ


def keep_owner(path: str, before: os.stat_result) -> None:
    """Gives a file that replaces another to that one's owner. Raises OSError where it may not."""
    if (before.st_uid, before.st_gid) != (os.getuid(), os.getgid()):
        os.chown(path, before.st_uid, before.st_gid)


def others_enter(status: os.stat_result) -> bool:
    """Whether somebody else than its owner may enter a directory."""
    return bool(status.st_mode & 0o077)


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """At most `size` bytes from a place in a file."""
    return os.pread(descriptor, size, offset)


def write_at(descriptor: int, data: bytes, offset: int) -> None:
    """Writes all of `data` at a place in a file. Raises OSError."""
    while data:
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written


def replace(fresh: "str | Path", path: "str | Path") -> None:
    """Gives a file the name of another, which it replaces. Raises OSError."""
    os.replace(fresh, path)


def sync_directory(path: "str | Path") -> None:
    """Makes the names in a directory last. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | NOT_INHERITED)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Takes an advisory lock on an open file now; False where another has it."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def connect(address: str, seconds: float) -> socket.socket:
    """A stream to whoever serves the address. Raises OSError as connect(2) does."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock


def descriptors(wanted: int) -> int:
    """How many descriptors this process may have open, after asking for `wanted` (0: only asks
    how many); 0 where there is no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
        except (OSError, ValueError):
            pass
    return 0 if soft == resource.RLIM_INFINITY else soft


def block_signals(numbers: Sequence[signal.Signals]) -> None:
    """Holds back signals for the rest of this process's life."""
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def outlive_terminal() -> None:
    """The end of the terminal that started this process is not its own."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


# -- processes -----------------------------------------------------------------------------------


def lower_priority(niceness: int) -> None:
    """Lets others go first from now on; where that may not be, nothing changes."""
    with contextlib.suppress(OSError):
        os.nice(niceness)


class Group:
    """A child started `APART`, and all that it has started."""

    def __init__(self, pid: int, niceness: int) -> None:
        self._pid = pid
        # From outside: a function between fork and exec is not safe beside threads.
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PGRP, pid, niceness)

    def end(self) -> None:
        """Asks them to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends them, also where the child itself has gone. The last use of a group."""
        # Its number is not given out again while a grandchild runs.
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, number)


def start_time(pid: int) -> str:
    """When the process started, in the platform's own words; "" when it is not there (or dead)."""
    try:
        return _read_start(pid)
    except (OSError, ValueError, IndexError):
        return ""


def resident_bytes() -> int:
    """Memory that this process holds. Raises OSError or ValueError where it is not told."""
    return _read_resident()


def _resident_linux() -> int:
    # proc(5): the second field of statm, in pages.
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _resident_ps() -> int:
    return int(_ps(os.getpid(), "rss=")) * 1024


def _start_ps(pid: int) -> str:
    return _ps(pid, "lstart=")


def _start_linux(pid: int) -> str:
    # proc(5): field 22, counted after the command's closing bracket (the name may hold anything).
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return "" if fields[0] == b"Z" else fields[19].decode()


def _ps(pid: int, what: str) -> str:
    words = ["/bin/ps", "-o", what, "-p", str(pid)]
    done = subprocess.run(words, capture_output=True, env={"LC_ALL": "C"}, timeout=5, check=False)
    return done.stdout.decode("ascii", "replace").strip()


_read_start = _start_linux if sys.platform == "linux" else _start_ps
_read_resident = _resident_linux if sys.platform == "linux" else _resident_ps


def spawn(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs `argv` with `--ready-fd` as a daemon: double fork, since a host ends a hook's whole
    tree. Returns the reading end of its readiness pipe, which the caller closes."""
    reading, writing = os.pipe()
    arguments = [*argv, "--ready-fd", str(writing)]
    child = os.fork()
    if child == 0:
        try:
            _become_daemon(arguments, dict(environment), writing)
        finally:
            os._exit(127)
    os.close(writing)
    os.waitpid(child, 0)
    return reading


def _become_daemon(argv: list[str], environment: dict[str, str], ready: int) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.set_inheritable(ready, True)
    # Python's own descriptors close on exec; what the caller inherited from its host would not.
    os.closerange(3, ready)
    os.closerange(ready + 1, 4096)
    os.execve(argv[0], argv, environment)


def start_child(
    argv: Sequence[str], environment: Mapping[str, str]
) -> "tuple[subprocess.Popen[bytes], int]":
    """A process of its own session that is told `--ready-fd`, and the pipe's reading end."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [*argv, "--ready-fd", str(writing)],
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=dict(environment),
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return process, reading


def take_pipe(number: int) -> int:
    """The descriptor that `--ready-fd` names; children of ours do not inherit it."""
    os.set_inheritable(number, False)
    return number


def readable(descriptor: int, seconds: float) -> bool:
    """Waits until a pipe has something to read or has ended; False when the time is over."""
    poll = select.poll()  # no select(): a descriptor may be above its limit of 1024
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def read_to_end(descriptor: int, seconds: float) -> bytes:
    """What arrives until the end of a pipe. Raises TimeoutError."""
    end = time.monotonic() + seconds
    words = b""
    while True:
        left = end - time.monotonic()
        if left <= 0 or not readable(descriptor, left):
            raise TimeoutError
        piece = os.read(descriptor, 4096)
        if not piece:
            return words
        words += piece
