"""Tells systemd how the daemon is: ready, leaving, alive (sd_notify(3)). Silent elsewhere."""

import os
import socket
from collections.abc import Mapping

_UNIX: int | None = getattr(socket, "AF_UNIX", None)  # Windows has none, and no systemd


class Notifier:
    """Sends to the socket that `NOTIFY_SOCKET` names. Whatever goes wrong is not our trouble."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        address = environ.get("NOTIFY_SOCKET", "")
        # An abstract socket is written with @ for its leading zero byte.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._watchdog = _watchdog(environ)

    @property
    def watchdog_s(self) -> float:
        """How often to say `alive`, in seconds; 0 where nobody watches."""
        return self._watchdog if self._address else 0.0

    def ready(self) -> None:
        self._say(f"READY=1\nMAINPID={os.getpid()}\nSTATUS=serving")

    def leaving(self, reason: str) -> None:
        self._say("STOPPING=1\nSTATUS=leaving: " + reason.replace("\n", " "))

    def alive(self) -> None:
        self._say("WATCHDOG=1")

    def _say(self, words: str) -> None:
        if not self._address or _UNIX is None:
            return
        try:
            with socket.socket(_UNIX, socket.SOCK_DGRAM) as sock:
                sock.setblocking(False)
                sock.sendto(words.encode(), self._address)
        except OSError:
            pass


def _watchdog(environ: Mapping[str, str]) -> float:
    """Half of what sd_watchdog_enabled(3) allows, as it recommends."""
    if environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return 0.0
    try:
        return max(0.0, int(environ.get("WATCHDOG_USEC", "0")) / 2_000_000)
    except ValueError:
        return 0.0
