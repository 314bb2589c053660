"""Past calls: kept once, however often a session is read, and gone after their time."""

import os
from pathlib import Path

from hmd.core.times import WEEK_MS, week_of
from hmd.kernel.address import Home
from hmd.learn.calls import Call
from hmd.worker import past


def call(text: str, at: int, state: str = "ok") -> Call:
    return Call(tool="bash", input=text, at=at, state=state)  # type: ignore[arg-type]


def test_reading_anew_replaces_and_reading_on_adds(tmp_path: Path) -> None:
    """Guards replay's figures: no call counts twice."""
    home = Home(str(tmp_path), "m")
    past.write(home, "s1", {"p": [call("a", 1), call("b", 2, "failed")]}, anew=True)
    past.write(home, "s1", {"p": [call("c", 3)]}, anew=False)
    past.write(home, "s2", {"p": [call("d", 0)]}, anew=True)
    assert [one.input for one in past.read(home, "p")] == ["d", "a", "b", "c"]
    past.write(home, "s1", {"p": [call("a", 1)]}, anew=True)
    assert [one.input for one in past.read(home, "p")] == ["d", "a"]


def test_calls_without_an_outcome_say_nothing(tmp_path: Path) -> None:
    """Guards against held, open and interrupted calls as evidence."""
    home = Home(str(tmp_path), "m")
    wanted = [call("a", 1, state) for state in ("open", "held", "interrupted")]
    past.write(home, "s1", {"p": wanted}, anew=True)
    assert past.read(home, "p") == []


def test_old_calls_and_forgotten_sessions_go(tmp_path: Path) -> None:
    """Guards the 180 days, and what "forget this session" means here."""
    home = Home(str(tmp_path), "m")
    for name in ("old", "new", "gone"):
        past.write(home, name, {"p": [call(name, 1)]}, anew=True)
    os.utime(past.folder(home) / "p" / "old.jsonl", (1, 1))
    assert past.drop(home, 5_000, ["gone"]) == 2
    assert [one.input for one in past.read(home, "p")] == ["new"]


def test_weeks_begin_on_mondays() -> None:
    """Guards receipts by week: 1970-01-05 was a Monday."""
    monday = 4 * 86_400_000
    assert week_of(monday) == monday
    assert week_of(monday + WEEK_MS - 1) == monday
    assert week_of(monday - 1) == monday - WEEK_MS
