"""Plays many host sessions at once through real stub code, and what may befall a daemon meanwhile.

`python -m tests.live.soak HOME PROJECT BUILD OUT SEED EVENTS LEVEL…` plays one session per level
name and writes a line per event. Each event is the stub itself in a process of its own, forked
instead of started: the interpreter's start is not what is looked at here.
"""

import gc
import importlib
import json
import os
import pkgutil
import posix
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from client import hook
from hmd.daemon.lifecycle import read_owner
from hmd.daemon.process import ask
from hmd.daemon.succession import System
from hmd.kernel import pattern
from hmd.kernel.address import Home
from tests.live.sessions import Step, session

_EVERYTHING = resource.RLIM_INFINITY


def name_of(number: int) -> str:
    return f"soak{number:03d}"


def body_of(project: str, name: str, step: Step) -> tuple[str, bytes]:
    event, fields = step
    fixed = {"session_id": name, "transcript_path": "", "cwd": project, "hook_event_name": event}
    return event, json.dumps({**fixed, **fields}).encode()


def play(event: str, body: bytes, home: str, build: str, env: dict[str, str]) -> bytes:
    """What the stub prints, run as the host runs it."""
    given = os.memfd_create("payload")
    os.write(given, body)
    os.lseek(given, 0, os.SEEK_SET)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(given, 0)
            os.dup2(writing, 1)
            os.closerange(3, 64)
            os.environ.clear()
            os.environ.update(env)
            posix.environ.clear()
            posix.environ.update({k.encode(): v.encode() for k, v in env.items()})
            hook.main(home, event, build)
        finally:
            os._exit(70)
    os.close(given)
    os.close(writing)
    out = b""
    while piece := os.read(reading, 65536):
        out += piece
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return out if status == 0 else b"exit %d" % os.waitstatus_to_exitcode(status)


def load_once() -> None:
    """Imports what a hook that decides alone imports, so that its forks need not: that time, too,
    is not what is looked at here."""
    for package in ("client", "hmd.kernel", "hmd.hosts"):
        found = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(found, package + "."):
            if "windows" not in module.name:
                importlib.import_module(module.name)
    # A hook has these from where install froze them; a fork must not take them for its own.
    pattern._missed.clear()


def drive(home: str, project: str, build: str, out: Path, first: int, events: int,
          levels: list[str]) -> None:  # fmt: skip
    """Plays the sessions turn by turn, one event of each after the other."""
    env = {"HOME": str(Path(home).parent), "PATH": "/usr/bin:/bin"}
    scripts = [session(level, events) for level in levels]
    load_once()
    gc.freeze()  # forks share what is never looked at again
    os.chdir(project)
    with open(out, "w", encoding="utf-8") as results:
        for position in range(max(map(len, scripts))):
            for number, script in enumerate(scripts, first):
                if position < len(script):
                    event, body = body_of(project, name_of(number), script[position])
                    began = time.monotonic()
                    answer = play(event, body, home, build, env)
                    line = [number, position, event, answer.decode(), time.monotonic() - began]
                    results.write(json.dumps(line) + "\n")


class Trouble:
    """What befalls the daemon of a home, at random, until `end`. Only the recorded owner is ever
    touched, and only while its start time proves that it is the one."""

    def __init__(self, home: Home, seed: int, upgrade: Callable[[], object]) -> None:
        self._home = home
        self._random = random.Random(seed)
        self._upgrade = upgrade
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.counts: dict[str, int] = {}

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        kinds: list[Callable[[int], object]] = [
            self.killed, self.stopped, self.upgraded, self.without_disk, self.without_descriptors,
        ]  # fmt: skip
        while not self._ended.wait(self._random.uniform(0.5, 2.0)):
            owner = read_owner(self._home)
            world = System(self._home, "", lambda: False, lambda _: None)
            if owner is None or not world.is_running(owner.pid, owner.start):
                continue
            kind = self._random.choice(kinds)
            try:
                kind(owner.pid)
            except ProcessLookupError:
                continue
            self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + 1

    def killed(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)

    def stopped(self, pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(self._random.uniform(0.2, 1.5))
        os.kill(pid, signal.SIGCONT)

    def upgraded(self, pid: int) -> None:
        """A client of a higher version asks for the home, then its daemon is started."""
        ask(self._home.socket, "ping", "999.0.0", 2.0)
        self._upgrade()

    def without_disk(self, pid: int) -> None:
        self._starve(pid, resource.RLIMIT_FSIZE, 0)

    def without_descriptors(self, pid: int) -> None:
        self._starve(pid, resource.RLIMIT_NOFILE, 8)

    def _starve(self, pid: int, what: int, limit: int) -> None:
        _, hard = resource.prlimit(pid, what)
        before = resource.prlimit(pid, what, (limit, hard))
        time.sleep(self._random.uniform(0.1, 0.6))
        resource.prlimit(pid, what, before)


def resident_kb(pid: int) -> int:
    with open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * 4


def read_results(path: Path) -> list[list[Any]]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    drive(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]),
          int(sys.argv[6]), sys.argv[7:])  # fmt: skip
