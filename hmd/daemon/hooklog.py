"""One line per hook call that this daemon answered, written in batches and rotated.

Lines are appended whole (O_APPEND), because stubs that decided alone append to the same file.
They say what was decided and how long it took, never what a host or a user sent.
"""

import json
import os
from collections.abc import Callable

import trio

from hmd.daemon.log import rotate

SIZE = 5 << 20
FILES = 3
FLUSH_S = 0.5  # a line is on disk within a second
HELD_LIMIT = 1 << 20  # bytes kept while the disk takes none


class HookLog:
    """Buffers lines; `run` writes them. Lines that cannot be written are dropped, oldest first."""

    def __init__(self, path: str, *, debug: Callable[[], bool] = lambda: False) -> None:
        self._path = path
        self._debug = debug
        self._lines: list[bytes] = []
        self._held = 0
        self._something = trio.Event()

    def add(self, line: bytes) -> None:
        """Takes one line that ends with a newline."""
        self._lines.append(line)
        self._held += len(line)
        while self._held > HELD_LIMIT and len(self._lines) > 1:
            self._held -= len(self._lines.pop(0))
        self._something.set()

    def detail(self, values: dict[str, object]) -> None:
        """One JSON line of detail, where the debug switch is on."""
        if self._debug():
            self.add(json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n")

    def flush(self) -> None:
        """Writes what is held; keeps it for the next time where the file takes none of it."""
        data = b"".join(self._lines)
        self._something = trio.Event()
        if not data:
            return
        rotate(self._path, SIZE, FILES)
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError:
            return
        try:
            written = os.write(descriptor, data)
        except OSError:
            return
        finally:
            os.close(descriptor)
        rest = data[written:]
        self._lines = [rest] if rest else []
        self._held = len(rest)

    async def run(self) -> None:
        """Writes until cancelled; idle while there is nothing to write."""
        while True:
            await self._something.wait()
            await trio.sleep(FLUSH_S)
            self.flush()
