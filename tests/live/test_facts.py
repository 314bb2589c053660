"""Facts through a real daemon: the library, a kill, erasing, rules of the past."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.core.times import format_time
from hmd.memory import Memory
from tests.live.instance import Instance

pytestmark = pytest.mark.live
SECRET = "the guest lives behind the old mill"


@pytest.fixture
def memory(instance: Instance) -> Memory:
    instance.start()
    return Memory(instance.home.path, actor="terminal", cwd="/")


def test_the_library_asks_all_questions(memory: Memory) -> None:
    """Guards `from hmd.memory import Memory` over the socket."""
    box = memory.remember("build box", "runs Debian 11", valid_from="2026-01-01").fact
    assert box is not None
    new = memory.revise(box.id, "runs Debian 12", valid_from="2026-03-01").fact
    assert new is not None
    assert [row.fact for row in memory.recall("build box")] == ["runs Debian 12"]
    then = memory.recall("build box", valid_at="2026-02-01")
    assert [row.fact for row in then] == ["runs Debian 11"]
    assert [row.id for row in memory.why(new.id).ancestors] == [box.id]
    assert [pair.new.id for pair in memory.diff("2026-01-01").revised] == [new.id]
    assert [one.id for one in memory.near("build box", "it runs Debian 12")] == [new.id]
    memory.mark(new.id, pinned=True)
    assert [row.id for row in memory.recall(pinned=True)] == [new.id]
    memory.forget(new.id)
    assert memory.stats().current == 0
    memory.restore(new.id)
    assert memory.stats().current == 1
    with pytest.raises(HmdError, match="needs a fact"):
        memory.remember("build box", " ")


def test_a_fact_survives_kill_9_at_once(instance: Instance, memory: Memory) -> None:
    """Guards acknowledged facts against the death of the daemon right after the answer."""
    memory.remember("a", SECRET)
    (process,) = instance.processes
    process.kill()
    process.wait()
    instance.start()
    assert [row.fact for row in memory.recall()] == [SECRET]


def test_a_read_never_waits_for_a_writer(instance: Instance, memory: Memory) -> None:
    """Guards the answers while another process holds the database's lock for writing."""
    memory.remember("a", "b")
    with closing(sqlite3.connect(instance.home.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert [row.fact for row in memory.recall()] == ["b"]
        assert memory.stats().total == 1
        other.execute("ROLLBACK")
    memory.remember("a", "c")
    assert memory.stats().total == 2


def test_erasing_reaches_every_file_of_a_running_daemon(instance: Instance, memory: Memory) -> None:
    """Guards privacy with real files, the write-ahead log among them."""
    done = memory.remember("guest", SECRET).fact
    assert done is not None
    instance.call("db.backup", {})
    memory.forget(done.id, hard=True)
    files = [path for path in Path(instance.home.path).rglob("*") if path.is_file()]
    assert [path.name for path in files if SECRET.encode() in path.read_bytes()] == []


def test_why_asks_by_the_rules_that_were_in_force_then(instance: Instance) -> None:
    """Guards `hmctl why --at`: a rule that came later or is gone counts only in its own time."""
    instance.start()
    project = instance.project()
    before = format_time(time.time_ns() // 1_000_000 - 60_000)
    rule = instance.rule(project, "npm publish")
    during = format_time(rule["recorded_at"])
    instance.call("memory.reject", {"id": rule["id"]})
    answers = {}
    for at in (before, during, ""):
        words = ["why", "npm publish", "--no-silent", *(["--at", at] if at else [])]
        done = subprocess.run(
            [sys.executable, "-c", "from hmd.cli.main import run; run()", *words],
            cwd=project,
            env={**instance.environ, "HMD_HOME": instance.home.path},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        answers[at] = done.stdout.splitlines()[0]
    assert answers[during] == "the call is stopped"
    assert answers[before] == answers[""] == "the call passes"
