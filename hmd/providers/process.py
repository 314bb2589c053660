"""Runs one extraction child: its own process group, low priority, a wall clock, capped output.

However the child behaves (it hangs, ignores SIGTERM, leaves children behind, prints without end),
this returns in the time given plus a short grace, and nothing of the group lives on.
"""

import contextlib
import subprocess
import time
from collections.abc import Sequence

import trio
from msgspec import Struct

from hmd.core import machine
from hmd.providers.base import Place

OUTPUT_LIMIT = 8 * 1024 * 1024  # bytes of standard output: a hundred times the longest answer
ERROR_KEPT = 16 * 1024
GRACE_S = 3.0  # between SIGTERM and SIGKILL
NICENESS = 10
_PIECE = 65_536


class Done(Struct, kw_only=True):
    """How a child ended. `flooded`: it printed more than is read, and was ended for it."""

    code: int = 0
    out: bytes = b""
    err: bytes = b""
    timed_out: bool = False
    flooded: bool = False
    missing: str = ""
    duration_ms: int = 0


async def run(
    argv: Sequence[str], stdin: bytes, place: Place, timeout_s: float, grace_s: float = GRACE_S
) -> Done:
    """Runs `argv` to its end, or to ours."""
    began = time.monotonic()
    done = Done()
    try:
        process = await trio.lowlevel.open_process(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=place.folder,
            env=dict(place.environ),
            **machine.APART,
        )
    except OSError as error:
        done.missing = error.strerror or str(error)
        return done
    group = machine.Group(process.pid, NICENESS)
    try:
        with trio.move_on_after(timeout_s) as clock:
            await _converse(process, stdin, done)
            # What the child printed is whole; one that lingers has nothing more to say.
            with trio.move_on_after(grace_s):
                await process.wait()
        done.timed_out = clock.cancelled_caught
    finally:
        with trio.CancelScope(shield=True):
            await _end(process, group, grace_s)
    done.code = process.returncode or 0
    done.duration_ms = int((time.monotonic() - began) * 1000)
    return done


async def _converse(process: trio.Process, stdin: bytes, done: Done) -> None:
    """Writes the prompt while reading both outputs to their end."""
    assert process.stdin and process.stdout and process.stderr
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_write, process.stdin, stdin)
        nursery.start_soon(_read_errors, process.stderr, done)
        await _read_output(process.stdout, done)
        if done.flooded:
            nursery.cancel_scope.cancel()


async def _write(stream: trio.abc.SendStream, data: bytes) -> None:
    # A child that ends without reading its prompt is judged by what it printed.
    with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        await stream.send_all(data)
    await stream.aclose()


async def _read_output(stream: trio.abc.ReceiveStream, done: Done) -> None:
    pieces: list[bytes] = []
    size = 0
    while piece := await stream.receive_some(_PIECE):
        pieces.append(bytes(piece))
        size += len(piece)
        if size > OUTPUT_LIMIT:
            done.flooded = True
            return
    done.out = b"".join(pieces)


async def _read_errors(stream: trio.abc.ReceiveStream, done: Done) -> None:
    while piece := await stream.receive_some(_PIECE):
        if len(done.err) < ERROR_KEPT:
            done.err += piece[: ERROR_KEPT - len(done.err)]


async def _end(process: trio.Process, group: machine.Group, grace_s: float) -> None:
    """Ends the whole group, politely first where the child still runs, and reaps the child."""
    if process.poll() is None:
        group.end()
        with trio.move_on_after(grace_s):
            await process.wait()
    group.kill()
    await process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with trio.move_on_after(0):
                await stream.aclose()
