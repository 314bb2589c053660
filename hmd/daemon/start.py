"""Starts a daemon in the background: double fork, no terminal, root directory, named environment.

A host that ends a hook ends its whole process tree, sessions included; only a process whose parent
has already gone survives that. The environment is an allow-list so that what the daemon inherits
does not depend on which shell, agent or editor happened to start it.
"""

import os
import sys
from collections.abc import Mapping, Sequence

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.daemon.ready import understand

START_TIMEOUT_S = 15.0

# By name, or by prefix where the name ends with an underscore.
ENVIRONMENT = (
    "HOME", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "LANG", "LC_", "XDG_", "HMD_",
    "SSL_CERT_FILE", "SSL_CERT_DIR",
    # Windows (those of client/hook_windows.py)
    "APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP",
    "USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
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
    reading = machine.spawn(argv, allowed_environment(environ))
    try:
        words = machine.read_to_end(reading, timeout)
    except TimeoutError as error:
        raise HmdError("busy", f"the daemon did not get ready within {timeout:g} s") from error
    finally:
        os.close(reading)
    failure = understand(words)
    if failure is not None:
        raise failure
