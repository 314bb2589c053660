"""How ownership of a home passes on: what a candidate does that finds the lock taken.

Losing the race is success: where the owner answers there is nothing to do. Where it has answered
nothing for half a minute, the one candidate that holds `run/<machine>/candidate` wakes it, and ends
it if that does not help, after proving by process id and start time that it is the recorded
owner. Stubs never do any of this.
"""

import contextlib
import os
import time
from collections.abc import Callable
from typing import Protocol

from hmd.core import machine
from hmd.daemon.lifecycle import Lock, OwnerRecord, read_owner
from hmd.daemon.process import ask, start_time
from hmd.kernel import frame
from hmd.kernel.address import Home

OWNER_SILENT_S = 30.0  # an owner that answers nothing for so long is woken, then ended
WAKE_GRACE_S = 2.0  # what a woken owner has to answer
TERM_GRACE_S = 2.0  # what an ended owner has to drain, before SIGKILL
KILL_GRACE_S = 5.0
POLL_S = 0.1
PING_TIMEOUT_S = 0.5
INHERIT_S = 30.0  # longer than an owner that hands over drains
INHERIT_POLL_S = 0.01
# After a longer pause between two looks waiting begins anew: on a machine that was suspended, or so
# busy that we were held up, the owner has had no time either.
PAUSE_S = 1.0


class Surroundings(Protocol):
    """What a candidate can see and do. Faked in tests, `System` in life."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...

    def take_lock(self) -> bool: ...

    def owner_answers(self) -> bool: ...

    def owner(self) -> OwnerRecord | None: ...

    def is_running(self, pid: int, start: str) -> bool: ...

    def signal(self, pid: int, number: int) -> None: ...

    def say(self, text: str) -> None: ...


class Patience:
    """How long a candidate bears with an owner, in seconds."""

    __slots__ = ("kill", "silent", "term", "wake")

    def __init__(
        self,
        silent: float = OWNER_SILENT_S,
        wake: float = WAKE_GRACE_S,
        term: float = TERM_GRACE_S,
        kill: float = KILL_GRACE_S,
    ) -> None:
        self.silent = silent
        self.wake = wake
        self.term = term
        self.kill = kill


OWN, SERVED, BLOCKED = "own", "served", "blocked"


def contend(world: Surroundings, patience: Patience, *, may_end: bool) -> str:
    """Waits until this process owns the home (`own`) or its owner answers (`served`).

    `may_end` is True for the one candidate that may act against a silent owner; without it, and
    where the recorded process cannot be proved to be the owner, the result is `blocked`.
    """
    result = _wait(world, patience.silent)
    if result or not may_end:
        return result or BLOCKED
    for number, name, grace in (
        (machine.WAKE, "waking", patience.wake),
        (machine.END, "ending", patience.term),
        (machine.KILL, "killing", patience.kill),
    ):
        owner = world.owner()
        if owner is None or not world.is_running(owner.pid, owner.start):
            world.say("the lock is held by a process that daemon.json does not name")
            return BLOCKED
        world.say(f"{name} the daemon with process id {owner.pid}: it answers nothing")
        world.signal(owner.pid, number)
        result = _wait(world, grace)
        if result:
            return result
    return BLOCKED


class Waited:
    """How long this process has been waiting, awake, in seconds."""

    def __init__(self, world: Surroundings) -> None:
        self._world = world
        self._last = world.now()
        self._seconds = 0.0

    def reached(self, seconds: float) -> bool:
        """Call it at every look."""
        now = self._world.now()
        pause, self._last = now - self._last, now
        self._seconds = self._seconds + pause if pause <= PAUSE_S else 0.0
        return self._seconds >= seconds


def _wait(world: Surroundings, seconds: float, *, served: bool = True) -> str:
    waited = Waited(world)
    while True:
        if world.take_lock():
            return OWN
        if served and world.owner_answers():
            return SERVED
        if waited.reached(seconds):
            return ""
        world.sleep(POLL_S)


def take_over(world: Surroundings, seconds: float) -> bool:
    """For a daemon with a manager's socket: asks the owner to leave, then waits for the lock.

    By signal: the address that the owner could be asked at is the manager's by now.
    """
    if world.take_lock():
        return True
    owner = world.owner()
    if owner is not None and world.is_running(owner.pid, owner.start):
        world.say(f"asking process {owner.pid} to leave: a service manager started this daemon")
        world.signal(owner.pid, machine.END)
    return _wait(world, seconds, served=False) == OWN


def wait_for_lock(world: Surroundings, predecessor: OwnerRecord | None, seconds: float) -> str:
    """For the successor that an owner has started: `own` once it has left, `served` where another
    process was faster, or where it has not left in time."""
    waited = Waited(world)
    before = (predecessor.pid, predecessor.start) if predecessor else None
    while not world.take_lock():
        owner = world.owner()
        if owner is not None and (owner.pid, owner.start) != before:
            return SERVED
        if waited.reached(seconds):
            world.say("the daemon that asked for a successor has not left; it goes on")
            return SERVED
        world.sleep(INHERIT_POLL_S)
    return OWN


class System:
    """The real `Surroundings`."""

    def __init__(
        self, home: Home, build: str, take: Callable[[], bool], say: Callable[[str], object]
    ) -> None:
        self._home = home
        self._build = build
        self._take = take
        self._say = say

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def take_lock(self) -> bool:
        return self._take()

    def owner_answers(self) -> bool:
        # Any answer will do: "leave" comes from an owner that is about to hand over.
        answer = ask(self._home.socket, "ping", self._build, PING_TIMEOUT_S)
        return answer is not None and answer[0] != frame.LEAVE

    def owner(self) -> OwnerRecord | None:
        return read_owner(self._home)

    def is_running(self, pid: int, start: str) -> bool:
        return bool(start) and start_time(pid) == start

    def signal(self, pid: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)

    def say(self, text: str) -> None:
        self._say(text)


def inherit(
    home: Home,
    lock: Lock,
    build: str,
    predecessor: OwnerRecord | None,
    say: Callable[[str], object],
) -> str:
    """Takes `lock` after the owner that started this process: `own` or `served`."""
    return wait_for_lock(System(home, build, lock.take, say), predecessor, INHERIT_S)


def become_owner(
    home: Home,
    lock: Lock,
    build: str,
    say: Callable[[str], object],
    *,
    patience: float = OWNER_SILENT_S,
    wait: bool = False,
    replace: bool = False,
) -> str:
    """Takes `lock` if the home needs an owner: `own`, else `served` or `blocked`.

    `wait`: someone waits for the home to be served, so a lost race waits for the winner's answer.
    `replace`: a service manager handed us its socket, so an owner that answers has to go.
    """
    world = System(home, build, lock.take, say)
    if lock.take():
        return OWN
    if replace and take_over(world, TERM_GRACE_S):
        return OWN
    # One candidate at a time bears with an owner; for the others the race is lost, which is fine.
    candidate = Lock(home.run + "/candidate")
    try:
        may_end = candidate.take()
        if not may_end and not wait:
            return SERVED
        return contend(world, Patience(silent=patience), may_end=may_end)
    finally:
        candidate.release()
