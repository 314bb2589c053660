"""Promise one: a session gets the same bytes whatever befalls the daemon while it lasts."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.live import contract
from tests.live.figures import Figure
from tests.live.host import Answer, Host, a_host
from tests.live.sessions import LEVELS, Step, session

pytestmark = pytest.mark.live

SHORT, LONG = 60, 300
# Called before each event with its number.
Condition = Callable[[int], None]


def nothing(_number: int) -> None:
    pass


@contextlib.contextmanager
def up(host: Host, _events: int) -> Iterator[Condition]:
    host.start()
    yield nothing


@contextlib.contextmanager
def killed(host: Host, _events: int) -> Iterator[Condition]:
    """SIGKILL; the socket stays behind, and nobody starts another daemon."""
    pid = host.start()
    host.hold()
    os.kill(pid, signal.SIGKILL)
    assert os.path.exists(host.home.socket)
    yield nothing
    host.release()


@contextlib.contextmanager
def stopped(host: Host, _events: int) -> Iterator[Condition]:
    """SIGSTOP: connections are taken by the kernel and nothing ever comes back."""
    pid = host.start()
    os.kill(pid, signal.SIGSTOP)
    yield nothing
    os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def unreadable(host: Host, _events: int) -> Iterator[Condition]:
    host.start()
    os.chmod(host.home.socket, 0)
    yield nothing
    os.chmod(host.home.socket, 0o600)


@contextlib.contextmanager
def alternating(host: Host, events: int) -> Iterator[Condition]:
    """All of them in turn, two rounds; after a kill the stubs start the next daemon themselves."""
    every = events // 8
    pid = 0
    logged = len(host.log_lines())

    def change(number: int) -> None:
        nonlocal pid
        phase = number // every % 4
        if number % every or number // every > 7:
            return
        if phase == 0:
            if pid:
                os.chmod(host.home.socket, 0o600)
            pid = host.start()
        elif phase == 1:
            host.log_lines(logged + number)  # a killed daemon's last lines of the log are lost
            os.kill(pid, signal.SIGSTOP)
        elif phase == 2:
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGKILL)
        else:
            pid = host.start()
            os.chmod(host.home.socket, 0)

    yield change
    os.chmod(host.home.socket, 0o600)


CONDITIONS = (up, killed, stopped, unreadable, alternating)
FEWER = (up, killed, alternating)  # alternating has all of them


def play(host: Host, project: Path, name: str, steps: list[Step], before: Condition) -> list[bytes]:
    printed = []
    for number, (event, fields) in enumerate(steps):
        before(number)
        payload = {
            "session_id": name,
            "transcript_path": f"/t/{name}.jsonl",
            "cwd": str(project),
            "hook_event_name": event,
            **fields,
        }
        answer: Answer = host.hook(event, payload, ordinary=True)
        assert not contract.problem(event, *answer), (number, answer)
        printed.append(answer.out)
    return printed


def check(
    host: Host,
    level: str,
    events: int,
    conditions: "tuple[Callable[[Host, int], AbstractContextManager[Condition]], ...]",
    figure: Figure,
) -> None:
    project = host.repository()
    host.install(project)
    for rule in LEVELS[level][0]:
        host.rule(project, *rule)
    steps = session(level, events)
    runs: dict[str, list[bytes]] = {}
    served = {}
    for condition in conditions:
        name = condition.__name__
        before = len(host.log_lines())
        if not LEVELS[level][0] and runs:
            # What a session teaches outlives it: another one begins where nothing was taught.
            project = host.repository(name)
            host.hmctl("project", "enable", cwd=project)
        with condition(host, events) as change:
            runs[name] = play(host, project, name, steps, change)
        lines = host.log_lines(before + events)[before:]
        served[name] = sum(" by=hmd " in line for line in lines)
        assert sum(" by=stub " in line for line in lines) + served[name] == events
        assert all(line.endswith(" ok") for line in lines)
        # One line in the ledger for each event, whoever wrote it; a daemon that wakes up again
        # adds nothing to what the stubs have decided meanwhile.
        host.start()
        assert len(host.ledger(name)) == events
    calls = [number for number, step in enumerate(steps) if step[0] == "PreToolUse"]
    answered = sum(1 for number in calls if runs["up"][number])
    for name, printed in runs.items():
        different = [n for n in range(events) if printed[n] != runs["up"][n]]
        assert not different, (name, steps[different[0]], printed[different[0]], runs["up"])
    assert served["up"] and not served["killed"] and not served.get("unreadable")
    assert 0 < served["alternating"] < events
    if level in ("deny", "confirm", "soft_deny"):
        assert answered * 2 >= len(calls)
    else:
        assert answered
    figure(
        f"{level}: {events} events, {len(calls)} calls, {answered} answered; "
        f"{len(conditions)} runs equal; answered by the daemon: {served}"
    )


@pytest.mark.parametrize("level", list(LEVELS))
def test_a_session_gets_the_same_bytes(host: Host, level: str, figure: Figure) -> None:
    """Guards the first promise for each level: up, killed, and alternating between all states."""
    check(host, level, SHORT, FEWER, figure)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("level", list(LEVELS))
def test_a_long_session_gets_the_same_bytes(host: Host, level: str, figure: Figure) -> None:
    """Guards the same over 300 events and with the daemon stopped or its socket closed to us all
    along: budgets, checkpoints and settled corrections included."""
    check(host, level, LONG, CONDITIONS, figure)


def test_the_validator_can_fail() -> None:
    """Guards the contract check itself: it refuses what the client would drop."""
    good = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"x"}}'
    assert not contract.problem("PreToolUse", 0, good, b"")
    assert contract.problem("PostToolUse", 0, good, b"")
    assert contract.problem("Stop", 0, good, b"")
    assert contract.problem("PreToolUse", 2, b"", b"")
    assert contract.problem("PreToolUse", 0, b"", b"oops")
    for bad in (b"[]", b"{} {}", b"{}", b'{"hookSpecificOutput":{}}', b"\xff", b'{"a":NaN}'):
        assert contract.problem("PreToolUse", 0, bad, b""), bad
    allow = good.replace(b"additionalContext", b"permissionDecision").replace(b'"x"', b'"allow"')
    assert contract.problem("PreToolUse", 0, allow, b"")
    long = good.replace(b'"x"', b'"' + b"x" * 10_001 + b'"')
    assert contract.problem("PreToolUse", 0, long, b"")


def test_hosts_are_closed_to_each_other() -> None:
    """Guards the suite: two hosts share no home, so no test can lean on another's daemon."""
    with a_host() as one, a_host() as two:
        assert one.home.path != two.home.path and one.home.socket != two.home.socket
