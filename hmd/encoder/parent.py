"""The daemon's side of the encoder: started when it is wanted, gone when it is not.

One task (`run`) owns the process and speaks to it; everybody else leaves a request and waits as
long as they like, so nobody's impatience leaves half a message in a pipe. Questions go before the
texts of a backfill, and those go a few at a time. A process that dies, hangs or has no model is
ended, and the next start waits, longer each time.
"""

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

import trio

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.encoder.protocol import (
    LENGTH,
    LIMIT,
    Ask,
    Embed,
    Hello,
    Load,
    Message,
    Packed,
    Reply,
    decode_hello,
    decode_reply,
    encode,
    framed,
)

# Texts of one message of a backfill: what a question may have to wait for.
BATCH = 2
START_S = 120.0  # a model may be read from a slow disk, or fetched
HANG_S = 20.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 600.0
_PIECE = 1 << 16

State = Literal["off", "starting", "ready", "waiting"]
Loader = Callable[[], Sequence[Load]]


def command(model: str, cache: str, idle_s: float) -> list[str]:
    """The command of an encoder, isolated like the daemon's own."""
    argv = [sys.executable, "-I", "-X", "utf8", "-m", "hmd.encoder.child", "--model", model]
    return [*argv, "--cache", cache, "--idle", f"{idle_s:g}"]


class _Request:
    """`reply` null after `done`: the process died over it."""

    __slots__ = ("abandoned", "done", "message", "reply")

    def __init__(self, message: Message) -> None:
        self.message = message
        self.done = trio.Event()
        self.reply: Reply | None = None
        self.abandoned = False


class _Lost(Exception):
    """The process cannot be asked any more; the text says why."""


class EncoderProcess:
    """One encoder of one model. `shelves` gives what a new process has to know; `say` takes lines
    for the daemon's log."""

    def __init__(
        self,
        argv: Sequence[str],
        say: Callable[[str], object],
        shelves: Loader = list,
        hang_s: float = HANG_S,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self.state: State = "off"
        self.trouble = ""
        self.dimension = 0
        self._argv = list(argv)
        self._say = say
        self._shelves = shelves
        self._hang_s = hang_s
        self._first_pause = first_pause_s
        self._pause = 0.0
        self._process: trio.Process | None = None
        self._urgent: deque[_Request] = deque()
        self._patient: deque[_Request] = deque()
        self._work = trio.Event()
        self._wanted = False
        self._over = False

    @property
    def pid(self) -> int:
        """Of the running process, 0 where there is none."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else 0

    # -- asking --

    def warm(self) -> None:
        """Has the process started, for whoever asks soon."""
        self._wanted = True
        self._work.set()

    async def ask(
        self, text: str, shelves: Sequence[str], timeout: float
    ) -> list[tuple[float, str]] | None:
        """The nearest (cosine, id); None where there is no answer within `timeout` seconds."""
        self.warm()
        if self.state != "ready":
            return None
        reply = await self._exchange(Ask(text=text, shelves=list(shelves)), self._urgent, timeout)
        return None if reply is None or reply.error else reply.nearest

    async def embed(self, texts: Sequence[str]) -> list[Packed]:
        """The vectors of texts that are stored. Raises HmdError."""
        out: list[Packed] = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            self.warm()
            reply = await self._exchange(Embed(texts=part), self._patient, None)
            if reply is None or reply.error or len(reply.vectors) != len(part):
                why = self.trouble if reply is None else reply.error or "a vector is missing"
                raise HmdError("busy", f"the encoder gave no vectors: {why or 'it is away'}")
            out += reply.vectors
        return out

    async def load(self, message: Load) -> None:
        """Makes vectors known to a running process; a new one is given all of them anyway."""
        if self.state == "ready":
            await self._exchange(message, self._patient, None)

    async def _exchange(
        self, message: Message, queue: "deque[_Request]", timeout: float | None
    ) -> Reply | None:
        request = _Request(message)
        if self._over:
            return None
        queue.append(request)
        self._work.set()
        try:
            with trio.move_on_after(float("inf") if timeout is None else timeout):
                await request.done.wait()
        finally:
            request.abandoned = not request.done.is_set()
        return request.reply

    # -- the process --

    async def run(self) -> None:
        """Serves requests until it is cancelled."""
        try:
            while True:
                await self._work.wait()
                self._work = trio.Event()
                try:
                    await self._serve()
                except _Lost as lost:
                    await self._lose(str(lost))
        finally:
            self._over = True  # nobody may wait for an answer that cannot come
            self._dismiss()
            with trio.CancelScope(shield=True):
                await self._end()

    def _dismiss(self) -> None:
        """Those that wait go without an answer."""
        for request in (*self._urgent, *self._patient):
            request.done.set()
        self._urgent.clear()
        self._patient.clear()

    async def _serve(self) -> None:
        while self._wanted or self._urgent or self._patient:
            self._wanted = False
            if self._process is None or self._process.poll() is not None:
                await self._end()
                await self._start()
            queue = self._urgent or self._patient
            if not queue:
                continue
            request = queue.popleft()
            if request.abandoned:
                continue
            try:
                with trio.fail_after(self._hang_s):
                    request.reply = decode_reply(await self._send(request.message))
            except trio.TooSlowError:
                raise _Lost(f"no answer within {self._hang_s:g} s") from None
            except ValueError as error:
                raise _Lost(f"its reply is none: {error}") from error
            except (trio.BrokenResourceError, trio.ClosedResourceError, OSError) as error:
                raise _Lost(await self._ended()) from error
            finally:
                request.done.set()
            if isinstance(request.message, Load) and request.reply.error:
                raise _Lost(request.reply.error)  # it lacks vectors; a new one is given all
            self._pause = 0.0

    async def _start(self) -> None:
        self.state = "starting"
        try:
            self._process = await trio.lowlevel.open_process(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                **machine.APART,
            )
            with trio.fail_after(START_S):
                hello: Hello = decode_hello(await self._receive())
            if hello.error:
                raise _Lost(hello.error)
            for message in self._shelves():
                with trio.fail_after(self._hang_s):
                    loaded = decode_reply(await self._send(message))
                if loaded.error:
                    raise _Lost(loaded.error)
        except trio.TooSlowError:
            raise _Lost("it did not get ready") from None
        except ValueError as error:
            raise _Lost(f"it does not speak as an encoder: {error}") from error
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError) as error:
            raise _Lost(await self._ended()) from error
        self.dimension, self.trouble, self.state = hello.dimension, "", "ready"

    async def _send(self, message: Message) -> bytes:
        process = self._process
        if process is None or process.stdin is None:
            raise trio.ClosedResourceError
        await process.stdin.send_all(framed(encode(message)))
        return await self._receive()

    async def _receive(self) -> bytes:
        (length,) = LENGTH.unpack(await self._exactly(LENGTH.size))
        if length > LIMIT:
            raise ValueError(f"a message of {length} bytes")
        return await self._exactly(length)

    async def _exactly(self, size: int) -> bytes:
        process = self._process
        if process is None or process.stdout is None:
            raise trio.ClosedResourceError
        pieces: list[bytes] = []
        while size:
            piece = bytes(await process.stdout.receive_some(min(size, _PIECE)))
            if not piece:
                raise trio.BrokenResourceError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    async def _ended(self) -> str:
        process = self._process
        if process is not None:
            with trio.move_on_after(1):  # its pipes are closed a moment before it is gone
                return f"it ended with {await process.wait()}"
        return "it closed its pipes"

    async def _lose(self, why: str) -> None:
        """Ends the process and tells whoever waits; the next start waits a while."""
        await self._end()
        self.state, self.trouble = "waiting", why
        self._dismiss()
        self._pause = min(max(self._pause * 2, self._first_pause), LONGEST_PAUSE_S)
        self._say(f"the encoder is away for {self._pause:g} s: {why}")
        await trio.sleep(self._pause)
        self._dismiss()  # those that asked meanwhile begin anew, if they still want to
        self.state = "off"

    async def _end(self) -> None:
        process, self._process = self._process, None
        if self.state in ("ready", "starting"):
            self.state = "off"
        if process is None:
            return
        if process.poll() is None:
            process.kill()
        await process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                await stream.aclose()
