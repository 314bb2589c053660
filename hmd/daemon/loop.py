"""The life of a daemon inside the loop: what runs beside what, and in which order it ends.

Wiring only, like `main`. The socket listens before the store is open: hook calls need only files.
"""

import signal
from collections.abc import AsyncIterator

import trio

from hmd.daemon.handlers import Handlers
from hmd.daemon.hooklog import HookLog
from hmd.daemon.lifecycle import Ownership
from hmd.daemon.log import Log
from hmd.daemon.ready import Readiness
from hmd.daemon.serve import Limits, Server
from hmd.daemon.services import Services
from hmd.daemon.watch import keep_address
from hmd.kernel.frame import RETRY
from hmd.transport import unix
from hmd.transport.base import Listener


class Daemon:
    """One daemon; `live` returns when it has left."""

    def __init__(self, ownership: Ownership, listen_fd: int, ready: Readiness, log: Log) -> None:
        self._ownership = ownership
        self._listen_fd = listen_fd
        self._ready = ready
        self._log = log
        self._address = ownership.home.socket

    async def live(self) -> None:
        home, record, log = self._ownership.home, self._ownership.record, self._log
        hooklog = HookLog(home.hook_log)
        services = Services(home, record, log, hooklog, lambda reason: server.leave(reason))
        server = Server(Handlers(services, lambda header, body: (RETRY, b"")), log, _limits())
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            listener = self._first_listener()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_leave_at_signal, signals, server)
                nursery.start_soon(server.listen, listener, nursery)
                nursery.start_soon(
                    keep_address, server, self._ownership.lock, self._bind, listener, nursery, log
                )
                nursery.start_soon(hooklog.run)
                self._ownership.announce()
                log.line(f"serving '{home.path}' as build {record.build}")
                self._ready.ready()
                await server.leaving.wait()
                log.line(f"leaving: {server.reason}")
                await server.drain()
                nursery.cancel_scope.cancel()
        hooklog.flush()

    def _first_listener(self) -> Listener:
        if self._listen_fd >= 0:
            return unix.adopt(self._listen_fd, self._address)
        if unix.poke(self._address):
            self._log.line(
                "a process that does not hold the lock listens here; replacing its socket"
            )
        return self._bind()

    def _bind(self) -> Listener:
        return unix.listen(self._address)


async def _leave_at_signal(signals: AsyncIterator[int], server: Server) -> None:
    async for number in signals:
        server.leave(signal.Signals(number).name)


def _limits() -> Limits:
    """Limits that leave descriptors for files when every connection is in use."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = 512 if soft == resource.RLIM_INFINITY else max(8, min(512, soft - 64))
    return Limits(connections=room)
