"""Prints: the answer on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from hmd.core.errors import HmdError

SHORT = 8  # hex digits of an identifier that people see


def clean(text: str) -> str:
    """Text fit for a terminal: what would move the cursor or hide is shown as its number."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else f"\\u{{{ord(char):x}}}" for char in text
    )


def line(text: str) -> str:
    """The same on one line."""
    return clean(" ".join(text.split()))


def write(text: str) -> None:
    """Prints as it is where another program reads; on a terminal fit for one. Raises HmdError where
    it cannot be written (BrokenPipeError where nobody reads any more)."""
    try:
        sys.stdout.write(clean(text) if sys.stdout.isatty() else text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from error


def flush() -> None:
    """Raises like `write`."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(error) from error


def _unwritten(error: OSError) -> HmdError:
    what = f"the answer cannot be written: {error.strerror}"
    return HmdError("busy", what, do="what was asked for may have been done")


def answer(text: str) -> None:
    """What was asked for."""
    write(clean(text).rstrip("\n") + "\n")


def json_answer(value: Any) -> None:
    """The answer as JSON, keys in a fixed order."""
    import msgspec  # late: only answers need it

    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(text), indent=2)  # ASCII: what any locale can print
    write("".join(map(_escaped, text)) + "\n")


def _escaped(char: str) -> str:
    """A character of JSON so that it moves no cursor; to every reader it is the same."""
    if char.isprintable() or char == "\n":
        return char
    return json.dumps(char)[1:-1]


def note(text: str) -> None:
    """A remark beside the answer."""
    sys.stderr.write(clean(text).rstrip("\n") + "\n")


def short(identifier: str | None) -> str:
    return (identifier or "")[:SHORT]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the last one is free."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    out = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        out.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(out)


def moment(ms: int | None) -> str:
    """An instant in UTC, to the second; "" for none."""
    import datetime  # late

    if ms is None:
        return ""
    try:
        at = datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return str(ms)
    return at.isoformat(" ", "seconds")[:19]


def duration(ms: int) -> str:
    """A span for people: its two largest units."""
    seconds = max(0, ms // 1000)
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts: list[str] = []
    for name, size in units:
        if seconds >= size or (name == "s" and not parts):
            parts.append(f"{seconds // size} {name}")
            seconds %= size
    return " ".join(parts[:2])
