"""The life of a daemon inside the loop: what runs beside what, and in which order it ends.

The socket listens before the store is open: hook calls need only files.
"""

import gc
import importlib
import os
import signal
from collections.abc import AsyncIterator

import trio

from hmd.core import machine
from hmd.core.clock import SystemClock
from hmd.core.errors import HmdError
from hmd.daemon import upgrade
from hmd.daemon.build import digest
from hmd.daemon.handlers import Handlers
from hmd.daemon.hook import Hooks
from hmd.daemon.hooklog import HookLog
from hmd.daemon.lifecycle import Ownership
from hmd.daemon.log import Log
from hmd.daemon.notify import Notifier
from hmd.daemon.package import Package
from hmd.daemon.ready import Readiness
from hmd.daemon.resident import Resident
from hmd.daemon.serve import Limits, Server
from hmd.daemon.services import Services, StartWorker, UseCases
from hmd.daemon.watch import keep_address, leave_when_idle, leave_when_large, say_alive
from hmd.transport import local
from hmd.transport.base import Listener

REOPEN_S = 5.0  # between two attempts to open a store that failed
HOUSEKEEPING_S = 1.0
ENDING = (signal.SIGTERM, signal.SIGINT)


class Daemon:
    """One daemon; `live` returns when it has left."""

    def __init__(
        self,
        ownership: Ownership,
        listen_fd: int,
        ready: Readiness,
        log: Log,
        package: Package,
        start_worker: StartWorker,
    ) -> None:
        self._ownership = ownership
        self._listen_fd = listen_fd
        self._ready = ready
        self._package = package
        self._start_worker = start_worker
        self._notifier = Notifier(os.environ)
        self.again = False  # whether the service manager is to start a daemon anew
        self._log = log
        home, record = ownership.home, ownership.record
        self._resident = Resident(home, digest(record.build))
        self._services = Services(
            home,
            record,
            SystemClock(),
            self._resident,
            log,
            lambda reason: self._server.leave(reason),
        )
        self._hooklog = HookLog(home, lambda: self._services.config.current.user.log.debug)
        heard = self._services.store.heard
        self._hooks = Hooks(self._resident, self._services.metrics, self._hooklog, log, heard)
        handlers = Handlers(self._services, self._hooks.decide, self._hooks.prepare)
        self._server = Server(handlers, log, _limits())

    async def live(self) -> None:
        log = self._log
        with trio.open_signal_receiver(*ENDING) as signals:
            listener = self._first_listener()
            # Two nurseries: what answers ends before what it is answered from.
            async with trio.open_nursery() as background:
                background.start_soon(_leave_at_signal, signals, self._server)
                background.start_soon(self._hooklog.run)
                background.start_soon(self._keep_store)
                background.start_soon(leave_when_idle, self._services)
                background.start_soon(self._keep_up)
                background.start_soon(leave_when_large, self._services, self._renew)
                background.start_soon(say_alive, self._notifier)
                self._ownership.announce()
                log.line(f"serving '{self._services.home.path}' as {self._services.record.build}")
                async with trio.open_nursery() as clients:
                    await self._serve(listener, clients)
                background.cancel_scope.cancel()
            # On the way out already: another request to end must not cut short what follows.
            machine.block_signals(ENDING)
        self._resident.save_all()
        self._resident.close()
        self._hooklog.flush()

    async def _serve(self, listener: Listener, clients: trio.Nursery) -> None:
        server = self._server
        clients.start_soon(server.listen, listener, clients)
        clients.start_soon(
            keep_address,
            server,
            self._ownership.lock,
            self._bind,
            local.poke,
            listener,
            clients,
            self._log,
        )
        self._ready.ready()
        self._notifier.ready()
        await server.leaving.wait()
        self._log.line(f"leaving: {server.reason}")
        self._notifier.leaving(server.reason)
        await server.drain()
        clients.cancel_scope.cancel()

    async def _keep_up(self) -> None:
        await upgrade.keep_up(self._package, self._renew, self._services.leave)

    async def _renew(self, reason: str) -> bool:
        """Makes room for a fresh process of what is installed now; False where none can serve."""
        managed = bool(self._services.record.manager)
        self._log.line(f"{reason}: starting a successor")
        if not await upgrade.Successor(
            self._services.home.path, self._log, managed=managed
        ).prove():
            return False
        self.again = managed and not self._server.leaving.is_set()
        self._server.leave(reason, upgrade.DRAIN_S)
        return True

    def _first_listener(self) -> Listener:
        address = self._services.home.socket
        if self._listen_fd >= 0:
            return local.adopt(self._listen_fd, address)
        if local.poke(address):
            self._log.line("replacing the socket of a process that does not hold the lock")
        return self._bind()

    def _bind(self) -> Listener:
        return local.listen(self._services.home.socket)

    async def _keep_store(self) -> None:
        """Opens the store, and opens it again after a while where it failed: a disk that was full
        when the daemon started has room later. A database of a newer version stays shut."""
        while await self._use_store():
            await trio.sleep(REOPEN_S)

    async def _use_store(self) -> bool:
        """Serves the store as long as it can be used; True where another attempt may help."""
        services = self._services
        try:
            # In a thread: loading it takes longer than everything before readiness.
            calls = await trio.to_thread.run_sync(importlib.import_module, "hmd.daemon.calls")
            async with calls.opened(
                services.home,
                services.clock,
                self._resident.kernel_hash,
                services.config.current,
                self._start_worker,
                self._log,
            ) as use_cases:
                for problem in use_cases.app.store.problems:
                    self._log.line(problem)
                services.store.opened(use_cases)
                use_cases.let_erase(self._resident)
                self._resident.recaller = use_cases.recall.fill
                self._hooks.preparer = use_cases.recall.prepare
                # All that is loaded stays: the collector, which holds up hook calls while it runs,
                # need not look at it again.
                gc.freeze()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(use_cases.learn)
                    nursery.start_soon(use_cases.recall.run)
                    await self._keep_settings(use_cases)
        except HmdError as error:
            self._log.line(f"the store cannot be used: {error}")
            services.store.failed(error)
            return error.code != "newer"
        except Exception as error:
            self._log.trouble("the store fails", error)
            services.store.failed(
                HmdError("internal", "the store failed", services.home.daemon_log, "see the log")
            )
        return True

    async def _keep_settings(self, use_cases: UseCases) -> None:
        while True:
            await trio.sleep(HOUSEKEEPING_S)
            if self._services.config.refresh():
                await self._take_settings(use_cases)

    async def _take_settings(self, use_cases: UseCases) -> None:
        try:
            await use_cases.take_settings(self._services.config.current)
        except HmdError as error:
            self._log.line(f"snapshots still hold the settings from before: {error}")


async def _leave_at_signal(signals: AsyncIterator[int], server: Server) -> None:
    async for number in signals:
        server.leave(signal.Signals(number).name)


def _limits() -> Limits:
    """Limits that leave descriptors for files when every connection is in use."""
    limit = machine.descriptors(0)
    room = max(8, min(512, limit - 128)) if limit else 512
    return Limits(connections=room)
