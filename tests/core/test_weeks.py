"""Weeks as ISO 8601 counts them."""

from datetime import UTC, datetime

import pytest

from hmd.core.times import parse_time, week_name, week_of


@pytest.mark.parametrize(
    ("day", "name"),
    [("2024-12-30", "2025-W01"), ("2027-01-03", "2026-W53"), ("2026-02-09", "2026-W07")],
)
def test_names_at_the_turn_of_a_year(day: str, name: str) -> None:
    """Guards the days whose week belongs to another year."""
    assert week_name(parse_time(day)) == name


def test_a_week_has_one_name() -> None:
    """Guards that figures and names of a week agree: `week_of` is the Monday of the ISO week."""
    for day in range(800):
        at = parse_time("2024-01-01") + day * 86_400_000 + 5
        monday = datetime.fromtimestamp(week_of(at) / 1000, UTC)
        assert monday.isoweekday() == 1 and monday.hour == 0
        assert week_name(week_of(at)) == week_name(at)
