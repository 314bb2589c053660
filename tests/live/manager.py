"""A small service manager for one socket unit: binds, starts at the first call, starts again when
asked to. `python -m tests.live.manager systemctl …` answers like `systemctl --user` does.

It reads the units that were really written, so what is proved is what a user gets.
"""

import os
import select
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

STATE = "HMD_FAKE_SYSTEMD"  # a directory for what this manager must remember


def values(unit: Path) -> dict[str, str]:
    """The settings of a unit file; specifiers and quoting as far as our units use them."""
    pairs = (line.partition("=") for line in unit.read_text(encoding="utf-8").splitlines())
    return {key: value for key, _, value in pairs if value and not key.startswith(("#", "["))}


class SocketUnit:
    """The socket, and the service behind it."""

    def __init__(self, directory: Path, name: str) -> None:
        self.socket = values(directory / f"{name}.socket")
        self.service = values(directory / f"{name}.service")
        self.path = self.socket["ListenStream"].replace("%%", "%")
        self.child = 0

    def run(self) -> None:
        """Until SIGTERM."""
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        mode = int(self.socket["DirectoryMode"], 8)
        os.makedirs(os.path.dirname(self.path), mode, exist_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(self.path):
            os.unlink(self.path)
        mask = os.umask(0o777 - int(self.socket["SocketMode"], 8))
        listening.bind(self.path)
        os.umask(mask)
        listening.listen(int(self.socket["Backlog"]))
        print("listening", flush=True)  # noqa: T201
        again = False
        try:
            while True:
                if not again:
                    select.select([listening], [], [])
                again = self._serve(listening) == int(self.service["RestartForceExitStatus"])
        finally:
            if self.child:
                os.kill(self.child, signal.SIGTERM)
                os.waitpid(self.child, 0)
            if os.path.exists(self.path):
                os.unlink(self.path)

    def _serve(self, listening: socket.socket) -> int:
        """Starts the service and waits for its end; its exit code."""
        words = [word.replace("%%", "%") for word in shlex.split(self.service["ExecStart"])]
        self.child = os.fork()
        if self.child == 0:
            os.dup2(listening.fileno(), 3)
            os.set_inheritable(3, True)
            kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
            ours = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
            os.execve(words[0], words, {**kept, **ours})
        _, status = os.waitpid(self.child, 0)
        self.child = 0
        return os.waitstatus_to_exitcode(status)


def systemctl(words: list[str]) -> int:
    """What `systemctl --user` does with the words that hmd uses."""
    state = Path(os.environ[STATE])
    directory = Path(os.environ["HOME"], ".config/systemd/user")
    command, unit = words[0], words[-1].partition(".")[0]
    record = state / (unit + ".pid")
    if command == "enable":
        environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.manager", "run", str(directory), unit],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            start_new_session=True,
        )
        record.write_text(str(process.pid))
        assert process.stdout is not None
        return int(process.stdout.readline() != b"listening\n")
    if command == "disable" and record.exists():
        descriptor = os.pidfd_open(int(record.read_text()))
        signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        select.select([descriptor], [], [], 10)
        record.unlink()
    if command == "is-active":
        return 0 if record.exists() else 3
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "run":
        SocketUnit(Path(sys.argv[2]), sys.argv[3]).run()
    sys.exit(systemctl([word for word in sys.argv[2:] if not word.startswith("-")]))
