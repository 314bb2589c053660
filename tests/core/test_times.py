"""Instants as people write them (memharness' grammar, with real dates only)."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.core.errors import HmdError
from hmd.core.times import format_time, parse_time
from tests.corpora import corpus


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        (" 2026-03-01T14:30 ", "2026-03-01T14:30:00.000Z"),
        ("2026-03-01 14:30:05", "2026-03-01T14:30:05.000Z"),
        ("2026-03-01T14:30:05.5Z", "2026-03-01T14:30:05.500Z"),
        ("2026-03-01T14:30:05.123999999Z", "2026-03-01T14:30:05.123Z"),
        ("2026-03-01T14:30:05+09:00", "2026-03-01T05:30:05.000Z"),
        ("2026-03-01T14:30-0330", "2026-03-01T18:00:00.000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000Z"),
    ],
)
def test_accepted(text: str, canonical: str) -> None:
    """Guards each form of the grammar by one example."""
    assert format_time(parse_time(text)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-02-30",
        "2026-13-01",
        "2025-02-29",
        "2026-03-01T24:00:00Z",
        "2026-03-01T10:60",
        "2026-03-01t10:00z",
        "2026-03-01  10:00",
        "2026-3-1",
        "2026-03-01T10:00:00.Z",
        "2026-03-01T10:00+9:00",
        "2026-03-01T10:00+24:00",
        "2026-03-01T10:00+09:99",
        "0001-01-01T00:00+01:00",
        "٢٠٢٦-٠٣-٠١",
    ],
)
def test_refused(text: str) -> None:
    """Guards that what does not exist is refused and never rolled over to another day."""
    with pytest.raises(HmdError) as caught:
        parse_time(text)
    assert caught.value.code == "usage"


@settings(
    derandomize=True, max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_format_and_parse_are_inverse_and_text_order_is_time_order(milliseconds: int) -> None:
    """Guards that no millisecond between the years 1 and 9999 is lost."""
    text = format_time(milliseconds)
    assert len(text) == 24
    assert parse_time(text) == milliseconds
    later = min(milliseconds + 86_400_000, 253_402_300_799_999)
    assert format_time(later) >= text


@pytest.mark.corpus
def test_conformance_corpus() -> None:
    """Guards against the reference implementation: what its core cases accept or refuse, we do,
    with the same result; its quirks (days that roll over) are refused here."""
    suite = json.loads(corpus("conformance/time.json").read_text(encoding="utf-8"))
    compared = 0
    for case in suite["cases"]:
        if case["level"] != "core":
            continue
        for step in case["steps"]:
            if step["op"] != "normalize_time":
                continue
            compared += 1
            text, expected = step["args"]["input"], step["expect"]
            if "error" in expected:
                with pytest.raises(HmdError):
                    parse_time(text)
            else:
                assert format_time(parse_time(text)) == expected["value"], text
    assert compared > 10
