"""Rows about one decision inside the daemon, from the host's bytes to the bytes to print."""

import gc
import itertools
import time
from collections.abc import Iterator

from bench import echo
from bench.commands import commands
from bench.figures import Row, against, percentile, span
from bench.user import User, user
from hmd.daemon.hook import Hooks
from hmd.daemon.hooklog import HookLog
from hmd.daemon.log import Log
from hmd.daemon.metrics import Metrics
from hmd.daemon.resident import Resident
from hmd.kernel import frame

CALLS = 4_000
BLOCK = 50  # calls between two blocks of the reference
SMALL, LARGE = 300, 100_000
P50_MICROSECONDS, P99_MICROSECONDS = 100, 500


class Inside:
    """A daemon's part that answers hooks, in this process, over the files of a user."""

    def __init__(self, one: User) -> None:
        self._user = one
        self._session = "inside"
        log = Log(one.home.daemon_log, echo=False)
        self.hooklog = HookLog(one.home)
        resident = Resident(one.home, one.kernel_hash)
        self.hooks = Hooks(resident, Metrics(), self.hooklog, log)
        self._commands = itertools.cycle(commands()[0])

    def call(self) -> int:
        """Nanoseconds that the decision on a new call took; its end is reported afterwards."""
        one, command = self._user, next(self._commands)
        body = one.payload("PreToolUse", self._session, command)
        header = one.header("PreToolUse")
        began = time.perf_counter_ns()
        self.hooks.decide(header, body)
        taken = time.perf_counter_ns() - began
        after = one.payload("PostToolUse", self._session, command, again=True)
        self.hooks.decide(one.header("PostToolUse"), after)
        return taken

    def calls(self, number: int) -> list[int]:
        taken = [self.call() for _ in range(number)]
        self.hooklog.flush()
        return taken


def pre_tool() -> Iterator[Row]:
    """Row 4."""
    with user() as one:
        one.write_snapshot(2_000)
        inside = Inside(one)
        path = str(one.directory / "echo")
        request = frame.request(
            frame.HOOK,
            one.header("PreToolUse"),
            one.payload("PreToolUse", "echo", "git status --short"),
        )
        inside.calls(500)
        gc.freeze()
        taken: list[int] = []
        bare: list[int] = []
        with echo.server(path):
            for _ in range(CALLS // BLOCK):
                taken += inside.calls(BLOCK)
                for _ in range(BLOCK // 5):
                    began = time.perf_counter_ns()
                    echo.ask(path, request)
                    bare.append(time.perf_counter_ns() - began)
        gc.unfreeze()
    what, name = "pre-tool inside the daemon, 2,000 memories", "bare trio round trip"
    yield against(what, name, (taken, bare))
    yield against(what, name, (taken, bare), 0.99)
    for share, bar in ((0.5, P50_MICROSECONDS), (0.99, P99_MICROSECONDS)):
        value = percentile(taken, share)
        yield Row(
            f"{what}, p{share * 100:g}", span(value), f"bar {bar} µs", value / bar / 1000, 1.0
        )


def growth() -> Iterator[Row]:
    """Row 5."""
    with user() as few, user() as many:
        few.write_snapshot(SMALL)
        many.write_snapshot(LARGE)
        both = [Inside(few), Inside(many)]
        for inside in both:
            inside.calls(500)
        gc.freeze()
        taken: list[list[int]] = [[], []]
        for _ in range(CALLS // BLOCK // 2):
            for samples, inside in zip(taken, both, strict=True):
                samples += inside.calls(BLOCK)
        gc.unfreeze()
    what = f"pre-tool inside the daemon, {LARGE:,} memories"
    yield against(what, f"at {SMALL}", taken[::-1], 0.5, 1.5)
    slow = percentile(taken[0], 0.99), percentile(taken[1], 0.99)
    yield Row(what + ", p99", span(slow[1]), f"p99 at {SMALL} {span(slow[0])}", slow[1] / slow[0])
