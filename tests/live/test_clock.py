"""A wall clock that jumps, and a machine that was suspended, under a running daemon."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hmd.daemon.ready import READY
from tests.live.instance import PATIENCE_S, Instance

pytestmark = pytest.mark.live

HOUR = 3600
# Daemon and hooks read the wall through this: a file says by how many seconds it is off.
_WALL = """
import time
def _wall(true, per_second, file={file!r}):
    def read():
        with open(file) as opened:
            return true() + int(opened.read()) * per_second
    return read
time.time, time.time_ns = _wall(time.time, 1), _wall(time.time_ns, 10**9)
"""


class Wall:
    def __init__(self, instance: Instance) -> None:
        self._file = instance.directory / "wall"
        self.code = _WALL.format(file=str(self._file))
        self.set(0)

    def set(self, seconds: int) -> None:
        self._file.with_suffix(".new").write_text(str(seconds))
        self._file.with_suffix(".new").rename(self._file)


class User:
    """A project with one rule, a daemon and hooks, all on the same wall clock."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.wall = Wall(instance)
        self.daemon = instance.start(before=self.wall.code)
        instance.install()
        self.project = instance.project()
        instance.rule(self.project, "npm test")
        self.calls = 0

    def denied(self) -> bool:
        """Whether the rule holds."""
        self.calls += 1
        payload = {
            "session_id": "s1",
            "cwd": str(self.project),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "npm test"},
            "tool_use_id": f"u{self.calls}",
        }
        done = self.instance.hook("PreToolUse", payload, before=self.wall.code)
        assert done.returncode == 0 and not done.stderr
        return b'"deny"' in done.stdout

    def answered(self) -> int:
        """How many of them the daemon has decided."""
        return int(self.instance.call("status", cwd=str(self.project))["decisions"].get("deny", 0))

    def healthy(self) -> None:
        """The owner is the one from before, and nobody has laid a hand on it."""
        assert self.instance.serving_pid() == self.daemon.pid
        process, reading = self.instance.candidate(before=self.wall.code)
        assert self.instance.words(reading) == READY
        assert process.wait(timeout=PATIENCE_S) == 0  # it lost: the home is served
        assert self.instance.serving_pid() == self.daemon.pid
        log = self.instance.log()
        assert not [word for word in ("waking", "ending", "killing", "fails") if word in log]


@pytest.mark.parametrize("jumps", [(6 * HOUR,), (-24 * HOUR,), (24 * HOUR, 0, -6 * HOUR, 400)])
def test_a_wall_that_jumps_changes_nothing(instance: Instance, jumps: tuple[int, ...]) -> None:
    """Guards every timer that might read the wall: the first call after a jump is answered by the
    daemon, changes last in order, nobody starts or ends one."""
    user = User(instance)
    assert user.denied() and user.answered() == 1
    for jump in jumps:
        user.wall.set(jump)
        before = user.answered()
        assert user.denied() and user.answered() == before + 1
        instance.call("memory.add", {"summary": f"jump by {jump}"}, cwd=str(user.project))
    user.healthy()
    listed = instance.call("memory.list", {"limit": 10}, cwd=str(user.project))["rows"]
    found = {one["summary"]: one["recorded_at"] for one in listed if "jump" in one["summary"]}
    assert sorted(found.values()) == [found[f"jump by {jump}"] for jump in jumps]


def test_a_mark_from_before_the_jump_keeps_nobody_from_the_daemon(instance: Instance) -> None:
    """Guards the marks of hooks: one that says "skip the socket" or "somebody is starting it" is
    about seconds, whichever way the wall has gone since."""
    user = User(instance)
    for jump in (6 * HOUR, -24 * HOUR):
        Path(instance.home.skip).touch()
        Path(instance.home.start).write_text("1")
        before = user.answered()
        assert user.denied() and user.answered() == before  # the mark is new: decided alone
        user.wall.set(jump)
        assert user.denied() and user.answered() == before + 1
        user.wall.set(0)
    user.healthy()


def test_a_machine_that_was_suspended_goes_on(instance: Instance) -> None:
    """Guards the morning: daemon, hook and a candidate that bears with it were all asleep, and
    the wall is eight hours further. The first call is the daemon's, and it is the same one."""
    user = User(instance)
    os.kill(user.daemon.pid, signal.SIGSTOP)
    assert user.denied()  # alone
    candidate, reading = instance.candidate(before=user.wall.code)
    os.kill(candidate.pid, signal.SIGSTOP)
    user.wall.set(8 * HOUR)
    for process in (user.daemon, candidate):
        process.send_signal(signal.SIGCONT)
    before = user.answered()
    assert user.denied() and user.answered() == before + 1
    assert instance.words(reading) == READY and candidate.wait(timeout=PATIENCE_S) == 0
    user.healthy()


def test_a_hook_that_was_suspended_ends(instance: Instance) -> None:
    """Guards a host against a hook that hangs: it was stopped in the middle of its call."""
    user = User(instance)
    from client.boot import BOOT

    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", user.wall.code + BOOT, instance.home.path, "Stop"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=instance.environ,
    )  # fmt: skip
    assert process.stdin and process.stdout
    process.send_signal(signal.SIGSTOP)
    user.wall.set(8 * HOUR)
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(b'{"session_id": "s1", "hook_event_name": "Stop"}', PATIENCE_S)
    assert process.returncode == 0 and out == b""
    user.healthy()
