"""A user on a machine of their own: a temporary home, an installation, one project, no agent."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import trio

from bench.memories import memories
from hmd.app import projects
from hmd.app.context import App, caller_at
from hmd.app.snapshots import Snapshots, record_of
from hmd.core.changes import AddMemory, Batch
from hmd.core.clock import SystemClock
from hmd.core.config import Config, verdict_settings
from hmd.core.ids import new_id
from hmd.core.memory import Content
from hmd.core.projects import ProjectRef
from hmd.daemon import start
from hmd.daemon.process import ask
from hmd.daemon.ready import READY
from hmd.hosts.table import HOSTS
from hmd.kernel import answer, payload
from hmd.kernel.address import Home
from hmd.kernel.files import FileSources
from hmd.kernel.project import adopt, locate
from hmd.kernel.snapshot import USER
from hmd.setup import copies, install
from hmd.setup.surroundings import base_interpreter
from hmd.store import snapshot_file
from hmd.store.store import Store

PYTHON_PASS = [base_interpreter().path, "-I", "-S", "-c", "pass"]  # what hooks run with
STORE_OPENS_S = 30.0


class User:
    """Everything of this user's lies under `directory`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = Home(str(directory / "home"))
        self.project = directory / "app"
        self.environ = {**start.allowed_environment(os.environ), "HOME": str(directory)}
        for name in ("HMD_HOME", "TMPDIR"):
            self.environ.pop(name, None)
        (self.project / ".git").mkdir(parents=True)
        self.project_id = ""
        self.kernel_hash = copies.kernel_hash()
        self._calls = itertools.count()

    # -- what a user has --

    def install(self) -> None:
        """Installs as `hmctl install` does, and enables the project."""
        options = install.Options(
            self.home.path, str(self.project), {**self.environ, "PATH": ""}, self_test=False
        )
        done = install.install(options, self._enable)
        if done.failed:
            raise SystemExit("bench: the installation failed: " + "; ".join(done.failed))

    def _enable(self, directory: str) -> None:
        location = locate(directory, (str(self.directory),))
        assert location is not None
        self.project_id = adopt(self.home, location)
        path = Path(self.home.project(self.project_id))
        path.write_text(json.dumps({"enabled": True, "locations": [location.common]}))

    def write_snapshot(self, number: int) -> None:
        """The snapshot of `number` memories, as the daemon would have written it."""
        settings = verdict_settings(Config(), str(self.project))
        for name, count in ((self.project_id, number), (USER, min(number, 50))):
            snapshot_file.write_base(
                Path(self.home.snapshot(name)),
                map(record_of, memories(count, None)),
                kernel_hash=self.kernel_hash,
                generation=1,
                settings=settings,
            )

    def fill_store(self, number: int) -> None:
        """`number` memories in the store, written by way of its journal."""
        trio.run(self._fill, number)

    async def _fill(self, number: int) -> None:
        clock = SystemClock()
        async with Store.open(self.home, clock, self.kernel_hash) as store:
            app = App(store, Snapshots(store, Config()), Config())
            caller = caller_at(self.home, str(self.project), "terminal", (str(self.directory),))
            await projects.enable(app, caller, ProjectRef(path=str(self.project)))
            rows = memories(number, self.project_id)
            changes: list[Any] = [
                AddMemory(
                    actor="terminal",
                    at=clock.now_ms(),
                    memory=new_id(),
                    version=new_id(),
                    project=self.project_id,
                    content=Content(**{k: getattr(row, k) for k in Content.__struct_fields__}),
                )
                for row in rows
            ]
            batch = Batch(actor="terminal", at=clock.now_ms(), changes=changes)
            await app.snapshots.commit(batch)

    def session(self, name: str, calls: int, commands: list[str]) -> None:
        """A host session of `calls` finished calls, written by the path that hooks take."""
        sources = FileSources(self.home, self.kernel_hash)
        for command in itertools.islice(itertools.cycle(commands), calls):
            for event in ("PreToolUse", "PostToolUse"):
                body = self.payload(event, name, command, again=event == "PostToolUse")
                header = self.header(event)
                answer.answer(sources, header, body, payload.decode(body), HOSTS)

    # -- what a host sends --

    def payload(
        self,
        event: str,
        session: str,
        command: str,
        again: bool = False,
        output: str = "done\n" * 40,
    ) -> bytes:
        """The bytes that a host writes to the hook of a shell call; `again`: of the same call."""
        number = next(self._calls)
        if again:
            number -= 1
        body: dict[str, Any] = {
            "session_id": session,
            "transcript_path": f"{self.directory}/{session}.jsonl",
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "as the user asked"},
            "tool_use_id": f"toolu_{number:022d}",
        }
        if event == "PostToolUse":
            body["tool_response"] = {"stdout": output, "stderr": "", "interrupted": False}
        return json.dumps(body).encode()

    def header(self, event: str) -> dict[str, str]:
        """The header of a stub's frame."""
        return {
            "proto": "1",
            "build": copies.current(self.home),
            "delivery": os.urandom(8).hex(),
            "host": "claude-code",
            "event": event,
            "at": str(time.time_ns() // 1_000_000),
            "cwd": str(self.project),
            "env.HOME": str(self.directory),
        }

    def hook(self, event: str) -> list[str]:
        """The hook entry that the installation wrote for an event, as the host runs it."""
        settings = json.loads((self.directory / ".claude" / "settings.json").read_text())
        entry = settings["hooks"][event][0]["hooks"][0]
        return [entry["command"], *entry["args"]]

    def spawn(self, argv: list[str], stdin: Path) -> None:
        """Runs a program in the project to its end, its output thrown away."""
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawn(argv[0], argv, self.environ, file_actions=actions)
        os.waitpid(pid, 0)

    # -- the daemon --

    @contextlib.contextmanager
    def daemon(self) -> Iterator[int]:
        """The process id of a daemon of this home whose store is open."""
        process = self.start()
        try:
            self._wait_for_store()
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)

    def start(self) -> "subprocess.Popen[bytes]":
        """Starts a daemon; returns when it has said that it is ready."""
        reading, writing = os.pipe()
        argv = [*start.command(self.home.path), "--ready-fd", str(writing)]
        process = subprocess.Popen(
            argv,
            env=self.environ,
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            if pipe.read() != READY:
                process.kill()
                raise SystemExit("bench: the daemon did not get ready")
        return process

    def _wait_for_store(self) -> None:
        end = time.monotonic() + STORE_OPENS_S
        while time.monotonic() < end:
            found = ask(self.home.socket, "ping", "", 5.0)
            if found is not None and json.loads(found[1]).get("ready"):
                return
            time.sleep(0.02)
        raise SystemExit("bench: the daemon did not open its store")


@contextlib.contextmanager
def user() -> Iterator[User]:
    """A user with an installation and an enabled project; everything is removed at the end."""
    # Short: the path of a socket has room for about a hundred bytes.
    directory = Path(tempfile.mkdtemp(prefix="hmd-bench-", dir="/tmp"))
    try:
        one = User(directory)
        one.install()
        yield one
    finally:
        shutil.rmtree(directory, ignore_errors=True)
