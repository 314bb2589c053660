"""The live view: rates, and daemons that change between two looks; figures of `eval latency`."""

import pytest

from hmd.cli.top import view
from hmd.core.status import Counts, Latency, Status
from hmd.setup.latency import series


def status(calls: int, pid: int = 7, started: int = 1) -> Status:
    return Status(
        pid=pid,
        build="1.0-aa",
        owner="systemd",
        started_at=started,
        uptime_ms=61_000,
        sessions=2,
        counts=Counts(active=3, candidates=1),
        latency={"PreToolUse": Latency(count=calls, p50=90, p95=200, p99=400)},
        decisions={"deny": 4, "ok": 9},
    )


def row(text: str) -> list[str]:
    (found,) = [line.split() for line in text.splitlines() if line.startswith("PreToolUse")]
    return found


def test_a_rate_is_what_came_since_the_view_before() -> None:
    """Guards the one number that is not in `status`."""
    assert row(view(status(10), None, 2.0)) == ["PreToolUse", "10", "-", "90", "200", "400"]
    assert row(view(status(30), status(10), 2.0))[2] == "10.0"


def test_another_daemon_begins_anew() -> None:
    """Guards a negative rate after a restart: also where the process id came back."""
    assert row(view(status(3, pid=8), status(900), 1.0))[2] == "-"
    assert row(view(status(3, started=5), status(900), 1.0))[2] == "-"


def test_the_view_says_who_runs_the_daemon_and_what_was_decided() -> None:
    text = view(status(1), None, 1.0)
    assert "up 1 min 1 s, systemd" in text and "decided: deny 4, ok 9" in text


@pytest.mark.parametrize("count", [1, 5, 100])
def test_percentiles_are_measured_values(count: int) -> None:
    """Guards short series: no index past the end, no value that was never measured."""
    taken = [float(number) for number in range(count)][::-1]
    found = series("x", taken)
    assert found.runs == count and {found.p50, found.p95, found.p99} <= set(taken)
    assert found.p50 <= found.p95 <= found.p99
    assert series("x", [float(number) for number in range(100)]).p95 == 95.0
