"""Load: what many clients at once get, and what clients that say nothing take away from them.

Hook calls as frames on the socket, each on a connection of its own as stubs make them. One process
plays all clients, so that they do not fight the daemon for cores; the rows about processes say
what a stub itself costs.
"""

import contextlib
import itertools
import resource
import selectors
import socket
import time
from collections.abc import Iterator

from bench.commands import commands
from bench.figures import Row, percentile, span
from bench.user import User, user
from hmd import link
from hmd.kernel import frame

SECONDS = 4.0
CLIENTS = (1, 8, 64)
IDLE = 5_000
SLOW = 8
MEMORIES = 2_000
_PROGRAMS = ("kubectl", "git", "npm", "docker", "make", "terraform", "cargo", "helm")


def load() -> Iterator[Row]:
    """Throughput and latency, quiet and beside connections that are only there."""
    _allow_descriptors(IDLE + 1_000)
    with user() as one, one.daemon() as daemon:
        _fill(one)
        alone = 0.0
        for clients in CLIENTS:
            rate, row = _measured(one, daemon, clients, "", alone)
            alone = alone or rate
            yield row
        with _idle(one, IDLE) as opened:
            yield _measured(one, daemon, 8, f" beside {opened:,} idle connections", alone)[1]
        yield _measured(one, daemon, 8, f" beside {SLOW} of a byte a second", alone, SLOW)[1]


def _fill(one: User) -> None:
    """Rules of a person, none of which a command of the list meets."""
    for number in range(MEMORIES):
        draft = {
            "summary": f"job{number} runs in the pipeline",
            "signature": f"bash:command:cmd:{_PROGRAMS[number % 8]}{number // 40} job{number}",
            "level": "deny" if number % 10 == 0 else "advise",
            "active": True,
        }
        where, env = str(one.project), one.environ
        link.call(one.home, "memory.add", draft, dict, cwd=where, environ=env)


def _measured(
    one: User, daemon: int, clients: int, beside: str, alone: float, slow: int = 0
) -> tuple[float, Row]:
    before = _cpu(daemon)
    began = time.perf_counter()
    taken, failed = _Clients(one, clients, slow).run(SECONDS)
    seconds = time.perf_counter() - began
    rate = len(taken) / seconds
    busy = (_cpu(daemon) - before) / seconds
    figures = " ".join(f"p{share * 100:g} {span(percentile(taken, share))}" for share in
                       (0.5, 0.95, 0.99))  # fmt: skip
    what = f"{clients} clients{beside}"
    told = f"{rate:,.0f}/s, {figures}"
    reference = f"daemon {busy:.0%} of a core, {failed} unanswered"
    return rate, Row(what, told, reference, rate / (alone or rate))


class _Clients:
    """So many clients that call again as soon as they have their answer."""

    def __init__(self, one: User, clients: int, slow: int) -> None:
        self._one = one
        self._clients = clients
        self._slow = slow
        self._selector = selectors.DefaultSelector()
        self._commands = itertools.cycle(commands()[0])
        self._taken: list[int] = []
        self._failed = 0

    def run(self, seconds: float) -> tuple[list[int], int]:
        """(durations in ns, calls without a whole answer)."""
        end = time.perf_counter() + seconds
        dripping = [self._connect() for _ in range(self._slow)]
        drip, next_drip = itertools.cycle(self._request()), 0.0
        for number in range(self._clients):
            self._call(number)
        while (now := time.perf_counter()) < end:
            if now >= next_drip:
                next_drip = now + 1.0
                for sock in dripping:
                    with contextlib.suppress(OSError):
                        sock.send(bytes([next(drip)]))
            for key, _ in self._selector.select(0.2):
                self._read(key)
        for key in list(self._selector.get_map().values()):
            self._close(key.fileobj)
        for sock in dripping:
            sock.close()
        return self._taken, self._failed

    def _connect(self) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(self._one.home.socket)
        return sock

    def _request(self, number: int = 0) -> bytes:
        body = self._one.payload("PreToolUse", f"load-{number}", next(self._commands))
        return frame.request(frame.HOOK, self._one.header("PreToolUse"), body)

    def _call(self, number: int) -> None:
        request = self._request(number)
        began = time.perf_counter_ns()
        sock = self._connect()
        sock.sendall(request)
        self._selector.register(sock, selectors.EVENT_READ, (number, began, bytearray()))

    def _read(self, key: selectors.SelectorKey) -> None:
        number, began, data = key.data
        sock = key.fileobj
        assert isinstance(sock, socket.socket)
        piece = sock.recv(65536)
        data += piece
        answer = frame.parse_answer(bytes(data))
        if answer is None and piece:
            return
        if answer is not None and answer[0] == frame.OK:
            self._taken.append(time.perf_counter_ns() - began)
        else:
            self._failed += 1
        self._close(sock)
        self._call(number)

    def _close(self, sock: object) -> None:
        assert isinstance(sock, socket.socket)
        self._selector.unregister(sock)
        sock.close()


@contextlib.contextmanager
def _idle(one: User, count: int) -> Iterator[int]:
    """Connections that are opened and then left alone; how many there could be."""
    opened = []
    try:
        for _ in range(count):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            opened.append(sock)
            sock.connect(one.home.socket)
        yield len(opened)
    finally:
        for sock in opened:
            sock.close()


def _cpu(pid: int) -> float:
    """Seconds of processor time that a process has used (proc(5), fields 14 and 15)."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _allow_descriptors(count: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
