"""The worker's life as the daemon sees it: real processes."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import trio

from hmd.app.jobs import DropPast, Dropped, Notes, ReadNotes
from hmd.core.errors import HmdError
from hmd.worker.main import NICENESS
from hmd.worker.parent import WorkerProcess, command


@pytest.fixture
async def worker() -> AsyncIterator[WorkerProcess]:
    log: list[str] = []
    made = WorkerProcess(log.append)
    made.log = log  # type: ignore[attr-defined]
    yield made
    await made.close()


def drop(directory: Path) -> DropPast:
    return DropPast(home=str(directory), machine="m", before=0)


async def test_a_worker_is_started_by_the_first_job_and_kept(
    worker: WorkerProcess, tmp_path: Path
) -> None:
    """Guards "on demand": nothing runs before there is work, and one process does all of it."""
    assert worker.pid == 0
    assert await worker.run(drop(tmp_path), Dropped) == Dropped()
    first = worker.pid
    await worker.run(drop(tmp_path), Dropped)
    assert worker.pid == first != 0
    assert os.getpriority(os.PRIO_PROCESS, first) >= min(19, NICENESS)


async def test_a_killed_worker_is_replaced(worker: WorkerProcess, tmp_path: Path) -> None:
    """Guards the crash between two jobs: the next one is done by a new process."""
    await worker.run(drop(tmp_path), Dropped)
    first = worker.pid
    os.kill(first, signal.SIGKILL)
    assert await worker.run(drop(tmp_path), Dropped) == Dropped()
    assert worker.pid not in (0, first)


async def test_a_job_that_kills_twice_is_refused(tmp_path: Path) -> None:
    """Guards against a job that ends every process it is given to: it fails, the daemon goes on."""
    log: list[str] = []
    dying = WorkerProcess(
        log.append, [sys.executable, "-c", "import os; os.read(0, 4); os._exit(7)"]
    )
    try:
        with pytest.raises(HmdError) as refused:
            await dying.run(drop(tmp_path), Dropped)
    finally:
        await dying.close()
    assert "died twice" in refused.value.what
    assert log == ["the worker died (7)", "the worker died (7)"]


async def test_a_failing_job_is_said_and_the_next_one_done(
    worker: WorkerProcess, tmp_path: Path
) -> None:
    """Guards one job against another: an exception is a reply, not the end."""
    (tmp_path / "past").write_text("a file where a folder belongs", encoding="utf-8")
    wrong = ReadNotes(home="", machine="", paths=["\0"])
    with pytest.raises(HmdError) as failed:
        await worker.run(wrong, Notes)
    assert "ValueError" in failed.value.what
    assert await worker.run(drop(tmp_path), Dropped) == Dropped()


async def test_a_cancelled_job_leaves_no_half_reply_behind(
    worker: WorkerProcess, tmp_path: Path
) -> None:
    """Guards the stream: after a cancelled job the next reply is the next job's."""
    await worker.run(drop(tmp_path), Dropped)
    with trio.move_on_after(0):
        await worker.run(drop(tmp_path), Dropped)
    note = tmp_path / "CLAUDE.md"
    note.write_text("- never push to main\n", encoding="utf-8")
    found = await worker.run(ReadNotes(home="", machine="", paths=[str(note)]), Notes)
    assert [bullet.text for bullet in found.bullets] == ["never push to main"]


async def test_an_idle_worker_leaves_by_itself(tmp_path: Path) -> None:
    """Guards memory: without work there is no process; the next job starts one."""
    log: list[str] = []
    short = WorkerProcess(log.append, command(idle_s=0.05))
    try:
        await short.run(drop(tmp_path), Dropped)
        with trio.fail_after(20):
            while short.pid and not _has_ended(short):
                await trio.sleep(0.01)
        assert await short.run(drop(tmp_path), Dropped) == Dropped()
    finally:
        await short.close()
    assert log == []


def _has_ended(worker: WorkerProcess) -> bool:
    process = worker._process
    return process is None or process.poll() is not None


async def test_large_messages_pass_whole(worker: WorkerProcess, tmp_path: Path) -> None:
    """Guards the pipe beyond its buffer, in both directions."""
    paths = []
    for number in range(4):
        path = tmp_path / f"notes{number}.md"
        lines = [f"- rule {number}.{line}: {'words ' * 20}" for line in range(600)]
        path.write_text("\n".join(lines), encoding="utf-8")
        paths.append(str(path))
    found = await worker.run(ReadNotes(home="", machine="", paths=paths), Notes)
    assert len(found.bullets) == 2400
    assert len(msgspec.msgpack.encode(found)) > 65_536
