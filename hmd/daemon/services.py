"""What the handlers of one daemon share, and the store that may still be opening."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import trio

from hmd.core.clock import Clock
from hmd.core.errors import HmdError
from hmd.core.model import Actor, StoreStatus
from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.log import Log
from hmd.daemon.metrics import Metrics
from hmd.daemon.resident import Resident
from hmd.daemon.settings import LiveConfig
from hmd.kernel.address import Home

if TYPE_CHECKING:
    from hmd.store.store import Store  # at run time it is imported after the socket listens

_ACTORS: dict[str, Actor] = {actor: actor for actor in get_args(Actor)}


class Caller:
    """Who makes a call: `actor` for the record of changes, `cwd` for "the project I am in"."""

    __slots__ = ("actor", "cwd")

    def __init__(self, header: dict[str, str]) -> None:
        # Whoever does not say who they are is not taken for a person.
        self.actor: Actor = _ACTORS.get(header.get("actor", ""), "agent_cli")
        self.cwd = header.get("cwd", "")


class StoreSlot:
    """The store, once it is open. Hooks never wait for it: what they need is in files."""

    def __init__(self) -> None:
        self._settled = trio.Event()
        self._store: Store | None = None
        self.error: HmdError | None = None

    @property
    def state(self) -> str:
        """`opening`, `ready`, or the code of the error that keeps it shut."""
        if self.error is not None:
            return self.error.code
        return "opening" if self._store is None else "ready"

    @property
    def status(self) -> StoreStatus:
        problems = [str(self.error)] if self.error is not None else []
        if self.error is None:
            return StoreStatus(state="opening" if self._store is None else "ready")
        state: Any = self.error.code if self.error.code == "newer" else "damaged"
        return StoreStatus(state=state, problems=problems)

    def opened(self, store: "Store") -> None:
        self._store = store
        self._settled.set()

    def failed(self, error: HmdError) -> None:
        self.error = error
        self._settled.set()

    async def get(self) -> "Store":
        """The open store; waits while it opens. Raises the HmdError that keeps it shut."""
        await self._settled.wait()
        if self._store is None:
            raise self.error or HmdError("internal", "the store is gone")
        return self._store


class Services:
    """One daemon's parts, as far as handlers use them."""

    def __init__(
        self,
        home: Home,
        record: OwnerRecord,
        clock: Clock,
        resident: Resident,
        log: Log,
        leave: Callable[[str], None],
    ) -> None:
        self.home = home
        self.record = record
        self.clock = clock
        self.resident = resident
        self.log = log
        self.leave = leave
        self.config = LiveConfig(home.config)
        self.metrics = Metrics()
        self.store = StoreSlot()
        self.started = time.monotonic()
        self.last_request = self.started
        self._installed_at_start = self.installed_build()

    def newly_installed(self) -> str:
        """The build that hooks were switched to since this daemon started, "" if they were not.

        One that was there before and could not be replaced must not make every daemon leave.
        """
        build = self.installed_build()
        return "" if build == self._installed_at_start else build

    def installed_build(self) -> str:
        """The build that hooks run from (`app/current`), "" where nothing is installed."""
        try:
            with open(self.home.app_current, encoding="utf-8") as file:
                return file.read().strip()
        except (OSError, ValueError):
            return ""
