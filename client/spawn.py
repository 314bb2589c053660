"""Starts the daemon from a hook: by double fork, since a host kills a hook's whole tree.

At most once in a few seconds across all stubs of a home; losing the race is fine, the daemon's own
lock decides. With a service installed stubs only connect.
"""

import fcntl
import os
import sys
import time

from client.hook import START_EVERY
from hmd.kernel.address import Home

assert sys.platform != "win32"  # there it is client/hook_windows.py

# The daemon inherits these and no others (no keys, no tokens of the host's).
INHERITED = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
)


def start(home: Home) -> bool:
    """Starts `hmd` detached; True if this process tried. Never raises."""
    try:
        if os.path.exists(home.service) or not _my_turn(home):
            return False
        with open(home.daemon_command, encoding="utf-8") as file:
            command = [line for line in file.read().split("\n") if line]
        if not command:
            return False
        child = os.fork()
        if child == 0:
            _detach(command)
        os.waitpid(child, 0)
    except OSError:
        return False
    return True


def _my_turn(home: Home) -> bool:
    os.makedirs(home.run, mode=0o700, exist_ok=True)
    descriptor = os.open(home.start, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        last = os.fstat(descriptor)
        # An empty mark is a fresh one: nobody has started the daemon through it yet.
        if last.st_size and abs(time.time() - last.st_mtime) < START_EVERY:
            return False
        os.pwrite(descriptor, b"1", 0)
        os.utime(descriptor)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _detach(command: "list[str]") -> None:
    """In the first child: a new session, the second fork, nothing inherited but the allow-list."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.closerange(3, 256)
        os.chdir("/")
        os.umask(0o077)
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        os.execve(command[0], command, env)
    finally:
        os._exit(127)
