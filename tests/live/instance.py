"""A real daemon in a home of its own, and real hook processes that speak to it."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hmd import link
from hmd.daemon.lifecycle import ensure_private
from hmd.daemon.process import ask
from hmd.daemon.ready import READY
from hmd.daemon.start import allowed_environment, command
from hmd.kernel.address import Home
from hmd.setup import copies

ROOT = Path(__file__).parents[2]
_RUN = """
from hmd.daemon.main import run
run()
"""
_OTHER_VERSION = (
    """
import hmd
hmd.__version__ = {!r}"""
    + _RUN
)
PATIENCE_S = 20.0  # how long a test waits for what must happen; it decides only about failure


@contextlib.contextmanager
def short_directory() -> Iterator[Path]:
    """A private directory whose name leaves room for a socket's path (pytest's own do not)."""
    path = Path(tempfile.mkdtemp(prefix="hmd-", dir="/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def wait_until_gone(pid: int, seconds: float) -> bool:
    """Returns when a process that is no child of ours has ended; False when it has not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def wait_for_end(process: "subprocess.Popen[bytes]") -> int:
    return process.wait(timeout=PATIENCE_S)


class Instance:
    """Daemons over one home. Everything that `start` started is ended by `close`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = Home(str(directory / "home"))
        self.environ = {**allowed_environment(os.environ), "HOME": str(directory)}
        self.processes: list[subprocess.Popen[bytes]] = []

    # -- daemons --

    def candidate(
        self,
        *options: str,
        environ: dict[str, str] | None = None,
        wait: bool = True,
        version: str = "",
        before: str = "",
    ) -> "tuple[subprocess.Popen[bytes], int]":
        """A daemon process and the reading end of its readiness pipe (-1 without `wait`).

        `version` makes it believe that it is of another version; `before` is code that it runs
        first.
        """
        argv = [*command(self.home.path), *options]
        if version:
            argv[argv.index("-m") : argv.index("-m") + 2] = ["-c", _OTHER_VERSION.format(version)]
        elif before:
            argv[argv.index("-m") : argv.index("-m") + 2] = ["-c", before + _RUN]
        reading, writing = os.pipe()
        if wait:
            argv += ["--ready-fd", str(writing)]
        process = subprocess.Popen(
            argv,
            env={**self.environ, **(environ or {})},
            pass_fds=[writing] if wait else [],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        os.close(writing)
        if not wait:
            os.close(reading)
            reading = -1
        self.processes.append(process)
        return process, reading

    def start(
        self,
        *options: str,
        environ: dict[str, str] | None = None,
        version: str = "",
        before: str = "",
    ) -> "subprocess.Popen[bytes]":
        """A daemon that has said it is ready."""
        process, reading = self.candidate(*options, environ=environ, version=version, before=before)
        words = self.words(reading)
        assert words == READY, f"the daemon did not get ready: {words!r}\n{self.log()}"
        return process

    @staticmethod
    def words(reading: int) -> bytes:
        """What a candidate said on its readiness pipe until it closed it."""
        with os.fdopen(reading, "rb") as pipe:
            return pipe.read()

    def ask(self, method: str, build: str = "", timeout: float = PATIENCE_S) -> Any:
        """The answer to a call without parameters, None when nobody answers."""
        found = ask(self.home.socket, method, build, timeout)
        return None if found is None else json.loads(found[1] or b"null")

    def status_of(self, method: str, build: str = "") -> str:
        found = ask(self.home.socket, method, build, PATIENCE_S)
        return "" if found is None else found[0]

    def serving_pid(self) -> int:
        """Process id of whoever answers a ping, 0 where nobody does."""
        found = self.ask("ping", timeout=1)
        return 0 if found is None else int(found["pid"])

    def call(self, method: str, body: object = None, **options: Any) -> Any:
        """A call as hmctl makes it, as plain data. Starts no daemon. Raises HmdError."""
        options.setdefault("start_daemon", False)
        options.setdefault("environ", self.environ)
        options.setdefault("cwd", str(self.directory))
        given = {} if body is None else body
        return link.call(self.home, method, given, dict[str, Any], **options)

    def project(self, name: str = "app") -> Path:
        """A repository (as far as anyone can tell) that is enabled."""
        path = self.directory / name
        (path / ".git").mkdir(parents=True)
        self.call("project.enable", {"path": str(path)})
        return path

    def rule(self, project: Path, command: str, level: str = "deny", **fields: Any) -> Any:
        """An active memory of a person that matches a command."""
        draft = {
            "summary": f"no {command} here",
            "signature": f"bash:command:cmd:{command}",
            "level": level,
            "active": True,
            **fields,
        }
        return self.call("memory.add", draft, cwd=str(project))["memory"]

    def log(self) -> str:
        try:
            return Path(self.home.daemon_log).read_text(encoding="utf-8")
        except OSError:
            return "(no log)"

    # -- hooks --

    def install(self) -> None:
        """What an install leaves for hooks: the code they run, under the home (by links, and not
        compiled: that takes a second)."""
        build = copies.package_build().name
        ensure_private(self.home.path)
        copy = Path(self.home.app) / build
        copy.mkdir(parents=True, exist_ok=True)
        for name in ("client", "hmd"):
            if not (copy / name).exists():
                (copy / name).symlink_to(ROOT / name)
        Path(self.home.app_current).write_text(build, encoding="utf-8")

    def hook(
        self, event: str, payload: "dict[str, Any] | bytes", before: str = "", **environ: str
    ) -> "subprocess.CompletedProcess[bytes]":
        """Runs the installed hook entry as a host does, after the code `before`; returns when it
        has ended."""
        from client.boot import BOOT

        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return subprocess.run(
            [sys.executable, "-I", "-S", "-c", before + BOOT, self.home.path, event],
            input=data,
            env={**self.environ, **environ},
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )

    # -- the end --

    def close(self) -> None:
        """Ends every process started here and whoever serves the home."""
        served_by = self.serving_pid()
        for process in self.processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                    process.kill()
            process.wait(timeout=PATIENCE_S)
            if process.stderr:
                process.stderr.close()
        if served_by and all(served_by != process.pid for process in self.processes):
            self.ask("stop", timeout=2)
            wait_until_gone(served_by, PATIENCE_S)
