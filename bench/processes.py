"""Rows about whole processes: the hook with the daemon up and down, the daemon's start and size."""

import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.commands import commands
from bench.figures import Row, against, clock
from bench.user import PYTHON_PASS, User, user

ROUNDS = 120
# (memories, calls in the session, bar against `node -e 0`)
DOWN = ((300, 20, 0.5), (20_000, 2_000, 0.7))
SIZES = (300, 2_000, 20_000, 100_000)
IMPORTS = "import trio, msgspec, aiosqlite, trio_asyncio"
STARTS = 8


def _bodies(one: User, session: str) -> "Iterator[Path]":
    """A file with the payload of a new call, again and again."""
    body = one.directory / "payload"
    for command in itertools.cycle(commands()[0]):
        body.write_bytes(one.payload("PreToolUse", session, command))
        yield body


def _measure(one: User, session: str, reference: list[str], rounds: int) -> list[list[int]]:
    """Durations of hook calls and of the reference, interleaved."""
    entry, bodies = one.hook("PreToolUse"), _bodies(one, session)
    taken: list[list[int]] = [[], []]
    empty = Path("/dev/null")
    one.spawn(entry, next(bodies))
    one.spawn(reference, empty)
    for body in itertools.islice(bodies, rounds):
        taken[0].append(clock(partial(one.spawn, entry, body)))
        taken[1].append(clock(partial(one.spawn, reference, empty)))
    return taken


def hook_up() -> Iterator[Row]:
    """Row 1."""
    with user() as one:
        one.fill_store(2_000)
        with one.daemon():
            taken = _measure(one, "up", PYTHON_PASS, ROUNDS)
    name = "python -I -S -c pass"
    yield against("hook process, daemon up, 2,000 memories", name, taken, 0.5, 1.3)
    yield against("hook process, daemon up, 2,000 memories", name, taken, 0.95, 1.8)


def hook_down() -> Iterator[Row]:
    """Rows 2 and 3: the floor of the seed's own hook, a Node.js process that does nothing."""
    node = shutil.which("node")
    for number, calls, bar in DOWN:
        with user() as one:
            _alone(one, number, calls)
            reference = [node, "-e", "0"] if node else PYTHON_PASS
            taken = _measure(one, "down", reference, ROUNDS // 2)
        what = f"hook process alone, {number:,} memories, call {calls:,}"
        if node:
            yield against(what, "node -e 0", taken, 0.5, bar)
        else:
            yield against(what + " (no node here)", "python -I -S -c pass", taken)


def fallback() -> Iterator[Row]:
    """The hook without a daemon at four sizes of the store."""
    for number in SIZES:
        with user() as one:
            _alone(one, number, 20)
            taken = _measure(one, "down", PYTHON_PASS, ROUNDS // 3)
        what = f"hook process alone, {number:,} memories"
        yield against(what, "python -I -S -c pass", taken)


def _alone(one: User, number: int, calls: int) -> None:
    one.write_snapshot(number)
    one.session("down", calls, commands()[0])
    # With a service manager in charge no hook starts a daemon: this one shall stay down.
    Path(one.home.service).touch()


def ready() -> Iterator[Row]:
    """Row 7."""
    with user() as one:
        one.fill_store(2_000)
        with one.daemon():
            pass  # compiled files and the snapshot are in their places from now on

        started: list[subprocess.Popen[bytes]] = []
        taken: list[list[int]] = [[], []]
        reference = [sys.executable, "-I", "-c", IMPORTS]
        for _ in range(STARTS):
            taken[0].append(clock(lambda: started.append(one.start())))
            started[-1].terminate()
            started[-1].wait()
            taken[1].append(clock(lambda: one.spawn(reference, Path("/dev/null"))))
    yield against("daemon ready after start, 2,000 memories", "its four imports", taken, 0.5, 2.0)


def resident() -> Iterator[Row]:
    """Row 8."""
    with user() as one:
        one.fill_store(2_000)
        with one.daemon() as pid:
            _measure(one, "resident", PYTHON_PASS, 20)
            ours = _kilobytes(pid)
    argv = [sys.executable, "-I", "-c", IMPORTS + "; print(flush=True); input()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        bare = _kilobytes(process.pid)
        process.kill()
    yield Row(
        "daemon resident, 2,000 memories",
        f"{ours / 1024:.1f} MiB",
        f"its four imports {bare / 1024:.1f} MiB",
        ours / bare,
        1.8,
    )


def _kilobytes(pid: int) -> int:
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(done.stdout)
