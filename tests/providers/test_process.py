"""A child that misbehaves costs its time and nothing else: real processes throughout."""

import os
import sys
from pathlib import Path

import trio

from hmd.providers import process
from hmd.providers.base import Place
from tests.providers.fake import FakeCli


def place(directory: Path) -> Place:
    return Place(program="", folder=directory, environ={"PATH": os.environ["PATH"]})


def is_gone(pid: int) -> bool:
    """Dead, or dead and not yet reaped by whoever inherited it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return True
    return state in (b"Z", b"X")


async def ended(pid: int) -> bool:
    with trio.move_on_after(10):
        while not is_gone(pid):
            await trio.sleep(0.01)
    return is_gone(pid)


async def test_input_and_output_pass_whole(tmp_path: Path) -> None:
    """Guards against the deadlock of a child that prints while it is still being written to."""
    code = (
        "import sys; d=sys.stdin.buffer.read(); sys.stdout.buffer.write(d); sys.stderr.write('e')"
    )
    data = bytes(range(256)) * 4096
    done = await process.run([sys.executable, "-c", code], data, place(tmp_path), 30)
    assert (done.out, done.err, done.code, done.timed_out) == (data, b"e", 0, False)


async def test_a_child_that_does_not_read_is_no_error(tmp_path: Path) -> None:
    """Guards the write to a pipe that nobody holds any more."""
    argv = [sys.executable, "-c", "print('done')"]
    done = await process.run(argv, b"x" * 4_000_000, place(tmp_path), 30)
    assert (done.out, done.code) == (b"done\n", 0)


async def test_a_missing_program_is_said(tmp_path: Path) -> None:
    """Guards against an exception where the program was removed after it was found."""
    done = await process.run([str(tmp_path / "gone")], b"", place(tmp_path), 5)
    assert done.missing


async def test_a_hang_ends_at_the_wall_clock(tmp_path: Path) -> None:
    """Guards the wall clock: the child is ended, politely."""
    fake = FakeCli(tmp_path)
    fake.plan(does="hangs")
    done = await process.run([str(fake.path)], b"", fake.place(tmp_path), 1.0, grace_s=5)
    assert done.timed_out and done.code == -15
    assert is_gone(fake.seen["pid"])


async def test_a_child_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """Guards the second step: SIGKILL after the grace."""
    fake = FakeCli(tmp_path)
    fake.plan(does="ignores SIGTERM")
    done = await process.run([str(fake.path)], b"", fake.place(tmp_path), 1.0, grace_s=0.2)
    assert done.timed_out and done.code == -9


async def test_fifty_megabytes_are_not_kept(tmp_path: Path) -> None:
    """Guards memory: what is beyond the limit is not read, and the child is ended."""
    fake = FakeCli(tmp_path)
    fake.plan(does="floods", bytes=50_000_000)
    done = await process.run([str(fake.path)], b"", fake.place(tmp_path), 60, grace_s=0.2)
    assert done.flooded and done.out == b"" and not done.timed_out
    assert is_gone(fake.seen["pid"])


async def test_nothing_of_the_group_lives_on(tmp_path: Path) -> None:
    """Guards against children left behind, which would also hold the pipes open."""
    fake = FakeCli(tmp_path)
    fake.plan(does="leaves a child", answer={"a": 1})
    done = await process.run([str(fake.path)], b"", fake.place(tmp_path), 1.5, grace_s=0.2)
    assert await ended(fake.seen["child"])
    assert done.duration_ms < 20_000


async def test_a_cancelled_run_leaves_no_child(tmp_path: Path) -> None:
    """Guards the daemon's own end: the child goes with it."""
    fake = FakeCli(tmp_path)
    fake.plan(does="ignores SIGTERM")
    with trio.move_on_after(10) as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.run, [str(fake.path)], b"", fake.place(tmp_path), 60, 0.2)
            while not fake.seen:
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    assert not scope.cancelled_caught
    assert await ended(fake.seen["pid"])


async def test_children_run_at_low_priority(tmp_path: Path) -> None:
    """Guards the host's own work: the child is nice, and so is what it starts."""
    fake = FakeCli(tmp_path)
    fake.plan(does="answers", answer={})
    await process.run([str(fake.path)], b"x" * 100, fake.place(tmp_path), 30)
    assert fake.seen["nice"] >= process.NICENESS
