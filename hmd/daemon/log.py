"""The daemon's own log: plain lines, rotated, never a word of what hosts or users sent.

An exception is written as the lines of code it passed through and its type. Its text is kept only
for types whose text comes from the system or from us; others quote the data they choked on.
"""

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Callable

from hmd.core import machine
from hmd.core.errors import HmdError

SIZE = 1 << 20
FILES = 3
_SPEAKS_FOR_ITSELF = (OSError, HmdError, AttributeError, TypeError, NameError, ImportError)


def rotate(path: str, size: int, files: int) -> None:
    """Moves `path` to `path.1` and so on, `files` files in all, once it holds `size` bytes."""
    try:
        if os.stat(path).st_size < size:
            return
    except OSError:
        return
    for number in range(files - 1, 0, -1):
        older = path if number == 1 else f"{path}.{number - 1}"
        with contextlib.suppress(OSError):
            machine.replace(older, f"{path}.{number}")


def stamp(now: float) -> str:
    """Local time with its offset, to the millisecond (ISO 8601)."""
    moment = time.localtime(now)
    zone = time.strftime("%z", moment)
    millis = int(now % 1 * 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}.{millis:03d}{zone}"


def describe(error: BaseException) -> str:
    """Where an exception came from, without what it may quote."""
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        lines.append(f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}")
    text = f": {error}" if isinstance(error, _SPEAKS_FOR_ITSELF) else ""
    name = type(error).__qualname__
    lines.append(f"  {name}{text}")
    if isinstance(error, BaseExceptionGroup):
        lines.extend(describe(part) for part in error.exceptions)
    return "\n".join(lines)


class Log:
    """Appends to `path`; trouble with the log itself never reaches its caller."""

    def __init__(
        self, path: str, *, echo: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = path
        self._echo = echo
        self._clock = clock
        self._last: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def line(self, text: str) -> bool:
        """Appends one entry; False where it could not be written."""
        entry = f"{stamp(self._clock())} [{os.getpid()}] {text}\n".encode("utf-8", "replace")
        if self._echo:
            with contextlib.suppress(OSError):
                os.write(sys.stderr.fileno(), entry)
        rotate(self._path, SIZE, FILES)
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | machine.NOT_INHERITED
            descriptor = os.open(self._path, flags, 0o600)
            try:
                return os.write(descriptor, entry) == len(entry)
            finally:
                os.close(descriptor)
        return False

    def trouble(self, doing: str, error: BaseException) -> None:
        self.line(f"{doing}: {type(error).__qualname__}\n{describe(error)}")

    def once_a_minute(self, about: str, text: str) -> None:
        """For what a client could repeat at will; says how often it was left unsaid."""
        now = self._clock()
        if about in self._last and 0 <= now - self._last[about] < 60:
            self._unsaid[about] = self._unsaid.get(about, 0) + 1
            return
        unsaid = self._unsaid.get(about, 0)
        if self.line(text + (f" (and {unsaid} more since)" if unsaid else "")):
            self._last[about] = now
            self._unsaid.pop(about, None)
