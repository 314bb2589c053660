"""One line per hook call: what was asked, what was answered, how long it took. Never what was said.

2026-11-29T22:00:01.234Z pre_tool tool=bash gen=42 activated=1 suppressed=17 decision=deny
delivery=before level=soft_deny dur=1.2ms by=hmd ok
"""

import time

from hmd.kernel import system
from hmd.kernel.address import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.answer import Outcome

LIMIT = 5 * 1024 * 1024
ROTATIONS = 3


_seconds: "dict[int, str]" = {}  # the latest second as text: many calls share one


def stamp(at: int) -> str:
    """ms since the epoch as ISO 8601 in UTC."""
    second = at // 1000
    text = _seconds.get(second)
    if text is None:
        try:
            moment = time.gmtime(second)
        except (OverflowError, ValueError, OSError):
            moment = time.gmtime(0)
        text = time.strftime("%Y-%m-%dT%H:%M:%S", moment)
        _seconds.clear()
        _seconds[second] = text
    return f"{text}.{at % 1000:03d}Z"


def line(header: "dict[str, str]", outcome: "Outcome", duration: float, by: str) -> str:
    """The line of one call, LF included. `duration` in seconds, `by` is hmd or stub."""
    at = header.get("at", "")
    event, verdict = outcome.event, outcome.verdict
    parts = [stamp(int(at)) if at.isdigit() and len(at) < 16 else "-"]
    parts.append(event.kind if event is not None else _word(header.get("event", "?")))
    if event is not None and event.call is not None:
        parts.append("tool=" + _word(event.call.tool))
    if verdict is not None:
        parts.append(f"gen={outcome.generation}")
        parts.append(f"activated={len(verdict.fired)} suppressed={len(verdict.suppressed)}")
        parts.append(f"decision={verdict.decision or 'none'} delivery={verdict.delivery}")
        if verdict.level:
            parts.append("level=" + verdict.level)
        if verdict.repeat:
            parts.append("repeat=1")
    parts.append(f"dur={duration * 1000:.1f}ms by={by} {outcome.status}")
    return " ".join(parts) + "\n"


def _word(text: str) -> str:
    """A host's name fit for a log line."""
    if text.isalnum():
        return text[:80]
    return "".join([char if char.isalnum() or char in ":/_.-" else "_" for char in text[:80]])


def append(home: Home, text: str) -> None:
    """Appends whole lines; a log that cannot be written is no reason to fail."""
    path = home.hook_log
    try:
        descriptor = system.open(
            path, system.O_WRONLY | system.O_APPEND | system.O_CREAT | system.O_CLOEXEC, 0o600
        )
    except FileNotFoundError:
        system.make_directories(home.logs)
        descriptor = system.open(
            path, system.O_WRONLY | system.O_APPEND | system.O_CREAT | system.O_CLOEXEC, 0o600
        )
    except OSError:
        return
    try:
        system.write(descriptor, text.encode("utf-8", "replace"))
        full = system.fstat(descriptor).st_size > LIMIT
    except OSError:
        full = False
    finally:
        system.close(descriptor)
    if full:
        rotate(path)


def rotate(path: str) -> None:
    """hooks.log → hooks.log.1 → … ; two rotations at once lose no line that is in a kept file."""
    for number in range(ROTATIONS - 1, 0, -1):
        try:
            system.replace(f"{path}.{number}", f"{path}.{number + 1}")
        except OSError:
            pass
    try:
        system.replace(path, path + ".1")
    except OSError:
        pass
