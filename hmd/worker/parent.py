"""The daemon's side of the worker: started when there is work, gone when there is none.

One job at a time. Jobs change nothing but the worker's own files and may be done twice, so one
whose process died is given to a new one, once; after repeated deaths the next start waits.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import trio

from hmd.app.jobs import AnyJob
from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.worker.protocol import LENGTH, LIMIT, Reply, decode_reply, encode, framed

R = TypeVar("R", bound=msgspec.Struct)

IDLE_S = 60.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0
_PIECE = 65_536


def command(idle_s: float = IDLE_S) -> list[str]:
    """The command of a worker, isolated like the daemon's own."""
    return [
        sys.executable,
        "-I",
        "-X",
        "utf8",
        "-m",
        "hmd.worker.main",
        "--idle",
        str(idle_s),
    ]


class WorkerProcess:
    """`hmd.app.jobs.Worker`. `say` takes lines for the daemon's log."""

    def __init__(self, say: Callable[[str], object], argv: Sequence[str] | None = None) -> None:
        self._say = say
        self._argv = list(argv or command())
        self._process: trio.Process | None = None
        self._turn = trio.Lock()
        self._pause = 0.0

    @property
    def pid(self) -> int:
        """Of the running process, 0 where there is none."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else 0

    async def run(self, job: AnyJob, result: type[R]) -> R:
        """Raises HmdError."""
        message = framed(encode(job))
        async with self._turn:
            data = await self._exchange(message)
            if data is None:
                data = await self._exchange(message)
        if data is None:
            raise HmdError("internal", f"the worker died twice over '{type(job).__name__}'")
        reply: Reply = decode_reply(data)
        if reply.error:
            self._say(f"the worker failed at '{type(job).__name__}':\n{reply.trace}")
            raise HmdError("internal", f"the worker failed: {reply.error}")
        return msgspec.msgpack.decode(reply.result, type=result)

    async def renew(self) -> None:
        """Ends the process once the job at hand is done; the next job starts another."""
        async with self._turn:
            with trio.CancelScope(shield=True):
                await self._end()

    async def close(self) -> None:
        """Ends the process."""
        with trio.CancelScope(shield=True):
            await self._end()

    async def _exchange(self, message: bytes) -> bytes | None:
        """The reply to a message; None where the process died over it."""
        try:
            process = await self._running()
            assert process.stdin and process.stdout
            await process.stdin.send_all(message)
            head = await _exactly(process.stdout, LENGTH.size)
            (length,) = LENGTH.unpack(head)
            if length > LIMIT:
                raise trio.BrokenResourceError
            data = await _exactly(process.stdout, length)
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError) as error:
            await self._died(error)
            return None
        except BaseException:
            # Half a reply may be on its way: this process cannot be asked anything more.
            with trio.CancelScope(shield=True):
                await self._end()
            raise
        self._pause = 0.0
        return data

    async def _running(self) -> trio.Process:
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._process is not None:
            await self._end()
        await trio.sleep(self._pause)
        self._process = await trio.lowlevel.open_process(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **machine.APART,
        )
        return self._process

    async def _died(self, error: BaseException) -> None:
        process = self._process
        code = None
        if process is not None:
            with trio.move_on_after(1):  # it has closed its pipes: its end is a moment away
                await process.wait()
            code = process.returncode
        if code != 0:  # 0: it had been idle and left as the job came
            self._pause = min(max(self._pause * 2, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            self._say(f"the worker died ({code if code is not None else error})")
        await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.kill()
        await process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                await stream.aclose()


async def _exactly(stream: trio.abc.ReceiveStream, size: int) -> bytes:
    pieces: list[bytes] = []
    while size:
        piece = bytes(await stream.receive_some(min(size, _PIECE)))
        if not piece:
            raise trio.BrokenResourceError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
