"""Serves one request per connection: reads the frame, has it answered, hangs up.

Owns every limit that protects the daemon from its clients: whose process may speak, how long a
frame may take to arrive, how many connections there may be, and what happens when descriptors run
out. What a request means is the responder's business.
"""

import json
from collections.abc import Callable
from typing import Protocol

import trio

from hmd.core import machine
from hmd.daemon.log import Log
from hmd.kernel import frame
from hmd.transport.base import Connection, Exhausted, Listener

CHUNK = 131072  # a whole hook frame: 64 KB of body, its header, and room


class Limits:
    """Constants of the contract with clients; seconds. Tests hold them with wide margins."""

    __slots__ = ("answer", "backoff", "connections", "drain", "frame", "silent")

    def __init__(
        self,
        frame: float = 2.0,
        answer: float = 2.0,
        backoff: float = 0.05,
        drain: float = 0.8,
        silent: float = 0.1,
        connections: int = 512,
    ) -> None:
        self.frame = frame
        self.answer = answer
        self.backoff = backoff
        self.drain = drain
        self.silent = silent
        self.connections = connections


class Responder(Protocol):
    """What requests mean. Neither method raises."""

    async def prepare(self, header: dict[str, str], body: bytes) -> None:
        """Before a hook call is decided: what little may be waited for."""
        ...

    def hook(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]:
        """Decides a hook call; synchronous, so that nothing can come between it and its turn."""
        ...

    async def call(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]: ...

    def is_newer(self, build: str) -> bool:
        """Whether a client of this build supersedes this process."""
        ...

    def dropped(self) -> None:
        """A client hung up before its request was decided; it has decided alone."""
        ...


class Request:
    """One complete frame."""

    __slots__ = ("body", "header", "kind")

    def __init__(self, kind: str, header: dict[str, str], body: bytes) -> None:
        self.kind = kind
        self.header = header
        self.body = body


async def read_request(
    connection: Connection, partial: Callable[[], None] = lambda: None
) -> Request | None:
    """The request of a client, None when it hangs up first. Raises frame.FrameError.

    `partial` is called each time that a client has sent something, but not all.
    """
    data = await connection.receive(CHUNK)
    while (end := data.find(b"\n", 0, frame.HEAD_LIMIT)) < 0:
        if len(data) >= frame.HEAD_LIMIT:
            raise frame.FrameError("the first line does not end")
        if not data:
            return None
        partial()
        more = await connection.receive(CHUNK)
        if not more:
            return None
        data += more
    kind, header_size, body_size = frame.parse_request_head(data[:end])
    start = end + 1
    body_start = start + header_size
    total = body_start + body_size
    if len(data) < total:
        pieces, have = [data], len(data)
        while have < total:
            partial()
            more = await connection.receive(CHUNK)
            if not more:
                return None
            pieces.append(more)
            have += len(more)
        data = b"".join(pieces)
    return Request(kind, frame.parse_header(data[start:body_start]), data[body_start:total])


class Server:
    """Every connection of this daemon, over however many listeners it has had."""

    def __init__(self, responder: Responder, log: Log, limits: Limits) -> None:
        self.leaving = trio.Event()
        self.reason = ""
        self._responder = responder
        self._log = log
        self._limits = limits
        self._drain = limits.drain
        self._listener: Listener | None = None
        self._uid = machine.own_user()
        self._open = 0
        self._all_closed = trio.Event()
        # Those that have not sent a whole frame yet, oldest first: they make room for others.
        self._silent: dict[Connection, trio.CancelScope] = {}
        self._partial: dict[Connection, trio.CancelScope] = {}

    @property
    def connections(self) -> int:
        return self._open

    def leave(self, reason: str, drain: float | None = None) -> None:
        """Withdraws the address, then lets the process end; answers in being still go out, for
        `drain` seconds where nobody is in a hurry."""
        if not self.leaving.is_set():
            self.reason = reason
            self._drain = self._limits.drain if drain is None else drain
            if self._listener is not None:
                self._listener.withdraw()
            self.leaving.set()

    async def listen(self, listener: Listener, nursery: trio.Nursery) -> None:
        """Accepts from `listener` until it is closed; it replaces the one before."""
        before, self._listener = self._listener, listener
        if before is not None:
            before.close()
        while True:
            try:
                connection = await listener.accept()
            except Exhausted as error:
                # A quarter at once: one at a time would let a flood set the pace.
                quarter = max(1, self._open // 4)
                made = sum(self._make_room() for _ in range(quarter))
                await trio.sleep(0 if made else self._limits.backoff)
                await trio.sleep(0)  # the first let them be told, the second lets them close
                # Said only now: the log needs a descriptor too.
                self._log.once_a_minute("exhausted", f"cannot accept a connection: {error}")
                continue
            except trio.ClosedResourceError:
                return
            if self._open >= self._limits.connections and not self._make_room():
                await connection.send(frame.answer(frame.RETRY))
                connection.close()
                continue
            self._open += 1
            nursery.start_soon(self._serve, connection)

    async def drain(self) -> None:
        """Stops accepting; waits, within the limit, for the requests that have arrived."""
        with trio.move_on_after(self._drain):
            if self._listener is not None:
                await self._listener.emptied()
                self._listener.close()
            # Who has connected and said nothing yet may be about to.
            with trio.move_on_after(self._limits.silent):
                await self._until_all_closed()
            for scope in list(self._silent.values()):
                scope.cancel()
            await self._until_all_closed()
        if self._listener is not None:
            self._listener.close()

    async def _until_all_closed(self) -> None:
        while self._open:
            self._all_closed = trio.Event()
            await self._all_closed.wait()

    def _make_room(self) -> bool:
        """Ends the oldest client that has sent nothing, else the oldest that is not through."""
        for waiting in (self._silent, self._partial):
            for connection, scope in waiting.items():
                del waiting[connection]
                scope.cancel()
                return True
        return False

    async def _serve(self, connection: Connection) -> None:
        try:
            uid = connection.peer_uid()
            if uid != self._uid:
                self._log.once_a_minute("peer", f"refused a client of user {uid}")
                return
            request = await self._read(connection)
            if request is not None:
                await self._respond(connection, request)
        except Exception as error:  # one client's trouble is never another's
            self._log.trouble("serving a connection", error)
        finally:
            connection.close()
            self._open -= 1
            if not self._open:
                self._all_closed.set()

    async def _read(self, connection: Connection) -> Request | None:
        def partial() -> None:
            if self._silent.pop(connection, None) is not None:
                self._partial[connection] = scope

        with trio.move_on_after(self._limits.frame) as scope:
            self._silent[connection] = scope
            try:
                return await read_request(connection, partial)
            except frame.FrameError as error:
                await connection.send(frame.answer(frame.ERROR, usage_error(str(error))))
            finally:
                self._silent.pop(connection, None)
                self._partial.pop(connection, None)
        return None

    async def _respond(self, connection: Connection, request: Request) -> None:
        if self._responder.is_newer(request.header.get("build", "")):
            self.leave("a newer build asked for the home")
            status, body = frame.LEAVE, b""
        elif request.kind == frame.HOOK:
            await self._responder.prepare(request.header, request.body)
            if connection.hung_up():
                self._responder.dropped()
                return
            status, body = self._responder.hook(request.header, request.body)
        else:
            status, body = await self._responder.call(request.header, request.body)
        with trio.move_on_after(self._limits.answer):
            await connection.send(frame.answer(status, body))


def usage_error(what: str) -> bytes:
    """The body of an `error` answer to a request that cannot be understood."""
    return json.dumps({"code": "usage", "what": what, "where": "", "do": ""}).encode()
