"""Facts as people read them on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmd.cli import show
from hmd.core.facts import ERASED

if TYPE_CHECKING:
    from hmd.core.fact_queries import FactDiff, FactStats, FactWhy
    from hmd.core.facts import FactRow


def fact(row: FactRow, times: bool = False) -> str:
    """One line: identifier, number, what it says, and what is out of the ordinary about it."""
    said = ERASED if row.erased_at is not None else show.line(row.fact)
    about = show.line(row.subject) + (f" ({show.line(row.predicate)})" if row.predicate else "")
    marks = _marks(row)
    if times:
        marks += _times(row)
    end = f"  {{{', '.join(marks)}}}" if marks else ""
    return f"{show.short(row.id)} #{row.number}  {about}: {said}{end}"


def _marks(row: FactRow) -> list[str]:
    drift = {"stale": "the code has changed", "unresolved": "not to be checked"}
    marks = [drift[row.freshness]] if row.freshness in drift else []
    marks += [name for name in ("pinned", "archived", "sensitive") if getattr(row, name)]
    if row.authority == "auto":
        marks.append("by an agent")
    if row.confidence < 1:
        marks.append(f"confidence {row.confidence:.2f}")
    if row.importance != 5:
        marks.append(f"importance {row.importance}")
    if row.commit or row.path:
        marks.append(f"at {row.path or '.'}{'@' + row.commit[:7] if row.commit else ''}")
    return marks + [f"#{show.line(tag)}" for tag in row.tags]


def _times(row: FactRow) -> list[str]:
    end = show.moment(row.until) or "now"
    marks = [f"true {show.moment(row.valid_from)} to {end}"]
    marks.append(f"known from {show.moment(row.recorded_at)}")
    if row.closed_tx is not None:
        marks.append(f"its end known from {show.moment(row.closed_tx)}")
    if row.retracted_at is not None:
        marks.append(f"forgotten {show.moment(row.retracted_at)}")
    return marks


def why(found: FactWhy) -> list[str]:
    """The fact, its sources, its chain and its changes."""
    row = found.fact
    lines = [fact(row, times=True)]
    if row.details:
        lines += ["  " + each for each in row.details.splitlines()]
    said = {"user_said": "a person said it", "tool_observed": "a tool showed it"}
    lines.append(f"  by {row.actor}: {said.get(row.evidence, 'an agent inferred it')}")
    for name, value in (
        ("source", row.source_ref), ("agent", row.source_agent), ("session", row.origin.session),
        ("project", show.short(row.project)),
    ):  # fmt: skip
        if value:
            lines.append(f"  {name}: {show.line(value)}")
    if row.checked_at is not None:
        lines.append(f"  checked {show.moment(row.checked_at)} at {row.checked_head[:12]}")
    lines += [f"  it replaced {fact(each, times=True)}" for each in found.ancestors]
    lines += [f"  it became {fact(each, times=True)}" for each in found.descendants]
    lines += [f"  linked from {fact(each)}" for each in found.backlinks]
    lines += [
        f"  change {each.seq}, {show.moment(each.at)}, {each.actor}: {each.kind}"
        for each in found.changes
    ]
    return lines


def diff(found: FactDiff) -> list[str]:
    """Three lists; an empty one says so."""
    lines = [f"learned: {len(found.learned) or 'nothing'}"]
    lines += ["  " + fact(row) for row in found.learned]
    lines.append(f"revised: {len(found.revised) or 'nothing'}")
    for pair in found.revised:
        lines += [f"  was  {fact(pair.old)}", f"  now  {fact(pair.new)}"]
    lines.append(f"forgotten: {len(found.retracted) or 'nothing'}")
    lines += ["  " + fact(row) for row in found.retracted]
    return lines


def stats(found: FactStats) -> list[str]:
    lines = [
        f"{found.current} believed now, {found.total} recorded; {found.stale} that the code has "
        f"left, {found.trash} in the trash, {found.erased} erased"
    ]
    rows = [[str(each.count).rjust(6), show.line(each.subject)] for each in found.top_subjects]
    return [*lines, *([show.table(rows)] if rows else [])]
