"""The row about a daemon under load: a pre-tool call beside a stream of post-tool reports."""

import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from bench import echo
from bench.commands import commands
from bench.figures import Row, percentile, span
from bench.user import User, user
from hmd.kernel import frame

RATE = 200  # events a second
OUTPUT = 4096  # characters of output in each
PERIOD_S = 4.0  # of each quiet and each busy stretch
STRETCHES = 3
PAUSE_S = 0.01  # between two calls that are measured
ROOM = 2_000_000  # ns by which the busy p99 may exceed the quiet one


def busy() -> Iterator[Row]:
    """Row 6."""
    with user() as one:
        one.fill_store(2_000)
        with one.daemon():
            ask = Asking(one)
            ask.stretch(1.0)
            quiet, loaded = [], []
            for _ in range(STRETCHES):
                quiet += ask.stretch(PERIOD_S)
                with _stream(one):
                    loaded += ask.stretch(PERIOD_S)
    before, after = percentile(quiet, 0.99), percentile(loaded, 0.99)
    yield Row(
        f"pre-tool round trip beside {RATE} post-tool/s, p99",
        span(after),
        f"quiet p99 {span(before)} + 2 ms ({os.cpu_count()} cores)",
        after / (before + ROOM),
        1.0,
    )


class Asking:
    """A client that asks the daemon as a stub does, without the process around it."""

    def __init__(self, one: User) -> None:
        self._user = one
        self._commands = itertools.cycle(commands()[0])

    def stretch(self, seconds: float) -> list[int]:
        taken = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            request = hook_request(self._user, "PreToolUse", "asking", next(self._commands))
            began = time.perf_counter_ns()
            echo.ask(self._user.home.socket, request)
            taken.append(time.perf_counter_ns() - began)
            time.sleep(PAUSE_S)
        return taken


def hook_request(one: User, event: str, session: str, command: str) -> bytes:
    body = one.payload(event, session, command)
    return frame.request(frame.HOOK, one.header(event), body)


@contextlib.contextmanager
def _stream(one: User) -> Iterator[None]:
    """Another process that reports finished calls at `RATE`."""
    example = one.directory / "post-tool"
    example.write_bytes(one.payload("PostToolUse", "stream", "npm test", output=_output()))
    argv = [sys.executable, "-m", "bench.stream", one.home.socket, str(example), str(RATE)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


def _output() -> str:
    line = "PASS packages/web/src/cart.test.ts (4.1 s) 12 of 12, token check ok\n"
    return (line * (OUTPUT // len(line) + 1))[:OUTPUT]
