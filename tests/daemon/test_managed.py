"""What passes between the daemon and a service manager: notifications, sockets, the wish to be
started again."""

import ctypes
import os
import socket
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from hmd.core.clock import FakeClock
from hmd.core.errors import HmdError
from hmd.daemon import launchd
from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.notify import Notifier
from hmd.daemon.process import resident_mb
from hmd.daemon.resident import Resident
from hmd.daemon.services import Services
from hmd.daemon.watch import MEMORY_SETTLED_S, leave_when_large, say_alive
from hmd.kernel.address import Home
from tests.daemon.fakes import LinesOnly
from tests.live.instance import short_directory


def test_the_manager_is_told_by_path_and_by_abstract_name() -> None:
    """Guards Type=notify: words as sd_notify(3) has them, on both kinds of address."""
    with short_directory() as directory:
        for address, bound in (
            (str(directory / "n"), str(directory / "n")),
            (f"@hmd-test-{os.getpid()}", f"\0hmd-test-{os.getpid()}"),
        ):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
                told.bind(bound)
                told.settimeout(10)
                notifier = Notifier({"NOTIFY_SOCKET": address})
                notifier.ready()
                assert told.recv(1000).split(b"\n")[:2] == [
                    b"READY=1",
                    b"MAINPID=%d" % os.getpid(),
                ]
                notifier.leaving("two\nlines")
                assert told.recv(1000) == b"STOPPING=1\nSTATUS=leaving: two lines"


def test_without_a_manager_nothing_is_said_and_nothing_fails() -> None:
    """Guards the ordinary start, and a manager that has gone."""
    for environ in ({}, {"NOTIFY_SOCKET": "/no/such/socket"}, {"WATCHDOG_USEC": "2000000"}):
        notifier = Notifier(environ)
        notifier.ready()
        notifier.alive()
    assert Notifier({"WATCHDOG_USEC": "2000000"}).watchdog_s == 0


@pytest.mark.parametrize(
    ("more", "seconds"),
    [
        ({"WATCHDOG_USEC": "60000000"}, 30),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, 0),
        ({"WATCHDOG_USEC": "soon"}, 0),
        ({}, 0),
    ],
)
def test_how_often_a_watchdog_is_told(more: dict[str, str], seconds: float) -> None:
    """Guards sd_watchdog_enabled(3): half the time, and only if it is meant for us."""
    assert Notifier({"NOTIFY_SOCKET": "/x", **more}).watchdog_s == seconds


async def test_the_watchdog_is_told_as_long_as_the_loop_turns(autojump_clock: object) -> None:
    told: list[float] = []

    class Watched(Notifier):
        def alive(self) -> None:
            told.append(trio.current_time())

    with trio.move_on_after(100):
        await say_alive(Watched({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "60000000"}))
    assert len(told) == 4


class System:
    """libSystem as far as sockets go: gives out descriptors under a name."""

    def __init__(self, sockets: dict[bytes, list[int]], failure: int = 0) -> None:
        self.sockets = sockets
        self.failure = failure
        self.freed = 0
        self._kept: list[Any] = []

    def launch_activate_socket(self, name: bytes, descriptors: Any, count: Any) -> int:
        found = self.sockets.get(name, [])
        if self.failure or not found:
            return self.failure or 2
        array = (ctypes.c_int * len(found))(*found)
        self._kept.append(array)
        descriptors._obj.contents = ctypes.cast(array, ctypes.POINTER(ctypes.c_int)).contents
        count._obj.value = len(found)
        return 0

    def free(self, pointer: Any) -> None:
        self.freed += 1


def test_launchd_hands_over_its_socket() -> None:
    """Guards launch_activate_socket(3): the first is served, others are closed, memory is freed."""
    first, second = socket.socketpair()
    system = System({b"hmd": [first.fileno(), second.fileno()]})
    assert launchd.activate(library=system) == first.fileno()
    assert system.freed == 1
    with pytest.raises(OSError):
        os.fstat(second.fileno())
    second.detach()
    first.close()


@pytest.mark.parametrize(("failure", "words"), [(0, "No such file"), (3, "No such process")])
def test_launchd_without_a_socket_for_us_is_named(failure: int, words: str) -> None:
    """Guards a daemon that was told of launchd and was not started by it."""
    with pytest.raises(HmdError, match=words):
        launchd.activate(library=System({}, failure))


def test_elsewhere_the_option_is_refused() -> None:
    with pytest.raises(HmdError, match="for macOS"):
        launchd.activate(library=object())


@pytest.fixture
def services(home: Home) -> Services:
    record = OwnerRecord(1, "s", "0.1.0-aaaa", 0, home.socket, "")
    clock = iter(range(10**6))
    made = Services(
        home, record, FakeClock(0), Resident(home, "k"), LinesOnly(), lambda _: None,
        monotonic=lambda: float(next(clock)),
    )  # fmt: skip
    Path(home.config).write_text("[daemon]\nmemory_limit_mb = 100\n")
    made.config.refresh()
    return made


async def test_a_daemon_that_stays_too_large_makes_room(
    services: Services, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards the ceiling: one peak is none, and a renewal that fails is tried again later."""
    sizes = iter([50, 150, 50, 150, 151, 152])
    renewed: list[str] = []
    services.monotonic = lambda: services.started + MEMORY_SETTLED_S

    async def renew(reason: str) -> bool:
        renewed.append(reason)
        return len(renewed) == 2

    await leave_when_large(services, renew, lambda: next(sizes))
    assert [reason.split()[0] for reason in renewed] == ["151", "152"]
    assert "memory_limit_mb" in renewed[0]


async def test_a_young_daemon_is_never_renewed_for_its_size(
    services: Services, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards against starting for ever where the limit is below what a daemon needs."""
    services.monotonic = lambda: services.started + 1

    async def renew(reason: str) -> bool:
        raise AssertionError(reason)

    with trio.move_on_after(1000):
        await leave_when_large(services, renew, lambda: 150)
    assert any("memory_limit_mb" in line for line in services.log.lines)  # type: ignore[attr-defined]


def test_the_size_of_this_process_is_known() -> None:
    """Guards the unit: a Python with trio and pytest loaded is tens of megabytes."""
    assert 10 < resident_mb() < 4000
