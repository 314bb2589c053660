"""Chains of imported facts, whatever another store says of them: each fact has one successor and
one predecessor, both are there, and nobody comes after themselves."""

from hmd.core.database import ImportReport
from hmd.core.facts import FactRow


def whole(rows: list[FactRow], report: ImportReport) -> list[FactRow]:
    """The rows without impossible links; each of these is named in the report."""
    by_id = {row.id: row for row in rows}
    taken: set[str] = set()
    for row in rows:
        if not row.superseded_by:
            continue
        why, taken_back = "", False
        if row.superseded_by not in by_id:
            why = "its successor could not be read"
        elif row.superseded_by in taken:
            why = "its successor replaced another one"
        elif _comes_back(row, by_id):
            why, taken_back = "its successors lead back to it", True
        if why:
            # Nothing came after one that leads back to itself; the others did end.
            _unlink(row, None if taken_back else row.until)
            report.notes.append(f"fact {row.number}: {why}")
        else:
            taken.add(row.superseded_by)
    return rows


def _comes_back(row: FactRow, by_id: dict[str, FactRow]) -> bool:
    """Whether following the successors leads to the row again. Links before this one are sound, so
    the walk ends."""
    seen = {row.id}
    each = by_id.get(row.superseded_by)
    while each is not None:
        if each.id in seen:
            return each.id == row.id
        seen.add(each.id)
        each = by_id.get(each.superseded_by)
    return False


def _unlink(row: FactRow, end: int | None) -> None:
    row.valid_to, row.superseded_by, row.closed_at, row.closed_tx = end, "", None, None
