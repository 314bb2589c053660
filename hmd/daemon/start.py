"""Starts a daemon in the background: double fork, no terminal, root directory, named environment.

A host that ends a hook ends its whole process tree, sessions included; only a process whose parent
has already gone survives that. The environment is an allow-list so that what the daemon inherits
does not depend on which shell, agent or editor happened to start it.
"""

import os
import select
import sys
import time
from collections.abc import Mapping, Sequence

from hmd.core.errors import HmdError
from hmd.daemon.ready import understand

START_TIMEOUT_S = 15.0

# By name, or by prefix where the name ends with an underscore.
ENVIRONMENT = (
    "HOME", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "LANG", "LC_", "XDG_", "HMD_",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT",
)  # fmt: skip


def allowed_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables a daemon started from here may see."""
    return {
        name: value
        for name, value in environ.items()
        if any(
            name.startswith(known) if known.endswith("_") else name == known
            for known in ENVIRONMENT
        )
    }


def command(home: str) -> list[str]:
    """The command that runs a daemon for `home` in its own process.

    Isolated (no user site, no PYTHON* variables, no current directory on the path), and in UTF-8
    mode so that names of files mean the same under every locale.
    """
    return [sys.executable, "-I", "-X", "utf8", "-m", "hmd.daemon.main", "--home", home]


def start_and_wait(
    argv: Sequence[str], environ: Mapping[str, str], timeout: float = START_TIMEOUT_S
) -> None:
    """Starts `argv` and waits until the home is served. Raises HmdError with the reason it is not.

    Where another process serves the home already, the one started here only confirms that.
    """
    reading = spawn(argv, environ)
    try:
        words = _read_to_end(reading, timeout)
    finally:
        os.close(reading)
    error = understand(words)
    if error is not None:
        raise error


def _read_to_end(descriptor: int, timeout: float) -> bytes:
    """What arrives until the end of the pipe. Raises HmdError `busy` after `timeout` seconds."""
    end = time.monotonic() + timeout
    words = b""
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise HmdError("busy", f"the daemon did not get ready within {timeout:g} s")
        piece = os.read(descriptor, 4096)
        if not piece:
            return words
        words += piece


def spawn(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Runs `argv` as a daemon; returns the reading end of its readiness pipe.

    The pipe yields `ready` and a newline once the home is served (by the new process or by one
    that was there), or `failed` and an error as JSON; its end without a word means that the
    process died. The caller closes it.
    """
    reading, writing = os.pipe()
    environment = allowed_environment(environ)
    arguments = [*argv, "--ready-fd", str(writing)]
    child = os.fork()
    if child == 0:
        try:
            _become_daemon(arguments, environment, writing)
        finally:
            os._exit(127)
    os.close(writing)
    os.waitpid(child, 0)
    return reading


def _become_daemon(argv: list[str], environment: dict[str, str], ready: int) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.set_inheritable(ready, True)
    # Python's own descriptors close on exec; what the caller inherited from its host would not.
    os.closerange(3, ready)
    os.closerange(ready + 1, 4096)
    os.execve(argv[0], argv, environment)
