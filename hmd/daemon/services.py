"""What the handlers of one daemon share, and the store that may still be opening."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, get_args

import trio

from hmd.core.clock import Clock
from hmd.core.config import Config
from hmd.core.errors import HmdError
from hmd.core.memory import Actor
from hmd.core.status import StoreStatus
from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.log import Log
from hmd.daemon.metrics import Metrics
from hmd.daemon.resident import Resident
from hmd.daemon.settings import LiveConfig
from hmd.kernel.address import Home

if TYPE_CHECKING:  # at run time these are imported after the socket listens
    from hmd.app.context import App
    from hmd.app.recall import Recall

_ACTORS: dict[str, Actor] = {actor: actor for actor in get_args(Actor)}


class Caller:
    """Who makes a call: `actor` for the record of changes, `cwd` for "the project I am in",
    `never` directories that are no projects (`hmd.kernel.project.locate`)."""

    __slots__ = ("actor", "cwd", "never")

    def __init__(self, header: dict[str, str]) -> None:
        # Whoever does not say who they are is not taken for a person.
        self.actor: Actor = _ACTORS.get(header.get("actor", ""), "agent_cli")
        self.cwd = header.get("cwd", "")
        self.never = (header.get("env.HOME", ""), header.get("env.TMPDIR", ""))


class UseCases(Protocol):
    """The opened use cases, as far as the daemon needs to know them (`hmd.daemon.calls`)."""

    app: "App"

    async def run(self, method: str, caller: Caller, parameters: Any) -> Any:
        """Raises HmdError."""
        ...

    async def take_settings(self, config: Config) -> list[str]: ...

    def heard(self, session: str, kind: str, cwd: str) -> None: ...

    async def learn(self) -> None: ...

    def let_erase(self, resident: Resident) -> None: ...

    @property
    def recall(self) -> "Recall": ...


class EndingWorker(Protocol):
    """A worker (`hmd.app.jobs.Worker`) that the daemon has started and ends."""

    @property
    def run(self) -> "Callable[..., Any]": ...

    async def renew(self) -> None: ...

    async def close(self) -> None: ...


StartWorker = Callable[[Callable[[str], object]], "EndingWorker"]


class StoreSlot:
    """The use cases, once the store is open. Hooks never wait for it: they need only files."""

    def __init__(self) -> None:
        self._settled = trio.Event()
        self._opened: UseCases | None = None
        self._error: HmdError | None = None

    @property
    def is_ready(self) -> bool:
        return self._opened is not None and self._error is None

    @property
    def status(self) -> StoreStatus:
        """What can be said without asking the store."""
        if self._error is None:
            return StoreStatus(state="opening" if self._opened is None else "ready")
        newer = self._error.code == "newer"
        return StoreStatus(state="newer" if newer else "damaged", problems=[str(self._error)])

    def opened(self, use_cases: UseCases) -> None:
        self._opened, self._error = use_cases, None
        self._settled.set()

    def heard(self, session: str, kind: str, cwd: str) -> None:
        """Tells learning of an event; before the store is open learning finds it by itself."""
        if self._opened is not None:
            self._opened.heard(session, kind, cwd)

    def failed(self, error: HmdError) -> None:
        self._error = error
        self._settled.set()

    async def get(self) -> UseCases:
        """The use cases; waits while the store opens. Raises the HmdError that keeps it shut."""
        await self._settled.wait()
        if self._error is not None or self._opened is None:
            raise self._error or HmdError("internal", "the store is gone")
        return self._opened


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
        monotonic: Callable[[], float] = time.monotonic,
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
        self.monotonic = monotonic
        self.started = monotonic()
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
