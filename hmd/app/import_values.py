"""Values out of another program's database, whatever its columns really hold.

SQLite keeps any value in any column, and files come damaged: each reader gives what it should be or
raises ValueError with the column's name, so that one row is left out and said, never the import.
"""

import json
import math
from typing import Any

from hmd.core.errors import HmdError
from hmd.core.times import parse_time

Row = dict[str, Any]


def text(row: Row, name: str, default: str = "", limit: int = 0) -> str:
    """A column's text; numbers as they are written. Raises ValueError."""
    value = row.get(name)
    if value is None:
        return default
    if isinstance(value, bytes):
        raise ValueError(f"its {name} is no text")
    said = str(value)
    if limit and len(said) > limit:
        raise ValueError(f"its {name} is longer than {limit} characters")
    return said


def number(row: Row, name: str, default: float, least: float, most: float) -> float:
    """A column's number, brought into its range. Raises ValueError."""
    value = row.get(name)
    if value is None:
        return default
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"its {name} is no number") from None
    if math.isnan(found):
        raise ValueError(f"its {name} is no number")
    return min(most, max(least, found))


def moment(row: Row, name: str) -> int | None:
    """A column's time in ms; None where it is empty. Raises ValueError."""
    said = text(row, name).strip()
    if not said:
        return None
    try:
        return parse_time(said)
    except HmdError as error:
        raise ValueError(f"its {name}: {error.what}") from None


def strings(row: Row, name: str) -> list[str] | None:
    """A column's JSON list of texts; None where it is empty. Raises ValueError."""
    said = text(row, name)
    if not said:
        return None
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"its {name} is no list of texts")
    return found
