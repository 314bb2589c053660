"""Reads the logs under a home: their last lines, and what the hook log says of each event."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from hmd.core.errors import HmdError
from hmd.hosts.claude_code import EVENTS

_BLOCK = 1 << 16
_LINE = re.compile(r"(\S+) (\w+) .*?\bdur=([\d.]+)ms .*?(\S+)$")


@dataclass(frozen=True, slots=True)
class Calls:
    """Of one event: how many lines, the last one's time and status, and p95 in milliseconds."""

    count: int
    last: str
    status: str
    p95: float


def per_event(lines: list[str]) -> dict[str, Calls]:
    """What hook log lines say, by event; lines of another shape are passed over."""
    seen: dict[str, list[tuple[str, float, str]]] = {}
    for line in lines:
        found = _LINE.match(line)
        if found:
            at, event, duration, status = found.groups()
            # A call that was passed over at once is logged under the host's own name.
            event = EVENTS.get(event, event)
            seen.setdefault(event, []).append((at, float(duration), status))
    out = {}
    for event, calls in seen.items():
        times = sorted(duration for _, duration, _ in calls)
        p95 = times[min(len(times) - 1, int(len(times) * 0.95))]
        out[event] = Calls(len(calls), calls[-1][0], calls[-1][2], p95)
    return out


def last_lines(path: str, count: int) -> list[str]:
    """The last lines of a log and, where it was just begun anew, of the one before it."""
    data = b""
    for name in (path, path + ".1"):
        data = _tail(name, count - data.count(b"\n")) + data
        if data.count(b"\n") >= count:
            break
    return data.decode("utf-8", "replace").splitlines()[-count:]


def _tail(path: str, count: int) -> bytes:
    """The end of a file that holds `count` lines (or all of it)."""
    try:
        with open(path, "rb") as file:
            start = file.seek(0, os.SEEK_END)
            data = b""
            while start and data.count(b"\n") <= count:
                size = min(_BLOCK, start)
                start = file.seek(start - size)
                data = file.read(size) + data
            return data
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise HmdError("refused", f"the log cannot be read: {error.strerror}", path) from error
