"""Which texts fit into what a model is given: each once a session, within quotas and budgets."""

from hmd.kernel import texts
from hmd.kernel.turn import Turn
from hmd.kernel.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]


def give(
    verdict: Verdict,
    records: "list[Record]",
    turn: Turn,
    max_items: int,
    max_bytes: int,
    quotas: "dict[str, int] | None" = None,
) -> "list[Record]":
    """Puts the texts that fit into the context, each once a session; returns those records."""
    chosen: list[Record] = []
    used = 0
    left = dict(quotas) if quotas is not None else None
    for record in records:
        text = texts.line(record)
        size = len(text.encode("utf-8", "surrogatepass")) + 1
        if turn.given.get(record["id"]):
            verdict.suppressed.append((record["id"], "already_fired", "given in this session"))
        elif left is not None and left.get(record["type"], max_items) <= 0:
            why = f"enough of type {record['type']}"
            verdict.suppressed.append((record["id"], "type_balance_limit", why))
        elif len(chosen) >= max_items or used + size > max_bytes:
            why = f"over {max_items} items or {max_bytes} bytes"
            verdict.suppressed.append((record["id"], "budget_limit", why))
        else:
            chosen.append(record)
            used += size
            if left is not None:
                left[record["type"]] = left.get(record["type"], max_items) - 1
    if chosen:
        verdict.context = "\n".join([texts.line(record) for record in chosen])
        verdict.delivery = "with_result"
    return chosen
