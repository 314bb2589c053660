"""Hands the home over to the package that an upgrade has put in the place of ours.

`pip install --upgrade` alone is an upgrade: the daemon sees that its files were replaced, waits
until the installer is through, and starts a successor from them. The successor loads everything and
switches the hooks' copy while this process still serves; only one that has said that it can serve
is made room for.
"""

import os
import sys
from collections.abc import Awaitable, Callable

import trio

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.daemon.log import Log
from hmd.daemon.package import Package
from hmd.daemon.ready import understand
from hmd.daemon.start import allowed_environment, command

EVERY_S = 1.0
# A package that is gone for so long was removed; until then it may be an installer's doing.
REMOVED_S = 60.0
# What a successor has to load and to copy; on a busy machine compiling takes seconds.
PROOF_S = 90.0
# A change that has begun is answered before the home changes hands.
DRAIN_S = 10.0


async def keep_up(
    package: Package, renew: Callable[[str], Awaitable[bool]], leave: Callable[[str], None]
) -> None:
    """Looks after the package on disk; leaves for a successor, or when the package is gone.

    `renew` makes room for a successor, unless it cannot serve. One that cannot is not tried again
    until the files change once more.
    """
    settled = seen = package.at_start
    missing = 0.0
    while True:
        await trio.sleep(EVERY_S)
        before, seen = seen, package.look()
        if seen is None:
            missing += EVERY_S
            if missing >= REMOVED_S:
                leave("the package was removed")
                return
            continue
        missing = 0.0
        if seen in (package.at_start, settled) or seen != before or not package.is_whole():
            continue
        settled = seen
        if await renew("the package was replaced"):
            return


class Successor:
    """Starts the process that follows this one. `managed`: a service manager starts it, so here
    the new build is only put to the proof."""

    def __init__(self, home: str, log: Log, *, managed: bool) -> None:
        self._argv = [*command(home), "prove" if managed else "succeed"]
        self._log = log

    async def prove(self) -> bool:
        try:
            process, reading = machine.start_child(self._argv, allowed_environment(os.environ))
        except OSError as error:
            self._log.line(f"no successor can be started: {sys.executable}: {error.strerror}")
            return False
        try:
            words = await trio.to_thread.run_sync(machine.read_to_end, reading, PROOF_S)
        except TimeoutError:
            words = b""
        finally:
            os.close(reading)
        failure = understand(words)
        if failure is None:
            return True
        if process.poll() is None:
            process.kill()  # ours, started above, and without an answer
        await trio.to_thread.run_sync(process.wait)
        self._log.line(
            f"the successor cannot serve, so this daemon stays: {_reason(words, failure)}"
        )
        return False


def _reason(words: bytes, failure: HmdError) -> str:
    return str(failure) if words else "it ended without a word"
