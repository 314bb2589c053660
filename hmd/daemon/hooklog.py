"""The hook log as the daemon writes it: held for a moment, appended in batches.

Format, rotation and the rule that nothing said is written are the kernel's (hmd/kernel/hooklog.py):
stubs that decided alone append to the same file.
"""

from collections.abc import Callable

import trio

from hmd.kernel import hooklog
from hmd.kernel.address import Home

FLUSH_S = 0.5  # a line is on disk within a second


class HookLog:
    """Holds lines; `run` writes them. `debug` says whether lines of detail are wanted."""

    def __init__(self, home: Home, debug: Callable[[], bool] = lambda: False) -> None:
        self.debug = debug
        self._home = home
        self._lines: list[str] = []
        self._something = trio.Event()

    def add(self, line: str) -> None:
        """Takes one line that ends with a newline."""
        self._lines.append(line)
        self._something.set()

    def flush(self) -> None:
        """Writes what is held, in one append; what the disk does not take is lost."""
        lines, self._lines = self._lines, []
        self._something = trio.Event()
        if lines:
            hooklog.append(self._home, "".join(lines))

    async def run(self) -> None:
        """Writes until cancelled; idle while there is nothing to write."""
        while True:
            await self._something.wait()
            await trio.sleep(FLUSH_S)
            self.flush()
