"""Guards what is read of the hook log."""

from __future__ import annotations

from pathlib import Path

from hmd.setup.logs import last_lines, per_event

LINE = "2026-01-01T00:00:{:02}.000Z pre_tool tool=bash gen=1 decision=none dur={}ms by=hmd ok\n"


def test_last_lines_reach_into_the_rotated_log(tmp_path: Path) -> None:
    """Guards the moment after a rotation, and files larger than one block."""
    path = tmp_path / "hooks.log"
    (tmp_path / "hooks.log.1").write_text("".join(f"old {n}\n" for n in range(20_000)))
    path.write_text("new\n")
    assert last_lines(str(path), 3) == ["old 19998", "old 19999", "new"]
    assert len(last_lines(str(path), 10_000)) == 10_000
    assert last_lines(str(tmp_path / "none.log"), 3) == []


def test_calls_are_counted_by_event() -> None:
    """Guards doctor's line for each event: count, last call, p95."""
    lines = [LINE.format(n, n).rstrip() for n in range(1, 21)]
    lines.append("2026-01-01T00:01:00.000Z stop dur=5.0ms by=stub error:OSError")
    lines.append("torn li")
    found = per_event(lines)
    assert (found["pre_tool"].count, found["pre_tool"].p95) == (20, 20.0)
    assert found["pre_tool"].last.startswith("2026-01-01T00:00:20")
    assert found["stop"].status == "error:OSError"


def test_an_event_has_one_name() -> None:
    """Guards against two lines about one event: what is passed over early bears the host's name."""
    skipped = "2026-01-01T00:00:00.000Z PreToolUse dur=0.1ms by=hmd skipped:project"
    found = per_event([skipped, LINE.format(1, 1).rstrip(), skipped.replace("PreToolUse", "New")])
    assert {event: one.count for event, one in found.items()} == {"pre_tool": 2, "New": 1}
