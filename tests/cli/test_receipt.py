"""The line about this week in `hmctl status --full`."""

from __future__ import annotations

from hmd.cli import status
from hmd.cli.session import Session
from hmd.core.learning import ReceiptRow
from hmd.core.status import LearningStatus, Status


def test_status_sums_this_week() -> None:
    """Guards that the person who looks at the status sees what rules did, without asking."""
    week = ReceiptRow(fired=4, heeded=2, avoided=1, overridden=2, false_alarm=1)
    found = Status(learning=LearningStatus(week=week))
    rows = dict(status._full(Session("/home/ann/hmd", {}, "/"), found))
    said = "fired 4, heeded 2, avoided 1, overridden 2, false alarm 1"
    assert rows["this week"] == said
