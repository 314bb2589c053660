"""SIGKILL at random moments while eight sessions work: nothing acknowledged is lost, nothing comes
twice, one daemon is left."""

import contextlib
import json
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.kernel.address import session_key
from hmd.kernel.turn import Turn, catch_up
from tests.live.figures import Figure
from tests.live.host import Host, Session
from tests.live.instance import PATIENCE_S

pytestmark = pytest.mark.live

SESSIONS = 8


class Worker:
    """One session: hook calls one after another, and now and then a memory by hand."""

    def __init__(self, host: Host, project: Path, number: int) -> None:
        self.host = host
        self.project = project
        self.number = number
        self.session = Session(host, project, f"k{number}")
        self.sent: list[str] = []  # event ids, in order
        self.added: list[str] = []  # summaries that were acknowledged
        self.unsure: list[str] = []  # summaries whose answer never came

    def work(self, done: threading.Event) -> None:
        while not done.is_set():
            for _ in range(3):
                call = self.session.call(command=f"make {len(self.sent)}")
                self.session.send("PostToolUse", **call, tool_response={"stdout": "ok"})
                self.sent.append("post_tool:" + call["tool_use_id"])
            self.add()

    def add(self) -> None:
        summary = f"k{self.number} learned {len(self.added) + len(self.unsure)}"
        draft = {"summary": summary, "active": True}
        try:
            self.host.instance.call(
                "memory.add", draft, cwd=str(self.project), environ=self.host.env, start_daemon=True
            )
        except HmdError:
            self.unsure.append(summary)
        else:
            self.added.append(summary)


def kill_at_random(host: Host, kills: int, seed: int) -> int:
    """Kills whoever serves, so often, each time some moments after it was seen alive."""
    dice = random.Random(seed)
    killed = 0
    end = time.monotonic() + kills * PATIENCE_S
    while killed < kills and time.monotonic() < end:
        pids = host.daemons()
        time.sleep(dice.uniform(0.01, 1.5))  # the random moment itself; nothing waits for it
        for pid in pids[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


def check(host: Host, kills: int, figure: Figure) -> None:
    project = host.repository()
    host.install(project)
    host.start()
    workers = [Worker(host, project, number) for number in range(SESSIONS)]
    done = threading.Event()
    with ThreadPoolExecutor(SESSIONS) as pool:
        running = [pool.submit(worker.work, done) for worker in workers]
        try:
            killed = kill_at_random(host, kills, seed=2)
        finally:
            done.set()
        for one in running:
            one.result()
    assert killed == kills
    host.start()
    reports = 0
    for worker in workers:
        name = worker.session.name
        lines = [str(line["e"]) for line in host.ledger(name)]
        assert list(dict.fromkeys(lines)) == worker.sent  # all of them, in order
        # A stub that gave up on a dying daemon may have reported once more; the fold counts one.
        reports += len(lines) - len(worker.sent)
        turn = Turn()
        assert catch_up(turn, host.home.ledger(session_key("claude-code", name)))
        assert list(turn.seen) == worker.sent[-len(turn.seen) :]
    rows = json.loads(
        host.hmctl("memory", "list", "--limit", "100000", "--json", cwd=project).stdout
    )["rows"]
    found = [row["summary"] for row in rows]
    assert len(found) == len(set(found))
    acknowledged = {summary for worker in workers for summary in worker.added}
    unsure = {summary for worker in workers for summary in worker.unsure}
    assert acknowledged <= set(found) <= acknowledged | unsure
    assert acknowledged
    for line in _snapshot_summaries(host):
        acknowledged.discard(line)
    assert not acknowledged  # what decides knows them all
    assert one_daemon_is_left(host)
    sent = sum(len(worker.sent) for worker in workers)
    figure(
        f"{killed} kills: {sent} events, none lost, {reports} reported again and counted once; "
        f"{len(found)} memories, {len(unsure)} of {len(unsure) + len(found)} adds without answer; "
        "one daemon"
    )


def _snapshot_summaries(host: Host) -> list[str]:
    from hmd.kernel.snapshot import open_snapshot

    host.hmctl("snapshot", "rebuild")
    found = []
    for path in Path(host.home.snapshots).iterdir():
        if not path.name.endswith(".tail"):
            snapshot = open_snapshot(str(path), "")
            found += (
                [str(record["summary"]) for record in snapshot.all_records()] if snapshot else []
            )
    return found


def one_daemon_is_left(host: Host) -> bool:
    """Candidates that lost the race need a moment to go."""
    end = time.monotonic() + PATIENCE_S
    while len(host.daemons()) != 1 and time.monotonic() < end:
        time.sleep(0.05)
    return host.daemons() == [host.instance.serving_pid()]


def test_some_kills(host: Host, figure: Figure) -> None:
    """Guards promise two under fire: acknowledged means kept, and kept once."""
    check(host, 15, figure)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_two_hundred_kills(host: Host, figure: Figure) -> None:
    """Guards the same for long."""
    check(host, 200, figure)


def test_ten_stubs_race_to_start_the_first_daemon(host: Host, figure: Figure) -> None:
    """Guards the start on demand: ten hooks at once are all answered, one daemon comes of it."""
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    host.stop()
    host.release()
    Path(host.home.start).unlink(missing_ok=True)
    assert host.daemons_left() == []
    sessions = [Session(host, project, f"r{number}") for number in range(10)]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda session: session.pre("git push").decision, sessions))
    assert answers == ["deny"] * 10
    end = time.monotonic() + PATIENCE_S
    while not host.instance.serving_pid() and time.monotonic() < end:
        time.sleep(0.05)
    assert one_daemon_is_left(host)
    figure("ten stubs at once and no daemon: all answered alone, one daemon afterwards")
