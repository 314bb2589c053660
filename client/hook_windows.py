"""The hook stub of Windows: the same steps as client/hook.py, over a named pipe.

`pipes` is `hmd.kernel.windows`, or what stands for it. The constants are those of client/hook.py,
which cannot be imported there; a test holds them equal.
"""

import os
import sys
import time

from hmd.kernel import frame
from hmd.kernel.address import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Pipes(Protocol):
        """What the stub needs of pipes; times in seconds. Calls raise OSError."""

        def open_pipe(self, name: str) -> int: ...

        def wait_for_pipe(self, name: str, milliseconds: int) -> None: ...

        def server_sid(self, handle: int) -> str: ...

        def own_sid(self) -> str: ...

        def transfer(self, handle: int, data: "bytes | int", seconds: float) -> bytes: ...

        def close_handle(self, handle: int) -> None: ...


DEADLINES = {"UserPromptSubmit": 0.25, "SessionStart": 0.4, "SessionEnd": 0.3}
DEADLINE = 0.15
SKIP = 2.0
START_EVERY = 5.0
PASSED = (
    "HOME",
    "TMPDIR",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
)
# What HOME and TMPDIR are called here.
NAMES = {"HOME": "USERPROFILE", "TMPDIR": "TEMP"}
# The daemon inherits these and no others.
INHERITED = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
)
ANSWERED, ABSENT, LATE, REFUSED, DECLINED, SKIPPED = (
    "answered",
    "absent",
    "late",
    "refused",
    "declined",
    "skipped",
)
ERROR_PIPE_BUSY = 231


def main(home_path: str, event: str, build: str, host: str = "claude-code") -> None:
    """One hook call. Never returns."""
    started = time.monotonic()
    if os.environ.get("HMD_DISABLE", "") not in ("", "0"):
        read_all()
        os._exit(0)
    home = Home(home_path.replace("\\", "/"))
    body = read_all()
    header = make_header(host, event, build)
    state, answer = SKIPPED, b""
    if len(body) > frame.HOOK_BODY_LIMIT:
        state = DECLINED
    elif not skipping(home):
        end = started + DEADLINES.get(event, DEADLINE)
        state, answer = ask(home.socket, header, body, end, system())
        if state in (LATE, REFUSED):
            mark(home.skip)
    if state != ANSWERED:
        from client import alone  # late: only a stub that decides alone pays for the kernel

        answer = alone.decide(home, header, body, build, started)
    write(answer)
    if state in (ABSENT, LATE) and claim_start(home):
        start(home, system().start_detached)
    os._exit(0)


def system() -> "Any":
    """`hmd.kernel.windows`, which exists there only; late, since it takes ctypes along."""
    __import__("hmd.kernel.windows")
    return sys.modules["hmd.kernel.windows"]


def make_header(host: str, event: str, build: str) -> "dict[str, str]":
    """The frame's header (docs/internals.md, "Frames")."""
    header = {
        "proto": str(frame.PROTOCOL),
        "build": build,
        "delivery": os.urandom(8).hex(),
        "host": host,
        "event": event,
        "at": str(time.time_ns() // 1_000_000),
    }
    try:
        header["cwd"] = os.getcwd().replace("\\", "/")
    except OSError:
        pass
    for name in PASSED:
        value = os.environ.get(name) or os.environ.get(NAMES.get(name, ""), "")
        if value:
            header["env." + name] = value.replace("\\", "/")
    return header


def ask(
    address: str, header: "dict[str, str]", body: bytes, deadline: float, pipes: "Pipes"
) -> "tuple[str, bytes]":
    """(how it ended, the bytes to print). Nothing is sent to a server that is not our own."""
    try:
        handle = _open(address, deadline, pipes)
    except FileNotFoundError:
        return ABSENT, b""
    except TimeoutError:
        return LATE, b""
    except OSError:
        return REFUSED, b""
    try:
        if pipes.server_sid(handle) != pipes.own_sid():
            return REFUSED, b""
        rest = frame.request(frame.HOOK, header, body)
        while rest:
            rest = rest[len(pipes.transfer(handle, rest, _left(deadline))) :]
        data = b""
        while True:
            more = pipes.transfer(handle, 65536, _left(deadline))
            data += more
            answer = frame.parse_answer(data)
            if answer is not None:
                return (ANSWERED, answer[1]) if answer[0] == frame.OK else (DECLINED, b"")
            if not more:
                return LATE, b""
    except TimeoutError:
        return LATE, b""
    except BrokenPipeError:
        return LATE, b""
    except (OSError, ValueError):
        return REFUSED, b""
    finally:
        pipes.close_handle(handle)


def _open(address: str, deadline: float, pipes: "Pipes") -> int:
    """Waits for a free instance, since there may be none between two clients."""
    while True:
        try:
            return pipes.open_pipe(address)
        except OSError as error:
            if getattr(error, "winerror", 0) != ERROR_PIPE_BUSY:
                raise
        pipes.wait_for_pipe(address, int(_left(deadline) * 1000))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def skipping(home: Home) -> bool:
    """Whether the daemon was late or unreachable a moment ago."""
    return _age(home.skip) < SKIP


def claim_start(home: Home) -> bool:
    """Whether it is this stub's turn to start the daemon; then it is nobody else's for a while."""
    if os.path.exists(home.service) or _age(home.start) < START_EVERY:
        return False
    mark(home.start)
    return True


def _age(path: str) -> float:
    """Seconds since a mark was set, in either direction of the clock; without one, for ever."""
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return float("inf")


def mark(path: str) -> None:
    """Sets a mark's time to now; a home that cannot be written has no marks."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab"):
            pass
        os.utime(path)
    except OSError:
        pass


def start(home: Home, detached: "Callable[[list[str], dict[str, str]], object]") -> bool:
    """Starts the daemon by `detached(command, environment)`; True if this process tried."""
    try:
        with open(home.daemon_command, encoding="utf-8") as file:
            command = [line for line in file.read().split("\n") if line]
        if not command:
            return False
        detached(command, {name: os.environ[name] for name in INHERITED if name in os.environ})
    except OSError:
        return False
    return True


def read_all() -> bytes:
    """The whole of standard input."""
    parts = []
    while True:
        try:
            part = os.read(0, 1 << 20)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def write(data: bytes) -> None:
    """Prints an answer; a host that closed its end is not our failure."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
