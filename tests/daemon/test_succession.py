"""What a candidate does: every way the owner may behave, without a process or any waiting."""

import signal
from dataclasses import dataclass, field

import pytest

from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.succession import (
    BLOCKED,
    OWN,
    SERVED,
    Patience,
    contend,
    take_over,
    wait_for_lock,
)


@dataclass
class World:
    """Time moves only by sleeping. `free_at` and `answers_at` may depend on signals received."""

    free_at: float = float("inf")
    answers_at: float = float("inf")
    reacts_to: dict[int, str] = field(default_factory=dict)
    recorded: bool = True
    running: bool = True
    time: float = 0.0
    signals: list[int] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    pings: int = 0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.time += seconds

    def take_lock(self) -> bool:
        return self.time >= self.free_at

    def owner_answers(self) -> bool:
        self.pings += 1
        return self.time >= self.answers_at

    def owner(self) -> OwnerRecord | None:
        return OwnerRecord(77, "start", "", 0, "", "") if self.recorded else None

    def is_running(self, pid: int, start: str) -> bool:
        return self.running and (pid, start) == (77, "start")

    def signal(self, pid: int, number: int) -> None:
        assert pid == 77
        self.signals.append(number)
        reaction = self.reacts_to.get(number)
        if reaction == "answers":
            self.answers_at = self.time + 0.2
        elif reaction == "ends":
            self.free_at = self.time + 0.2

    def say(self, text: str) -> None:
        self.said.append(text)


def test_an_owner_that_answers_is_left_alone() -> None:
    """Guards the common case: losing the race is success, at once and without a signal."""
    world = World(answers_at=0)
    assert contend(world, Patience(), may_end=True) == SERVED
    assert (world.time, world.signals) == (0, [])


def test_an_owner_that_is_starting_or_draining_is_waited_for() -> None:
    """Guards start and hand-over: neither takes half a minute, neither is a reason to kill."""
    starting, draining = World(answers_at=1.0), World(free_at=0.8)
    assert contend(starting, Patience(), may_end=True) == SERVED
    assert contend(draining, Patience(), may_end=True) == OWN
    assert starting.signals == draining.signals == []


@pytest.mark.parametrize(
    ("reacts", "result", "signals"),
    [
        ({signal.SIGCONT: "answers"}, SERVED, [signal.SIGCONT]),
        ({signal.SIGTERM: "ends"}, OWN, [signal.SIGCONT, signal.SIGTERM]),
        ({signal.SIGKILL: "ends"}, OWN, [signal.SIGCONT, signal.SIGTERM, signal.SIGKILL]),
        ({}, BLOCKED, [signal.SIGCONT, signal.SIGTERM, signal.SIGKILL]),
    ],
)
def test_a_silent_owner_is_woken_then_ended(
    reacts: dict[int, str], result: str, signals: list[int]
) -> None:
    """Guards the order of means, and that nothing happens before half a minute of silence."""
    world = World(reacts_to=reacts)
    assert contend(world, Patience(), may_end=True) == result
    assert world.signals == signals
    assert world.time >= 30


def test_half_a_minute_of_silence_comes_first() -> None:
    """Guards the constant that the design states."""
    world = World()
    times: list[float] = []
    real = world.signal

    def signal_at(pid: int, number: int) -> None:
        times.append(world.time)
        real(pid, number)

    world.signal = signal_at  # type: ignore[method-assign]
    contend(world, Patience(), may_end=True)
    assert times[0] == pytest.approx(30, abs=0.2)


@pytest.mark.parametrize("world", [World(recorded=False), World(running=False)])
def test_a_process_that_is_not_proved_to_be_the_owner_is_not_touched(world: World) -> None:
    """Guards strangers: a recycled process id, a lock held by something else."""
    assert contend(world, Patience(), may_end=True) == BLOCKED
    assert world.signals == [] and world.said


def test_only_one_candidate_may_end_an_owner() -> None:
    """Guards against ten candidates with ten kill signals."""
    world = World(reacts_to={signal.SIGCONT: "answers"})
    assert contend(world, Patience(), may_end=False) == BLOCKED
    assert world.signals == []


def test_a_managed_daemon_asks_the_owner_to_go_and_waits() -> None:
    """Guards socket activation: an owner that answers has to go, a stranger is not touched."""
    polite = World(answers_at=0, reacts_to={signal.SIGTERM: "ends"})
    assert take_over(polite, 2) and polite.signals == [signal.SIGTERM]
    stubborn = World(answers_at=0)
    assert not take_over(stubborn, 2) and stubborn.signals == [signal.SIGTERM]
    stranger = World(running=False)
    assert not take_over(stranger, 2) and stranger.signals == []
    free = World(free_at=0)
    assert take_over(free, 2) and free.signals == []


@dataclass
class Sleeper(World):
    """A machine that is suspended at some time of its own, for hours; afterwards its owner needs
    a moment to answer, as it does at any time."""

    suspended_at: float = float("inf")
    answers_after: float = 1.5

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.time >= self.suspended_at:
            self.suspended_at = float("inf")
            self.time += 8 * 3600
            self.answers_at = self.time + self.answers_after


@pytest.mark.parametrize("suspended_at", [0.1, 15.0, 29.9, 30.1, 31.5])
def test_nobody_is_ended_because_the_machine_slept(suspended_at: float) -> None:
    """Guards a healthy owner: hours pass between two looks of a candidate, before or after it has
    woken the owner, and are no silence."""
    world = Sleeper(suspended_at=suspended_at)
    assert contend(world, Patience(), may_end=True) == SERVED
    assert world.signals == ([] if suspended_at < 30 else [signal.SIGCONT])


def test_a_successor_waits_for_an_owner_that_slept_too() -> None:
    """Guards a hand-over that the machine's sleep came between."""
    world = Sleeper(suspended_at=5.0)
    before = OwnerRecord(77, "start", "", 0, "", "")

    def freed() -> bool:
        return world.time >= world.answers_at

    world.take_lock = freed  # type: ignore[method-assign]
    assert wait_for_lock(world, before, 30.0) == OWN and not world.said
