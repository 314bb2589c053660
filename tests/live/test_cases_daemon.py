"""The daemon killed, deaf or without its socket: calls are answered, and a serving daemon comes
back by itself (O-09, O-10); no event is lost while the store is locked (O-12)."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from client.hook import DEADLINE
from tests.live.figures import Figure
from tests.live.host import Host, Session
from tests.live.instance import PATIENCE_S

pytestmark = pytest.mark.live

# The contract's bound for a call is held at ten times its value (and a process takes a moment).
BOUND_S = 10 * DEADLINE


def ready(host: Host) -> Session:
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    return Session(host, project)


def timed(session: Session, commands: list[str]) -> tuple[list[str], float]:
    """The decisions on calls one after another, and the longest time that one took (s)."""
    found, longest = [], 0.0
    for command in commands:
        began = time.monotonic()
        found.append(session.pre(command).decision)
        longest = max(longest, time.monotonic() - began)
    return found, longest


def serves_again(host: Host, seconds: float = PATIENCE_S) -> int:
    """The process id of a daemon that answers, waited for; 0 if none comes."""
    end = time.monotonic() + seconds
    while not (pid := host.instance.serving_pid()) and time.monotonic() < end:
        time.sleep(0.05)
    return pid


def by(host: Host) -> str:
    """Who wrote the newest line of the hook log."""
    return host.log_lines()[-1].rpartition(" by=")[2].split()[0]


def test_killed_hard_it_comes_back_by_itself(host: Host, figure: Figure) -> None:
    """Guards O-09: socket and record stay behind; eleven calls are answered in time, without a
    word on stderr, and exactly one daemon listens in the end."""
    session = ready(host)
    dead = host.start()
    os.kill(dead, signal.SIGKILL)
    assert os.path.exists(host.home.socket) and os.path.exists(host.home.daemon)
    found, longest = timed(session, ["git push", *["git status"] * 10])
    assert found == ["deny", *[""] * 10]
    assert longest < BOUND_S
    pid = serves_again(host)
    assert pid not in (0, dead) and host.daemons_left(pid) == [pid]
    lines = len(host.log_lines())
    assert session.pre("git push").decision == "deny"
    host.log_lines(lines + 1)
    assert by(host) == "hmd"
    assert host.instance.log().count("ready") < 4  # nothing loops
    figure(f"O-09: longest of 11 calls after SIGKILL {longest * 1000:.0f} ms; one daemon again")


def _garbage_record(host: Host) -> None:
    Path(host.home.daemon).write_text('{"pid": 1, "start": "x"}')


def _no_record(host: Host) -> None:
    Path(host.home.daemon).unlink()


def _file_for_socket(host: Host) -> None:
    Path(host.home.socket).unlink()
    Path(host.home.socket).write_text("no socket")


def _no_run(host: Host) -> None:
    os.rename(host.home.run, host.home.run + ".away")


@pytest.mark.parametrize("leave", [_garbage_record, _no_record, _file_for_socket, _no_run])
def test_what_a_dead_daemon_left_stops_nobody(host: Host, leave: Callable[[Host], None]) -> None:
    """Neighbours of O-09: a foreign record, none, a plain file where the socket was, no directory:
    answered alone, and served again by the stubs' own doing."""
    session = ready(host)
    os.kill(host.start(), signal.SIGKILL)
    leave(host)
    assert session.pre("git push").decision == "deny"
    end = time.monotonic() + PATIENCE_S
    while not host.instance.serving_pid() and time.monotonic() < end:
        assert session.pre("git push").decision == "deny"
        time.sleep(0.3)
    serving = host.instance.serving_pid()
    assert host.daemons_left(serving) == [serving]


def test_its_socket_deleted_it_serves_again(host: Host, figure: Figure) -> None:
    """Guards O-10: the same process is back at its address without anyone's help."""
    session = ready(host)
    pid = host.start()
    os.unlink(host.home.socket)
    found, longest = timed(session, [*["ls"] * 9, "git push", *["ls"] * 10])
    assert found == [*[""] * 9, "deny", *[""] * 10]
    assert longest < BOUND_S
    assert serves_again(host) == pid and host.daemons_left(pid) == [pid]
    figure(f"O-10, socket deleted: longest of 20 calls {longest * 1000:.0f} ms; same daemon back")


def test_stopped_it_is_woken_by_a_candidate_of_the_stubs(host: Host, figure: Figure) -> None:
    """Guards O-10's variant: a live process that answers nothing is bypassed within the bound, and
    stubs alone bring about a candidate that wakes it. (The candidate's patience of half a minute is
    shortened by its own option, in the file that stubs start it from.)"""
    session = ready(host)
    pid = host.start()
    command = Path(host.home.daemon_command)
    command.write_text(command.read_text() + "--patience\n0.5\n")
    os.kill(pid, signal.SIGSTOP)
    found, longest = timed(session, [*["ls"] * 9, "git push", *["ls"] * 10])
    assert found == [*[""] * 9, "deny", *[""] * 10]
    assert longest < BOUND_S
    end = time.monotonic() + 2 * PATIENCE_S
    calls = 20
    while not host.instance.serving_pid() and time.monotonic() < end:
        assert session.pre("git push").decision == "deny"
        calls += 1
        time.sleep(0.2)
    assert host.instance.serving_pid()
    assert "waking the daemon" in host.instance.log()
    assert [line["e"] for line in host.ledger("s1")] == [
        f"pre_tool:toolu_s1_{number}" for number in range(1, calls + 1)
    ]  # what it read after waking up was decided long ago, and it left it alone
    figure(f"O-10, SIGSTOP: longest of 20 calls {longest * 1000:.0f} ms; woken by a candidate")


def test_a_late_answer_makes_no_second_daemon(host: Host) -> None:
    """A neighbour: a daemon that was deaf for a moment stays the only one; a candidate that a stub
    started meanwhile finds that it answers, and goes."""
    session = ready(host)
    pid = host.start()
    os.kill(pid, signal.SIGSTOP)
    assert session.pre("git push").decision == "deny"
    os.kill(pid, signal.SIGCONT)
    end = time.monotonic() + PATIENCE_S
    while host.daemons() != [pid] and time.monotonic() < end:
        time.sleep(0.1)
    assert host.daemons() == [pid] == [host.instance.serving_pid()]
    assert len(host.ledger("s1")) == 1


def test_a_stranger_at_the_address_is_no_daemon(host: Host) -> None:
    """A neighbour: who takes connections and answers nonsense is taken for nobody."""
    import socket
    import threading

    session = ready(host)
    host.stop()
    Path(host.home.socket).unlink(missing_ok=True)
    stranger = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stranger.bind(host.home.socket)
    stranger.listen()
    answers = [
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"hmd1 ok 99999\n{}",
        b"hmd1 ok -5\n",
        b"",
        b"\n" * 70000,
    ]

    def speak() -> None:
        for words in answers:
            taken, _ = stranger.accept()
            with taken:
                taken.sendall(words)

    thread = threading.Thread(target=speak)
    thread.start()
    for _ in answers:
        assert session.pre("git push").decision == "deny"
        Path(host.home.skip).unlink(missing_ok=True)
    thread.join(PATIENCE_S)
    stranger.close()
    os.unlink(host.home.socket)


LOCKS = ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]


@pytest.mark.parametrize("lock", LOCKS)
def test_no_event_is_lost_while_someone_holds_the_database(
    host: Host, lock: str, figure: Figure
) -> None:
    """Guards O-12: fifty events of four sessions and a memory by hand, while another process holds
    a lock; each event once and in order, each call within the bound, the memory kept."""
    session = ready(host)
    host.start()
    other = sqlite3.connect(host.home.database, isolation_level=None)
    other.execute(lock)
    sessions = [Session(host, session.project, f"l{number}") for number in range(4)]

    def send(one: Session) -> float:
        longest = 0.0
        for _ in range(13 if one.name in ("l0", "l1") else 12):
            began = time.monotonic()
            one.send("PostToolUse", **one.call(command="make"), tool_response={"stdout": "ok"})
            longest = max(longest, time.monotonic() - began)
        return longest

    add = ["memory", "add", "--summary", "said meanwhile", "--active"]
    with ThreadPoolExecutor(5) as pool:
        change = pool.submit(host.hmctl, *add, cwd=session.project, code=None)
        longest = max(pool.map(send, sessions))
        assert not change.done()
        other.execute("COMMIT")
        assert change.result().returncode == 0
    other.close()
    assert longest < 2 * BOUND_S  # four at a time on few cores
    for one in sessions:
        wanted = [f"post_tool:toolu_{one.name}_{number}" for number in range(1, one.uses + 1)]
        assert [line["e"] for line in host.ledger(one.name)] == wanted
    assert "said meanwhile" in host.hmctl("memory", "list", cwd=session.project).stdout
    figure(
        f"O-12, {lock}: 50 events of 4 sessions, none lost; longest call {longest * 1000:.0f} ms"
    )


def test_a_database_locked_too_long_acknowledges_nothing(host: Host) -> None:
    """A neighbour: a change that could not be made is said to have failed, and is not there."""
    session = ready(host)
    host.start()
    other = sqlite3.connect(host.home.database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    add = ["memory", "add", "--summary", "in vain", "--active"]
    done = host.hmctl(*add, cwd=session.project, code=None)
    assert session.pre("git push").decision == "deny"
    other.execute("COMMIT")
    other.close()
    listed = host.hmctl("memory", "list", cwd=session.project).stdout
    assert done.returncode == 75 and "in vain" not in listed


def test_a_daemon_started_under_a_lock_serves_hooks(host: Host) -> None:
    """A neighbour: verdicts need no database, so a locked one delays no hook."""
    session = ready(host)
    host.hmctl("daemon", "stop")
    other = sqlite3.connect(host.home.database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    session.pre("ls")
    assert serves_again(host)
    lines = len(host.log_lines())
    assert session.pre("git push").decision == "deny"
    host.log_lines(lines + 1)
    assert by(host) == "hmd"
    other.execute("COMMIT")
    other.close()
    host.hmctl("memory", "add", "--summary", "afterwards", cwd=session.project)
