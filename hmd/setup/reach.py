"""Whether a process here can reach the daemon's socket at all, and what keeps it from there.

Sandboxes of coding agents refuse sockets in several ways; "not running" would be the wrong answer
to all of them. Hooks run outside those sandboxes, so memory works on; only `hmctl` does not.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from hmd.core import machine
from hmd.kernel.address import Home

_REFUSED = (errno.EPERM, errno.EACCES)
# Set by the sandbox itself → whose it is, and the one setting that lets a socket through.
SANDBOXES = (
    (
        ("SANDBOX_RUNTIME",),
        "Claude Code's sandbox",
        'add "{socket}" to sandbox.network.allowUnixSockets in its settings',
    ),
    (
        ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
        "Codex' sandbox",
        "approve hmctl there, or set network_access = true under [sandbox_workspace_write]",
    ),
    (("container",), "a container", "share the home with it, or run hmctl outside"),
)


def obstacle(home: Home, env: Mapping[str, str]) -> tuple[str, str]:
    """(what keeps this process from the socket, what to do); two empty texts where nothing does."""
    address = home.socket
    try:
        machine.connect(address, 1.0).close()
    except OSError as error:
        if error.errno in _REFUSED:
            return _refused(address, env, str(error.strerror))
    return "", ""


def _refused(address: str, env: Mapping[str, str], why: str) -> tuple[str, str]:
    try:
        owner = os.lstat(address).st_uid
    except OSError:
        owner = machine.own_user()
    if owner != machine.own_user():
        return f"the socket belongs to user {owner}: {address}", "run hmctl as that user"
    for names, whose, do in SANDBOXES:
        if any(env.get(name) for name in names):
            return f"{whose} keeps this process from {address} ({why})", do.format(socket=address)
    return (
        f"a sandbox keeps this process from {address} ({why})",
        "run hmctl outside of it, or let it connect to that socket",
    )
