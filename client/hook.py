"""The hook stub: hands the host's bytes to the daemon and prints its answer, else decides alone.

On the hot path it imports built-in modules only and does no JSON work. Every way out is exit 0;
what is printed is one whole answer or nothing.
"""

import posix
import sys
import time

from hmd.kernel import frame
from hmd.kernel.address import Home

# What a stub waits for, sending included (seconds). Constants of the contract.
DEADLINES = {"UserPromptSubmit": 0.25, "SessionStart": 0.4, "SessionEnd": 0.3}
DEADLINE = 0.15
# After a late or unreachable daemon, stubs of this home decide alone for this long.
SKIP = 2.0
# At most one start of the daemon in this time, across all stubs of the home.
START_EVERY = 5.0

assert sys.platform != "win32"  # there it is client/hook_windows.py

# Environment variables that a decision may look at; nothing else leaves the stub.
PASSED = (
    b"HOME",
    b"TMPDIR",
    b"CLAUDE_PROJECT_DIR",
    b"CLAUDE_CODE_ENTRYPOINT",
    b"CLAUDE_CODE_SESSION_ATTENDED",
)
# Truthy values turn every hook into an immediate exit.
DISABLE = b"HMD_DISABLE"

# How an attempt to reach the daemon ended.
ANSWERED, ABSENT, LATE, REFUSED = "answered", "absent", "late", "refused"
DECLINED, SKIPPED = "declined", "skipped"


def main(home_path: str, event: str, build: str, host: str = "claude-code") -> None:
    """One hook call. Never returns: the process ends here, without the interpreter's clean-up."""
    started = time.monotonic()
    posix.umask(0o077)  # whatever is created under the home is its owner's alone
    if posix.environ.get(DISABLE, b"") not in (b"", b"0"):
        drain()
        posix._exit(0)
    home = Home(home_path)
    body = read_all()
    header = make_header(host, event, build)
    state, answer = SKIPPED, b""
    if len(body) > frame.HOOK_BODY_LIMIT:
        state = DECLINED
    elif not skipping(home):
        state, answer = ask(home, header, body, started + DEADLINES.get(event, DEADLINE))
        if state in (LATE, REFUSED):
            mark(home.skip)
    if state != ANSWERED:
        from client import alone  # late: only a stub that decides alone pays for the kernel

        answer = alone.decide(home, header, body, build, started)
    write(answer)
    # A late owner may be frozen: a candidate wakes it, or ends it once it is proven dead.
    if state in (ABSENT, LATE) and may_start(home):
        from client import spawn  # late: rare

        spawn.start(home)
    posix._exit(0)


def make_header(host: str, event: str, build: str) -> "dict[str, str]":
    """The frame's header (docs/internals.md, "Frames")."""
    header = {
        "proto": str(frame.PROTOCOL),
        "build": build,
        "delivery": posix.urandom(8).hex(),
        "host": host,
        "event": event,
        "at": str(time.time_ns() // 1_000_000),
    }
    try:
        header["cwd"] = posix.getcwd()
    except OSError:
        pass  # the directory is gone; the payload names one
    for name in PASSED:
        value = posix.environ.get(name)
        if value:
            header["env." + name.decode()] = value.decode("utf-8", "surrogateescape")
    return header


def ask(home: Home, header: "dict[str, str]", body: bytes, deadline: float) -> "tuple[str, bytes]":
    """(how it ended, the bytes to print). Nothing of a partial answer is ever used."""
    import _socket  # built in

    path = home.socket
    if not path.startswith(home.run) and not private(home.short_run):
        return ABSENT, b""
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    except OSError:
        return REFUSED, b""
    try:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        connection.connect(path.encode("utf-8", "surrogateescape"))
        connection.sendall(frame.request(frame.HOOK, header, body))
        data = b""
        while True:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            more = connection.recv(65536)
            data += more
            answer = frame.parse_answer(data)
            if answer is not None:
                return (ANSWERED, answer[1]) if answer[0] == frame.OK else (DECLINED, b"")
            if not more or time.monotonic() >= deadline:
                return LATE, b""
    except (FileNotFoundError, ConnectionRefusedError):
        return ABSENT, b""
    except TimeoutError:
        return LATE, b""
    except (OSError, ValueError):
        return REFUSED, b""
    finally:
        connection.close()


def private(directory: str) -> bool:
    """Whether a directory outside the home is ours alone."""
    try:
        found = posix.lstat(directory)
    except OSError:
        return False
    return found.st_uid == posix.getuid() and found.st_mode & 0o170077 == 0o040000


def may_start(home: Home) -> bool:
    """Whether a start of the daemon is worth trying; `client.spawn` decides it under a lock."""
    try:
        posix.stat(home.service)
        return False  # a service manager does it
    except OSError:
        pass
    try:
        last = posix.stat(home.start)
    except OSError:
        return True
    return not last.st_size or abs(time.time() - last.st_mtime) >= START_EVERY


def skipping(home: Home) -> bool:
    """Whether the daemon was late or unreachable a moment ago."""
    try:
        age = time.time() - posix.stat(home.skip).st_mtime
    except OSError:
        return False
    return -SKIP < age < SKIP


def mark(path: str) -> None:
    """Sets a mark's time to now; a home that cannot be written has no marks."""
    try:
        descriptor = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
        posix.close(descriptor)
        posix.utime(path)
    except OSError:
        pass


def read_all() -> bytes:
    """The whole of standard input."""
    parts = []
    while True:
        try:
            part = posix.read(0, 1 << 20)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def drain() -> None:
    try:
        while posix.read(0, 1 << 16):
            pass
    except OSError:
        pass


def write(data: bytes) -> None:
    """Prints an answer; a host that closed its end is not our failure."""
    try:
        while data:
            data = data[posix.write(1, data) :]
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
