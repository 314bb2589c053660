"""Stand-ins for what the daemon meets: connections, listeners, a log, a responder."""

import trio

from hmd.daemon.log import Log
from hmd.kernel import frame
from hmd.transport.base import Exhausted


class FakeConnection:
    """A client that sends `pieces`, then is silent for ever unless `ends`."""

    def __init__(
        self, pieces: list[bytes], *, ends: bool = True, every: float = 0, uid: int | None = None
    ) -> None:
        import os

        self.pieces = list(pieces)
        self.ends = ends
        self.every = every
        self.uid = os.geteuid() if uid is None else uid
        self.sent = b""
        self.gone = False
        self.closed = trio.Event()

    async def receive(self, limit: int) -> bytes:
        await trio.sleep(self.every)
        if self.pieces:
            piece, rest = self.pieces[0][:limit], self.pieces[0][limit:]
            self.pieces[:1] = [rest] if rest else []
            return piece
        if not self.ends:
            await trio.sleep_forever()
        return b""

    async def send(self, data: bytes) -> bool:
        await trio.lowlevel.checkpoint()
        self.sent += data
        return not self.gone

    def hung_up(self) -> bool:
        return self.gone

    def peer_uid(self) -> int | None:
        return None if self.uid < 0 else self.uid

    def close(self) -> None:
        self.closed.set()

    @property
    def answer(self) -> tuple[str, bytes] | None:
        return frame.parse_answer(self.sent) if self.sent else None


class FakeListener:
    """Hands out what is put into it: connections, or Exhausted."""

    def __init__(self, address: str = "nowhere") -> None:
        self.address = address
        self._send, self._receive = trio.open_memory_channel[FakeConnection | Exhausted](1000)
        self.is_lost = False
        self.withdrawn = False

    def arrives(self, *found: FakeConnection | Exhausted) -> None:
        for each in found:
            self._send.send_nowait(each)

    async def accept(self) -> FakeConnection:
        try:
            found = await self._receive.receive()
        except trio.EndOfChannel:
            raise trio.ClosedResourceError from None
        if isinstance(found, Exhausted):
            raise found
        return found

    def lost(self) -> bool:
        return self.is_lost

    def withdraw(self) -> None:
        self.withdrawn = True

    async def emptied(self) -> None:
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        self._send.close()


class FakeResponder:
    """Echoes; remembers what it was asked."""

    def __init__(self) -> None:
        self.hooks: list[bytes] = []
        self.hung_up = 0
        self.hold: trio.Event | None = None

    async def prepare(self, header: dict[str, str], body: bytes) -> None:
        pass

    def hook(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]:
        self.hooks.append(body)
        return frame.OK, b"decided:" + body

    async def call(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]:
        if self.hold is not None:
            await self.hold.wait()
        return frame.OK, b"done:" + body

    def is_newer(self, build: str) -> bool:
        return build == "newer"

    def dropped(self) -> None:
        self.hung_up += 1


class LinesOnly(Log):
    """A log that keeps its lines in memory."""

    def __init__(self) -> None:
        super().__init__("")
        self.lines: list[str] = []

    def line(self, text: str) -> bool:
        self.lines.append(text)
        return True
