"""What the handlers of one daemon share, and the store that may still be opening."""

import time
from collections.abc import Callable
from typing import Any

import trio

from hmd.core.errors import HmdError
from hmd.daemon.hooklog import HookLog
from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.log import Log
from hmd.daemon.metrics import Metrics
from hmd.kernel.address import Home


class StoreSlot:
    """The store, once it is open. Hooks never wait for it: what they need is in files."""

    def __init__(self) -> None:
        self._settled = trio.Event()
        self._store: Any = None
        self._error: HmdError | None = None

    @property
    def state(self) -> str:
        """opening, open, or the code of the error that keeps it shut."""
        if self._error is not None:
            return self._error.code
        return "opening" if self._store is None else "open"

    def opened(self, store: Any) -> None:
        self._store = store
        self._settled.set()

    def failed(self, error: HmdError) -> None:
        self._error = error
        self._settled.set()

    async def get(self) -> Any:
        """The open store; waits while it opens. Raises the HmdError that keeps it shut."""
        await self._settled.wait()
        if self._error is not None:
            raise self._error
        return self._store


class Services:
    """One daemon's parts, as far as handlers use them."""

    def __init__(
        self,
        home: Home,
        record: OwnerRecord,
        log: Log,
        hooklog: HookLog,
        leave: Callable[[str], None],
    ) -> None:
        self.home = home
        self.record = record
        self.log = log
        self.hooklog = hooklog
        self.leave = leave
        self.metrics = Metrics()
        self.store = StoreSlot()
        self.started = time.monotonic()
        self.last_request = self.started
