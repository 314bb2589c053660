"""Instants as people write them: text to milliseconds since the epoch and back, in UTC; and the
weeks they lie in."""

import re
from datetime import UTC, datetime, timedelta, timezone

from hmd.core.errors import HmdError

WEEK_MS = 7 * 86_400_000
# The epoch began on a Thursday; weeks begin on Mondays (ISO 8601).
_FIRST_MONDAY_MS = 4 * 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?",
)
_ACCEPTED = "write 2026-03-01 or 2026-03-01T14:30:00Z (an offset such as +09:00 is accepted)"


def parse_time(text: str) -> int:
    """Milliseconds since the epoch. Raises HmdError "usage".

    A date alone is its midnight in UTC; a time without an offset is UTC; digits below the
    millisecond are cut off. A day or an hour that does not exist is refused, not rolled over.
    """
    written = text.strip()
    date = _DATE.fullmatch(written)
    full = _INSTANT.fullmatch(written)
    # `\d` takes digits of every script; the format does not.
    if not written.isascii() or (date is None and full is None):
        raise HmdError("usage", f"'{text}' is not a time", do=_ACCEPTED)
    try:
        when = _at_midnight(date) if date else _instant(full) if full else _EPOCH
    except (ValueError, OverflowError) as error:
        raise HmdError("usage", f"'{text}' does not exist: {error}", do=_ACCEPTED) from None
    return (when - _EPOCH) // timedelta(milliseconds=1)


def _at_midnight(match: re.Match[str]) -> datetime:
    year, month, day = (int(part) for part in match.groups())
    return datetime(year, month, day, tzinfo=UTC)


def _instant(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
    second, fraction, offset = match.groups()[5:]
    micro = int((fraction or "0").ljust(9, "0")[:3]) * 1000
    zone = _zone(offset)
    when = datetime(year, month, day, hour, minute, int(second or 0), micro, tzinfo=zone)
    return when.astimezone(UTC)


def _zone(offset: str | None) -> timezone:
    if offset in (None, "Z"):
        return UTC
    digits = str(offset)[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if minutes > 59 or hours > 23:
        raise ValueError("offset must be below 24 hours")
    span = timedelta(hours=hours, minutes=minutes)
    return timezone(-span if str(offset)[0] == "-" else span)


def format_time(milliseconds: int) -> str:
    """The canonical form, `2026-03-01T14:30:00.000Z`: text order is time order (years 1..9999)."""
    when = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{when:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z".rjust(24, "0")


def week_of(at: int) -> int:
    """The Monday (00:00 UTC, ms) of the week that holds `at`."""
    return at - (at - _FIRST_MONDAY_MS) % WEEK_MS


def week_name(at: int) -> str:
    """The week that holds `at` as ISO 8601 writes it: "2026-W07"."""
    year, week, _ = (_EPOCH + timedelta(milliseconds=at)).isocalendar()
    return f"{year:04}-W{week:02}"
