"""Makes the interpreter that runs it take itself for Windows: nothing POSIX is left in reach.

The standard library and what we depend on were written for both and are loaded as they are, before;
what is proved is ours. `os.name` stays: parts of the standard library look at it at run time.
"""

import ctypes
import importlib.abc
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import types
from collections.abc import Sequence
from typing import Any

HIDDEN = ("fcntl", "resource", "pwd", "termios", "posix", "grp", "pty", "tty", "syslog", "spwd")
GONE: dict[types.ModuleType, str] = {
    os: "fork forkpty O_CLOEXEC O_NOFOLLOW O_DIRECTORY geteuid getuid getegid getgid"
    " killpg setpriority getpriority nice pread pwrite setsid setpgid uname chown fchown lchown"
    " fchmod mkfifo PRIO_PGRP PRIO_PROCESS sysconf statvfs register_at_fork pidfd_open"
    " posix_fadvise sendfile sched_getaffinity getloadavg",
    signal: "SIGKILL SIGHUP SIGCONT SIGSTOP SIGUSR1 SIGUSR2 SIGCHLD SIGALRM SIGPIPE SIGQUIT"
    " pthread_sigmask SIG_BLOCK setitimer",
    socket: "AF_UNIX SO_PEERCRED SCM_RIGHTS CMSG_LEN CMSG_SPACE",
    select: "poll POLLIN",  # epoll is what trio runs on
}


class _Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class _Library:
    """A DLL: its functions take any attribute and are never called."""

    def __init__(self, name: str, use_last_error: bool = False) -> None:
        self._name = name

    def __getattr__(self, name: str) -> types.SimpleNamespace:
        function = types.SimpleNamespace()
        setattr(self, name, function)
        return function


def load_what_is_not_ours(names: Sequence[str]) -> None:
    for name in names:
        __import__(name)


def pretend() -> None:
    """Call it before any module of ours is imported."""
    assert not [name for name in sys.modules if name.split(".")[0] in ("hmd", "client")]
    load_what_is_not_ours(
        "trio msgspec sqlite3 aiosqlite typer rich.console rich.table rich.live"
        " asyncio subprocess socket shutil tempfile getpass platform plistlib http.client tomllib"
        " argparse zoneinfo webbrowser concurrent.futures difflib glob".split()
    )
    from tests.windows import api

    sys.platform = "win32"
    for name in HIDDEN:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Hidden())
    for module, names in GONE.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    flags: Any = os
    flags.O_BINARY = flags.O_NOINHERIT = 0
    flags.set_handle_inheritable = os.set_inheritable
    crt: Any = types.ModuleType("msvcrt")
    crt.LK_NBLCK = 2
    crt.get_osfhandle = lambda descriptor: descriptor
    crt.open_osfhandle = lambda handle, flags: handle
    sys.modules["msvcrt"] = crt
    system: Any = ctypes
    system.WinDLL, system.WinError, system.get_last_error = _Library, OSError, lambda: 0
    search: Any = shutil  # `which` asks the system, from 3.12 on
    search._winapi = types.SimpleNamespace(NeedCurrentDirectoryForExePath=lambda name: False)
    sockets: Any = socket
    sockets.socketpair = api.socketpair
    start: Any = subprocess
    start.STARTUPINFO = lambda **fields: types.SimpleNamespace(**fields)
    start.Popen = api.Popen

    from hmd.kernel import windows

    for name in api.WINDOWS:
        setattr(windows, name, getattr(api, name))
    import trio

    for name in api.COMPLETION_PORT:
        setattr(trio.lowlevel, name, getattr(api, name))
