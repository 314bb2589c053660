"""Who the daemon of a home is: its private directories, the lock, the record of the owner.

Ownership is an advisory lock on `run/<machine>/lock`, held as long as the process lives; the kernel
drops it however the process ends. `daemon.json` only says who holds it.
"""

import contextlib
import json
import os
import stat
import time

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.daemon.process import start_time
from hmd.kernel.address import Home


class OwnerRecord:
    """The process that held the lock when it wrote this: its id, start time and build."""

    __slots__ = ("build", "manager", "pid", "socket", "start", "started_ms")

    def __init__(
        self, pid: int, start: str, build: str, started_ms: int, socket: str, manager: str
    ) -> None:
        self.pid = pid
        self.start = start
        self.build = build
        self.started_ms = started_ms
        self.socket = socket
        self.manager = manager

    @classmethod
    def of_this_process(cls, home: Home, build: str, manager: str) -> "OwnerRecord":
        pid = os.getpid()
        now = time.time_ns() // 1_000_000
        return cls(pid, start_time(pid), build, now, home.socket, manager)

    def as_json(self) -> bytes:
        return json.dumps({name: getattr(self, name) for name in self.__slots__}).encode()


def read_owner(home: Home) -> OwnerRecord | None:
    """The recorded owner, None where there is no readable record."""
    try:
        with open(home.daemon, "rb") as file:
            data = json.loads(file.read())
        return OwnerRecord(
            int(data["pid"]),
            str(data["start"]),
            str(data.get("build", "")),
            int(data.get("started_ms", 0)),
            str(data.get("socket", "")),
            str(data.get("manager", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def ensure_private(path: str) -> None:
    """Makes `path` a directory only this user can enter, or refuses it; never changes a mode.

    Raises HmdError `refused` with the command that repairs it.
    """
    if not os.path.isdir(path):
        parent = os.path.dirname(path)
        if parent and not os.path.isdir(parent):
            os.makedirs(parent, mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, mode=0o700)
    status = os.stat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise HmdError(
            "refused", "not a directory", path, f"move it away: mv '{path}' '{path}.old'"
        )
    if status.st_uid != machine.own_user():
        raise HmdError(
            "refused",
            f"the directory belongs to user {status.st_uid}, not to user {machine.own_user()}",
            path,
            "give it to the user who runs hmd, or set HMD_HOME to a directory of this user",
        )
    if machine.others_enter(status):
        raise HmdError(
            "refused",
            f"other users can enter the directory (mode {stat.S_IMODE(status.st_mode):04o})",
            path,
            f"run: chmod 700 '{path}'",
        )


def prepare(home: Home) -> None:
    """The directories that must exist and be private before anything is written into them."""
    ensure_private(home.path)
    for path in (home.path + "/run", home.run, home.logs):
        ensure_private(path)
    directory = home.socket_directory
    if directory not in ("", home.run):
        if os.path.islink(directory):  # it stands in a place where every user may write
            raise HmdError("refused", "a symbolic link", directory, f"run: rm '{directory}'")
        ensure_private(directory)


class Lock:
    """An advisory lock on a file, held until `release` or the end of the process."""

    __slots__ = ("_file", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = -1

    def take(self) -> bool:
        """Takes the lock now or returns False."""
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | machine.NOT_INHERITED, 0o600)
            if not machine.try_lock(descriptor):
                os.close(descriptor)
                return False
            self._file = descriptor
            if self.held():
                return True
            # Someone removed the file between open and flock: this lock guards nothing.
            self.release()

    def held(self) -> bool:
        """Whether the file at the path is still the one that we hold locked."""
        if self._file < 0:
            return False
        try:
            there, ours = os.stat(self.path), os.fstat(self._file)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Ownership:
    """The lock on a home, and the record that says so."""

    def __init__(self, home: Home, lock: Lock, record: OwnerRecord) -> None:
        self.home = home
        self.lock = lock
        self.record = record

    def announce(self) -> None:
        """Writes `daemon.json`; a reader sees the old one or the new one, whole."""
        fresh = self.home.daemon + ".new"
        with open(fresh, "wb") as file:
            file.write(self.record.as_json())
        machine.replace(fresh, self.home.daemon)

    def release(self) -> None:
        """Removes the record if it is ours, then lets the lock go. The last act of a daemon."""
        there = read_owner(self.home)
        if there and (there.pid, there.start) == (self.record.pid, self.record.start):
            with contextlib.suppress(OSError):
                os.unlink(self.home.daemon)
        self.lock.release()
